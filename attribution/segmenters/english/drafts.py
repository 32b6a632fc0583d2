"""Statements under construction, for the segmenters that work on a parse (`clauses`, `predpatt`).

A draft is a sequence of words of a parsed sentence, with function words added between them. This
module turns drafts
into text, and maps them back to the characters of the answer.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from spacy.tokens import Doc, Token

from attribution.errors import StageFailure
from attribution.segmenters.alignment import merge
from attribution.text.parse import MAX_PARSED, MAX_SENTENCES, parse
from attribution.text.passages import statements
from attribution.text.sentences import is_english
from attribution.text.words import word_lists
from attribution.types import Claim, Failure, Segmented, Span


class DraftWord(NamedTuple):
    """One word of a draft."""

    i: int  # of the token in its sentence; ADDED for a function word that is not in it
    text: str  # as it is written in the statement


Draft = tuple[DraftWord, ...]
Split = Callable[
    [Doc], Sequence[Draft]
]  # a sentence → its statements; none: the sentence stays whole
Statement = tuple[str, list[Span]]  # text, and the characters of its sentence

LEXICON = word_lists(
    Path(__file__).with_name("lexicon.toml")
)  # of all segmenters that work on a parse
ADDED = -1
_MARKUP = frozenset("|<>")
MAX_TOKENS = 120  # the parse of a longer sentence is not reliable
CONTENT = {"NOUN", "PROPN", "VERB", "ADJ", "NUM"}
MARKS = {",", ";", ":", "–", "—", "-"}
_NO_SPACE_BEFORE = re.compile(r"[,.;:!?)\]%’]|'s?$|’s$|n['’]t$")
_END = re.compile(r"[.!?…][\"'”’)\]]*$")
_LABEL = re.compile(r"[^:.!?\"“]{1,60}?:\s+(?=\S)")


def added(*words: str) -> Draft:
    """Return a draft of function words that the sentence does not have."""
    return tuple(DraftWord(ADDED, word) for word in words)


def parts(tokens: Iterable[Token]) -> Draft:
    """Return a draft of tokens in the order of the sentence."""
    return tuple(DraftWord(t.i, t.text) for t in sorted(tokens, key=lambda t: t.i))


def indices(draft: Draft) -> set[int]:
    """Return the indices of the sentence's tokens that a draft uses."""
    return {part.i for part in draft} - {ADDED}


def words(draft: Draft) -> set[str]:
    return {part.text.lower() for part in draft}


def trim(draft: Draft) -> Draft:
    """Remove punctuation and conjunctions at the ends of a draft, and doubled commas."""
    trimmed: list[DraftWord] = []
    for part in draft:
        if part.text in {",", ";", "–", "—"} and (
            not trimmed or trimmed[-1].text in {",", ";", "(", "–", "—"}
        ):
            continue
        trimmed.append(part)
    while trimmed and ({*trimmed[-1].text} <= {*MARKS, "."} or trimmed[-1].text in {"and", "but"}):
        trimmed.pop()
    while trimmed and trimmed[0].text.lower() in {*MARKS, "and", "but"}:
        trimmed.pop(0)
    empty = {n for n, (a, b) in enumerate(pairwise(trimmed)) if (a.text, b.text) == ("(", ")")}
    return tuple(part for n, part in enumerate(trimmed) if not {n, n - 1} & empty)


def to_text(doc: Doc, draft: Draft) -> str:
    """Write the draft as a sentence: initial capital, spaces, "a" or "an", and a full stop if its
    sentence has one.
    """
    written = ""
    for n, (i, text) in enumerate(draft):
        before = draft[n - 1] if n else DraftWord(ADDED, "")
        after = draft[n + 1] if n + 1 < len(draft) else None
        if i == 0 and n and doc[0].pos_ != "PROPN" and text[1:].islower() and text != "I":
            text = text[0].lower() + text[1:]
        if text.lower() in {"a", "an"} and after and not (i >= 0 and after.i == i + 1):
            text = text[0] + ("n" if after.text[0].lower() in "aeiou" else "")
        if n > 0 and i > 0 and before.i == i - 1:
            space = bool(doc[i - 1].whitespace_)
        else:
            space = (
                n > 0
                and not _NO_SPACE_BEFORE.match(text)
                and before.text not in {"(", "[", "“", "$"}
            )
        written += " " * space + text
    # a name such as "eBay" keeps its small letter
    if written[1:2].islower() or written[1:2] == " " or len(written) < 3:
        written = written[:1].upper() + written[1:]
    end = _END.search(doc.text)
    return written if not end or _END.search(written) else written + end.group()[0]


def covers(doc: Doc, drafts: Iterable[Draft]) -> bool:
    """Return True if every content word of the sentence, linking words aside, is in one of the
    statements.
    """
    used = set().union(*map(indices, drafts))
    return all(t.i in used or t.lower_ in LEXICON["linking"] for t in doc if t.pos_ in CONTENT)


def is_balanced(text: str) -> bool:
    return (
        all(text.count(a) == text.count(b) for a, b in ("()", "[]", "“”"))
        and text.count('"') % 2 == 0
    )


def segment(
    answer: str, split: Split, stop: threading.Event | None = None, least: int = 2
) -> Segmented:
    """Return the claims of an answer, sentence by sentence, in order; a repeated claim is one with
    several spans.

    The parser is for English: the sentences of an answer in another language stay whole, as do
    those after the first
    MAX_SENTENCES, which are reported as a failure, and those left when `stop` is set.
    """
    english = is_english(answer)
    claims: list[Claim] = []
    known: dict[str, list[Statement]] = {}  # a repeated sentence is parsed once
    for passage in statements(answer):
        for a, b in passage.sentences():
            sentence = passage.text[a:b]
            if sentence not in known:
                read = english and len(known) < MAX_SENTENCES and not (stop and stop.is_set())
                known[sentence] = (
                    list(in_statements(sentence, split, least)) if read else [_whole(sentence)]
                )
            for text, places in known[sentence]:
                spans = _joined([passage.span(a + start, a + end) for start, end in places])
                claims.append(Claim(id="-", text=text, spans=spans, sentence=passage.span(a, b)))
    return Segmented(merge(claims), tuple(_left_out(len(known) - MAX_SENTENCES)) if english else ())


def _left_out(count: int) -> Iterator[Failure]:
    if count > 0:
        split = (
            f"The first {MAX_SENTENCES:,} sentences were split; {count:,} are claims as they are."
        )
        message = f"{split} Analyse the answer in parts."
        yield StageFailure("left_out", message).as_failure("segment", "sentences")


def _whole(sentence: str) -> Statement:
    return sentence, [(0, len(sentence))]


def in_statements(sentence: str, split: Split, least: int = 2) -> Iterator[Statement]:
    """Yield the statements of one sentence. A label before a colon is repeated before each of them."""
    drafts: dict[str, list[Span]] = {}
    label = _LABEL.match(sentence)
    skip = label.end() if label and len(label.group().split()) <= 8 else 0
    if len(sentence) <= MAX_PARSED:
        doc = parse(sentence[skip:])
        if (
            len(doc) <= MAX_TOKENS
            and not _MARKUP & {*sentence}
            and doc.text[-1:] not in {"?", ":"}
            and ": " not in doc.text
        ):
            for draft in split(doc):
                places = [
                    (doc[i].idx, doc[i].idx + len(doc[i]))
                    for i in indices(draft)
                    if doc[i].text.strip()
                ]
                if text := to_text(doc, draft):
                    drafts.setdefault(text, [(skip + a, skip + b) for a, b in _joined(places)])
    if len(drafts) < least or not all(map(is_balanced, drafts)):
        yield _whole(sentence)
        return
    for text, spans in drafts.items():
        yield sentence[:skip] + text, [(0, skip), *spans] if skip else spans


def _joined(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return spans in order, joining those with at most one character between them."""
    joined: list[Span] = []
    for a, b in sorted(set(spans)):
        if joined and a <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(b, joined[-1][1]))
        else:
            joined.append((a, b))
    return tuple(joined)

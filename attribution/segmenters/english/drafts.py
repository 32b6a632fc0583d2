"""Statements under construction: words of a parsed sentence.

Drafts become text here, and are mapped back to the characters of the answer.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from attribution.segmenters.alignment import merge
from attribution.text.parse import MAX_PARSED, parse
from attribution.text.passages import AnswerPassage, statements
from attribution.text.sentences import is_english
from attribution.text.words import word_lists
from attribution.types import Claim, Segmented, Span

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token


class DraftWord(NamedTuple):
    """One word of a draft."""

    i: int  # of the token in its sentence
    text: str  # as it is written in the statement


Draft = tuple[DraftWord, ...]
Split = Callable[["Doc"], Sequence[Draft]]  # a sentence → its statements; none: it stays whole


class WrittenStatement(NamedTuple):
    """A statement as text, and its places in its sentence."""

    text: str
    places: list[Span]


Write = Callable[[str], list[WrittenStatement]]  # a sentence → its statements; none: it stays whole
LEXICON = word_lists(Path(__file__).with_name("lexicon.toml"))
NO_WORD = DraftWord(-1, "")
MAX_TOKENS = 120  # the parse of a longer sentence is not reliable
MAX_LABEL = 8  # words before a colon
CONTENT = set("NOUN PROPN VERB ADJ NUM".split())
MARKS = set(",;:–—-.")
PAUSES = set(",;–—")
_MARKUP = frozenset("|<>")
_NO_SPACE_BEFORE = re.compile(r"[,.;:!?)\]%’]|'s?$|’s$|n['’]t$")
_NO_SPACE_AFTER = set("([“$") | {""}
_END = re.compile(r"[.!?…][\"'”’)\]]*$")
_LABEL = re.compile(r"[^:.!?\"“]{1,60}?:\s+(?=\S)")


def parts(tokens: Iterable[Token]) -> Draft:
    """Return a draft of tokens in the order of the sentence."""
    return tuple(DraftWord(t.i, t.text) for t in sorted(tokens, key=lambda t: t.i))


def words(draft: Draft) -> set[str]:
    """Return the words of a draft in lower case."""
    return {part.text.lower() for part in draft}


def trim(draft: Draft) -> Draft:
    """Remove what a cut leaves behind.

    That is punctuation and conjunctions at the ends of a draft, doubled commas and empty brackets.
    """
    trimmed: list[DraftWord] = []
    for part in draft:
        is_mark = part.text in PAUSES
        if is_mark and (not trimmed or trimmed[-1].text in PAUSES | {"("}):
            continue
        if part.text == ")" and trimmed and trimmed[-1].text == "(":
            trimmed.pop()
            continue
        trimmed.append(part)
    edges = MARKS | {"and", "but"}
    while trimmed and trimmed[-1].text in edges:
        trimmed.pop()
    while trimmed and trimmed[0].text.lower() in edges:
        trimmed.pop(0)
    return tuple(trimmed)


def to_text(doc: Doc, draft: Draft) -> str:
    """Write the draft as a sentence.

    It gets an initial capital, spaces, "a" or "an", and a full stop if its sentence has one.

    Args:
        doc: The sentence that the draft is from.
        draft: Words of it, in order.
    """
    written = ""
    before = NO_WORD
    for part, after in zip(draft, [*draft[1:], NO_WORD], strict=True):
        text = part.text
        opens_sentence = part.i == 0 and doc[0].pos_ != "PROPN" and text[1:].islower()
        if opens_sentence and written:
            text = text[0].lower() + text[1:]
        if text.lower() in {"a", "an"} and after.text and after.i != part.i + 1:
            is_before_vowel = after.text[0].lower() in "aeiou"
            text = text[0] + "n" * is_before_vowel
        if part.i > 0 and before.i == part.i - 1:
            has_space = bool(doc[before.i].whitespace_)
        else:
            has_space = not _NO_SPACE_BEFORE.match(text) and before.text not in _NO_SPACE_AFTER
        written += " " * has_space + text
        before = part
    # a name such as "eBay" keeps its small letter
    if written[1:2].islower() or written[1:2] == " " or len(written) < 3:
        written = written[:1].upper() + written[1:]
    end = _END.search(doc.text)
    return written if not end or _END.search(written) else written + end.group()[0]


def covers(doc: Doc, drafts: Iterable[Draft]) -> bool:
    """Return True if every content word of the sentence, linking words aside, is in a draft."""
    used: set[int] = set()
    for draft in drafts:
        used.update(part.i for part in draft)
    content = [t for t in doc if t.pos_ in CONTENT and t.lower_ not in LEXICON["linking"]]
    return all(token.i in used for token in content)


def segment(
    answer: str,
    write: Write,
    stop: threading.Event | None = None,
    spans: Callable[[AnswerPassage], Iterable[Span]] = AnswerPassage.sentences,
) -> Segmented:
    """Return the claims of an answer, sentence by sentence, in order.

    A claim said twice is one claim with two spans.

    Args:
        answer: In another language than English, its sentences stay whole.
        write: Makes the statements of a sentence.
        stop: Leaves the other sentences whole once it is set.
        spans: Returns the sentences of a passage.
    """
    english = is_english(answer)
    claims: list[Claim] = []
    known: dict[str, list[WrittenStatement]] = {}  # a repeated sentence is parsed once
    for passage in statements(answer):
        for start, end in spans(passage):
            sentence = passage.text[start:end]
            if sentence not in known:
                is_read = english and not (stop and stop.is_set())
                known[sentence] = write(sentence) if is_read else []
            whole = WrittenStatement(sentence, [(0, len(sentence))])
            for text, places in known[sentence] or [whole]:
                claim = Claim(
                    id="-",
                    text=text,
                    spans=joined([passage.span(start + a, start + b) for a, b in places]),
                    sentence=passage.span(start, end),
                    context=passage.context,
                )
                claims.append(claim)
    return Segmented(merge(claims))


def in_statements(sentence: str, split: Split) -> list[WrittenStatement]:
    """Return the statements of one sentence.

    A label before a colon is repeated before each of them: "Costs: they rose and fell".

    Args:
        sentence: The sentence.
        split: Makes drafts of its parse.

    Returns:
        No statement if the sentence stays whole, as long ones and those with markup do.
    """
    if len(sentence) > MAX_PARSED or _MARKUP & {*sentence}:
        return []
    skip = _label_end(sentence)
    doc = parse(sentence[skip:])
    if len(doc) > MAX_TOKENS or doc.text.endswith(("?", ":")) or ": " in doc.text:
        return []
    written: dict[str, WrittenStatement] = {}
    for draft in split(doc):
        text = to_text(doc, draft)
        if not _is_balanced(text):
            return []
        places = [(0, skip)] if skip else []
        for start, end in _places(doc, draft):
            places.append((skip + start, skip + end))
        if text:
            written.setdefault(text, WrittenStatement(sentence[:skip] + text, places))
    return list(written.values()) if len(written) > 1 else []


def _label_end(sentence: str) -> int:
    """Return where the text behind a short label begins: "Costs: they rose" at 7; else 0."""
    label = _LABEL.match(sentence)
    if label is None or len(label.group().split()) > MAX_LABEL:
        return 0
    return label.end()


def _places(doc: Doc, draft: Draft) -> tuple[Span, ...]:
    """Return the characters of a draft's words in its sentence."""
    tokens = [doc[part.i] for part in draft]
    return joined([(t.idx, t.idx + len(t)) for t in tokens if t.text.strip()])


def _is_balanced(text: str) -> bool:
    """Return True if brackets and quotation marks come in pairs."""
    pairs = all(text.count(a) == text.count(b) for a, b in ("()", "[]", "“”"))
    return pairs and text.count('"') % 2 == 0


def joined(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return spans in order, joining those with at most one character between them."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1] + 1:
            first, last = result[-1]
            result[-1] = (first, max(end, last))
        else:
            result.append((start, end))
    return tuple(result)

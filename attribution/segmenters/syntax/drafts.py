"""Statements under construction: words of a parsed sentence and function words between them, and how they are put
into writing and back onto the answer. What `clauses` and `predpatt` share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from attribution.text.nlp import parse
from attribution.text.passages import statements
from attribution.types import Claim, Segmented, Span, content_id

Part = tuple[int, str]  # the number of a token and how it is written; the number is -1 for an added function word
Draft = tuple[Part, ...]
Split = Callable[[Any], Sequence[Draft]]  # a sentence's Doc → its statements; none: the sentence stays whole

ADDED = -1
LONGEST = 120  # tokens; the parse of a longer sentence is not to be trusted
CONTENT = {"NOUN", "PROPN", "VERB", "ADJ", "NUM"}
# ties what follows to what came before, and says nothing itself
LINKING = {"meaning", "making", "including", "such", "other", "even"}
SUBJECTS = {"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"}
AUXILIARIES = {"aux", "auxpass"}
_CLOSE = re.compile(r"[,.;:!?)\]%’]|'s?$|’s$|n['’]t$")
_END = re.compile(r"[.!?…][\"'”’)\]]*$")
_LABEL = re.compile(r"[^:.!?\"“]{1,60}?:\s+(?=\S)")


def parts(tokens: Iterable[Any]) -> Draft:
    """Tokens in the order of the sentence."""
    return tuple((t.i, t.text) for t in sorted(tokens, key=lambda t: t.i))


def subtree(token: Any, *without: Any) -> list[Any]:
    """The token and all below it, but for the branches left out."""
    out = {t.i for branch in without for t in branch.subtree}
    return [t for t in token.subtree if t.i not in out]


def trimmed(draft: Draft) -> Draft:
    """Without marks and conjunctions at either end, and no comma twice."""
    kept: list[Part] = []
    for part in draft:
        if part[1] in {",", ";", "–", "—"} and (not kept or kept[-1][1] in {",", ";", "(", "–", "—"}):
            continue
        kept.append(part)
    while kept and kept[-1][1] in {",", ";", ":", "–", "—", "-", ".", "and", "but"}:
        kept.pop()
    while kept and kept[0][1].lower() in {",", ";", ":", "–", "—", "-", "and", "but"}:
        kept.pop(0)
    return tuple(kept)


def wording(doc: Any, draft: Draft) -> str:
    """The statement as a sentence: capital, spaces, a or an, the full stop that its sentence has."""
    written = ""
    for n, (i, text) in enumerate(draft):
        before = draft[n - 1] if n else (-1, "")
        in_place = n > 0 and i > 0 and before[0] == i - 1
        if i == 0 and n and doc[0].pos_ != "PROPN" and text[1:].islower() and text != "I":
            text = text[0].lower() + text[1:]
        if text.lower() in {"a", "an"} and n + 1 < len(draft) and not (i >= 0 and draft[n + 1][0] == i + 1):
            text = text[0] + ("n" if draft[n + 1][1][0].lower() in "aeiou" else "")
        if in_place:
            space = bool(doc[i - 1].whitespace_)
        else:
            space = n > 0 and not _CLOSE.match(text) and before[1] not in {"(", "[", "“", "$"}
        written += " " * space + text
    # a name such as "eBay" keeps its small letter
    written = written[:1].upper() + written[1:] if written[1:2].islower() or len(written) < 3 else written
    written = written[:1].upper() + written[1:] if written[1:2] == " " else written
    end = _END.search(doc.text)
    return written if not end or _END.search(written) else written + end.group()[0]


def covers(doc: Any, drafts: Iterable[Draft]) -> bool:
    """Whether every content word of the sentence is in one of the statements."""
    words = {i for draft in drafts for i, _ in draft}
    return all(t.i in words or t.lower_ in LINKING for t in doc if t.pos_ in CONTENT)


def balanced(text: str) -> bool:
    return text.count("(") == text.count(")") and text.count("“") == text.count("”") and text.count('"') % 2 == 0


def segment(answer: str, split: Split) -> Segmented:
    """Claims of an answer, sentence by sentence, in its order; one said twice is one claim with the spans of both."""
    found: dict[str, tuple[str, list[Span], Span]] = {}
    known: dict[str, list[tuple[str, list[Span]]]] = {}  # a sentence said twice is parsed once
    for passage in statements(answer):
        for a, b in passage.sentences():
            whole = passage.span(a, b)
            sentence = passage.text[a:b]
            if sentence not in known:
                known[sentence] = list(_statements(sentence, split))
            for text, at in known[sentence]:
                spans = [passage.span(a + s, a + e) for s, e in at]
                key = " ".join(text.casefold().split()).rstrip(".")
                found.setdefault(key, (text, [], whole))[1].extend(spans)
    claims = []
    for text, raw, origin in found.values():
        places = _merged(raw)
        claims.append(Claim(id=content_id(text, str(places[0])), text=text, spans=places, sentence=origin))
    return Segmented(tuple(claims))


def _statements(sentence: str, split: Split) -> Iterator[tuple[str, list[Span]]]:
    """Texts and their characters in the sentence. A label before a colon goes before each of its statements."""
    whole = [(sentence, [(0, len(sentence))])]
    if len(sentence) > 12 * LONGEST:
        yield from whole
        return
    label = _LABEL.match(sentence)
    skip = label.end() if label and len(label.group().split()) <= 8 else 0
    doc = parse(sentence[skip:])
    if len(doc) > LONGEST or "|" in sentence or doc.text[-1:] in {"?", ":"} or ": " in doc.text:
        yield from whole
        return
    made: dict[str, list[Span]] = {}
    for draft in split(doc):
        if text := wording(doc, draft):
            made.setdefault(text, _runs(doc, draft, skip))
    if len(made) < 2 or not all(balanced(text) for text in made):
        yield from whole
        return
    for text, places in made.items():
        yield (sentence[:skip] + text, [(0, skip), *places] if skip else places)


def _runs(doc: Any, draft: Draft, skip: int) -> list[Span]:
    return [
        (skip + a, skip + b)
        for a, b in _merged(
            [(doc[i].idx, doc[i].idx + len(doc[i])) for i, _ in draft if i >= 0 and doc[i].text.strip()]
        )
    ]


def _merged(spans: Sequence[Span]) -> tuple[Span, ...]:
    """In order, those that touch or have one character between them as one."""
    merged: list[Span] = []
    for a, b in sorted(set(spans)):
        if merged and a <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(b, merged[-1][1]))
        else:
            merged.append((a, b))
    return tuple(merged)

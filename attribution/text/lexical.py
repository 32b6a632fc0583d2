"""Cheap comparisons of a claim and a passage: shared words, the deciding sentence; and sentences with offsets."""

from __future__ import annotations

import re
from functools import lru_cache

from attribution.types import Span

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d[\d.,]*\d|\d")
_ABBREVIATED = "".join(
    rf"(?<!\b{a})" for a in ("[A-Z]", r"[A-Z]\.[A-Z]", "Dr", "Mr", "Mrs", "St", "No", "vs", r"e\.g", r"i\.e")
)
_END = re.compile(_ABBREVIATED + r"[.!?…]+[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9\u00c0-\uffff])|\n+")
_STOP_WORDS = """
a an the and or but nor so yet of in on at by to for from with without into onto over under between among about as than
that this these those there here it its he she they him her them his hers their theirs we us our you your i me my is are
was were be been being am do does did done has have had having can could will would shall should may might must not no
which who whom whose what when where why how if then also very such more most some any all each other both only own same
s t just up out off again further once during before after while because until against through
"""
_STOP = frozenset(_STOP_WORDS.split())
_CARDINALS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_NUMBERS = {word: str(value) for value, word in enumerate(_CARDINALS)}
_NUMBERS |= {"first": "1", "second": "2", "third": "3"}
_NUMBERS |= {"hundred": "100", "thousand": "1000", "million": "1000000", "billion": "1000000000"}


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[Span, ...]:
    """Spans of the sentences of a passage, trimmed, none empty; newlines end one."""
    spans, start = [], 0
    for end in (*(m.end() for m in _END.finditer(text)), len(text)):
        piece = text[start:end]
        if piece.strip():
            first = start + len(piece) - len(piece.lstrip())
            spans.append((first, first + len(piece.strip())))
        start = end
    return tuple(spans)


def _stem(word: str) -> str:
    for suffix in ("ingly", "edly", "ments", "ment", "ings", "ing", "ies", "ied", "ers", "er", "es", "ed", "ly", "s"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)]
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


@lru_cache(maxsize=8192)
def terms(text: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """(content-word stems, numbers, names) of a text; names are capitalised words that do not open it."""
    words, numbers, names = set(), set(), set()
    for i, match in enumerate(_WORD.finditer(text)):
        token = match.group()
        lower = token.lower().removesuffix("'s").removesuffix("’s")
        if token[0].isdigit():
            numbers.add(token.replace(",", "").rstrip("."))
        elif lower in _NUMBERS:
            numbers.add(_NUMBERS[lower])
        elif lower not in _STOP:
            words.add(_stem(lower))
            if i and token[0].isupper():
                names.add(_stem(lower))
    return frozenset(words), frozenset(numbers), frozenset(names)


def _share(part: frozenset[str], whole: frozenset[str]) -> float:
    return len(part & whole) / len(part) if part else 1.0


def deciding_sentence(claim: str, evidence: str) -> Span:
    """The sentence that shares most with the claim; numbers and names count double."""
    spans = sentences(evidence)
    if len(spans) < 2:
        return spans[0] if spans else (0, len(evidence))
    words, numbers, names = terms(claim)

    def shared(span: Span) -> tuple[float, int]:
        w, n, m = terms(evidence[span[0] : span[1]])
        return len(words & w) + 2 * len(numbers & n) + len(names & w) - 0.02 * len(w), -span[0]

    return max(spans, key=shared)


def shared_words(claim: str, evidence: str) -> float:
    """The share of the claim's content words that the passage holds; 1 for a claim without any."""
    return _share(terms(claim)[0], terms(evidence)[0])

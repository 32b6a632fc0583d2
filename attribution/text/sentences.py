"""The sentence splitter: by punctuation, in any script that marks where a sentence ends, without a model.

Thai and Lao put nothing between sentences but white space, which also parts phrases: there only lines end a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from attribution.types import Span

_STOPS, _WIDE, _CLOSING = ".!?…؟۔।॥։።", "。！？｡", r"\"'”’»)\]」』）"
_CITED = r"(?:\[[^\[\]\n]{1,24}\])*+"  # "[1]", "[citation needed]"
_MARK = re.compile(
    rf"(?<![{_STOPS}])[{_STOPS}]++[{_CLOSING}]*+{_CITED}\s+"
    rf"|(?<![{_WIDE}])[{_WIDE}]++[{_CLOSING}]*+{_CITED}\s*"
    r"|(?<=[^\W\d_]{2})[.!?](?=[^\W\d_]{2})"  # "toxic.Cats": perhaps its space is missing
    r"|\n\s*"
)
_WORD_BEFORE = re.compile(r"(?<!\S)[^\W\d_][^\W\d_A-Z]+$")
_WORD_AFTER = re.compile(r"[A-Z\u00c0-\u00de][^\W\d_A-Z]+(?=[\s,;:'’]|$)")
_LAST_WORD = re.compile(r"(?<![\w'’])[^\W\d_]+$")
_ITEM_NUMBER = re.compile(r"(?:^|[:;]\s+)\(?\d{1,2}$")
_ABBREVIATIONS = frozenset((Path(__file__).parent / "data" / "abbreviations.txt").read_text("utf-8").split())
_NEAR = 40  # characters before a mark that are looked at
_FAR = 200  # and after it


def possible_ends(text: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Where a sentence may end, white space included: after any mark, also one that only shortens a word."""
    for match in _MARK.finditer(text, start, len(text) if end is None else end):
        mark = match.start()
        spaced = match.end() - mark > 1 or match[0] not in ".!?"
        if spaced or (_WORD_BEFORE.search(text[max(0, mark - _NEAR) : mark]) and _WORD_AFTER.match(text, mark + 1)):
            yield match.end()


def sentences(text: str, limit: int | None = None) -> tuple[Span, ...]:
    """Spans of the sentences in order, trimmed, none empty; together they hold all but white space.

    A line break ends a sentence. One longer than `limit` characters is cut between words.
    """
    spans: list[Span] = []
    start = 0
    for end in (*possible_ends(text), len(text)):
        if end == len(text) or _is_end(text, start, end):
            span = trimmed(text, start, end)
            spans += _cut(text, span, limit or len(text))
            start = end
    return tuple(spans)


def trimmed(text: str, start: int, end: int) -> Span:
    """The span without the white space at its ends."""
    piece = text[start:end]
    first = start + len(piece) - len(piece.lstrip())
    return first, max(first, start + len(piece.rstrip()))


def _is_end(text: str, start: int, end: int) -> bool:
    """Whether a sentence ends where it may: no abbreviation or item's number before it, no small letter after it."""
    before = text[max(start, end - _NEAR) : end]
    head = before.rstrip()
    if "\n" in before[len(head) :]:
        return True
    following = next((c for c in text[end : end + _FAR] if c.isalnum() or c == "\n"), "\n")
    if following == "\n" or following.islower():  # a stray mark belongs to the sentence before it
        return False
    head = head.removesuffix(".")
    if len(head.rstrip(".")) < len(head) or before.rstrip() == head:
        return True  # "…", "?", ".)": no abbreviation
    word = _LAST_WORD.search(head)
    if word:
        return len(word[0]) > 1 and word[0] not in _ABBREVIATIONS
    return not _ITEM_NUMBER.search(head)


def _cut(text: str, span: Span, limit: int) -> Iterator[Span]:
    start, end = span
    while end - start > limit:
        space = max(text.rfind(c, start + 1, start + limit + 1) for c in " \t\u00a0\u3000")
        stop = space if space > start else start + limit
        yield trimmed(text, start, stop)
        while stop < end and text[stop].isspace():
            stop += 1
        start = stop
    if start < end:
        yield start, end

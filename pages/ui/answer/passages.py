"""Passages as they are shown: the text around the deciding sentence, and where it differs from the claim."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attribution.text.lexical import NUMBER_WORDS, STOP_WORDS
from attribution.types import Evidence, Page
from pages.ui.html.render import Child, el

CONTEXT = 170  # characters shown on either side of the deciding sentence
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’-][^\W\d_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?:(?!\d)[^\W_a-z][\w'’-]+)(?:[ ](?:[A-Z]\.[ ])?(?!\d)[^\W_a-z][\w'’-]+)*")
_NOT_NAMES = STOP_WORDS | NUMBER_WORDS.keys()


@dataclass(frozen=True)
class Quote:
    """A deciding sentence in its context; the outer parts are text that the verifier did not read."""

    unread_before: str
    before: str
    sentence: str
    after: str
    unread_after: str


def quote(piece: Evidence, pages: Mapping[str, Page]) -> Quote:
    """The deciding sentence with the text around it, as far as its paragraph goes."""
    page = pages.get(piece.page_id)
    text, shift = piece.text, piece.start
    if page and page.text[piece.start : piece.end] == piece.text:
        text, shift = page.text, 0
    read = (piece.start - shift, piece.end - shift)
    first, last = piece.sentence[0] - shift, piece.sentence[1] - shift
    if not 0 <= first < last <= len(text):
        first, last = read
    start = first - len(re.split(r"\n\s*\n|\n#+ ", text[max(0, first - CONTEXT) : first])[-1].lstrip())
    end = last + len(re.split(r"\n\s*\n|\n#+ ", text[last : last + CONTEXT])[0].rstrip())
    dots_before = dots_after = ""
    if start > 0 and first - start >= CONTEXT - 1:
        start, dots_before = text.find(" ", start, first) + 1 or first, "… "
    if end < len(text) and end - last >= CONTEXT - 1:
        end, dots_after = max(text.rfind(" ", last, end), last), " …"
    read_from, read_to = min(max(read[0], start), first), max(min(read[1], end), last)
    return Quote(
        dots_before + text[start:read_from],
        text[read_from:first],
        text[first:last],
        text[last:read_to],
        text[read_to:end] + dots_after,
    )


def _normal(token: str) -> str:
    return token.replace(",", "") if token[0].isdigit() else token.casefold().removesuffix("'s").removesuffix("’s")


def _tokens(text: str) -> set[str]:
    return {_normal(token) for token in _TOKEN.findall(text)}


def _numbers_and_names(text: str) -> tuple[list[re.Match[str]], list[re.Match[str]]]:
    """Words of a name that follow each other are one."""
    names = (m for m in _NAME.finditer(text) if m[0][0].isupper() and len(m[0]) > 1)
    return list(_NUMBER.finditer(text)), [m for m in names if m[0].casefold() not in _NOT_NAMES]


def differences(text: str, other: str) -> list[tuple[int, int]]:
    """Numbers and names of one text that the other lacks, where it has one of that kind to set against.

    Where more than two of a kind differ, the texts are about different things and nothing is boxed.
    """
    mine, theirs = _tokens(text), _tokens(other)
    spans: list[tuple[int, int]] = []
    for here, there in zip(_numbers_and_names(text), _numbers_and_names(other), strict=True):
        lacking = [m for m in here if not _tokens(m[0]) & theirs]
        against = [m for m in there if not _tokens(m[0]) & mine]
        if 0 < len(lacking) <= 2 and 0 < len(against) <= 2:
            spans += [m.span() for m in lacking]
    return sorted(spans)


def box(text: str, spans: Sequence[tuple[int, int]]) -> list[Child]:
    """The text with those spans in boxes."""
    nodes: list[Child] = []
    position = 0
    for start, end in spans:
        nodes += [text[position:start], el("span", text[start:end], class_="differs")]
        position = end
    return [*nodes, text[position:]]

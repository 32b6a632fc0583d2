"""Passages as they are shown: the deciding sentence, what differs from the claim in boxes, and the text around it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attribution.text.differences import contrasts
from attribution.types import Claim, Evidence, Page
from pages.ui.html.render import Child, Node, el, table

_PARAGRAPH = re.compile(r"\n[^\S\n]*+\n\s*+|\n#++ ")
CONTEXT = 170  # characters shown on either side of the deciding sentence


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
    start = first - len(_PARAGRAPH.split(text[max(0, first - CONTEXT) : first])[-1].lstrip())
    end = last + len(_PARAGRAPH.split(text[last : last + CONTEXT])[0].rstrip())
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


def box(text: str, spans: Sequence[tuple[int, int]]) -> list[Child]:
    """The text with those spans in boxes."""
    nodes: list[Child] = []
    position = 0
    for start, end in spans:
        nodes += [text[position:start], el("span", text[start:end], class_="differs")]
        position = end
    return [*nodes, text[position:]]


def versus(claim: Claim, sentence: str) -> Node | None:
    """The numbers, dates, units, names and negations that differ, the claim's beside the source's."""
    rows = [(c.kind, c.claim or "–", c.source or "–") for c in contrasts(claim.statement, sentence)]
    return table(("What", "The claim says", "The source says"), rows, "figures versus") if rows else None

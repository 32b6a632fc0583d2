"""Claims laid over a tree of nodes: each marked stretch is a span that names its claim, the innermost deepest."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from attribution.types import Claim
from pages.ui.html.render import BLOCKS, Node, Text, Tree, el, texts


@dataclass(frozen=True)
class _Mark:
    start: int
    end: int
    claim: str
    part: int


class _Marks:
    """Marks in their order, the outermost first, found by their place."""

    def __init__(self, marks: Sequence[_Mark]) -> None:
        self._ranked = sorted(enumerate(marks), key=lambda ranked: ranked[1].start)
        self._starts = [mark.start for _, mark in self._ranked]
        self._reach = list(accumulate((mark.end for _, mark in self._ranked), max))  # the furthest end so far
        self._cuts = sorted({place for mark in marks for place in (mark.start, mark.end)})

    def __bool__(self) -> bool:
        return bool(self._ranked)

    def cuts(self, start: int, end: int) -> list[int]:
        """The places between these two at which a mark begins or ends."""
        return self._cuts[bisect_right(self._cuts, start) : bisect_left(self._cuts, end)]

    def covering(self, start: int, end: int) -> _Mark | None:
        """The outermost mark that holds all from one place to another."""
        found = self._before(bisect_right(self._starts, start), end)
        return min(found, key=lambda ranked: ranked[0], default=(0, None))[1]

    def touching(self, start: int, end: int, but: _Mark | None = None) -> _Marks:
        """Those that hold some of it."""
        found = sorted(self._before(bisect_left(self._starts, end), start + 1), key=lambda ranked: ranked[0])
        return _Marks([mark for _, mark in found if mark is not but])

    def _before(self, number: int, least: int) -> Iterator[tuple[int, _Mark]]:
        """Of the first so many by their start, those that end there or later, with their rank."""
        while number > 0 and self._reach[number - 1] >= least:
            number -= 1
            if self._ranked[number][1].end >= least:
                yield self._ranked[number]


def mark(tree: Sequence[Tree], claims: Sequence[Claim]) -> list[Tree]:
    """The tree with every claim's characters wrapped; longer spans lie outside shorter ones."""
    marks = [_Mark(s, e, c.id, n) for c in claims for n, (s, e) in enumerate(c.spans) if s < e]
    return _wrap(list(tree), _Marks(sorted(marks, key=lambda m: (m.start - m.end, m.start))))


def marked(tree: Sequence[Tree]) -> set[str]:
    """The claims that have a place in the tree."""
    found = set()
    for node in tree:
        if isinstance(node, Node):
            found |= {value for name, value in node.attributes if name == "data-claim"} | marked(node.children)
    return found


def _extent(node: Tree) -> tuple[int, int] | None:
    """From the first to the last character of the source in a node."""
    places = [t for t in texts(node) if t.start >= 0]
    return (places[0].start, places[-1].end) if places else None


def _split(text: Text, marks: _Marks) -> list[Tree]:
    if text.start < 0 or text.written:
        return [text]
    cuts = sorted({text.start, text.end, *marks.cuts(text.start, text.end)})
    return [Text(text.text[a - text.start : b - text.start], a) for a, b in zip(cuts, cuts[1:], strict=False)]


def _covers(outer: _Mark, node: Tree) -> bool:
    if isinstance(node, Node) and node.tag in BLOCKS:
        return False
    extent = _extent(node)
    return extent is not None and outer.start <= extent[0] and extent[1] <= outer.end


def _outermost(node: Tree, marks: _Marks) -> _Mark | None:
    extent = None if isinstance(node, Node) and node.tag in BLOCKS else _extent(node)
    return marks.covering(*extent) if extent else None


def _wrap(nodes: list[Tree], marks: _Marks) -> list[Tree]:
    if not marks:
        return nodes
    pieces: list[Tree] = []
    for node in nodes:
        pieces += _split(node, marks) if isinstance(node, Text) else [node]
    out: list[Tree] = []
    i = 0
    while i < len(pieces):
        piece = pieces[i]
        outer = _outermost(piece, marks)
        if outer is None:
            if isinstance(piece, Node) and (extent := _extent(piece)):
                piece = piece.with_children(_wrap(list(piece.children), marks.touching(*extent)))
            out.append(piece)
            i += 1
            continue
        j = i + 1
        while j < len(pieces) and (
            _covers(outer, pieces[j])
            or (_extent(pieces[j]) is None and j + 1 < len(pieces) and _covers(outer, pieces[j + 1]))
        ):
            j += 1
        group = _wrap(pieces[i:j], marks.touching(outer.start, outer.end, but=outer))
        if any(t.text.strip() for n in group for t in texts(n)):
            out.append(el("span", *group, data_claim=outer.claim, data_span=outer.part))
        else:
            out += group
        i = j
    return out

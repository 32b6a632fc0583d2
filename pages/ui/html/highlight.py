"""Claims laid over a tree of nodes: each marked stretch is a span that names its claim, the innermost deepest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attribution.types import Claim
from pages.ui.html.render import BLOCKS, Node, Text, Tree, el, texts


@dataclass(frozen=True)
class _Mark:
    start: int
    end: int
    claim: str
    part: int


def mark(tree: Sequence[Tree], claims: Sequence[Claim]) -> list[Tree]:
    """The tree with every claim's characters wrapped; longer spans lie outside shorter ones."""
    marks = [_Mark(s, e, c.id, n) for c in claims for n, (s, e) in enumerate(c.spans) if s < e]
    marks.sort(key=lambda m: (m.start - m.end, m.start))
    return _wrap(list(tree), marks)


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


def _split(text: Text, marks: Sequence[_Mark]) -> list[Tree]:
    if text.start < 0 or text.written:
        return [text]
    cuts = sorted({text.start, text.end} | {p for m in marks for p in (m.start, m.end) if text.start < p < text.end})
    return [Text(text.text[a - text.start : b - text.start], a) for a, b in zip(cuts, cuts[1:], strict=False)]


def _covers(outer: _Mark, node: Tree) -> bool:
    if isinstance(node, Node) and node.tag in BLOCKS:
        return False
    extent = _extent(node)
    return extent is not None and outer.start <= extent[0] and extent[1] <= outer.end


def _wrap(nodes: list[Tree], marks: list[_Mark]) -> list[Tree]:
    if not marks:
        return nodes
    pieces: list[Tree] = []
    for node in nodes:
        pieces += _split(node, marks) if isinstance(node, Text) else [node]
    out: list[Tree] = []
    i = 0
    while i < len(pieces):
        piece = pieces[i]
        outer = next((m for m in marks if _covers(m, piece)), None)
        if outer is None:
            if isinstance(piece, Node) and (extent := _extent(piece)):
                inside = [m for m in marks if m.start < extent[1] and extent[0] < m.end]
                piece = piece.with_children(_wrap(list(piece.children), inside))
            out.append(piece)
            i += 1
            continue
        j = i + 1
        while j < len(pieces) and (
            _covers(outer, pieces[j])
            or (_extent(pieces[j]) is None and j + 1 < len(pieces) and _covers(outer, pieces[j + 1]))
        ):
            j += 1
        inner = [m for m in marks if m is not outer and m.start < outer.end and outer.start < m.end]
        group = _wrap(pieces[i:j], inner)
        if any(t.text.strip() for n in group for t in texts(n)):
            out.append(el("span", *group, data_claim=outer.claim, data_span=outer.part))
        else:
            out += group
        i = j
    return out

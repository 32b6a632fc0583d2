"""Draw an answer as nodes: its Markdown, its claims highlighted, its differences from another text.

Links that are not http(s) show only their words, images only their description.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import accumulate
from typing import Literal, NamedTuple

from attribution.reports.html import BLOCKS, Child, Node, Text, Tree, el, safe_url, texts
from attribution.text.markdown import Element, Written, read
from attribution.text.words import Diff
from attribution.types import Claim, Span

DEEPEST = 32  # marks over one character


@dataclass(frozen=True)
class _Mark:
    start: int
    end: int
    claim: str
    part: int


class _Marks:
    """Marks in order, the outermost first, indexed by position."""

    def __init__(self, marks: Sequence[_Mark]) -> None:
        self._ranked = sorted(enumerate(marks), key=lambda ranked: ranked[1].start)
        self._starts = [mark.start for _, mark in self._ranked]
        self._reach = list(
            accumulate((mark.end for _, mark in self._ranked), max)
        )  # the furthest end so far
        self._cuts = sorted({place for mark in marks for place in (mark.start, mark.end)})

    def __bool__(self) -> bool:
        return bool(self._ranked)

    def cuts(self, start: int, end: int) -> list[int]:
        """Return the positions between these two at which a mark begins or ends."""
        return self._cuts[bisect_right(self._cuts, start) : bisect_left(self._cuts, end)]

    def covering(self, start: int, end: int) -> _Mark | None:
        """Return the outermost mark that covers the whole range."""
        found = self._before(bisect_right(self._starts, start), end)
        return min(found, key=lambda ranked: ranked[0], default=(0, None))[1]

    def touching(self, start: int, end: int, but: _Mark | None = None) -> _Marks:
        """Return the marks that overlap the range, except `but`."""
        found = sorted(
            self._before(bisect_left(self._starts, end), start + 1), key=lambda ranked: ranked[0]
        )
        return _Marks([mark for _, mark in found if mark is not but])

    def _before(self, number: int, least: int) -> Iterator[tuple[int, _Mark]]:
        """Yield, of the first `number` marks by start, those that end at `least` or later, with
        their rank.
        """
        while number > 0 and self._reach[number - 1] >= least:
            number -= 1
            if self._ranked[number][1].end >= least:
                yield self._ranked[number]


def mark(tree: Sequence[Tree], claims: Sequence[Claim]) -> list[Tree]:
    """Wrap every claim's characters in the tree; longer spans lie outside shorter ones."""
    marks = [_Mark(s, e, c.id, n) for c in claims for n, (s, e) in enumerate(c.spans) if s < e]
    return _wrap(
        list(tree), _Marks(sorted(_shallow(marks), key=lambda m: (m.start - m.end, m.start)))
    )


def _shallow(marks: Sequence[_Mark]) -> Iterator[_Mark]:
    """Yield the marks without those that would lie over DEEPEST others, which no browser could draw
    either.
    """
    open_: list[int] = []  # a heap of the ends of those over the current place
    for one in sorted(marks, key=lambda m: (m.start, -m.end)):
        while open_ and open_[0] <= one.start:
            heappop(open_)
        if len(open_) < DEEPEST:
            heappush(open_, one.end)
            yield one


def marked(tree: Sequence[Tree]) -> set[str]:
    """Return the ids of the claims that have a place in the tree."""
    found = set()
    for node in tree:
        if isinstance(node, Node):
            found |= {value for name, value in node.attributes if name == "data-claim"} | marked(
                node.children
            )
    return found


def _extent(node: Tree) -> tuple[int, int] | None:
    """Return the range from the first to the last character of the source in a node."""
    places = [t for t in texts(node) if t.start >= 0]
    return (places[0].start, places[-1].end) if places else None


def _split(text: Text, marks: _Marks) -> list[Tree]:
    if text.start < 0 or text.written:
        return [text]
    cuts = sorted({text.start, text.end, *marks.cuts(text.start, text.end)})
    return [
        Text(text.text[a - text.start : b - text.start], a)
        for a, b in zip(cuts, cuts[1:], strict=False)
    ]


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
            or (
                _extent(pieces[j]) is None and j + 1 < len(pieces) and _covers(outer, pieces[j + 1])
            )
        ):
            j += 1
        group = _wrap(pieces[i:j], marks.touching(outer.start, outer.end, but=outer))
        if any(t.text.strip() for n in group for t in texts(n)):
            out.append(el("span", *group, data_claim=outer.claim, data_span=outer.part))
        else:
            out += group
        i = j
    return out


_HEADINGS = {f"h{n}": f"h{min(6, n + 1)}" for n in range(1, 7)}  # h1 is the page's


_TAG = re.compile(r"</?(?:think|thinking|details|summary)\b[^<>]*+>")
_NUMBER = re.compile(r"\d+(?:[–-]\d+)?")
NAMING = (
    "link",
    "address",
    "named",
    "author_year",
)  # forms of marks that say to a reader which source it is


def parse(source: str, raised: bool = True) -> list[Tree]:
    """Parse a text into its blocks. Citation marks without words are `raised`, and what was thought
    is folded.
    """
    tree = read(source)
    nodes = _children(tree, raised)
    for start, end in sorted(_thoughts(tree), reverse=True) if raised else ():
        before, rest = _cut(nodes, start)
        inside, after = _cut(rest, end)
        summary = el("summary", "Reasoning (not checked)")
        nodes = [
            *before,
            el("details", summary, *_without_tags(inside), class_="ax-detail"),
            *after,
        ]
    return nodes


def _thoughts(element: Element) -> set[Span]:
    """The spans of what a model thought, without those that code or a backslash makes text."""
    own = (
        {(element.mark.start, element.mark.end)}
        if element.mark and element.mark.row.folded
        else set()
    )
    return own.union(*map(_thoughts, element.elements))


def _cut(nodes: Sequence[Tree], at: int) -> tuple[list[Tree], list[Tree]]:
    """Divide nodes at a character of the source that begins a text."""
    before: list[Tree] = []
    for number, node in enumerate(nodes):
        extent = _extent(node)
        if extent and extent[0] >= at:
            return before, list(nodes[number:])
        if extent and extent[1] > at and isinstance(node, Node):
            first, second = _cut(node.children, at)
            rest = [node.with_children(second), *nodes[number + 1 :]]
            return [*before, *([node.with_children(first)] if first else [])], rest
        before.append(node)
    return before, []


def _without_tags(nodes: Sequence[Tree]) -> Iterator[Tree]:
    for node in nodes:
        if isinstance(node, Node):
            yield node.with_children([*_without_tags(node.children)])
        elif node.written:
            yield node
        else:
            at = 0
            for found in _TAG.finditer(node.text):
                yield Text(node.text[at : found.start()], node.start + at)
                at = found.end()
            yield Text(node.text[at:], node.start + at)


def _raised(cite: Element) -> list[Tree] | None:
    """Return a mark as its number or a dot, an entity as its name and a tag as nothing; None for
    one shown in words.
    """
    written = list(cite.texts())
    if not (found := cite.mark) or not written or found.row.folded:
        return None
    if found.row.form in NAMING and not found.match[0].startswith("【"):
        return None
    start, length = written[0].start, written[-1].end - written[0].start
    if "kept" in found.row.pattern.groupindex or not found.row.form:
        return [Text("", start, length)]
    number = ", ".join(_NUMBER.findall(found.number)) or found.number or "•"
    return [el("sup", Text(number, start, length), class_="cite", title=found.match[0])]


def _children(element: Element, raised: bool) -> list[Tree]:
    nodes: list[Tree] = []
    for child in element.children:
        if isinstance(child, Written):
            nodes.append(
                Text(child.text, child.start, 0 if child.verbatim else child.end - child.start)
            )
        elif raised and child.tag == "cite" and (mark := _raised(child)):
            nodes += mark
        elif child.tag in ("cite", "img", "a") or child.role == "tight":
            nodes += [*_children(child, raised), *_link(child.href)]
        else:
            nodes.append(_node(child, raised))
    return nodes


def _node(element: Element, raised: bool) -> Node:
    tag = _HEADINGS.get(element.tag, element.tag)
    if tag in ("br", "hr"):
        return el(tag)
    if tag == "th" and not element.children:
        tag = "td"  # an empty heading of a column says nothing to a screen reader
    number = {"li": "value", "ol": "start"}.get(tag)
    return el(
        tag,
        *_children(element, raised),
        **({number: element.number} if number and element.number.isdigit() else {}),
    )


def _link(href: str) -> list[Tree]:
    """Return an arrow that opens a link, since clicking its words selects their claim."""
    if not safe_url(href):
        return []
    label = "Open the link of the answer"
    return [
        el(
            "a",
            "↗",
            href=href,
            class_="out",
            target="_blank",
            rel="noopener noreferrer",
            aria_label=label,
        )
    ]


Kind = Literal["same", "added", "removed"]
_TOKEN = re.compile(r"\[\^\w{1,40}\]|\s+|\d+(?:[.,]\d+)+|\w+|[^\w\s]")
_SIGNS = re.compile(r"[*_`#]++")  # of Markdown, in removed words
_NOTE = re.compile(
    r"\[\^(\w{1,40})\]:?"
)  # a footnote's number in Markdown, and in front of the footnote itself


def word_diff(before: str, after: str) -> list[tuple[Kind, str]]:
    """Return stretches of both texts in order; those that are not removed make up `after`.

    Lines are compared first, then the words of those that differ.
    """
    made: list[tuple[Kind, str]] = []
    for old_lines, new_lines in _aligned(
        before.splitlines(keepends=True), after.splitlines(keepends=True)
    ):
        differ = old_lines != new_lines
        for old, new in (
            _aligned(*map(_TOKEN.findall, (old_lines, new_lines)))
            if differ
            else [(old_lines, new_lines)]
        ):
            if old == new:
                made.append(("same", new))
                continue
            made += [("removed", old)] if old else []
            made += [("added", new)] if new else []
    return made


def _aligned(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the stretches that are the same in both, and those between them."""
    for _, a, b, c, d in Diff(old, new).get_opcodes():
        yield "".join(old[a:b]), "".join(new[c:d])


def shown(before: str, after: str) -> list[Child]:
    """Return the diff as nodes: removed words struck out, added ones marked, footnotes by their
    number alone.
    """
    look = {"added": ("strong", "added"), "removed": ("del", "removed")}
    nodes: list[Child] = []
    for kind, text in word_diff(before, after):
        children = _with_notes(text)
        nodes += (
            children if kind == "same" else [el(look[kind][0], *children, class_=look[kind][1])]
        )
    return nodes


class _Change(NamedTuple):
    """Words that were added, or removed at a position; offsets count characters of the text after
    the change.
    """

    kind: Kind
    start: int
    end: int
    text: str


def rendered(before: str, after: str) -> list[Child]:
    """Render the Markdown of `after`, with added words marked and removed ones struck out where
    they stood.
    """
    changes: list[_Change] = []
    position = 0
    for kind, text in word_diff(before, after):
        end = position + (len(text) if kind != "removed" else 0)
        if kind != "same":
            changes.append(_Change(kind, position, end, text))
        position = end
    return [_changed(node, changes) for node in parse(after, raised=False)]


def _changed(tree: Tree, changes: Sequence[_Change]) -> Tree:
    if isinstance(tree, Node):
        return tree.with_children([_changed(child, changes) for child in tree.children])
    if tree.start < 0:
        return tree
    first = bisect_left(changes, tree.start, key=lambda change: change.end)
    last = bisect_left(changes, tree.end, key=lambda change: change.start)
    inside = [c for c in changes[first:last] if c.kind == "removed" or c.end > tree.start]
    if tree.written:  # an escape or an entity: it cannot be divided
        return (
            el("strong", tree, class_="added") if any(c.kind == "added" for c in inside) else tree
        )
    pieces: list[Child] = []
    position = tree.start
    for change in inside:
        start = max(change.start, tree.start)
        pieces += _with_notes(tree.text[position - tree.start : start - tree.start])
        if change.kind == "removed":
            pieces.append(el("del", _SIGNS.sub("", change.text), class_="removed"))
            position = start
        else:
            position = min(change.end, tree.end)
            added = tree.text[start - tree.start : position - tree.start]
            pieces.append(el("strong", *_with_notes(added), class_="added"))
    return el("span", *pieces, *_with_notes(tree.text[position - tree.start :]))


def _with_notes(text: str) -> list[Child]:
    parts = _NOTE.split(text)  # every second one is a number
    return [el("sup", part) if n % 2 else part for n, part in enumerate(parts) if part]

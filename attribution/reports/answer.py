"""Draw an answer as nodes: its Markdown, its claims highlighted, its differences from another text.

Links that are not http(s) show only their words, images only their description.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import groupby, pairwise
from operator import itemgetter
from os.path import commonprefix
from typing import NamedTuple

from attribution.reports.html import BLOCKS, Child, Node, Text, Tree, el, link, safe_url, texts
from attribution.text.markdown import Element, Written, read
from attribution.types import Claim, Span

DEEPEST = 32  # marks over one character
# Forms of citation marks that tell a reader which source it is.
NAMING = ("link", "address", "named", "author_year")
_HEADINGS = {f"h{n}": f"h{min(6, n + 1)}" for n in range(1, 7)}  # h1 is the page's
_NUMBER = re.compile(r"\d+(?:[–-]\d+)?")


# --- Markdown ---


def parse(source: str) -> list[Tree]:
    """Parse Markdown into its blocks.

    Citation marks without words are raised numbers, and what a model thought is grey.

    Args:
        source: An answer, which may hold anything.

    Returns:
        Nodes whose texts know their places in the source, in its order.
    """
    return _children(read(source)) if source.strip() else []


def _children(element: Element) -> list[Tree]:
    nodes: list[Tree] = []
    for child in element.children:
        if isinstance(child, Written):
            length = 0 if child.verbatim else child.end - child.start
            nodes.append(Text(child.text, child.start, length))
        elif child.tag == "cite":
            nodes += _citation(child)
        elif child.tag in ("img", "a") or child.role == "tight":
            nodes += [*_children(child), *_link(child.href)]
        else:
            nodes.append(_node(child))
    return nodes


def _node(element: Element) -> Node:
    tag = _HEADINGS.get(element.tag, element.tag)
    if tag in ("br", "hr"):
        return el(tag)
    if tag == "th" and not element.children:
        tag = "td"  # an empty heading of a column says nothing to a screen reader
    number = element.number if tag == "li" and element.number.isdigit() else None
    return el(tag, *_children(element), value=number)


def _citation(cite: Element) -> list[Tree]:
    """Draw a citation mark.

    It is raised, as its number or a dot; a mark that names its source, "(Rossi, 2020)", stays as it
    is, and a tag that cites nothing is left out.
    """
    written = list(cite.texts())
    mark = cite.mark
    in_words = [*_children(cite), *_link(cite.href)]
    if mark and mark.row.folded:
        return [el("span", *in_words, class_="quiet")]
    if mark is None or not written:
        return in_words
    if mark.row.form in NAMING and not mark.match[0].startswith("【"):
        return in_words
    start, length = written[0].start, written[-1].end - written[0].start
    if "kept" in mark.row.pattern.groupindex or not mark.row.form:  # an entity, or a tag
        return [Text("", start, length)]
    number = ", ".join(_NUMBER.findall(mark.number)) or mark.number or "•"
    return [el("sup", Text(number, start, length), class_="cite", title=mark.match[0])]


def _link(href: str) -> list[Tree]:
    """Return an arrow that opens a link, since clicking its words selects their claim."""
    return [link("↗", href, "out", "Open the link of the answer")] if safe_url(href) else []


# --- the claims in it ---


class _Mark(NamedTuple):
    start: int
    end: int
    claim: str
    part: int


def mark(tree: Sequence[Tree], claims: Sequence[Claim]) -> list[Tree]:
    """Wrap every claim's characters in the tree.

    Where spans overlap, the one that begins first lies outside, or the longer one.

    Args:
        tree: As `parse` returns it.
        claims: Those of the answer.

    Returns:
        The tree with a span around each part of a claim, whose attributes name claim and part.
    """
    marks: list[_Mark] = []
    for claim in claims:
        for part, (start, end) in enumerate(claim.spans):
            if start < end:
                marks.append(_Mark(start, end, claim.id, part))
    marks.sort(key=lambda mark: (mark.start, -mark.end))
    return _Marker(marks).wrapped(tree)


class _Marker:
    """Wraps the nodes of a tree in the marks over them."""

    def __init__(self, marks: Sequence[_Mark]) -> None:
        """Note the marks over each stretch between two cuts, the outer ones first.

        Those over DEEPEST others are left out: no browser could draw them.
        """
        self._cuts = sorted({place for mark in marks for place in (mark.start, mark.end)})
        self._marks: list[list[_Mark]] = []
        started = 0
        over: list[_Mark] = []
        for cut in self._cuts:
            over = [mark for mark in over if mark.end > cut]
            while started < len(marks) and marks[started].start == cut:
                if len(over) < DEEPEST:
                    over.append(marks[started])
                started += 1
            self._marks.append(list(over))

    def wrapped(self, nodes: Sequence[Tree], depth: int = 0) -> list[Tree]:
        """Wrap siblings in the marks over them, beyond the `depth` ones that are drawn already."""
        pieces = [piece for node in nodes for piece in self._pieces(node)]
        own: list[_Mark | None] = []  # what goes around each piece
        for piece in pieces:
            if _is_placed(piece):
                marks = self._marks_over(piece)[depth:]
                own.append(marks[0] if marks else None)
            else:
                own.append(own[-1] if own else None)
        wrapped: list[Tree] = []
        for mark, pairs in groupby(zip(own, pieces, strict=True), itemgetter(0)):
            group = [piece for _, piece in pairs]
            if mark is None:
                wrapped += [self._inside(node, depth) for node in group]
                continue
            tail: list[Tree] = []  # such as a line break
            while not _is_placed(group[-1]):
                tail.insert(0, group.pop())
            inner = self.wrapped(group, depth + 1)
            if any(text.text.strip() for node in inner for text in texts(node)):
                inner = [el("span", *inner, data_claim=mark.claim, data_span=mark.part)]
            wrapped += [*inner, *tail]
        return wrapped

    def _inside(self, node: Tree, depth: int) -> Tree:
        if isinstance(node, Text):
            return node
        return node.with_children(self.wrapped(node.children, depth))

    def _pieces(self, node: Tree) -> list[Tree]:
        """Cut a text where a mark begins or ends; an escape or an entity can't be cut."""
        if isinstance(node, Node) or node.start < 0 or node.written:
            return [node]
        first = bisect_right(self._cuts, node.start)
        last = bisect_left(self._cuts, node.end)
        places = [node.start, *self._cuts[first:last], node.end]
        pieces: list[Tree] = []
        for start, end in pairwise(places):
            pieces.append(Text(node.text[start - node.start : end - node.start], start))
        return pieces

    def _marks_over(self, node: Tree) -> Sequence[_Mark]:
        """Return the marks over all of a node, the outer ones first; none for a block."""
        if isinstance(node, Text):
            stretch = bisect_right(self._cuts, node.start) - 1
            marks = self._marks[stretch] if stretch >= 0 else []
            return [mark for mark in marks if node.end <= mark.end]
        if node.tag in BLOCKS:
            return ()
        inside = [list(self._marks_over(text)) for text in texts(node) if text.start >= 0]
        return commonprefix(inside)


def _is_placed(node: Tree) -> bool:
    return any(text.start >= 0 for text in texts(node))


def marked(tree: Sequence[Tree]) -> set[str]:
    """Return the ids of the claims that have a place in the tree."""
    ids: set[str] = set()
    for node in tree:
        if isinstance(node, Node):
            ids |= {value for name, value in node.attributes if name == "data-claim"}
            ids |= marked(node.children)
    return ids


# --- differences ---

_TOKEN = re.compile(r"\s+|\d+(?:[.,]\d+)+|\w+|[^\w\s]")


def shown(before: str, after: str) -> list[Child]:
    """Return the word diff as nodes: removed words struck out, added ones marked.

    All nodes but the removed words make up `after`.
    """
    old_words, new_words = _TOKEN.findall(before), _TOKEN.findall(after)
    nodes: list[Child] = []
    for tag, a, b, c, d in SequenceMatcher(None, old_words, new_words).get_opcodes():
        removed, added = "".join(old_words[a:b]), "".join(new_words[c:d])
        if tag == "equal":
            nodes.append(added)
            continue
        if removed:
            nodes.append(el("del", removed, class_="removed"))
        if added:
            nodes.append(el("strong", added, class_="added"))
    return nodes


def spanned(text: str, spans: Sequence[Span]) -> list[Child]:
    """Return a text whose spans are boxed as differences.

    Args:
        text: The text.
        spans: In order, without overlaps.
    """
    nodes: list[Child] = []
    position = 0
    for start, end in spans:
        nodes += [text[position:start], el("span", text[start:end], class_="differs")]
        position = end
    return [*nodes, text[position:]]

"""Draw an answer as nodes: its Markdown, its claims highlighted, its differences from another text.

Links that are not http(s) show only their words, images only their description.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from attribution.reports.html import BLOCKS, Child, Node, Text, Tree, el, link, safe_url, texts
from attribution.text.markdown import Element, Written, read
from attribution.types import Claim, Span

DEEPEST = 32  # marks over one character
# Forms of citation marks that tell a reader which source it is.
NAMING = ("link", "address", "named", "author_year")
_HEADINGS = {f"h{n}": f"h{min(6, n + 1)}" for n in range(1, 7)}  # h1 is the page's
_TAG = re.compile(r"</?(?:think|thinking|details|summary)\b[^<>]*+>")
_NUMBER = re.compile(r"\d+(?:[–-]\d+)?")


# --- Markdown ---


def parse(source: str) -> list[Tree]:
    """Parse Markdown into its blocks.

    Citation marks without words are raised numbers, and what a model thought is folded.

    Args:
        source: An answer, which may hold anything.

    Returns:
        Nodes whose texts know their places in the source, in its order.
    """
    nodes: list[Tree] = []
    position = 0
    for start, end in sorted(_thoughts(read(source))):
        thought = _TAG.sub(lambda tag: " " * len(tag[0]), source[start:end])
        summary = el("summary", "Reasoning (not checked)")
        nodes += _blocks(source[position:start], position)
        nodes.append(el("details", summary, *_blocks(thought, start), class_="ax-detail"))
        position = end
    return [*nodes, *_blocks(source[position:], position)]


def _thoughts(element: Element) -> set[Span]:
    """Return the spans of what a model thought, without those that code or a backslash escapes."""
    mark = element.mark
    spans = {(mark.start, mark.end)} if mark and mark.row.folded else set()
    return spans.union(*map(_thoughts, element.elements))


def _blocks(source: str, offset: int) -> list[Tree]:
    nodes = _children(read(source)) if source.strip() else []
    return [_shifted(node, offset) for node in nodes] if offset else nodes


def _shifted(tree: Tree, offset: int) -> Tree:
    if isinstance(tree, Node):
        return tree.with_children([_shifted(child, offset) for child in tree.children])
    return tree._replace(start=tree.start + offset) if tree.start >= 0 else tree


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
    attributes = {}
    if element.number.isdigit() and tag in ("li", "ol"):
        attributes["value" if tag == "li" else "start"] = element.number
    return el(tag, *_children(element), **attributes)


def _citation(cite: Element) -> list[Tree]:
    """Draw a citation mark.

    It is raised, as its number or a dot; a mark that names its source, "(Rossi, 2020)", stays as it
    is, and a tag that cites nothing is left out.
    """
    written = list(cite.texts())
    mark = cite.mark
    in_words = [*_children(cite), *_link(cite.href)]
    if mark is None or not written or mark.row.folded:
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
    marker = _Marker(list(_shallow(marks)))
    return _merged([piece for node in tree for piece in marker.wrapped(node)])


def _shallow(marks: Sequence[_Mark]) -> Iterator[_Mark]:
    """Yield the marks, by start, without those over DEEPEST others: no browser could draw them."""
    ends: list[int] = []  # of the marks over the current place
    for one in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
        ends = [end for end in ends if end > one.start]
        if len(ends) < DEEPEST:
            ends.append(one.end)
            yield one


class _Marker:
    """Wraps the texts of a tree, which must come in their order."""

    def __init__(self, marks: Sequence[_Mark]) -> None:
        self._marks = marks
        self._next = 0
        self._open: list[_Mark] = []
        self._cuts = sorted({place for mark in marks for place in (mark.start, mark.end)})

    def wrapped(self, node: Tree) -> list[Tree]:
        if isinstance(node, Text):
            return [self._covered(piece) for piece in self._pieces(node)]
        children = [piece for child in node.children for piece in self.wrapped(child)]
        return [_lifted(node.with_children(_merged(children)))]

    def _pieces(self, text: Text) -> list[Text]:
        """Cut a text where a mark begins or ends; an escape or an entity can't be cut."""
        if text.start < 0 or text.written:
            return [text]
        first = bisect_right(self._cuts, text.start)
        last = bisect_left(self._cuts, text.end)
        places = [text.start, *self._cuts[first:last], text.end]
        pieces = []
        for start, end in pairwise(places):
            pieces.append(Text(text.text[start - text.start : end - text.start], start))
        return pieces

    def _covered(self, text: Text) -> Tree:
        if text.start < 0:
            return text
        while self._next < len(self._marks) and self._marks[self._next].start <= text.start:
            self._open.append(self._marks[self._next])
            self._next += 1
        self._open = [mark for mark in self._open if mark.end > text.start]
        covering = [mark for mark in self._open if text.end <= mark.end]
        node: Tree = text
        for one in reversed(covering):
            node = el("span", node, data_claim=one.claim, data_span=one.part)
        return node


def _claim_of(node: Tree) -> tuple[tuple[str, str], ...]:
    """Return the attributes of a claim's span; empty for other nodes."""
    if isinstance(node, Text) or not node.attributes or node.attributes[0][0] != "data-claim":
        return ()
    return node.attributes


def _lifted(node: Node) -> Node:
    """Put a claim's span that fills an inline element around it."""
    if node.tag in BLOCKS or len(node.children) != 1:
        return node
    (span,) = node.children
    if not isinstance(span, Node) or not _claim_of(span):
        return node
    return span.with_children([_lifted(node.with_children(list(span.children)))])


def _merged(nodes: Sequence[Tree]) -> list[Tree]:
    """Join neighbouring spans of the same part of a claim.

    Line breaks and the like between them, which have no place in the source, lie within the joined
    span. Nothing blank is a claim.
    """
    merged: list[Tree] = []
    index = 0
    while index < len(nodes):
        node = nodes[index]
        index += 1
        attributes = _claim_of(node)
        if not isinstance(node, Node) or not attributes:
            merged.append(node)
            continue
        children = list(node.children)
        gap: list[Tree] = []  # nodes without a place in the source, such as a line break
        for at in range(index, len(nodes)):
            following = nodes[at]
            if isinstance(following, Node) and _claim_of(following) == attributes:
                children += [*gap, *following.children]
                gap = []
                index = at + 1
            elif any(text.start >= 0 for text in texts(following)):
                break
            else:
                gap.append(following)
        span = node.with_children(_merged(children))
        is_blank = not any(text.text.strip() for text in texts(span))
        merged += span.children if is_blank else [span]
    return merged


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


def spanned(text: str, spans: Sequence[Span], class_: str) -> list[Child]:
    """Return a text whose spans are elements of a class.

    Args:
        text: The text.
        spans: In order, without overlaps.
        class_: The class of their elements.
    """
    nodes: list[Child] = []
    position = 0
    for start, end in spans:
        nodes += [text[position:start], el("span", text[start:end], class_=class_)]
        position = end
    return [*nodes, text[position:]]

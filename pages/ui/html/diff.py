"""What was changed in a text, word by word."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from attribution.text.diff import Diff
from pages.ui.html import markdown
from pages.ui.html.render import Child, Node, Tree, el

Kind = Literal["same", "added", "removed"]
_TOKEN = re.compile(r"\[\^\w{1,40}\]|\s+|\w+|[^\w\s]")
_SIGNS = re.compile(r"[*_`#]++")  # of Markdown, in words that are gone
_NOTE = re.compile(r"\[\^(\w{1,40})\]:?")  # a footnote's number in Markdown, and in front of the footnote itself


def word_diff(before: str, after: str) -> list[tuple[Kind, str]]:
    """Stretches of both texts in order; those that are not removed make up `after`.

    Lines are compared first, then the words of those that differ.
    """
    made: list[tuple[Kind, str]] = []
    for old_lines, new_lines in _aligned(before.splitlines(keepends=True), after.splitlines(keepends=True)):
        differ = old_lines != new_lines
        for old, new in _aligned(*map(_TOKEN.findall, (old_lines, new_lines))) if differ else [(old_lines, new_lines)]:
            if old == new:
                made.append(("same", new))
                continue
            made += [("removed", old)] if old else []
            made += [("added", new)] if new else []
    return made


def _aligned(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Stretches of both that are the same, and those between them."""
    for _, a, b, c, d in Diff(old, new).get_opcodes():
        yield "".join(old[a:b]), "".join(new[c:d])


def shown(before: str, after: str) -> list[Child]:
    """The diff as nodes: removed words struck out, added ones marked, footnotes by their number alone."""
    look = {"added": ("strong", "added"), "removed": ("del", "removed")}
    nodes: list[Child] = []
    for kind, text in word_diff(before, after):
        children = _with_notes(text)
        nodes += children if kind == "same" else [el(look[kind][0], *children, class_=look[kind][1])]
    return nodes


class _Change(NamedTuple):
    """Words that were added, or that were removed at a place: characters of the text after the change."""

    kind: Kind
    start: int
    end: int
    text: str


def rendered(before: str, after: str) -> list[Child]:
    """The Markdown of `after` as it reads, with added words marked and removed ones struck out where they stood."""
    changes: list[_Change] = []
    position = 0
    for kind, text in word_diff(before, after):
        end = position + (len(text) if kind != "removed" else 0)
        if kind != "same":
            changes.append(_Change(kind, position, end, text))
        position = end
    return [_changed(node, changes) for node in markdown.parse(after)]


def _changed(tree: Tree, changes: Sequence[_Change]) -> Tree:
    if isinstance(tree, Node):
        return tree.with_children([_changed(child, changes) for child in tree.children])
    if tree.start < 0:
        return tree
    first = bisect_left(changes, tree.start, key=lambda change: change.end)
    last = bisect_left(changes, tree.end, key=lambda change: change.start)
    inside = [c for c in changes[first:last] if c.kind == "removed" or c.end > tree.start]
    if tree.written:  # an escape or an entity: it cannot be divided
        return el("strong", tree, class_="added") if any(c.kind == "added" for c in inside) else tree
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

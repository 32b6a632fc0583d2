"""What was changed in a text, word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from attribution.text.diff import Diff
from pages.ui.html.render import Child, el

Kind = Literal["same", "added", "removed"]
_TOKEN = re.compile(r"\[\^\w{1,40}\]|\s+|\w+|[^\w\s]")
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


def _with_notes(text: str) -> list[Child]:
    parts = _NOTE.split(text)  # every second one is a number
    return [el("sup", part) if n % 2 else part for n, part in enumerate(parts) if part]

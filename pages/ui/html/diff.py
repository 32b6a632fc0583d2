"""What was changed in a text, word by word."""

from __future__ import annotations

import difflib
import re
from typing import Literal

from pages.ui.html.render import Child, el

Kind = Literal["same", "added", "removed"]
_TOKEN = re.compile(r"\[\^\w{1,40}\]|\s+|\w+|[^\w\s]")
_NOTE = re.compile(r"\[\^(\w{1,40})\]:?")  # a footnote's number in Markdown, and in front of the footnote itself


def word_diff(before: str, after: str) -> list[tuple[Kind, str]]:
    """Stretches of both texts in order; those that are not removed make up `after`."""
    old, new = (_TOKEN.findall(text) for text in (before, after))
    made: list[tuple[Kind, str]] = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            made.append(("same", "".join(new[c:d])))
            continue
        if a < b:
            made.append(("removed", "".join(old[a:b])))
        if c < d:
            made.append(("added", "".join(new[c:d])))
    return made


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

"""What was changed in a text, word by word."""

from __future__ import annotations

import difflib
import re
from typing import Literal

from pages.ui.html.render import Child, el

Kind = Literal["same", "added", "removed"]


def word_diff(before: str, after: str) -> list[tuple[Kind, str]]:
    """Stretches of both texts in order; those that are not removed make up `after`."""
    old, new = (re.findall(r"\s+|\w+|[^\w\s]", text) for text in (before, after))
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
    """The diff as nodes: removed words struck out, added ones marked."""
    look = {"added": ("strong", "added"), "removed": ("del", "removed")}
    return [
        text if kind == "same" else el(look[kind][0], text, class_=look[kind][1])
        for kind, text in word_diff(before, after)
    ]

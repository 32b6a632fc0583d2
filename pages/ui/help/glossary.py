"""The terms of docs/glossary.md, explained where they are used. Imports no streamlit."""

from __future__ import annotations

import re
from functools import cache

from attribution.settings import ROOT
from pages.ui.html.render import Child, Node, el

GLOSSARY = ROOT / "docs" / "glossary.md"
_ROW = re.compile(r"^\| \*\*(?P<term>[^*]+)\*\*(?P<more>[^|]*)\| (?P<meaning>.+) \|$", re.MULTILINE)
_MARKED = re.compile(r"\[([^\[\]]+)\]")


@cache
def terms() -> dict[str, str]:
    """What each term means, in the order of the glossary."""
    rows = _ROW.finditer(GLOSSARY.read_text("utf-8"))
    return {row["term"]: row["meaning"].replace("*", "") for row in rows}


@cache
def _by_word() -> dict[str, str]:
    """The same by every word for it: a chunk is also called a passage."""
    found = {}
    for row in _ROW.finditer(GLOSSARY.read_text("utf-8")):
        for name in (row["term"], *row["more"].split(",")):
            found[name.strip().casefold()] = row["meaning"].replace("*", "")
    return found


def explained(text: str) -> list[Child]:
    """A text of our own in which terms stand in brackets, as nodes: [claim] and [claims] show what a claim is.

    KeyError for a term that is not in the glossary.
    """
    parts = _MARKED.split(text)
    return [term(part) if n % 2 else part for n, part in enumerate(parts)]


def term(words: str) -> Node:
    """A term, underlined with dots; its meaning appears on hover and focus, and is read out with it."""
    known, word = _by_word(), words.casefold()
    meaning = known[word] if word in known else known[word.removesuffix("s")]
    return el("span", words, el("span", meaning, role="tooltip", class_="ax-meaning"), tabindex=0, class_="ax-term")

"""Explain terms, keys and badges."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import yaml

from attribution.reports import html
from attribution.reports.html import Child, Node, badge, el
from attribution.reports.looks import look
from attribution.settings import ROOT
from attribution.types import LABELS

TEXTS = Path(__file__).parent / "static" / "help.yaml"
GLOSSARY = ROOT / "docs" / "glossary.md"
_ROW = re.compile(
    r"^\| \*\*(?P<term>[^*]+)\*\*(?P<more>[^|]*)\| (?P<meaning>[^|\n]+?) \|(?:[^|\n]*\|)?$",
    re.MULTILINE,
)
_MARKED = re.compile(r"\[([^\[\]]+)\]")


@cache
def terms() -> dict[str, str]:
    """Return the meaning of each term, in the order of the glossary."""
    rows = _ROW.finditer(GLOSSARY.read_text("utf-8"))
    return {row["term"]: row["meaning"].replace("*", "") for row in rows}


@cache
def _by_word() -> dict[str, str]:
    """Index the meanings by every word for a term: a chunk is also called a passage."""
    found = {}
    for row in _ROW.finditer(GLOSSARY.read_text("utf-8")):
        for name in (row["term"], *row["more"].split(",")):
            found[name.strip().casefold()] = row["meaning"].replace("*", "")
    return found


def explained(text: str) -> list[Child]:
    """Explain the terms in brackets in one of our own texts: [claim] and [claims] show the meaning
    of claim.

    Raises KeyError for a term that is not in the glossary.
    """
    parts = _MARKED.split(text)
    return [term(part) if n % 2 else part for n, part in enumerate(parts)]


def term(words: str) -> Node:
    """Show a term with a dotted underline; its meaning appears on hover and focus, and is read
    aloud with it.
    """
    known, word = _by_word(), words.casefold()
    meaning = known[word] if word in known else known[word.removesuffix("s")]
    return el(
        "span",
        words,
        el(
            "span",
            meaning,
            role="tooltip",
            class_="ax-meaning",
        ),
        tabindex=0,
        class_="ax-term",
    )


@cache
def texts() -> dict[str, list[list[str]]]:
    """Return the keys, with what each does."""
    found: dict[str, list[list[str]]] = yaml.safe_load(TEXTS.read_text("utf-8"))
    return found


@cache
def sheet() -> dict[str, object]:
    """Return keys, badges and terms as trees and texts."""
    badges = [el("div", el("dt", badge(name)), el("dd", look(name).help)) for name in LABELS]
    glossary = [el("div", el("dt", name), el("dd", text)) for name, text in terms().items()]
    return {
        **texts(),
        "badges": html.data(el("dl", *badges)),
        "terms": html.data(el("dl", *glossary)),
        "css": html.VERDICTS_CSS,
    }

"""Explain terms, keys and badges."""

from __future__ import annotations

import re
from functools import cache

from attribution.reports import html
from attribution.reports.html import Child, Node, badge, el, look
from attribution.settings import ROOT
from attribution.types import LABELS

GLOSSARY = ROOT / "docs" / "glossary.md"
_ROW = re.compile(r"^\| \*\*(?P<term>[^*]+)\*\*(?P<more>[^|]*)\| (?P<meaning>.+) \|$", re.MULTILINE)
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
        el("span", meaning, role="tooltip", class_="ax-meaning"),
        tabindex=0,
        class_="ax-term",
    )


SHORTCUTS = (  # key and its action; help.js handles the same keys
    ("?", "Open or close this sheet"),
    ("r", "Run: analyse or compare what you filled in"),
    ("s", "Stop, and keep the results so far; with a result: your verdict is “supported”"),
    ("j", "Next claim"),
    ("k", "Previous claim"),
    ("n", "Next claim that needs a look, the worst first"),
    ("a", "Agree with the verdict on the selected claim"),
    ("c", "Your verdict is “contradicted”"),
    ("u", "Your verdict is “unclear”"),
    ("x", "Clear your verdict"),
    ("e", "Go to the evidence of the selected claim"),
    ("/", "Go to the search field, or to the question"),
)
CLAIM_KEYS = (
    (
        "Tab",
        "Reach the claims, links, buttons and menus one by one; the first of them skips to the answer",
    ),
    (
        "Enter",
        "Select the claim that has the focus; again: go to its evidence; elsewhere: press, open, save a note",
    ),
    ("← →", "With the focus on a claim, a filter or a tab: the one before it, the one after it"),
    ("Ctrl+Z", "Undo the last edit; with Shift, redo it"),
    ("Esc", "Back from the evidence to the claim; close what is open"),
)
Step = tuple[str, str, str, str]  # title, text, what it points at, and what is done (see claims.js)
TOUR: tuple[Step, ...] = (
    (
        "Paste",
        "Put a question and its answer here, or choose an example. Below it, choose what it is checked against.",
        ".st-key-form",
        "",
    ),
    (
        "Run",
        "Press Analyse. The answer is split into claims, and verdicts appear one by one. Stop keeps those so far.",
        ".st-key-start",
        "",
    ),
    (
        "Read",
        "Click a marked claim to see the sentence that decides, and why. Press ? for all keys, badges and terms.",
        ".st-key-form",
        "",
    ),
)
DEMO: tuple[Step, ...] = (
    (
        "An answer with errors",
        "This answer about the Eiffel Tower is being checked against the built-in library. Errors were put into it. "
        "When the run has ended, the line above names the problems first, and the bar below it filters the claims.",
        ".st-key-folded",
        "",
    ),
    (
        "A wrong number",
        "The answer says 4.5 million rivets, the source 2.5 million; its sentence is quoted beside the answer. "
        "With the key n you walk from problem to problem, the worst first.",
        ".st-key-stage",
        "claim:4",
    ),
    (
        "Left to you",
        "The source names two engineers of Eiffel's company. The verifier does not settle it, so the claim is unclear. "
        "Your own verdict stands beside the model's: press c for contradicted, x to clear it.",
        ".st-key-stage",
        "claim:3",
    ),
    (
        "A correction",
        "In the card of a contradicted claim, press Propose a correction: the smallest change that the source "
        "supports. What you accept is in the revised answer, with footnotes.",
        ".st-key-stage",
        "claim:4",
    ),
    (
        "Take it along",
        "Export makes a web page, Markdown, JSON and more of the result; Share copies its link. Now paste an answer of "
        "your own: Change opens the form.",
        ".st-key-actions",
        "tab:evidence",
    ),
)


@cache
def sheet() -> dict[str, object]:
    """Return shortcuts as pairs, and badges, terms and the steps of the tour as trees and texts."""
    badges = el("dl", *(el("div", el("dt", badge(k)), el("dd", look(k).help)) for k in LABELS))
    glossary = el(
        "dl", *(el("div", el("dt", name), el("dd", meaning)) for name, meaning in terms().items())
    )
    return {
        "shortcuts": list(map(list, SHORTCUTS)),
        "claim_keys": list(map(list, CLAIM_KEYS)),
        "badges": html.data(badges),
        "terms": html.data(glossary),
        "tour": list(map(list, TOUR)),
        "demo": list(map(list, DEMO)),
        "css": html.tokens_css(".ax-help"),
    }

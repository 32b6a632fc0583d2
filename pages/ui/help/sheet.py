"""What the help sheet and the tour say, as plain data for the script of every page. Imports no streamlit."""

from __future__ import annotations

from functools import cache
from typing import Any

from attribution.types import LABELS
from pages.ui.help.glossary import terms
from pages.ui.html import render
from pages.ui.html.render import badge, el, look

SHORTCUTS = (  # key, what it does; help.js acts on the same keys
    ("?", "Open or close this sheet"),
    ("r", "Run: analyse or compare what is filled in"),
    ("s", "Stop, and keep the results so far"),
    ("j", "Next claim"),
    ("k", "Previous claim"),
    ("e", "Go to the evidence of the selected claim"),
    ("/", "Go to the search field, or to the question"),
)
CLAIM_KEYS = (
    ("Tab", "Reach the claims, links and buttons one by one"),
    ("Enter", "Select the claim that has the focus; again: go to its evidence"),
    ("← →", "Previous and next claim, from a claim that has the focus"),
    ("Esc", "Back from the evidence to the claim; close what is open"),
)
TOUR = (
    (
        "Paste",
        "Put a question and its answer here, or choose an example. The sidebar says what it is checked against.",
    ),
    ("Run", "Press Analyse. The answer is split into claims, and verdicts appear one by one. Stop keeps what is done."),
    ("Read", "Click a marked claim to see the sentence that decides, and why. Press ? for all keys, badges and terms."),
)


@cache
def sheet() -> dict[str, Any]:
    """Shortcuts as pairs; badges, terms and the steps of the tour as trees and texts."""
    badges = el("dl", *(el("div", el("dt", badge(k)), el("dd", look(k).help)) for k in LABELS))
    glossary = el("dl", *(el("div", el("dt", name), el("dd", meaning)) for name, meaning in terms().items()))
    return {
        "shortcuts": list(map(list, SHORTCUTS)),
        "claim_keys": list(map(list, CLAIM_KEYS)),
        "badges": render.data(badges),
        "terms": render.data(glossary),
        "tour": list(map(list, TOUR)),
        "css": render.tokens_css(".ax-help"),
    }

"""The answer as it was written, each claim's characters marked, with the evidence of the selected one beside it.

Selecting happens in the browser alone; the server is asked only for the text of a source that is opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from attribution.types import LABELS, Claim, Page, Report
from pages.ui.html import highlight, markdown, render
from pages.ui.html.render import Node, el
from pages.ui.run import cards

_HERE = Path(__file__).parent
_answer = st.components.v2.component(
    "attribution.answer",
    html='<div class="root"></div>',
    css=render.tokens_css(".root") + (_HERE / "answer_view.css").read_text("utf-8"),
    js=render.NODES_JS + (_HERE / "answer_view.js").read_text("utf-8"),
)
_source = st.components.v2.component(
    "attribution.source",
    html='<div class="source" tabindex="0"></div>',
    css=render.tokens_css(".source") + (_HERE / "source_view.css").read_text("utf-8"),
    js=(_HERE / "source_view.js").read_text("utf-8"),
)


def _hint(running: bool) -> Node:
    """What stands in the evidence column while no claim is selected."""
    waiting = el("p", "Verdicts appear as they are known.") if running else None
    return el(
        "div",
        el("h3", "Evidence"),
        el("p", "Select a claim to see what the sources say of it."),
        waiting,
        class_="hint",
    )


def view(report: Report, *, run: str, running: bool) -> dict[str, Any]:
    """What the component draws, as plain data."""
    pages: Mapping[str, Page] = {p.id: p for p in report.pages}
    verdicts = {v.claim_id: v for v in report.verdicts}
    evidence: dict[str, list[Any]] = {c.id: [] for c in report.claims}
    for piece in report.evidence:
        evidence.setdefault(piece.claim_id, []).append(piece)
    tree = highlight.mark(markdown.parse(report.answer), report.claims)
    placed = highlight.marked(tree)
    claims, panels = {}, {}
    for number, claim in enumerate(report.claims, 1):
        verdict = verdicts.get(claim.id)
        look = render.look(verdict.label if verdict else None)
        label = verdict.label if verdict else "pending"
        claims[claim.id] = {
            "n": number,
            "label": label,
            "icon": look.icon,
            "word": look.word.lower(),
            "text": claim.text,
        }
        panels[claim.id] = render.data(cards.panel(claim, number, verdict, evidence[claim.id], report, pages))
    return {
        "run": run,
        "tree": [render.data(node) for node in tree],
        "claims": claims,
        "loose": [c.id for c in report.claims if c.id not in placed],
        "panels": panels,
        "counts": counts(report),
        "first": "" if running else first(report.claims, {i: v.label for i, v in verdicts.items()}),
        "empty": render.data(_hint(running)),
        "notes": render.data(el("div") if running else cards.footnotes(report, pages)),
    }


def counts(report: Report) -> list[dict[str, str]]:
    """One chip for each verdict that occurs."""
    labels = [v.label for v in report.verdicts]
    found = [(label, labels.count(label)) for label in LABELS if label in labels]
    chips = [
        {"label": k, "icon": render.look(k).icon, "text": f"{n} {render.look(k).noun}", "help": render.look(k).help}
        for k, n in found
    ]
    if waiting := len(report.claims) - len(labels):
        chips.append(
            {
                "label": "pending",
                "icon": render.PENDING.icon,
                "text": f"{waiting} {render.PENDING.noun}",
                "help": render.PENDING.help,
            }
        )
    return chips


def first(claims: Sequence[Claim], labels: Mapping[str, str]) -> str:
    """The claim to show when a run has ended: the first that needs a look."""
    for wanted in ("contradicted", "conflicting", "supported", "no_relation", "missing"):
        for claim in claims:
            if labels.get(claim.id) == wanted:
                return claim.id
    return ""


def answer_view(data: dict[str, Any], *, key: str) -> Any:
    """Draw it; `open` of the result names the page and place whose source was asked for, `revert` a claim that
    should be checked as it is written."""

    def heard() -> None:  # without a callback Streamlit would not tell what was clicked
        pass

    return _answer(data=data, key=key, on_open_change=heard, on_revert_change=heard)


def place(report: Report, asked: Any) -> tuple[Page, list[int]] | None:
    """The page and offsets a click asked for; None if there is no such place in the run."""
    try:
        page = next(p for p in report.pages if p.id == asked["page"])
        at = [int(n) for n in asked["at"]]
    except (TypeError, KeyError, ValueError, OverflowError, StopIteration):
        return None
    return (page, at) if len(at) == 4 and page.text else None


def reverted(report: Report, asked: Any) -> Claim | None:
    """The enriched claim that should be checked as it is written; None if there is no such claim."""
    try:
        return next(c for c in report.claims if c.id == asked["claim"] and c.enriched)
    except (TypeError, KeyError, StopIteration):
        return None


def source_view(page: Page, at: Sequence[int], *, key: str) -> None:
    """The text of a page, scrolled to the passage."""
    size = len(page.text)
    start, end = sorted(min(max(0, int(n)), size) for n in at[:2])
    first_, last = sorted(min(max(start, int(n)), end) for n in at[2:4])
    data = {"page": page.id, "text": page.text, "at": [start, end, first_, last], "breaks": page.breaks}
    _source(data=data, key=key)

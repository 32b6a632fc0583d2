"""Two answers side by side, and what they say together, alone, and against each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from attribution.evaluation.agreement import Match
from attribution.evaluation.two_answers import TwoAnswers
from attribution.types import UNCHECKED, Claim, Report
from pages.ui.answer.view import SCRIPTS, STYLES, view
from pages.ui.answers.words import NAMES, SIDES, agreement, disagreement, extent
from pages.ui.compare.view import claim_data
from pages.ui.html import render
from pages.ui.html.render import el, plural

_HERE = Path(__file__).parent
_SIDE = '<section class="side"><h3></h3><div class="root"></div></section>'
_pair = st.components.v2.component(
    "attribution.answers",
    html=f'<div class="pairs"><div class="pair">{_SIDE * 2}</div></div>',
    css=STYLES + (_HERE / "pair.css").read_text("utf-8"),
    js=SCRIPTS + (_HERE / "pair.js").read_text("utf-8"),
)


def pair_view(result: TwoAnswers, *, run: str, running: bool, key: str) -> Any:
    """Draw both answers; a claim's counterparts in the other answer light up with it. `open` names what was clicked."""

    def ignore() -> None:  # without a callback Streamlit reports no click
        pass

    return _pair(data=pair(result, run=run, running=running), key=key, on_open_change=ignore)


def pair(result: TwoAnswers, *, run: str, running: bool) -> dict[str, Any]:
    """What the component draws, as plain data."""
    partners: dict[str, list[str]] = {}
    for match in result.matches:
        for own, others in ((match.first, match.second), (match.second, match.first)):
            for claim in own:
                partners.setdefault(claim, []).extend(others)
    sides = []
    for number, report in enumerate((result.first, result.second)):
        data = view(report, run=f"{run}-{number}", running=running)
        data["panels"] = {i: _panel(panel, i, number, result) for i, panel in data["panels"].items()}
        data["first"] = ""  # nothing is selected before it is clicked: two panels would open at once
        sides.append(data)
    return {"names": list(NAMES), "sides": sides, "partners": partners}


def _panel(panel: Any, claim: str, side: int, result: TwoAnswers) -> Any:
    """The panel of Explore with what the other answer says."""
    texts = {c.id: c.statement for c in result.report.claims}
    said = []
    for match in result.matches:
        own, others = (match.first, match.second)[:: -1 if side else 1]
        if claim in own:
            quoted = " ".join(f"“{texts[i]}”" for i in others if i in texts)
            words = f"{NAMES[1 - side]} {agreement(match, side)}: "
            said.append(render.data(el("p", words, el("span", quoted, dir="auto"), class_="reason other")))
    head, text, *rest = panel[2:]
    return [panel[0], panel[1], head, text, *said, *rest]


# --- the rows ---


def disagreements(result: TwoAnswers, running: bool) -> dict[str, Any]:
    """Claims that contradict each other, for the component of the Compare page."""
    pages = {p.id: p for p in result.report.pages}
    rows = [
        _row(f"c{n}", disagreement(match, result, running), match, result, pages, running)
        for n, match in enumerate(result.contradictions)
    ]
    return {"names": list(NAMES), "groups": [_group("Where they disagree", rows, False)] if rows else []}


def others(result: TwoAnswers, running: bool) -> dict[str, Any]:
    """What both say, and what only one says."""
    pages = {p.id: p for p in result.report.pages}
    both = [_row(f"b{n}", extent(match), match, result, pages, running) for n, match in enumerate(result.agreements)]
    groups = [_group("Both say", both, True)] if both else []
    for number, side in enumerate(("first", "second")):
        alone = result.alone("first" if side == "first" else "second")
        report = result.second if number else result.first
        rows = [
            {"key": f"{side}{n}", "pieces": [""], "bare": True, "cells": [[claim_data(c, report, pages, (), running)]]}
            for n, c in enumerate(alone)
        ]
        if rows:
            groups.append(_group(f"Only {NAMES[number]} says", rows, True))
    return {"names": list(NAMES), "groups": groups}


def _group(title: str, rows: list[dict[str, Any]], folded: bool) -> dict[str, Any]:
    return {"title": f"{title} · {len(rows)}", "folded": folded, "rows": rows}


def _row(key: str, note: str, match: Match, result: TwoAnswers, pages: Any, running: bool) -> dict[str, Any]:
    cells = []
    for report, ids in ((result.first, match.first), (result.second, match.second)):
        claims = [c for c in report.claims if c.id in ids]
        cells.append([claim_data(c, report, pages, (), running) for c in claims])
    return {"key": key, "pieces": [note], "bare": not note, "cells": cells}


# --- in words ---


def summary(result: TwoAnswers) -> str:
    """One or two sentences that say what was found."""
    parts = [f"{name}: {_counts(report)}." for name, report in zip(NAMES, (result.first, result.second), strict=True)]
    against = result.contradictions
    if not against:
        parts.append("No claim of one was found to contradict a claim of the other.")
    else:
        parts.append(f"They disagree in {plural(len(against), 'place')}{_backing(result, against)}.")
    return " ".join(parts)


def _counts(report: Report) -> str:
    verdicts = {v.claim_id: v.label for v in report.verdicts}
    checked: Sequence[Claim] = [c for c in report.claims if verdicts.get(c.id, "not_reached") not in UNCHECKED]
    supported = sum(verdicts[c.id] == "supported" for c in checked)
    contradicted = sum(verdicts[c.id] == "contradicted" for c in checked)
    also = f", {contradicted} contradicted" if contradicted else ""
    return f"{supported} of {plural(len(checked), 'checked claim')} supported{also}"


def _backing(result: TwoAnswers, matches: Sequence[Match]) -> str:
    """Whom the sources support where they disagree."""
    sides = [result.supported(m) for m in matches if result.decided(m)]
    found = [(name, sides.count(side)) for name, side in zip(NAMES, SIDES, strict=True) if side in sides]
    if len(matches) == 1 and found:
        return f", where the sources support {found[0][0]}"
    counted = " and ".join(f"{name} in {count}" for name, count in found)
    return f"; the sources support {counted} of them" if counted else ""

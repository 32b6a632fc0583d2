"""Show how often the analyst agrees with the badges, over the shown run and over all of theirs."""

from __future__ import annotations

import json
from collections.abc import Sequence

import streamlit as st

from attribution.reports.html import Node, badge, el, plural, table
from attribution.review.judgements import AnalystAgreement, agreement, benchmark_rows
from attribution.store.history import HistoryQuery
from attribution.types import Report
from pages.ui import state
from pages.ui.frame import show
from pages.ui.state import store

RUNS = 500  # the newest of the owner's runs that count


def agreement_panel(report: Report) -> None:
    """Draw it, folded, once a claim of the run was judged."""
    if not report.judgements:
        return
    title = f"Your verdicts ({len(report.judgements)})"
    panel = st.expander(title, key="agreement", on_change="rerun")
    with panel:
        show(_agreement("In this run", agreement([report])))
        if not panel.open:  # the other runs are read when somebody looks
            return
        reports = [report, *_others(report)]
        if len(reports) > 1:
            show(_agreement(f"In {plural(len(reports), 'run')} of yours", agreement(reports)))
        _download(reports)


def _others(report: Report) -> list[Report]:
    """Return this browser's other runs with a verdict of the analyst; read once a run."""

    def read() -> list[Report]:
        database = store()
        others: list[Report] = []
        for row in database.history.find(HistoryQuery(state="finished", limit=RUNS)).rows:
            if row.version == 1 or row.id == report.id:
                continue
            other = database.runs.load(row.id)
            if other and other.judgements:
                others.append(other)
        return others

    return state.cached("agreement_others", report.id, read)


def _agreement(where: str, measured: AnalystAgreement) -> Node:
    rows = []
    for label, share in measured.badges.items():
        low, high = share.interval
        rows.append((badge(label), f"{share.agreed} of {share.judged}", f"{low:.0%} to {high:.0%}"))
    words = measured.words or "None of the judged claims was compared with the sources."
    body = table(("Badge", "You agree", "95% interval"), rows) if rows else None
    return el("div", el("p", el("strong", f"{where}: "), words), body, class_="ax-changes")


def _download(reports: Sequence[Report]) -> None:
    rows = benchmark_rows(reports)
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    st.download_button(
        "Download as a benchmark set",
        "".join(lines),
        "judged.jsonl",
        "application/json",
        on_click="ignore",
        key="judged_set",
        disabled=not rows,
        help="The judged claims with their passages, for the Benchmark page.",
    )

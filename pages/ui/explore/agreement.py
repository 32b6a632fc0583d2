"""Show how often the analyst agrees with the badges, over the shown run and over all of theirs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

import streamlit as st

from attribution.errors import AttributionError
from attribution.reports.html import Node, badge, el, plural, table
from attribution.review.judgements import (
    ENOUGH,
    SUGGESTED,
    AnalystAgreement,
    agreement,
    benchmark_rows,
    suggested_threshold,
)
from attribution.store.history import HistoryQuery
from attribution.studies.annotation.project import Annotations
from attribution.studies.annotation.tasks import tasks_of_judged
from attribution.types import Report
from pages.ui import state
from pages.ui.choices import explain
from pages.ui.explore.what_if import SIDES
from pages.ui.frame import note, show, small
from pages.ui.state import store

RUNS = 500  # the newest of the owner's runs that count
MADE = "agreement_made"  # what came of the last press of a button
SETTINGS = {label: name for name, label in SIDES}
OTHERS = "agreement_others"


def agreement_panel(report: Report) -> None:
    """Draw it, folded, once a claim of the run was judged."""
    if not report.judgements:
        return
    panel = st.expander(
        f"Your verdicts ({len(report.judgements)})", key="agreement", on_change="rerun"
    )
    with panel:
        show(_agreement("In this run", agreement([report])))
        if not panel.open:  # the other runs are read when somebody looks
            return
        reports = [report, *_others(report)]
        if len(reports) > 1:
            show(_agreement(f"In {plural(len(reports), 'run')} of yours", agreement(reports)))
        _thresholds(reports)
        _uses(reports)


def _others(report: Report) -> list[Report]:
    """Return the other runs of this browser with a verdict of the analyst; read once for each run
    that is shown.
    """

    def read() -> list[Report]:
        database = store()
        rows = database.history.find(HistoryQuery(state="finished", limit=RUNS)).rows
        found = (
            database.runs.load(row.id) for row in rows if row.version > 1 and row.id != report.id
        )
        return [other for other in found if other and other.judgements]

    return state.cached(OTHERS, report.id, read)


def _agreement(where: str, found: AnalystAgreement) -> Node:
    rows = []
    for label, share in found.badges.items():
        low, high = share.interval
        rows.append((badge(label), f"{share.agreed} of {share.judged}", f"{low:.0%} to {high:.0%}"))
    words = found.words or "None of the judged claims was compared with the sources."
    body = table(("Badge", "You agree", "95% interval"), rows) if rows else None
    return el("div", el("p", el("strong", f"{where}: "), words), body, class_="ax-changes")


def _thresholds(reports: Sequence[Report]) -> None:
    """Offer the thresholds at which nine in ten badges would have been right."""
    judged = agreement(reports).all.judged
    if judged < ENOUGH:
        small(f"From {ENOUGH} judged badges on, thresholds are suggested; {judged} so far.")
        return
    for label in SUGGESTED:
        least = suggested_threshold(reports, label)
        if least is None:
            small(f"No threshold would have made 9 in 10 of the {label} badges right.")
            continue
        st.button(
            f"Use {least:.2f} for “{label}”",
            key=f"suggested-{label}",
            on_click=state.fill,
            kwargs={SETTINGS[label]: least},
            help="At this score, you agree with 9 in 10 of these badges.",
        )


def _uses(reports: Sequence[Report]) -> None:
    with st.container(horizontal=True, gap="small"):
        rows = benchmark_rows(reports)
        st.download_button(
            "Download as a benchmark set",
            "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows),
            "judged.jsonl",
            "application/json",
            on_click="ignore",
            key="judged_set",
            disabled=not rows,
            help="The judged claims with their passages, for the Benchmark page.",
        )
        st.button(
            "Make an annotation project",
            key="judged_project",
            on_click=_make_project,
            args=(reports,),
            help="The judged claims as tasks for others, who do not see your verdicts.",
        )
    if made := state.get(MADE):
        note(*made)
        state.put(MADE, None)


def _make_project(reports: Sequence[Report]) -> None:
    database = store()
    projects = Annotations(database.database)
    try:
        project = projects.create(f"Judged claims, {datetime.now():%Y-%m-%d %H:%M:%S}")
        tasks = [
            t
            for report in reports
            for t in tasks_of_judged([database.cache.with_texts(report)], project.id)
        ]
        count = projects.add_tasks(tasks)
    except AttributionError as error:
        state.put(MADE, ("No project was made", explain(error)[0]))
        return
    state.put(
        MADE, (f"“{project.name}” has {plural(count, 'task')}", "Open it under Lab, Annotation.")
    )

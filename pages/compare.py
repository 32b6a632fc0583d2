"""Compare: one answer, split by two to four segmenters, over the same evidence."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import streamlit as st

from attribution.events import Event
from attribution.reports.html import plural
from attribution.segmenters import SEGMENTERS
from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.studies.segmenters.comparison import (
    MAX_SEGMENTERS,
    Comparison,
    ComparisonReady,
    SegmenterResult,
    compare,
    json_data,
    load_comparison,
    recolour_comparison,
    save_comparison,
    with_verdicts,
)
from attribution.studies.segmenters.tables import tables
from attribution.types import Failure
from pages.ui import choices, frame, run_control, segmenter_columns, state
from pages.ui.components import claim_rows
from pages.ui.downloads import File, downloads
from pages.ui.fields import pick_many
from pages.ui.form import all_examples, form
from pages.ui.frame import note, result_table, show, small
from pages.ui.job_page import JobPage
from pages.ui.run_control import RunProgress, blank, comparison_work, preload
from pages.ui.run_results import comparison_outcome, cost, status, what_failed
from pages.ui.state import store, unowned_store

SHOWN = ("Claims", "Verdicts, share", "FActScore")  # beginnings of the titles of tables
CompareEvent = Event | SegmenterResult | ComparisonReady


@dataclass(frozen=True)
class CompareProgress(RunProgress):
    """A run over the claims of all segmenters at one moment."""

    segmenters: tuple[str, ...] = ()  # that were selected
    ready: ComparisonReady | None = None  # None until all claims are known

    @property
    def comparison(self) -> Comparison | None:
        """Return the comparison with the verdicts so far."""
        if self.ready is None:
            return None
        if self.ready.finished:
            return self.ready.comparison
        return with_verdicts(self.ready.comparison, self.report)


def read(database: Store, id: str) -> CompareProgress | None:
    """Load a saved comparison."""
    saved = load_comparison(database, id)
    if saved is None:
        return None
    return CompareProgress(
        saved.report,
        id,
        accepted=True,
        running=False,
        segmenters=tuple(column.segmenter for column in saved.columns),
        ready=ComparisonReady(saved, finished=True),
    )


JOB = JobPage("comparison", "comparison", read)


def open_comparison(id: str) -> None:
    """Show the comparison in the address, and fill in its form."""
    now = JOB.open(id)
    if now:
        choices.restore(now.report)
        state.fill(compared=list(now.segmenters))


def start() -> None:
    """Compare the segmenters on the answer in the form."""
    settings = choices.settings()
    if isinstance(settings, str):
        return
    browser, parts, id = state.browser(), unowned_store(), new_run_id()
    question, answer = run_control.text()
    names, documents, turns = segmenters(), choices.documents(), choices.turns()

    def events(stop: threading.Event) -> Iterator[CompareEvent]:
        from attribution.pipeline.run import in_turn

        start = partial(
            compare,
            question,
            answer,
            settings,
            names,
            parts,
            documents,
            stop,
            turns,
        )
        return in_turn(browser, stop, start)

    report = blank(question, answer, settings).model_copy(update={"context": turns})
    initial = CompareProgress(
        report,
        id,
        documents=documents,
        segmenters=tuple(names),
    )
    database = store()

    def save(ready: ComparisonReady) -> None:
        save_comparison(database, id, ready.comparison)

    work = comparison_work(events, ComparisonReady, save, SegmenterResult)
    JOB.launch(
        initial,
        work,
        id,
        lasting=True,
    )


# --- the page ---


def segmenters() -> list[str]:
    """Return the segmenters to compare: those selected, else two that cut sentences differently."""
    ready, selected = choices.ready(SEGMENTERS), state.value("compared")
    names = ("sentences", "clauses") if selected is None else selected
    return [name for name in names if name in ready]


def is_ready() -> bool:
    """Return True if a comparison can be started."""
    return choices.is_ready() and 2 <= len(segmenters()) <= MAX_SEGMENTERS


def choose_segmenters() -> None:
    """Draw the choice of segmenters, and below it those that are not ready."""
    pick_many(
        "Segmenters, two to four",
        SEGMENTERS,
        segmenters(),
        state.key("compared"),
        "How claims are drawn from the answer. All claims are checked against the same pages.",
    )
    selected = segmenters()
    if 2 <= len(selected) <= MAX_SEGMENTERS:
        notes = [f"{SEGMENTERS[name].label}: {SEGMENTERS[name].note}" for name in selected]
        small(". ".join(notes) + ".")
    else:
        small(f"{plural(len(selected), 'segmenter')} selected: select two to four.")


def result(now: CompareProgress) -> None:
    """Draw the figures, and the claims sentence by sentence."""
    if now.rejected:
        note(
            "This text cannot be compared",
            now.rejected,
            label="contradicted",
            detail=now.detail,
        )
        return
    comparison = now.comparison
    if comparison:
        comparison = recolour_comparison(comparison, choices.policy(comparison.report))
    with st.container(key="outcome"):  # what follows keeps its place, and is not drawn anew
        if now.running:
            status(now, now.report)
        elif comparison:
            outcome(comparison)
    if comparison is None:
        return
    measured = tables([comparison])
    for one in measured:
        if one.title.startswith(SHOWN):
            show(result_table(one))
    show(segmenter_columns.legend(comparison, now.running))
    claim_rows(segmenter_columns.view(comparison, now.running), key="compare_view")
    if not now.running:
        what_failed(failures(comparison))
        data = json.dumps(json_data(comparison), ensure_ascii=False, indent=1)
        csv = "\n".join(one.csv() for one in measured)
        downloads(
            {
                "tables (CSV)": File(csv, "comparison.csv", "text/csv"),
                "JSON": File(data, "comparison.json", "application/json"),
            }
        )


def failures(comparison: Comparison) -> tuple[Failure, ...]:
    """Return the failures of all segmenters, then those of the run they share."""
    own = [failure for column in comparison.columns for failure in column.failures]
    return (*own, *comparison.report.failures)


def outcome(comparison: Comparison) -> None:
    """Draw what was found."""
    failed = [c for c in comparison.columns if any(f.kind == "llm_failed" for f in c.failures)]
    labels = [SEGMENTERS[column.segmenter].label for column in failed]
    report = comparison.report.model_copy(update={"failures": failures(comparison)})
    comparison_outcome(segmenter_columns.summary(comparison), report, JOB.name, labels)


def page() -> None:
    """Draw the form and the comparison."""
    running, ready = JOB.is_running(), is_ready()  # asked once, so that form and result agree
    form(
        start="Compare",
        on_start=start,
        job=JOB,
        compact=True,
        running=running,
        ready=ready,
        examples=all_examples(),
        options=choose_segmenters,
        estimate=(lambda: cost(running, segmenters())) if ready else None,
    )
    JOB.draw_result(running, result)


if __name__ == "__main__":
    frame.begin(
        "compare",
        "Compare segmenters",
        "Split the answer with each segmenter ([segmentation]), check every [claim] against the "
        "same [sources], and read first the sentences whose [verdict] depends on how the answer "
        "is split.",
        run=run_control.load,
        comparison=open_comparison,
    )
    page()
    preload()

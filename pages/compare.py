"""Compare: one answer, or many, split by two to four segmenters, over the same evidence."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from attribution.claims.enrichment import turns_of
from attribution.errors import BadInput, Stopped
from attribution.events import Event, RunStarted
from attribution.files import Row, format_cell
from attribution.pipeline.experiment import run_each
from attribution.reports.html import Node, el, plural, scrolling, table
from attribution.reports.trail import date
from attribution.segmenters import SEGMENTERS
from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.studies.results import FailedAnswer, ResultTable, failure
from attribution.studies.segmenters.comparison import (
    MAX_SEGMENTERS,
    Comparison,
    ComparisonReady,
    SegmenterResult,
    compare,
    load_comparison,
    load_experiment,
    recolour_comparison,
    save_comparison,
    save_experiment,
    with_verdicts,
    without_page_texts,
)
from attribution.studies.segmenters.tables import tables
from attribution.types import Turn
from pages.ui import background, choices, frame, run, run_results, state
from pages.ui.background import Work
from pages.ui.compare import results as compare_results
from pages.ui.compare.results import figures, legend, summary, view
from pages.ui.components import claim_rows, link
from pages.ui.fields import pick_many
from pages.ui.files import copy_or_download, many_answers
from pages.ui.form import form
from pages.ui.frame import note, plot, show, small, status_line
from pages.ui.job_page import JobPage
from pages.ui.run import RunProgress, blank, follow, preload
from pages.ui.run_results import cost, not_used, status, what_failed
from pages.ui.state import store, unowned_store

SAMPLE = '{"question": "Where does the Nile flow?", "answer": "It flows north into the Mediterranean."}\n'
Found = Event | SegmenterResult | ComparisonReady
Compare = Callable[[str, str, threading.Event, Sequence[Turn]], Iterator[Found]]


# --- one answer ---


@dataclass(frozen=True)
class CompareProgress(RunProgress):
    """A run over the claims of all segmenters at one moment."""

    segmenters: tuple[str, ...] = ()  # that were selected
    results: tuple[SegmenterResult, ...] = ()  # of those that are done
    ready: ComparisonReady | None = None  # None until all claims are known

    @property
    def comparison(self) -> Comparison | None:
        """Return the comparison with the verdicts so far."""
        if self.ready is None or self.ready.finished:
            return self.ready.comparison if self.ready else None
        return with_verdicts(self.ready.comparison, self.report)

    @property
    def finished(self) -> bool:
        """Return True if every claim was reached."""
        return (
            self.ready is not None
            and self.ready.finished
            and not self.ready.comparison.report.stopped
        )


def read(database: Store, id: str) -> CompareProgress | None:
    """Load a saved comparison."""
    if (saved := load_comparison(database, id)) is None:
        return None
    names, ready = (
        tuple(column.segmenter for column in saved.columns),
        ComparisonReady(saved, finished=True),
    )
    return CompareProgress(
        saved.report, id, accepted=True, running=False, segmenters=names, ready=ready
    )


ONE = JobPage("comparison", "comparison", read)


def open_comparison(id: str) -> None:
    """Show the comparison in the address, and fill in its form."""
    if now := ONE.open(id):
        choices.restore(now.report)
        state.fill(compared=list(now.segmenters))
        if not now.running:
            ONE.remember(replace(now, documents=choices.documents()))  # as the form has them now


def work(
    initial: CompareProgress, compare: Compare, save: Callable[[Comparison], None]
) -> Work[CompareProgress]:
    """Compare the segmenters on one answer, and save the result when it is finished."""
    results: list[SegmenterResult] = []

    def compared(event: Found) -> Mapping[str, object] | None:
        match event:
            case RunStarted():
                return {}  # the comparison has an address of its own
            case SegmenterResult():
                results.append(event)
                return {"results": tuple(results)}
            case ComparisonReady():
                if event.finished:
                    save(event.comparison)
                return {"ready": event}
        return None

    def compare_one(stop: threading.Event, update: Callable[..., CompareProgress]) -> None:
        report = initial.report
        follow(
            compare(report.question, report.answer, stop, report.context), initial, update, compared
        )

    return compare_one


def start() -> None:
    """Compare the segmenters on the answer in the form."""
    settings = choices.settings()
    if isinstance(settings, str):
        return
    id, report = (
        new_run_id(),
        blank(*run.text(), settings).model_copy(update={"context": choices.turns()}),
    )
    initial = CompareProgress(
        report, id, documents=choices.documents(), segmenters=tuple(segmenters())
    )
    MANY.clear()
    ONE.launch(
        initial, work(initial, comparing(), partial(save_comparison, store(), id)), id, lasting=True
    )


def comparing() -> Compare:
    """Return the function that compares, with the choices of the form."""
    settings, names, documents = choices.settings(), segmenters(), choices.documents()
    browser, parts = state.browser(), unowned_store()
    assert not isinstance(settings, str)

    def compared(
        question: str, answer: str, stop: threading.Event, turns: Sequence[Turn]
    ) -> Iterator[Found]:
        from attribution.pipeline.run import in_turn

        going = partial(compare, question, answer, settings, names, parts, documents, stop, turns)
        return in_turn(browser, stop, going)

    return compared


# --- many answers ---


@dataclass(frozen=True)
class ManyProgress(background.JobProgress):
    """A comparison on many answers at one moment."""

    total: int
    done: int = 0
    comparisons: tuple[Comparison, ...] = ()
    failed: tuple[FailedAnswer, ...] = ()  # answers that could not be compared

    def doing(self) -> str:
        done = f"{self.done} of {plural(self.total, 'answer')} compared"
        return f"{'Stopping after this answer' if self.stopping else done} …"

    def share(self) -> float:
        return self.done / self.total


def read_many(database: Store, id: str) -> ManyProgress | None:
    """Load a saved comparison on many answers."""
    saved = load_experiment(database, id)
    return ManyProgress(len(saved), len(saved), saved, running=False) if saved else None


MANY = JobPage("experiment", "comparison", read_many)


def work_many(
    rows: Sequence[Row], compare: Compare, save: Callable[[Sequence[Comparison]], None]
) -> Work[ManyProgress]:
    """Compare answer by answer, and save after each; one in progress when it is stopped is left
    out.
    """

    def compare_many(stop: threading.Event, update: Callable[..., ManyProgress]) -> None:
        def compare_row(row: Row) -> Comparison:
            if row.error:
                raise BadInput(row.error)
            question, context = (
                str(row.fields.get("question") or ""),
                turns_of(row.fields.get("turns")),
            )
            *_, last = compare(question, row.fields["answer"], stop, context)
            if stop.is_set() or not isinstance(last, ComparisonReady):
                raise Stopped("the comparison was stopped")
            return without_page_texts(last.comparison)

        now = update()
        for row, result in zip(rows, run_each(rows, compare_row, stop), strict=False):
            if result.value is None:
                now = update(done=now.done + 1, failed=(*now.failed, failure(row, result.problem)))
            else:
                now = update(done=now.done + 1, comparisons=(*now.comparisons, result.value))
                save(now.comparisons)

    return compare_many


def start_many(rows: Sequence[Row]) -> None:
    """Compare the segmenters on every answer of a file."""
    id = new_run_id()
    ONE.clear()
    MANY.launch(
        ManyProgress(len(rows)),
        work_many(rows, comparing(), partial(save_experiment, store(), id)),
        id,
    )


# --- the page ---


def segmenters() -> list[str]:
    """Return the segmenters to compare that are ready: those selected, else two that cut sentences
    differently.
    """
    ready, selected = choices.ready(SEGMENTERS), state.value(state.COMPARED)
    return [
        name
        for name in (("sentences", "clauses") if selected is None else selected)
        if name in ready
    ]


def is_ready() -> bool:
    """Return True if a comparison can be started."""
    return choices.is_ready() and 2 <= len(segmenters()) <= MAX_SEGMENTERS


def choose_segmenters() -> None:
    """Draw the choice of segmenters, and below it those that are not ready."""
    pick_many(
        "Segmenters, two to four",
        SEGMENTERS,
        segmenters(),
        state.key(state.COMPARED),
        "How claims are drawn from the answer. All claims are checked against the same pages.",
    )
    selected = segmenters()
    notes = [f"{SEGMENTERS[name].label}: {SEGMENTERS[name].note}" for name in selected]
    if not 2 <= len(selected) <= MAX_SEGMENTERS:
        notes = [f"{plural(len(selected), 'segmenter')} selected: select two to four"]
    small(". ".join(notes) + ".")


def result(now: CompareProgress) -> None:
    """Draw the figures, and the claims sentence by sentence."""
    comparison = now.comparison and recolour_comparison(
        now.comparison, choices.policy(now.comparison.report)
    )
    if now.rejected:
        note("This text cannot be compared", now.rejected, label="contradicted", detail=now.detail)
        return
    with st.container(key="outcome"):  # what follows keeps its place, and is not drawn anew
        outcome(now, comparison)
    if now.running or comparison:
        show(figures(now.segmenters, now.results, comparison, now.running))
    if not comparison:
        return
    show(legend(comparison, now.running))
    claim_rows(view(comparison, now.running), key="compare_view")
    if not now.running:
        what_failed(
            (*(f for c in comparison.columns for f in c.failures), *comparison.report.failures)
        )
        exports(
            compare_results.as_markdown(comparison),
            compare_results.as_csv(comparison),
            compare_results.as_json(comparison),
        )


def outcome(now: CompareProgress, comparison: Comparison | None) -> None:
    """Draw how far it is, or what was found."""
    if comparison and not (now.running or now.error) and (changed := differences(now)):
        note(
            "These results are for an earlier version",
            f"Changed since: {', '.join(changed)}. Compare again.",
        )
    if now.running:
        status(now, now.report)
    elif comparison:
        done = {r.segmenter for r in now.results} | {c.segmenter for c in comparison.columns}
        waiting = [SEGMENTERS[name].label for name in now.segmenters if name not in done]
        early = "" if now.finished else "Stopped early; the results so far are kept. "
        early += f"Not reached: {', '.join(waiting)}. " if waiting else ""
        show(el("p", early + summary(comparison), class_="ax-status", role="status"))
        report = comparison.report
        if report.created_at:
            link(f"{choices.method(report)}, {date(report.created_at)}", **state.address(ONE.name))
        named = [(SEGMENTERS[c.segmenter].label, c.report) for c in comparison.columns]
        plot(run_results.bars(named, state.is_dark()), "compare_chart", summary(comparison))
        failures = (*(f for c in comparison.columns for f in c.failures), *report.failures)
        asked = [c for c in comparison.columns if any(f.kind == "llm_failed" for f in c.failures)]
        not_used(
            report.model_copy(update={"failures": failures}),
            [SEGMENTERS[c.segmenter].label for c in asked],
        )


def differences(now: CompareProgress) -> list[str]:
    """Return the inputs that have changed since a comparison, in the words of the form."""
    changed = choices.differences(now.report, now.documents)
    own = [label for label in changed if label != choices.FORM["segmenter"]]
    return own + (["Segmenters"] if tuple(segmenters()) != now.segmenters else [])


def result_many(now: ManyProgress) -> None:
    """Draw the tables over all answers."""
    if now.failed:
        lines = [f"Line {line}: {error}" for line, _, error in now.failed[:20]]
        note(f"{plural(len(now.failed), 'answer')} could not be compared", *lines)
    if now.running:
        return
    if not now.comparisons:
        if not (now.error or now.failed):
            note(
                "Nothing was compared",
                "The comparison was stopped before the first answer was finished.",
            )
        return
    early = f"Stopped after {now.done} of {now.total}. " if now.done < now.total else ""
    status_line(f"{early}{plural(len(now.comparisons), 'answer')} compared.")
    link("Link to this comparison", **state.address(MANY.name))
    compared = [recolour_comparison(c, choices.policy(c.report)) for c in now.comparisons]
    results, own = tables(compared, now.failed), tables(compared)
    for one in results:
        with st.expander(one.title, expanded=True):
            show(as_node(one))
    markdown = "\n".join(t.markdown() for t in results)
    exports(markdown, compare_results.tables_csv(own), compare_results.tables_json(results))


def as_node(result: ResultTable) -> Node:
    rows = ([format_cell(cell) for cell in row] for row in result.rows)
    return scrolling(table(result.columns, rows, "ax-table wide"), result.title)


def exports(markdown: str, csv: str, json: str) -> None:
    """Offer the result to copy or to download."""
    copy_or_download(
        {
            "Markdown": (markdown, "comparison.md", "text/markdown"),
            "CSV": (csv, "comparison.csv", "text/csv"),
            "JSON": (json, "comparison.json", "application/json"),
        }
    )


def page() -> None:
    """Draw the form, and the comparison on one answer or on many, whichever was started last."""
    shown: JobPage[CompareProgress] | JobPage[ManyProgress] = MANY if MANY.current() else ONE
    running, ready = shown.is_running(), is_ready()  # asked once, so that form and result agree
    form(
        start="Compare",
        on_start=start,
        job=shown,
        compact=True,
        running=running,
        ready=ready,
        options=choose_segmenters,
        estimate=(lambda: cost(running, segmenters())) if ready else None,
    )
    if MANY.current():
        MANY.draw_result(running, result_many)
    else:
        MANY.draw_notice()
        ONE.draw_result(running, result)
    about = "A JSON Lines file: one object on each line, with a question and an answer."
    many_answers("Compare", start_many, ready and not running, about, SAMPLE, "question")


if __name__ == "__main__":
    frame.begin(
        "compare",
        "Compare segmenters",
        "Split the answer with each segmenter ([segmentation]), check every [claim] against the same [sources], and "
        "read first the sentences whose [verdict] depends on how the answer is split.",
        run=run.load,
        comparison=open_comparison,
        experiment=MANY.open,
    )
    page()
    preload()

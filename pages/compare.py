"""Compare: one answer split by two to four segmenters, or two answers that have been checked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from textwrap import shorten

import streamlit as st

from attribution.events import Event
from attribution.reports.html import el, plural
from attribution.segmenters import SEGMENTERS
from attribution.store.history import HistoryQuery, HistoryRow
from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.studies.segmenter_comparison import (
    MAX_SEGMENTERS,
    Comparison,
    ComparisonReady,
    SegmenterResult,
    compare,
    json_data,
    load_comparison,
    save_comparison,
    tables,
    with_verdicts,
)
from attribution.studies.two_answers import TwoAnswers, compare_reports
from attribution.studies.two_answers import json_data as answers_json
from attribution.text.passages import beginning
from attribution.types import Failure, Report
from pages.ui import choices, frame, run_control, state
from pages.ui.background import JobPage
from pages.ui.compare_view import NAMES, answers_data, segmenters_data
from pages.ui.components import compare_columns
from pages.ui.fields import pick_many
from pages.ui.form import form
from pages.ui.frame import File, downloads, note, show, small
from pages.ui.run_control import RunProgress, comparison_work, preload
from pages.ui.run_results import what_failed
from pages.ui.state import store, unowned_store

CompareEvent = Event | SegmenterResult | ComparisonReady
VIEWS = ("Segmenters", "Answers")
VIEW, CHANGING = "compare_view", "compare_changing"
MOST = 200  # answers that are offered
TITLE = 40  # characters of the title of an answer above its column


# --- segmenters ---


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

    def doing(self) -> str:
        done, total = self.units.get("verify", (0, 0))
        return f"Claim {done} of {total} …" if total else "Splitting the answer, reading sources …"

    def share(self) -> float:
        done, total = self.units.get("verify", (0, 0))
        return done / total if total else 0.0


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
    if JOB.open(id):
        fill_form()


def fill_form() -> None:
    """Fill the form with what the shown comparison was made of."""
    now = JOB.current()
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
        from attribution.fair_queue import in_turn

        inputs = (question, answer, settings, names, parts, documents, stop, turns)
        return in_turn(browser, stop, partial(compare, *inputs))

    blank = Report.blank(question, answer, settings.public())
    report = blank.model_copy(update={"context": turns})
    initial = CompareProgress(report, id, documents=documents, segmenters=tuple(names))
    database = store()

    def save(ready: ComparisonReady) -> None:
        save_comparison(database, id, ready.comparison)

    work = comparison_work(events, ComparisonReady, save, SegmenterResult)
    state.put(CHANGING, None)
    JOB.launch(initial, work, id, lasting=True)


def segmenters() -> list[str]:
    """Return the segmenters to compare: those selected, else two that cut sentences differently."""
    ready, selected = choices.ready(SEGMENTERS), state.value("compared")
    names = ("sentences", "clauses") if selected is None else selected
    return [name for name in names if name in ready]


def choose_segmenters() -> None:
    """Draw the choice of segmenters, and what the selected ones do."""
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


def segmenters_form(running: bool) -> None:
    """Draw the form of a new comparison."""
    is_ready = choices.is_ready() and 2 <= len(segmenters()) <= MAX_SEGMENTERS
    form(
        start="Compare",
        on_start=start,
        job=JOB,
        compact=True,
        running=running,
        ready=is_ready,
        options=choose_segmenters,
    )


def segmenters_result(now: CompareProgress) -> None:
    """Draw the claims, sentence by sentence, and what did not work."""
    if now.rejected:
        note("This text cannot be compared", now.rejected, label="contradicted", detail=now.detail)
        return
    comparison = now.comparison
    if comparison is None:
        return
    data = segmenters_data(comparison, state.value("segmenter"), now.running)
    act = compare_columns(data, key="compare_segmenters")
    if not now.running:
        what_failed(failures(comparison))
    if isinstance(act, Mapping) and act.get("value") in now.segmenters:
        fill_form()
        state.fill(segmenter=act["value"])
        run_control.analyse()
        state.remember()
        st.switch_page("pages/check.py")


def failures(comparison: Comparison) -> tuple[Failure, ...]:
    """Return the failures of all segmenters, then those of the run they share."""
    own = [failure for column in comparison.columns for failure in column.failures]
    return (*own, *comparison.report.failures)


def segmenters_files(comparison: Comparison) -> dict[str, File]:
    """Return the comparison as files."""
    data = json.dumps(json_data(comparison), ensure_ascii=False, indent=1)
    csv = "\n".join(table.csv() for table in tables([comparison]))
    return {
        "tables (CSV)": File(csv, "comparison.csv", "text/csv"),
        "JSON": File(data, "comparison.json", "application/json"),
    }


def segmenters_view(running: bool) -> None:
    """Draw the comparison of segmenters, or the form of a new one."""
    now = JOB.current()
    if now is None or now.rejected or state.get(CHANGING):
        segmenters_form(running)
    else:
        report = now.report
        pages = f"the same {plural(len(report.pages), 'page')} for all" if report.pages else ""
        context_line(report, pages, running)
    JOB.draw_result(running, segmenters_result)


# --- answers ---


def runs() -> list[str]:
    """Return the ids of the two runs in the address; fewer if it names none."""
    return st.query_params.get("answers", "").split("-")[:2]


def compared() -> TwoAnswers | str:
    """Return the comparison of the two runs in the address, or why there is none."""
    reports: list[Report] = []
    for run_id in runs():
        report = store().runs.load(run_id) if run_id else None
        if report:
            reports.append(report)
    if len(reports) != 2:
        return (
            "Choose two answers that have been checked."
            if not any(runs())
            else ("One of the two answers is gone, private or not finished. Choose others.")
        )
    first, second = reports
    settings = choices.endpoint()
    if isinstance(settings, str):
        return settings
    chosen = settings

    def compute() -> TwoAnswers:
        with st.spinner("Comparing the claims of both answers …"):
            return compare_reports(first, second, chosen, unowned_store())

    return state.cached("compared_answers", reports, compute)


def _label(row: HistoryRow) -> str:
    """Tell an answer from others to the same question: by its beginning, tags and time."""
    tags = [f"#{tag}" for tag in row.tags]
    named = [row.name[:80]]
    if row.title or row.question:  # otherwise the beginning is its name
        named.append(shorten(beginning(row.beginning), 60, placeholder=" …"))
    return " · ".join([*named, *tags, row.created_at[:16].replace("T", " ")])


def choose_answers() -> None:
    """Draw the choice of two answers."""
    rows = store().history.find(HistoryQuery(state="finished", limit=MOST)).rows
    names = {row.id: _label(row) for row in rows}
    before = runs()
    selected: list[str | None] = []
    for column, name, place in zip(st.columns(2), NAMES, (0, 1), strict=True):
        known = before[place] if place < len(before) else ""
        selected.append(
            column.selectbox(
                f"Answer {name}",
                list(names),
                list(names).index(known) if known in names else None,
                help="Any answer that has been checked, the newest first.",
                format_func=names.__getitem__,
                key=f"compare_answer-{name}",
                placeholder="An answer that has been checked",
            )
        )
    first, second = selected
    is_ready = bool(first and second) and first != second
    if st.button(
        "Compare the two answers",
        type="primary",
        key="start",
        disabled=not is_ready,
        help=None if is_ready else "Choose two different answers first.",
    ):
        state.put(CHANGING, None)
        st.query_params["answers"] = f"{first}-{second}"
        st.rerun()


def titles(result: TwoAnswers) -> list[str]:
    """Name both answers by their titles, by the tag that only one of them has, or by a letter."""
    found = [store().history.description(r.id) for r in (result.first, result.second)]
    if all(one.title for one in found) and found[0].title != found[1].title:
        return [one.title[:TITLE] for one in found]
    names = []
    for place, name in enumerate(NAMES):
        own = [tag for tag in found[place].tags if tag not in found[1 - place].tags]
        names.append((own[0] if own else f"Answer {name}")[:TITLE])
    return names


def answers_view(result: TwoAnswers | str) -> None:
    """Draw the comparison of two answers, or the choice of them."""
    if isinstance(result, str) or state.get(CHANGING):
        if isinstance(result, str):
            small(result)
        choose_answers()
        return
    first, second = result.first, result.second
    pages = {page.id for page in first.pages} == {page.id for page in second.pages}
    both = (
        f"the same {plural(len(first.pages), 'page')} for both"
        if pages
        else "each with its own sources"
    )
    context_line(first, both, running=False)
    questions = [report.question.casefold().split() for report in (first, second)]
    if all(questions) and questions[0] != questions[1]:
        other = f"{NAMES[1]} was asked: “{second.question}”"
        note("These are answers to two different questions", other, label="unclear")
    act = compare_columns(answers_data(result, titles(result)), key="compare_answers")
    if isinstance(act, Mapping) and act.get("value") in (first.id, second.id):
        run_control.open_run(str(act["value"]))
        state.remember()
        st.switch_page("pages/check.py", query_params={"run": str(act["value"])})


def answers_files(result: TwoAnswers) -> dict[str, File]:
    """Return the comparison as a file."""
    data = json.dumps(answers_json(result), ensure_ascii=False, indent=1)
    return {"JSON": File(data, "answers.json", "application/json")}


# --- the page ---


def context_line(report: Report, pages: str, running: bool) -> None:
    """Draw what is compared, and the button that changes it, or stops it."""
    with st.container(key="compare_context", horizontal=True, vertical_alignment="center"):
        title = el("strong", report.question or beginning(report.answer), dir="auto")
        show(el("p", title, " ", el("span", pages, class_="quiet"), class_="ax-context"))
        if running:
            st.button(
                "Stop", on_click=JOB.stop, key="stop", help="The results so far are kept. (Esc)"
            )
        else:
            st.button("Change", on_click=change, key="change", type="tertiary")


def change() -> None:
    """Show the form in place of the comparison."""
    fill_form()
    state.put(CHANGING, True)


def page() -> None:
    """Draw the heading, the two views and their files."""
    first = 1 if any(runs()) else 0
    head = st.container(key="compare_head", horizontal=True, vertical_alignment="center")
    with head:
        show(el("h2", "Compare"))
        view = st.segmented_control(
            "Compare",
            VIEWS,
            default=VIEWS[first],
            required=True,
            key=VIEW,
            label_visibility="collapsed",
            on_change=state.put,
            args=(CHANGING, None),
        )
    running = JOB.is_running()
    files: dict[str, File] = {}
    if view == VIEWS[1]:
        result = compared()
        answers_view(result)
        if not isinstance(result, str):
            files = answers_files(result)
    else:
        segmenters_view(running)
        now = JOB.current()
        if now and now.comparison and not running:
            files = segmenters_files(now.comparison)
    if files:
        with head, st.popover("Export", key="compare_export", help="The comparison as a file."):
            downloads(files)


if __name__ == "__main__":
    state.begin("compare", comparison=open_comparison)
    frame.styles("compare")
    page()
    preload()

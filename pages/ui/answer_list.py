"""The rows of the list of answers, and the dialogs that export them and add more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import streamlit as st

from attribution.errors import AttributionError
from attribution.fetching.sandbox import DOCUMENT_SECONDS, FileReader
from attribution.pipeline.queued_runs import (
    AnswerFile,
    NewAnswer,
    QueueWorker,
    enqueue,
    pasted_answers,
    read_answers,
)
from attribution.reports import FORMATS, Exported
from attribution.reports.html import plural, table
from attribution.reports.listings import SHEETS
from attribution.reports.looks import group_data
from attribution.searchers import source_label
from attribution.settings import LIMITS
from attribution.store.history import HistoryRow
from attribution.tables import DOCUMENT
from pages.ui import background, choices, run_control, state
from pages.ui.form import sources_control
from pages.ui.frame import note, show, small
from pages.ui.state import store

DIALOG = "answers_dialog"  # True while one is open: drawing the page again would close it
NAMED = 2  # sources that a row names


class RowState(NamedTuple):
    """What a row shows in place of its counts, and the button beside it."""

    words: str
    strong: str = ""  # in front of the words
    share: float | None = None  # that is done
    left: str = ""  # time
    action: str = ""
    label: str = ""  # of the button


def row_data(row: HistoryRow, worker: QueueWorker) -> dict[str, object]:
    """Return a run as plain data for the component."""
    state = row_state(row, worker)
    return {
        "id": row.id,
        "title": row.name or "Untitled",
        "beginning": " ".join(row.beginning.split()),
        "sources": source_words(row.sources),
        "at": row.created_at,
        "edited": row.version > 1,
        "tags": list(row.tags),
        "note": " ".join(row.note.split())[:200],
        "groups": group_data(row.verdicts),
        "done": row.reviewed,
        "total": row.checked,
        "state": state and state._asdict(),
    }


def row_state(row: HistoryRow, worker: QueueWorker) -> RowState | None:
    """Return what is to be said of a run that has no whole result; None for a finished one."""
    done, total = sum(row.verdicts.values()), row.claims
    working = worker.current
    if working and working.run_id == row.id:
        left = working.seconds_left()
        remaining = background.time_left(left) if left else ""
        return _running(working.done, working.total, remaining)
    if background.find(row.id):
        return _running(done, total, "")
    if row.problem:
        return RowState(row.problem, "Not checked:", action="retry", label="Try again")
    if row.queued:
        return RowState("Waiting in the queue", action="remove", label="Remove")
    done -= row.verdicts.get("not_reached", 0)
    if row.finished and done >= total:
        return None
    words = f"after {done} of {total} claims" if total else "before its claims were known"
    strong = "Stopped" if row.finished else "Interrupted"
    return RowState(words, strong, action="retry", label="Continue")


def _running(done: int, total: int, left: str) -> RowState:
    if not total:
        return RowState("", "Reading the answer …", 0.0, action="stop", label="Stop")
    strong = f"Claim {min(done + 1, total)} of {total}"
    return RowState("", strong, done / total, left, "stop", "Stop")


def source_words(sources: Sequence[str]) -> str:
    """Name the sources of a run; the first ones where there are many."""
    names = []
    for source in sources:
        is_document = source.startswith(DOCUMENT)
        name = source.removeprefix(DOCUMENT) if is_document else source_label(source)
        names.append(name if is_document else name[:1].upper() + name[1:])
    if len(names) > NAMED:
        names[NAMED:] = [f"{len(names) - NAMED} more"]
    return ", ".join(names)


def is_busy(rows: Sequence[Mapping[str, object]]) -> bool:
    """Return True if the state of a row changes by itself."""
    states = [row["state"] for row in rows]
    return any(
        isinstance(state, dict) and state["action"] in ("stop", "remove") for state in states
    )


# --- one sheet ---


@st.dialog("Export as one sheet", on_dismiss="rerun")
def export_dialog(run_ids: Sequence[str]) -> None:
    """Offer the claims of these runs in each format; runs without a result are left out."""
    state.put(DIALOG, True)
    small(f"A row for each claim of {plural(len(run_ids), 'answer')}.")
    database = store()

    def exported() -> list[Exported]:
        runs: list[Exported] = []
        for run_id in run_ids:
            report = database.runs.load(run_id)
            about = database.history.description(run_id)
            if report:
                runs.append(Exported(report, about.title, about.note))
        return runs

    def content(write: Callable[..., bytes]) -> bytes:
        return write(*exported())

    with st.container(horizontal=True):
        for name, write in SHEETS.items():
            st.download_button(
                FORMATS[name].label,
                partial(content, write),
                f"answers.{name}",
                FORMATS[name].media_type,
                help="One row per claim, with its assessment, verdict, quote and source.",
                on_click="ignore",
                key=f"sheet.{name}",
            )


# --- many answers ---


COLUMNS = (
    "CSV, XLSX or JSON Lines with a column “answer”; “question”, “title”, “sources”, “tag” if any."
)
SEPARATED = "Separate the answers by a line of three equals signs: ==="
PREVIEW = 3  # answers that are shown, and by which the time of all is estimated
CELL = 60  # characters of a previewed cell


@st.dialog("Add many answers", width="medium", on_dismiss=state.fill_sources_again)
def add_many(worker: QueueWorker) -> None:
    """Choose answers and sources, and put them into the queue."""
    state.put(DIALOG, True)
    given = _given()
    if given:
        _preview(given)
    sources_control()
    settings = choices.settings()
    if isinstance(settings, str):
        note("Not ready yet", settings)
    count = len(given.answers) if given else 0
    with st.container(horizontal=True, vertical_alignment="center", key="add_many_foot"):
        waiting = "They are checked one after another. You may close the page."
        small(f"{_estimate(given.answers)} {waiting}" if given else waiting)
        if not st.button(
            f"Check {plural(count, 'answer')}" if count else "Check",
            help="Adds the answers to the queue.",
            type="primary",
            key="add_many_start",
            disabled=not count or isinstance(settings, str),
        ):
            return
    assert given is not None
    assert not isinstance(settings, str)
    documents = choices.documents()
    try:
        enqueue(store(), [answer.beside(documents) for answer in given.answers], settings)
    except AttributionError as error:
        note("Not all answers were added", error.public(), label="contradicted")
        return
    worker.wake()
    state.fill_sources_again()
    st.rerun()


def _given() -> AnswerFile | None:
    """Draw the choice of answers and return them; None if there are none."""
    kind = st.segmented_control(
        "Answers",
        ["File", "Paste"],
        default="File",
        required=True,
        key="add_many_kind",
        help="A file with one answer per row, or pasted text.",
    )
    try:
        if kind == "Paste":
            text = st.text_area(
                "Pasted answers",
                key="add_many_text",
                height=160,
                max_chars=LIMITS.request,
                help=SEPARATED,
            )
            small(SEPARATED)
            return pasted_answers(text) if text.strip() else None
        file = st.file_uploader(
            "File",
            ["csv", "xlsx", "jsonl", "json", "txt"],
            key="add_many_file",
            help=COLUMNS,
            max_upload_size=LIMITS.file_mb,
        )
        small(COLUMNS)
        if file is None:
            return None
        reading = FileReader(state.browser(), DOCUMENT_SECONDS)
        return state.cached("added", file.file_id, lambda: read_answers(file.getvalue(), reading))
    except AttributionError as error:
        note("These answers cannot be read", error.public(), label="contradicted")
        return None


def _preview(given: AnswerFile) -> None:
    """Show the first answers, and which rows cannot be read."""
    shown = given.answers[:PREVIEW]
    columns = {
        "Title": [answer.title for answer in shown],
        "Question": [answer.question for answer in shown],
        "Answer": [answer.answer for answer in shown],
        "Tags": [", ".join(answer.tags) for answer in shown],
    }
    filled = {name: texts for name, texts in columns.items() if any(texts)}
    rows: list[list[str]] = []
    for texts in zip(*filled.values(), strict=True):
        rows.append([_short(text) for text in texts])
    show(table(tuple(filled), rows, "ax-table"))
    without = sum(not answer.question for answer in given.answers)
    counts = plural(len(given.answers), "answer")
    small(f"{counts}, {without} without a question." if without else f"{counts}.")
    if given.problems:
        title = f"{plural(len(given.problems), 'row')} left out"
        note(title, *given.problems[:PREVIEW], label="missing")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f"{line[:CELL]} …" if len(line) > CELL else line


def _estimate(answers: tuple[NewAnswer, ...]) -> str:
    """Say about how long all answers take, from the first ones; empty if that is unknown."""
    settings = choices.settings()
    if isinstance(settings, str):
        return ""
    chosen = settings

    def seconds() -> float | None:
        from attribution.pipeline.estimate import estimate  # imports spaCy

        sample = answers[:PREVIEW]
        total = 0.0
        for one in sample:
            estimated = estimate(one.question, one.answer, chosen, (), store()).seconds
            if estimated is None:
                return None
            total += estimated.most
        lengths = sum(len(one.answer) for one in sample)
        return total * sum(len(one.answer) for one in answers) / lengths

    try:
        key = (answers, settings.identity, run_control.is_loading())
        known = state.cached("add_many_seconds", key, seconds)
    except AttributionError:
        return ""
    return f"Up to {plural(max(1, round(known / 60)), 'minute')}." if known else ""

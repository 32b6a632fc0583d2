"""Add many answers to the queue: from a file or pasted, against the sources that are chosen."""

from __future__ import annotations

import streamlit as st

from attribution.errors import AttributionError
from attribution.fetching.sandbox import DOCUMENT_SECONDS, NEVER, FileReader
from attribution.pipeline.queued_runs import (
    AnswerFile,
    NewAnswer,
    QueueWorker,
    enqueue,
    pasted_answers,
    read_answers,
)
from attribution.reports.html import plural, table
from attribution.settings import LIMITS
from pages.ui import choices, run_control, state
from pages.ui.form_menus import sources_control
from pages.ui.frame import note, show, small
from pages.ui.state import store

COLUMNS = (
    "CSV, XLSX or JSON Lines with a column “answer”; “question”, “title”, “sources”, “tag” if any."
)
SEPARATED = "Separate the answers by a blank line and a line of three equals signs: ==="
PREVIEW = 3  # answers that are shown, and by which the time of all is estimated
CELL = 60  # characters of a previewed cell


@st.dialog("Add many answers", width="medium")
def add_many(worker: QueueWorker) -> None:
    """Choose answers and sources, and put them into the queue."""
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
                placeholder=SEPARATED,
            )
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
        reading = FileReader(state.browser(), DOCUMENT_SECONDS, NEVER)
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
    rows = [[_short(text) for text in texts] for texts in zip(*filled.values(), strict=True)]
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

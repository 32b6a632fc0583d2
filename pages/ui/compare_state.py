"""The comparison of one session: its job, its result, and what was chosen."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from attribution.errors import BadInput
from attribution.evaluation.comparison import Compared, Comparison, compare, recoloured
from attribution.events import Event, Progress
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.store import Store
from attribution.types import Document
from pages.ui import state
from pages.ui.job import Job, State

UPLOAD = "experiment_upload"
_JOB, _RESULT = "_compare_job", "_compare_result"
ANSWERS = 500  # of one experiment, at most


@dataclass
class Result:
    """What a job leaves beside its state: one comparison, or those of many answers."""

    many: bool
    made: list[Comparison] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)  # answers that could not be compared, with the reason


def chosen() -> list[str]:
    """The segmenters to compare: those ticked, else the first two that are ready."""
    ready = [name for name, why in state.missing(SEGMENTERS).items() if not why]
    ticked = state.value(state.COMPARED)
    return [name for name in ticked if name in ready] if ticked is not None else ready[:2]


def _start(result: Result, rows: Sequence[tuple[str, str]]) -> None:
    settings, names = state.settings(), chosen()
    job: Job | None = st.session_state.get(_JOB)
    if isinstance(settings, str) or (job and job.state().running):
        return

    def run(
        _question: str, _answer: str, settings: Settings, documents: Sequence[Document], stop: threading.Event
    ) -> Iterator[Event]:
        store = Store.open(settings.database_url)
        for number, (question, answer) in enumerate(rows):
            if result.many:
                yield Progress("answers", number, len(rows))
            if stop.is_set():
                break
            try:
                for event in compare(question, answer, settings, names, store, documents, stop):
                    if isinstance(event, Compared):
                        if not stop.is_set() or not result.many:
                            result.made.append(event.comparison)
                    elif not result.many:
                        yield event
            except BadInput as error:
                if not result.many:
                    raise
                result.skipped.append(f"Answer {number + 1}: {error}")

    question, answer = rows[0]
    st.session_state[_JOB] = Job(question, answer, settings, state.documents(), run)
    st.session_state[_RESULT] = result


def start() -> None:
    """Compare the answer that is filled in."""
    _start(Result(many=False), [(state.value(state.QUESTION) or "", state.value(state.ANSWER) or "")])


def start_many(rows: Sequence[tuple[str, str]]) -> None:
    """Compare every answer of a file."""
    _start(Result(many=True), rows)


def stop() -> None:
    if job := st.session_state.get(_JOB):
        job.stop()


def current() -> State | None:
    job: Job | None = st.session_state.get(_JOB)
    return job.state() if job else None


def running() -> bool:
    now = current()
    return now is not None and now.running


def result() -> Result | None:
    """What the last job made, with the threshold of the slider."""
    held: Result | None = st.session_state.get(_RESULT)
    if held is None:
        return None
    threshold = float(state.value(state.THRESHOLD))
    return Result(held.many, [recoloured(c, threshold) for c in held.made], held.skipped)


def read_answers(content: bytes) -> list[tuple[str, str]]:
    """(question, answer) pairs of a JSON Lines file; BadInput names the line that is not one."""
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise BadInput(f"The file is not UTF-8 (byte {error.start}): save it as UTF-8.") from None
    rows: list[tuple[str, str]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row: Any = json.loads(line)
        except (json.JSONDecodeError, RecursionError):
            raise BadInput(f'Line {number} is not JSON; expected {{"question": …, "answer": …}}.') from None
        if not isinstance(row, dict) or not isinstance(row.get("answer"), str):
            raise BadInput(f'Line {number} has no text in "answer"; expected {{"question": …, "answer": …}}.')
        rows.append((row["question"] if isinstance(row.get("question"), str) else "", row["answer"]))
    if not rows:
        raise BadInput('The file holds no answer; expected one object a line with "question" and "answer".')
    if len(rows) > ANSWERS:
        raise BadInput(f"The file holds {len(rows):,} answers; at most {ANSWERS} in one experiment: split it.")
    return rows

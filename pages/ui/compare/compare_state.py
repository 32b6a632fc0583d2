"""The comparison of one session: its job and what was chosen."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from attribution.errors import BadInput
from attribution.evaluation.comparison import ComparisonReady, SegmenterResult, compare, recolour_comparison
from attribution.events import Event
from attribution.segmenters import SEGMENTERS
from attribution.storage.store import Store
from pages.ui import state
from pages.ui.compare.job import Compare, CompareJob, ExperimentJob, Known, Progress

UPLOAD = "experiment_upload"
_JOB = "comparison"
ANSWERS = 500  # of one experiment, at most


def chosen() -> list[str]:
    """The segmenters to compare: those ticked, else the first two that are ready."""
    ready = [name for name, why in state.missing(SEGMENTERS).items() if not why]
    ticked = state.value(state.COMPARED)
    return [name for name in ticked if name in ready] if ticked is not None else ready[:2]


def start() -> None:
    """Compare the answer that is filled in."""
    settings = state.settings()
    if isinstance(settings, str) or running():
        return
    question, answer = state.value(state.QUESTION) or "", state.value(state.ANSWER) or ""
    state.keep(_JOB, CompareJob(question, answer, settings, state.documents(), chosen(), _comparing()))


def start_many(rows: Sequence[tuple[str, str]]) -> None:
    """Compare every answer of a file."""
    if not isinstance(state.settings(), str) and not running():
        state.keep(_JOB, ExperimentJob(rows, _comparing()))


def _comparing() -> Compare:
    """`compare` with what is chosen now."""
    settings, names, documents = state.settings(), chosen(), state.documents()
    assert not isinstance(settings, str)

    def comparing(
        question: str, answer: str, stop: threading.Event
    ) -> Iterator[Event | SegmenterResult | ComparisonReady]:
        return compare(question, answer, settings, names, Store.open(settings.database_url), documents, stop)

    return comparing


def stop() -> None:
    """End it with what it has."""
    if job := state.kept(_JOB):
        job.stop()


def running() -> bool:
    job: CompareJob | ExperimentJob | None = state.kept(_JOB)
    return job is not None and job.running  # asked several times a run of the page: no columns are worked out for it


def known() -> Known | Progress | None:
    """What the last comparison knows, of one answer or of many, with the threshold of the slider."""
    job: CompareJob | ExperimentJob | None = state.kept(_JOB)
    now, threshold = job.progress() if job else None, float(state.value(state.THRESHOLD))
    if now is None:
        return None
    if now.many:
        return replace(now, made=tuple(recolour_comparison(c, threshold) for c in now.made))
    return replace(now, comparison=recolour_comparison(now.comparison, threshold)) if now.comparison else now


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

"""The two answers of one session: their inputs, the job that compares them, and what is shown."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from attribution.evaluation.saved import load_answers, save_answers
from attribution.evaluation.two_answers import TwoAnswersReady, compare_answers, recolour_answers
from attribution.events import Event
from attribution.settings import ROOT
from attribution.storage.runs import new_run_id
from attribution.types import Report
from pages.ui import state
from pages.ui.answers.job import AnswersJob, AnswersProgress
from pages.ui.form import choices, conversation
from pages.ui.run.job import RunProgress
from pages.ui.slot import Slot, store, unowned_store

EXAMPLE = "answers_example"
ANSWERS = Slot[AnswersJob, AnswersProgress]("answers")
is_running, notice = ANSWERS.is_running, ANSWERS.notice


@st.cache_data(show_spinner=False)
def examples() -> list[dict[str, Any]]:
    """Questions with two answers each, of the examples folder."""
    lines = (ROOT / "examples" / "pairs.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def choose_example() -> None:
    """Fill in an example with the sources it is meant for."""
    example = examples()[int(st.session_state[EXAMPLE])]
    state.fill(question=example["question"], turns="", answer=example["first"], second=example["second"])
    choices.fill_sources(example["sources"])


def texts() -> tuple[str, str, str]:
    """The question and both answers that are filled in."""
    question, first, second = (state.value(name) or "" for name in (state.QUESTION, state.ANSWER, state.SECOND))
    return question, first, second


def is_ready() -> bool:
    """Can a comparison be started?"""
    return not isinstance(choices.settings(), str) and not conversation.turns_problem()


def start() -> None:
    """Compare the answers that are filled in."""
    settings, documents = choices.settings(), choices.documents()
    if isinstance(settings, str) or is_running():
        return
    browser, (question, *answers), context = state.browser(), texts(), conversation.turns()
    id, database, parts = new_run_id(), store(), unowned_store()

    def compare(question: str, first: str, second: str, stop: threading.Event) -> Iterator[Event | TwoAnswersReady]:
        from attribution.pipeline.turns import in_turn

        going = partial(compare_answers, question, first, second, settings, parts, documents, stop, context)
        return in_turn(browser, stop, going)

    save = partial(save_answers, database, id)
    ANSWERS.start(AnswersJob(id, question, (answers[0], answers[1]), settings, documents, compare, save))


def load(id: str) -> None:
    """Show the comparison in the address, saved or in progress, and fill in its form."""
    if job := ANSWERS.running(id):
        blank = job.progress().run.report
        _restore(blank.model_copy(update={"question": job.question, "answer": job.answers[0]}), job.answers[1])
    elif result := ANSWERS.saved(lambda database: load_answers(database, id)):
        _restore(result.first, result.second.answer)
        run = RunProgress(result.report, id, accepted=True, running=False, documents=choices.documents())
        ANSWERS.show(AnswersProgress(run, result))


def _restore(report: Report, second: str) -> None:
    choices.restore(report)
    state.fill(second=second)


def current() -> AnswersProgress | None:
    """The comparison to show, with the thresholds of the sliders."""
    job = ANSWERS.job()
    now = job.progress() if job else ANSWERS.shown()
    if job:
        state.show_address(answers=job.id)
    if now is None or now.result is None:
        return now
    return replace(now, result=recolour_answers(now.result, choices.thresholds()))


def differences(now: AnswersProgress) -> list[str]:
    """The inputs that have changed since a comparison, in the words of the form."""
    if now.result is None:
        return []
    changed = choices.differences(now.result.first, now.run.documents)
    names = {"Answer": "Answer A"}
    second = ["Answer B"] if texts()[2] != now.result.second.answer else []
    return [names.get(label, label) for label in changed] + second

"""Carry out what an annotator does, and judge the tasks of a project with verifiers in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import ValidationError

from attribution.errors import AttributionError
from attribution.studies.annotation.models import TaskVerdict
from attribution.studies.annotation.project import Annotations, Work
from attribution.studies.annotation.records import Content, Judgement, Role, by_task, current, finished
from attribution.studies.annotation.tasks import Task
from pages.ui import background, state
from pages.ui.slot import Slot, store

Verify = Callable[[Sequence[Task], threading.Event], Iterator[TaskVerdict]]


@dataclass(frozen=True)
class VerifyProgress(background.Progress):
    """How far it is."""

    verifier: str
    total: int
    done: int = 0


class VerifyJob(background.Job[VerifyProgress]):
    """One verifier on many tasks."""

    def __init__(self, verifier: str, tasks: Sequence[Task], verify: Verify) -> None:
        def work(stop: threading.Event, update: Callable[..., VerifyProgress]) -> None:
            for done, _ in enumerate(verify(tasks, stop), 1):
                update(done=done)

        super().__init__("verify tasks", VerifyProgress(verifier, len(tasks)), work)


PROJECT, WHO, VIEW = "annotate_project", "annotate_who", "annotate_view"
AT, NOTICE, HANDLED, PROPOSAL, CELL, ROUND, TOLD = (
    "annotate_at", "annotate_notice", "annotate_handled", "annotate_proposal",
    "annotate_cell", "annotate_round", "annotate_told",
)  # fmt: skip
NAMES = {"project": PROJECT, "who": WHO, "view": VIEW}  # in the address
VERIFY = Slot[VerifyJob, object]("annotate_verify")


def kept() -> Annotations:
    return Annotations(store())


def begin() -> None:
    """Fill in what the address names."""

    state.begin("annotate", **{name: partial(state.put, key) for name, key in NAMES.items()})


def text(name: str) -> str:
    return str(state.get(name) or "")


def choose(**values: str | None) -> None:
    """Change project, person or view; what was open there is closed."""
    for name, value in values.items():
        state.put(NAMES[name], value)
    for name in (AT, NOTICE, PROPOSAL, CELL):
        state.put(name, None)


def turn() -> int:
    """A number for the keys of inputs that are emptied after use."""
    return int(state.get(ROUND) or 0)


def used(told: tuple[str, ...], good: bool = True) -> None:
    """Empty the inputs, and say what came of them."""
    state.put(ROUND, turn() + 1)
    state.put(TOLD, (told, good))


LONGEST = 24 * 3600.0  # seconds of one stage


@dataclass(frozen=True)
class Seat:
    """Somebody at work on a project in one role."""

    name: str
    role: Role

    def queue(self, kept: Annotations, work: Work) -> list[str]:
        """The tasks in order; an adjudicator has those whose annotators say different things."""
        if self.role != "adjudication":
            return work.queue(self.name, self.role)
        groups = by_task(finished(kept.judgements(work.project.id)))
        return [task for task, of_task in groups.items() if len({j.content.answer for j in of_task}) > 1]


@dataclass(frozen=True)
class Outcome:
    """The task to show next (None: the first that is not finished), and what to say."""

    task: str | None = None
    notice: str = ""
    propose: bool = False


def last_record(kept: Annotations, project_id: str, seat: Seat, task_id: str) -> Judgement | None:
    """The last record of somebody about a task."""
    return current(kept.judgements(project_id, seat.name, task_id)).get((task_id, seat.name, seat.role))


def next_task(queue: list[str], done: set[str], wanted: str | None) -> str | None:
    """The task that was asked for, else the first that is not finished."""
    return wanted if wanted in queue else next((task for task in queue if task not in done), None)


def perform(kept: Annotations, work: Work, seat: Seat, queue: list[str], shown: str | None, act: Any) -> Outcome:
    """Do what the browser asks for; anything that is not a step of this queue is ignored."""
    kind = act.get("kind") if isinstance(act, dict) else None
    if kind == "undo":
        undone = kept.undo(work.project.id, seat.name, seat.role)
        return Outcome(undone.task_id) if undone else Outcome(shown, "There is nothing to undo.")
    if kind == "go" and act.get("to") in (-1, 1):
        place = (queue.index(shown) if shown in queue else len(queue)) + act["to"]
        return Outcome(queue[place] if 0 <= place < len(queue) else shown)
    task_id = str(act.get("key", "")).rpartition("/")[2] if isinstance(act, dict) else ""
    if task_id not in queue:
        return Outcome(shown)
    if kind == "propose":
        return Outcome(task_id, propose=True)
    if kind != "answer":
        return Outcome(shown)
    follows = str(act.get("follows", ""))
    records = [j for j in kept.judgements(work.project.id, seat.name, task_id) if j.role == seat.role]
    before = next((record.content for record in records if record.id == follows), Content())
    try:
        content = said(act, before)
        if content is None:
            return Outcome(task_id, "The first question comes first.")
        if work.stage == "pilot" and seat.role == "annotation" and content.answer and not content.justification:
            return Outcome(task_id, "In the pilot each judgement needs a justification.")
        saved = kept.step(work.project.id, task_id, seat.name, seat.role, work.stage, content, follows)
    except AttributionError as error:
        return Outcome(task_id, str(error))
    except (ValidationError, TypeError, ValueError):
        return Outcome(task_id, "The answer could not be read. Answer again.")
    if saved.id in {record.id for record in records}:  # sent again: it is there already
        return Outcome(shown)
    return Outcome(None if saved.content.answer else task_id)


def said(act: dict[str, Any], before: Content) -> Content | None:
    """The content after an answer; None for one that skips the first question."""
    seconds = min(max(float(act.get("seconds") or 0), 0.0), LONGEST)
    reading = before.interpretable is True and not before.flags
    timed = (before.seconds[0], seconds) if reading else (seconds, 0.0)
    words = {name: str(act.get(name) or "").strip() for name in ("justification", "explicature")}
    if act.get("flags"):
        answers = {"interpretable": before.interpretable, "flags": tuple(act["flags"])}
    elif isinstance(act.get("attributable"), bool):
        if not reading:
            return None
        answers = {"interpretable": True, "attributable": act["attributable"]}
    elif isinstance(act.get("interpretable"), bool):
        answers = {"interpretable": act["interpretable"]}
    else:
        return None
    return Content.model_validate({**answers, **words, "seconds": timed})

"""Carry out what an annotator does, and judge the tasks of a project with verifiers in the
background.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from attribution.errors import AttributionError
from attribution.reports import answer, html
from attribution.reports.html import el
from attribution.studies.annotation.models import TaskVerdict
from attribution.studies.annotation.project import Annotations, ProjectWork
from attribution.studies.annotation.records import (
    ANSWERS,
    FLAGS,
    FORM_ANSWERS,
    Annotation,
    Content,
    Role,
    by_task,
    current,
    finished,
)
from attribution.studies.annotation.tasks import PROPERTIES, Project, Stage, Task
from attribution.verifiers import VERIFIERS
from pages.ui import background, state
from pages.ui.job_page import JobPage
from pages.ui.state import store

Verify = Callable[[Sequence[Task], threading.Event], Iterator[TaskVerdict]]


@dataclass(frozen=True)
class VerifyProgress(background.JobProgress):
    """The progress of a verifier on many tasks."""

    verifier: str
    total: int
    done: int = 0

    def doing(self) -> str:
        doing = (
            "Stopping after this task"
            if self.stopping
            else f"{VERIFIERS[self.verifier].label} reads the tasks"
        )
        return f"{doing}: {self.done:,} of {self.total:,} …"

    def share(self) -> float:
        return self.done / self.total if self.total else 0.0


VERIFY = JobPage[VerifyProgress]("annotate_verify", "verification", poll=1.0)


def work(tasks: Sequence[Task], verify: Verify) -> background.Work[VerifyProgress]:
    """Judge tasks with one verifier."""

    def judge(stop: threading.Event, update: Callable[..., VerifyProgress]) -> None:
        for done, _ in enumerate(verify(tasks, stop), 1):
            update(done=done)

    return judge


PROJECT, WHO, VIEW = "annotate_project", "annotate_who", "annotate_view"
NAMES = {"project": PROJECT, "who": WHO, "view": VIEW}  # in the address
AT, NOTICE, HANDLED, PROPOSAL, CELL, ROUND, OUTCOME = (
    "annotate_at",
    "annotate_notice",
    "annotate_handled",
    "annotate_proposal",
    "annotate_cell",
    "annotate_round",
    "annotate_outcome",
)


def open_annotations() -> Annotations:
    """Open the projects of this server."""
    return Annotations(store().database)


def text(name: str) -> str:
    return str(state.get(name) or "")


def choose(**values: str | None) -> None:
    """Change project, person or view; what was open there is closed."""
    for name, value in values.items():
        state.put(NAMES[name], value)
    for name in (AT, NOTICE, PROPOSAL, CELL):
        state.put(name, None)


def finish_input(title: str, *lines: str, good: bool = True) -> None:
    """Empty the inputs, and say in the next run of the page what came of them."""
    state.renew(ROUND)
    state.put(OUTCOME, (title, lines, good))


MAX_SECONDS = 24 * 3600.0  # of one stage


@dataclass(frozen=True)
class Annotator:
    """Somebody at work on a project in one role."""

    name: str
    role: Role

    def queue(self, saved: Annotations, work: ProjectWork) -> list[str]:
        """Return the tasks in order; an adjudicator has those on which the annotators differ."""
        if self.role != "adjudication":
            return work.queue(self.name, self.role)
        groups = by_task(finished(saved.judgements(work.project.id)))
        return [
            task for task, of_task in groups.items() if len({j.content.answer for j in of_task}) > 1
        ]


@dataclass(frozen=True)
class NextTask:
    """The task to show next (None: the first that is not finished), and what to say."""

    task: str | None = None
    notice: str = ""
    propose: bool = False


def last_record(
    saved: Annotations, project_id: str, annotator: Annotator, task_id: str
) -> Annotation | None:
    """Return the last record of somebody about a task."""
    return current(saved.judgements(project_id, annotator.name, task_id)).get(
        (task_id, annotator.name, annotator.role)
    )


def next_task(queue: list[str], done: set[str], wanted: str | None) -> str | None:
    """Return the task that was asked for, else the first that is not finished."""
    return wanted if wanted in queue else next((task for task in queue if task not in done), None)


def perform(
    saved: Annotations,
    work: ProjectWork,
    annotator: Annotator,
    queue: list[str],
    shown: str | None,
    act: object,
) -> NextTask:
    """Do what the browser asks for; ignore anything that is not a step of this queue."""
    if not isinstance(act, dict):
        return NextTask(shown)
    kind = act.get("kind")
    if kind == "undo":
        undone = saved.undo(work.project.id, annotator.name, annotator.role)
        return NextTask(undone.task_id) if undone else NextTask(shown, "There is nothing to undo.")
    if kind == "go" and act.get("to") in (-1, 1):
        place = (queue.index(shown) if shown in queue else len(queue)) + act["to"]
        return NextTask(queue[place] if 0 <= place < len(queue) else shown)
    task_id = str(act.get("key", "")).rpartition("/")[2]
    if task_id not in queue:
        return NextTask(shown)
    if kind == "propose":
        return NextTask(task_id, propose=True)
    if kind != "answer":
        return NextTask(shown)
    follows = str(act.get("follows", ""))
    records = [
        j
        for j in saved.judgements(work.project.id, annotator.name, task_id)
        if j.role == annotator.role
    ]
    before = next((record.content for record in records if record.id == follows), Content())
    try:
        content = content_after(act, before, single=work.project.form == "property")
        if content is None:
            return NextTask(task_id, "The first question comes first.")
        if (
            work.stage == "pilot"
            and annotator.role == "annotation"
            and content.answer
            and not content.justification
        ):
            return NextTask(task_id, "In the pilot each judgement needs a justification.")
        step = saved.step(
            work.project.id, task_id, annotator.name, annotator.role, work.stage, content, follows
        )
    except AttributionError as error:
        return NextTask(task_id, error.public())
    except (ValidationError, TypeError, ValueError):
        return NextTask(task_id, "The answer could not be read. Answer again.")
    if step.id in {record.id for record in records}:  # sent again: it is there already
        return NextTask(shown)
    return NextTask(None if step.content.answer else task_id)


def content_after(act: Mapping[str, Any], before: Content, single: bool = False) -> Content | None:
    """Return the content after an answer; None for one that skips the first question. `single`:
    there is no second.
    """
    seconds = min(max(float(act.get("seconds") or 0), 0.0), MAX_SECONDS)
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
        answers = {"interpretable": act["interpretable"]} | (
            {"attributable": True} if single and act["interpretable"] else {}
        )
    else:
        return None
    return Content.model_validate({**answers, **words, "seconds": timed})


QUESTIONS = (  # of the two stages (R23 4.1.1, 4.1.2), about a response or a summary
    "Is all of the information relayed by the system {what} interpretable to you?",
    "Is all of the information provided by the system {what} fully supported by the source document?",
)
TESTS = {
    "response": "Read it with the conversation above it. Do you know what each part of it says, of whom, and of when?",
    "summary": "Read it by itself. Do you know what each part of it says, of whom, and of when?",
}
SECOND_TEST = (
    "Put “According to the source, …” before it, with what its pronouns stand for. Is that true?"
)
UNITS = {
    "answer": "System response",
    "sentence": "Sentence of a response",
    "claim": "Claim of a response",
}
SPEAKERS = {"user": "User", "system": "System"}
RELATION = (  # V24 4.3
    "Does the passage say that the claim is true, or that it is false?",
    "Does the passage say that the claim is true?",
)
FORM_NOTES = {
    "property": "Claim",
    "relation": "Claim",
    "summary": "This is a summary of a document.",
    "table": "This is a description of a table.",
}


def view(
    project: Project,
    stage: Stage,
    task: Task,
    name: str,
    role: Role,
    last: Annotation | None,
    *,
    place: str,
    others: Sequence[Annotation] = (),
    notice: str = "",
    handled: str = "",
    proposal: str = "",
) -> dict[str, object]:
    """Return plain data for the component, with the source only once the answer was judged
    interpretable.

    `handled` is the id of the action that the notice replies to.
    """
    content = last.content if last else Content()
    reading = content.interpretable is True and not content.flags
    question, test = _asked(project, task, reading)
    words = FORM_ANSWERS.get(project.form, ANSWERS)
    shown, hidden = (
        reading,
        "The source is shown after you have answered the first question with yes.",
    )
    if project.form in FORM_ANSWERS:
        shown, hidden = project.form == "relation", ""
    return {
        "key": f"{role}/{name}/{task.id}",
        "follows": last.id if last else "",
        "stage": 2 if reading else 1,
        "place": place,
        "turns": [[SPEAKERS[turn.speaker], turn.text] for turn in task.turns],
        "time": task.time,
        "unit": UNITS[task.unit] if project.form == "qa" else FORM_NOTES[project.form],
        "answer": [html.data(node) for node in answer.parse(task.answer)],
        "plain": task.answer,
        "question": question,
        "test": test,
        "said": f"You said: {words[content.answer].lower()}." if content.answer else "",
        "content": content.model_dump(
            include={"interpretable", "attributable", "justification", "explicature"}
        ),
        "flags": [[flag, label] for flag, label in FLAGS.items()],
        "required": stage == "pilot" and role == "annotation",
        "instructions": project.instructions.get(stage, ""),
        "others": [
            [j.annotator, words[j.content.answer], j.content.justification]
            for j in others
            if j.content.answer
        ],
        "notice": notice,
        "handled": handled,
        "proposal": proposal,
        "source": _source(project, task) if shown else None,
        "hidden": hidden,
    }


def _asked(project: Project, task: Task, reading: bool) -> tuple[str, str]:
    """Return the question of a stage, and how to find the answer."""
    if project.form == "property":
        return PROPERTIES.get(
            task.dataset, task.dataset
        ), "Read the claim with the answer that it comes from."
    if project.form == "relation":
        return RELATION[reading], "Only the passage counts, not what you know."
    what = "summary" if project.form == "summary" else "response"
    return QUESTIONS[reading].format(what=what), SECOND_TEST if reading else TESTS[what]


def _source(project: Project, task: Task) -> dict[str, object]:
    link = el(
        "p",
        el("a", task.url, href=task.url, target="_blank", rel="noopener noreferrer"),
        class_="hint",
    )
    tree = (
        answer.parse(task.source)
        if project.form == "table"
        else [el("pre", task.source, dir="auto")]
    )
    return {
        "title": task.title,
        "link": html.data(link) if task.url.startswith(("http://", "https://")) else None,
        "tree": [html.data(node) for node in tree],
    }


def end_of_queue(place: str, text: str, notice: str = "") -> dict[str, object]:
    """Return plain data for the end of a queue."""
    return {
        "key": "",
        "follows": "",
        "place": place,
        "answer": None,
        "finished": text,
        "notice": notice,
    }

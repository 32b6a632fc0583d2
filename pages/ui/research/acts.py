"""Carry out what an annotator does, and describe a task for the component."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from attribution.errors import AttributionError
from attribution.reports import answer, html
from attribution.reports.html import el
from attribution.studies.annotation.project import Annotations, ProjectWork
from attribution.studies.annotation.records import (
    ANSWERS,
    FLAGS,
    SUMMARY_FLAGS,
    Annotation,
    Content,
    Role,
    TaskPlace,
    by_task,
    current,
    finished,
)
from attribution.studies.annotation.tasks import Project, Stage, Task
from pages.ui import state
from pages.ui.state import store

PROJECT, WHO, VIEW = "annotate_project", "annotate_who", "annotate_view"
NAMES = {"project": PROJECT, "who": WHO, "view": VIEW}  # in the address
AT, NOTICE, HANDLED = "annotate_at", "annotate_notice", "annotate_handled"
ROUND, OUTCOME = "annotate_round", "annotate_outcome"
MAX_SECONDS = 24 * 3600.0  # of one stage
WORDING = Path(__file__).parent / "wording.yaml"


# --- the session ---


def open_annotations() -> Annotations:
    """Open the projects of this server."""
    return Annotations(store().database)


def text(name: str) -> str:
    """Return a text of this session."""
    return str(state.get(name) or "")


def choose(**values: str | None) -> None:
    """Change project, person or view; what was open there is closed."""
    for name, value in values.items():
        state.put(NAMES[name], value)
    for name in (AT, NOTICE):
        state.put(name, None)


# --- acts ---


@dataclass(frozen=True)
class Annotator:
    """Somebody at work on a project in one role."""

    name: str
    role: Role

    def queue(self, saved: Annotations, work: ProjectWork) -> list[str]:
        """Return the tasks in order; an adjudicator has those on which the annotators differ."""
        if self.role != "adjudication":
            return work.queue(self.name, self.role)
        differing = []
        for task, judgements in by_task(finished(saved.judgements(work.project.id))).items():
            if len({judgement.content.answer for judgement in judgements}) > 1:
                differing.append(task)
        return differing


@dataclass(frozen=True)
class NextTask:
    """The task to show next (None: the first that is not finished), and what to say."""

    task: str | None = None
    notice: str = ""


def last_record(
    saved: Annotations, project_id: str, annotator: Annotator, task_id: str
) -> Annotation | None:
    """Return the last record of somebody about a task."""
    records = current(saved.judgements(project_id, annotator.name, task_id))
    return records.get(TaskPlace(task_id, annotator.name, annotator.role))


def next_task(queue: list[str], done: set[str], wanted: str | None) -> str | None:
    """Return the task that was asked for, else the first that is not finished."""
    if wanted in queue:
        return wanted
    return next((task for task in queue if task not in done), None)


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
        try:
            undone = saved.undo(work.project.id, annotator.name, annotator.role, queue)
        except AttributionError as error:
            return NextTask(shown, error.public())
        return NextTask(undone.task_id) if undone else NextTask(shown, "There is nothing to undo.")
    if kind == "go" and act.get("to") in (-1, 1):
        place = (queue.index(shown) if shown in queue else len(queue)) + act["to"]
        return NextTask(queue[place] if 0 <= place < len(queue) else shown)
    task_id = str(act.get("key", "")).rpartition("/")[2]
    if task_id not in queue or kind != "answer":
        return NextTask(shown)
    try:
        return _keep_answer(
            saved,
            work,
            annotator,
            task_id,
            shown,
            act,
        )
    except AttributionError as error:
        return NextTask(task_id, error.public())
    except (ValidationError, TypeError, ValueError):
        return NextTask(task_id, "The answer could not be read. Answer again.")


def _keep_answer(
    saved: Annotations,
    work: ProjectWork,
    annotator: Annotator,
    task_id: str,
    shown: str | None,
    act: Mapping[str, Any],
) -> NextTask:
    """Save an answer to one of the two questions."""
    project, follows = work.project, str(act.get("follows", ""))
    records = {
        record.id: record
        for record in saved.judgements(project.id, annotator.name, task_id)
        if record.role == annotator.role
    }
    before = records[follows].content if follows in records else Content()
    content = content_after(act, before)
    if content is None:
        return NextTask(task_id, "The first question comes first.")
    is_pilot = work.stage == "pilot" and annotator.role == "annotation"
    if is_pilot and content.answer and not content.justification:
        return NextTask(task_id, "In the pilot each judgement needs a justification.")
    step = saved.step(
        project.id, task_id, annotator.name, annotator.role, work.stage, content, follows
    )
    if step.id in records:  # sent again: it is there already
        return NextTask(shown)
    return NextTask(None if step.content.answer else task_id)


def content_after(act: Mapping[str, Any], before: Content) -> Content | None:
    """Return the content after an answer; None for one that skips the first question."""
    seconds = min(max(float(act.get("seconds") or 0), 0.0), MAX_SECONDS)
    is_reading = before.interpretable is True and not before.flags
    timed = (before.seconds[0], seconds) if is_reading else (seconds, 0.0)
    content: dict[str, object] = {"seconds": timed}
    for name in ("justification", "explicature"):
        content[name] = str(act.get(name) or "").strip()
    if act.get("flags"):
        content |= {"interpretable": before.interpretable, "flags": tuple(act["flags"])}
    elif isinstance(act.get("attributable"), bool):
        if not is_reading:
            return None
        content |= {"interpretable": True, "attributable": act["attributable"]}
    elif isinstance(act.get("interpretable"), bool):
        content["interpretable"] = act["interpretable"]
    else:
        return None
    return Content.model_validate(content)


# --- the task as the component draws it ---


@cache
def wording() -> Mapping[str, Any]:
    """Return the words around a task."""
    words: Mapping[str, Any] = yaml.safe_load(WORDING.read_text("utf-8"))
    return words


def view(
    project: Project,
    stage: Stage,
    task: Task,
    annotator: Annotator,
    last: Annotation | None,
    *,
    place: str,
    others: Sequence[Annotation] = (),
    notice: str = "",
    handled: str = "",
) -> dict[str, object]:
    """Return plain data for the component, with the source only once it may be seen.

    Args:
        last: The annotator's last record about the task.
        others: Judgements that are shown beside it.
        handled: The id of the action that the notice replies to.
    """
    content = last.content if last else Content()
    is_reading = content.interpretable is True and not content.flags
    texts = wording()
    is_summary = project.form == "summary"
    what = "summary" if is_summary else "response"
    flags = SUMMARY_FLAGS if is_summary else tuple(FLAGS)
    judged = [j for j in others if j.content.answer]
    fields = {"interpretable", "attributable", "justification", "explicature"}
    return {
        "key": f"{annotator.role}/{annotator.name}/{task.id}",
        "follows": last.id if last else "",
        "stage": 2 if is_reading else 1,
        "place": place,
        "turns": [[turn.speaker.capitalize(), turn.text] for turn in task.turns],
        "time": task.time,
        "unit": texts["summary"] if is_summary else texts["units"][task.unit],
        "answer": [html.data(node) for node in answer.parse(task.answer)],
        "plain": task.answer,
        "question": texts["questions"][is_reading].format(what=what),
        "test": texts["second_test"] if is_reading else texts["tests"][what],
        "said": f"You said: {ANSWERS[content.answer].lower()}." if content.answer else "",
        "content": content.model_dump(include=fields),
        "flags": [[flag, FLAGS[flag]] for flag in flags],
        "required": stage == "pilot" and annotator.role == "annotation",
        "instructions": project.instructions.get(stage, ""),
        "others": [
            [j.annotator, ANSWERS[j.content.answer], j.content.justification]
            for j in judged
            if j.content.answer
        ],
        "notice": notice,
        "handled": handled,
        "source": _source(task) if is_reading else None,
        "hidden": texts["hidden"],
    }


def _source(task: Task) -> dict[str, object]:
    link = None
    if task.url.startswith(("http://", "https://")):
        anchor = el(
            "a",
            task.url,
            href=task.url,
            target="_blank",
            rel="noopener noreferrer",
        )
        link = html.data(el("p", anchor, class_="hint"))
    tree = [html.data(el("pre", task.source, dir="auto"))]
    return {"title": task.title, "link": link, "tree": tree}


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

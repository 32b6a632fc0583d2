"""Annotation tasks (R23 4.1): made of finished runs or read from files, and assigned to people."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal, get_args

from pydantic import Field, ValidationError

from attribution.conversation import turns_of
from attribution.errors import BadInput
from attribution.text_files import parse_rows
from attribution.types import Frozen, Report, Turn, content_id
from attribution.verdicts import deciding_first

Form = Literal["qa", "summary"]
Unit = Literal["answer", "sentence", "claim"]
Stage = Literal["pilot", "review", "production"]
FORMS: dict[Form, str] = {
    "qa": "Conversational QA",
    "summary": "Summarisation",
}
STAGES: tuple[Stage, ...] = get_args(Stage)
MAX_NAME = 80  # characters of a name or code
# Fields of which the id is made, beside the texts.
_IDENTITY = ("unit", "time", "system", "dataset", "item", "title", "url")
_TEXTS = ("question", *_IDENTITY)


class TaskTurn(Frozen):
    """One turn of the conversation before an answer."""

    speaker: Literal["user", "system"]
    text: str


class Project(Frozen):
    """The settings of a project, which stay the same while it lasts.

    Attributes:
        overlap: Annotators of a task, after the pilot.
        pilot: Tasks that everybody judges first, with a justification.
        audit: Share of the judged tasks that a lead judges too.
        seed: For the order of the tasks and their assignment.
        instructions: The project's own, for each stage.
    """

    id: str
    name: str = Field(min_length=1, max_length=MAX_NAME)
    created_at: str
    form: Form = "qa"
    overlap: int = Field(2, ge=1, le=20)
    pilot: int = Field(0, ge=0)
    audit: float = Field(0.1, ge=0, le=1)
    seed: int = 0
    instructions: dict[Stage, str] = {}


class Task(Frozen):
    """One item to judge. Its id is a hash of its content, so importing it again changes nothing.

    Attributes:
        turns: The conversation before the answer.
        time: When it was said: “yesterday” means something else on another day.
        item: Answers of several systems to one item are compared in pairs.
        url: Of the source.
        source: Empty where it was left out.
    """

    id: str
    project_id: str
    answer: str
    unit: Unit = "answer"
    turns: tuple[TaskTurn, ...] = ()
    time: str = ""
    system: str = ""
    dataset: str = ""
    item: str = ""
    title: str = ""
    url: str = ""
    source: str = ""


def make_task(
    project_id: str, answer: str, source: str, turns: Sequence[TaskTurn] = (), **fields: str
) -> Task:
    """Make a task with its id.

    Without an `item`, all answers in one conversation to one source belong together.
    """
    spoken = [part for turn in turns for part in (turn.speaker, turn.text)]
    fields["unit"] = fields.get("unit") or "answer"
    fields["item"] = fields.get("item") or content_id(*spoken, source)
    identity = [fields.get(name, "") for name in _IDENTITY]
    content: dict[str, object] = {
        **fields,
        "id": content_id(project_id, answer, source, *spoken, *identity),
        "project_id": project_id,
        "answer": answer,
        "source": source,
        "turns": tuple(turns),
    }
    return Task.model_validate(content)


# --- tasks of a run ---


def tasks_of_run(report: Report, project_id: str) -> Iterator[Task]:
    """Yield the checked claims as tasks, each with the page of its best evidence as the source.

    Claims without evidence have no source to be judged by, and are left out.

    Args:
        report: With the texts of its pages.
    """
    pages = {page.id: page for page in report.pages if page.text}
    turns = [TaskTurn(speaker="system", text=report.answer)]
    if report.question.strip():
        turns.insert(0, TaskTurn(speaker="user", text=report.question))
    for claim in report.claims:
        evidence = [piece for piece in report.evidence_of(claim.id) if piece.page_id in pages]
        if not claim.checked or not evidence:
            continue
        best = min(evidence, key=deciding_first)
        page = pages[best.page_id]
        yield make_task(
            project_id,
            claim.text,
            page.text,
            [*_task_turns(report.context), *turns],
            unit="claim",
            time=report.created_at[:10],
            item=content_id(report.question, claim.text),
            title=page.cited,
            url=page.reference or page.url,
        )


def _task_turns(turns: Sequence[Turn]) -> list[TaskTurn]:
    return [
        TaskTurn(speaker="user" if speaker == "user" else "system", text=text)
        for speaker, text in turns
    ]


# --- assignment ---


def in_order(tasks: Collection[str], seed: int, name: str = "") -> list[str]:
    """Shuffle the tasks by the seed, differently for each name."""
    order = sorted(tasks)
    random.Random(f"{seed}/{name}").shuffle(order)
    return order


def pilot_tasks(project: Project, tasks: Collection[str]) -> list[str]:
    """Return the tasks that everybody judges first."""
    return in_order(tasks, project.seed, "pilot")[: project.pilot]


@lru_cache(maxsize=32)
def plan(
    tasks: tuple[str, ...], annotators: tuple[str, ...], overlap: int, seed: int
) -> dict[str, tuple[str, ...]]:
    """Assign `overlap` annotators to each task, and to all the same number, or one more."""
    chance = random.Random(f"{seed}/plan")
    load = dict.fromkeys(sorted(annotators), 0)
    planned: dict[str, tuple[str, ...]] = {}
    for task in in_order(tasks, seed, "plan"):
        chosen = sorted(load, key=lambda name: (load[name], chance.random()))[:overlap]
        for name in chosen:
            load[name] += 1
        planned[task] = tuple(chosen)
    return planned


def queue(
    project: Project,
    stage: Stage,
    tasks: Sequence[str],
    annotators: Collection[str],
    begun: Mapping[str, Collection[str]],
    name: str,
) -> list[str]:
    """Return the tasks of one annotator in order, including those that are done.

    After the pilot, its tasks are in nobody's queue.

    Args:
        begun: The annotators of each task who have judged it, or have begun to. They keep it, and
            take the place of those who have not.
    """
    pilot = pilot_tasks(project, tasks)
    if stage != "production":
        return in_order(pilot, project.seed, name)
    rest = tuple(sorted(set(tasks) - set(pilot)))
    planned = plan(rest, tuple(sorted(annotators)), project.overlap, project.seed)
    own: list[str] = []
    for task in rest:
        started = begun.get(task, ())
        free_places = max(0, project.overlap - len(started))
        waiting = [other for other in planned[task] if other not in started]
        if name in started or name in waiting[:free_places]:
            own.append(task)
    return in_order(own, project.seed, name)


def audit_tasks(project: Project, judged: Collection[str]) -> list[str]:
    """Return the tasks that a lead judges too: a share of the judged ones, drawn by the seed."""

    def draw(task: str) -> float:
        return random.Random(f"{project.seed}/audit/{task}").random()

    drawn = [task for task in judged if draw(task) < project.audit]
    return in_order(drawn, project.seed, "audit")


# --- tasks of a file ---


def parse_tasks(content: bytes, project_id: str) -> tuple[list[Task], list[str]]:
    """Parse the tasks of a JSON Lines file.

    A row has `answer` and `source` (a text or a list of texts), and may have `turns` (those before
    the question, as in other files) and the names in docs/lab.md.

    Returns:
        The tasks, and what is wrong with the other lines, each with its number.

    Raises:
        BadInput: The file is empty or not UTF-8.
    """
    tasks: list[Task] = []
    problems: list[str] = []
    for row in parse_rows(content, ["answer"], _TEXTS):
        try:
            if row.error:
                raise BadInput(row.error)
            tasks.append(_task(row.fields, project_id))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            message = first["msg"].removeprefix("Value error, ")
            problems.append(f"line {row.line}: “{place}”: {message}")
        except BadInput as error:
            problems.append(f"line {row.line}: {error}")
    return tasks, problems


def _task(fields: Mapping[str, object], project_id: str) -> Task:
    texts = {name: str(fields[name]) for name in _TEXTS if fields.get(name)}
    turns = _task_turns(turns_of(fields.get("turns")))
    question = texts.pop("question", "")
    if question:
        turns.append(TaskTurn(speaker="user", text=question))
    return make_task(project_id, str(fields["answer"]), _source(fields), turns, **texts)


def _source(fields: Mapping[str, object]) -> str:
    source = fields.get("source")
    if isinstance(source, list) and all(isinstance(text, str) for text in source):
        source = "\n\n".join(source)
    if not isinstance(source, str) or not source.strip():
        raise BadInput('"source" is missing, or neither a text nor a list of texts')
    return source

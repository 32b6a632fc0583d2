"""Annotators' judgements (R23 4.1, 4.2) as a log: each step adds a record, and none is changed.

A step names the record that it follows, so that the same step sent twice, or from two windows,
counts once. Undo also adds a record, without the last answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from pydantic import ConfigDict, Field

from attribution.errors import BadInput
from attribution.studies.annotation.tasks import MAX_NAME, Stage
from attribution.types import Frozen, content_id

Role = Literal["annotation", "audit", "adjudication"]
Flag = Literal["missing", "malformed", "underspecified", "expert"]
Answer = Literal["flagged", "not_interpretable", "not_attributable", "attributable"]
FLAGS: dict[Flag, str] = {  # R23 A
    "missing": "A part of the task is missing",
    "malformed": "The text is malformed",
    "underspecified": "The source is underspecified",
    "expert": "It takes an expert to judge",
}
SUMMARY_FLAGS: tuple[Flag, ...] = ("missing", "malformed", "expert")  # R23 B
ANSWERS: dict[Answer, str] = {
    "attributable": "Attributable",
    "not_attributable": "Not attributable",
    "not_interpretable": "Not interpretable",
    "flagged": "Flagged",
}
MAX_WRITING = 20_000  # characters of a justification or explicature


class Content(Frozen):
    """An annotator's judgement of a task; still empty if `interpretable` is None and no flag is
    set.
    """

    interpretable: bool | None = None
    attributable: bool | None = None  # asked only if it is interpretable
    flags: tuple[Flag, ...] = ()
    justification: str = Field("", max_length=MAX_WRITING)
    explicature: str = Field(
        "", max_length=MAX_WRITING
    )  # the answer reworded to stand alone; empty: unchanged
    seconds: tuple[float, float] = (0.0, 0.0)  # for each question, without pauses

    @property
    def answer(self) -> Answer | None:
        """The answers to both questions as one; None if the task is not finished."""
        if self.flags:
            return "flagged"
        if self.interpretable is False:
            return "not_interpretable"
        if self.interpretable is None or self.attributable is None:
            return None
        return "attributable" if self.attributable else "not_attributable"

    @property
    def is_begun(self) -> bool:
        return self.interpretable is not None or bool(self.flags)

    def reopened(self) -> Content:
        """Return the content without its last answer; what was written stays."""
        interpretable = None if self.attributable is None else self.interpretable
        update = {"interpretable": interpretable, "attributable": None, "flags": ()}
        return self.model_copy(update=update)


class TaskPlace(NamedTuple):
    """An annotator's task in a role."""

    task_id: str
    annotator: str
    role: Role


class Annotation(Frozen):
    """One record of one annotator about one task."""

    model_config = ConfigDict(extra="ignore")  # earlier versions wrote more fields

    task_id: str
    annotator: str = Field(min_length=1, max_length=MAX_NAME)
    role: Role = "annotation"
    revision: int = Field(ge=1)  # counts the records of this annotator about this task
    made_at: str  # ISO 8601, UTC, with microseconds
    stage: Stage
    follows: str = ""  # id of the record before it, of any kind; empty: none
    content: Content = Content()

    @property
    def id(self) -> str:
        """A hash of the whole record."""
        return content_id(self.model_dump_json())

    @property
    def place(self) -> TaskPlace:
        return TaskPlace(self.task_id, self.annotator, self.role)


class Position(NamedTuple):
    """The progress of an annotator with a task."""

    task_id: str
    annotator: str
    role: Role
    finished: bool


class Stale(BadInput):
    """A step that does not follow the last record."""


def current(records: Iterable[Annotation]) -> dict[TaskPlace, Annotation]:
    """Return the last record of each annotator about each task in each role, whatever the order of
    the records.
    """
    last: dict[TaskPlace, Annotation] = {}
    for record in records:
        known = last.get(record.place)
        if known is None or _order(known) < _order(record):
            last[record.place] = record
    return last


def _order(record: Annotation) -> tuple[int, str]:
    return record.revision, record.made_at


def finished(records: Iterable[Annotation], role: Role = "annotation") -> list[Annotation]:
    """Return the judgements that count: each annotator's last record about each task, if it is
    finished.
    """
    return [r for r in current(records).values() if r.role == role and r.content.answer is not None]


def by_task(judgements: Iterable[Annotation]) -> dict[str, list[Annotation]]:
    """Group judgements by task, ordered by the annotators' names."""
    grouped: dict[str, list[Annotation]] = defaultdict(list)
    for judgement in sorted(judgements, key=lambda j: j.annotator):
        grouped[judgement.task_id].append(judgement)
    return dict(grouped)


def consensus(judgements: Sequence[Annotation]) -> Answer | None:
    """Return the majority's answer for a task; None for a tie.

    The majority decides on flagging first, then, among the remaining annotators, on
    interpretability, then on attribution: only who found the answer interpretable read the source.
    """
    answers = [j.content.answer for j in judgements if j.content.answer]
    left: list[str] = list(answers)
    for answer in ("flagged", "not_interpretable", "not_attributable"):
        these = left.count(answer)
        if not left or 2 * these == len(left):
            return None
        if 2 * these > len(left):
            return answer
        left = [other for other in left if other != answer]
    return "attributable"


def decided(
    judgements: Mapping[str, Sequence[Annotation]], adjudicated: Mapping[str, Annotation]
) -> dict[str, Answer | None]:
    """Return the answer for each judged task: the adjudicator's if there is one, else the
    majority's.
    """
    return {
        task_id: adjudicated[task_id].content.answer
        if task_id in adjudicated
        else consensus(of_task)
        for task_id, of_task in judgements.items()
    }

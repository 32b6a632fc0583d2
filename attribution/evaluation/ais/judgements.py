"""What an annotator says of a task (R23, sections 4.1 and 4.2). Each step adds a record, and none is ever changed.

Undo adds a record too, which says what it restores: the history stays, and the state is a function of the set of
records. So records of two databases are merged by putting them together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

from pydantic import Field

from attribution.evaluation.ais.tasks import MAX_NAME, Stage
from attribution.types import Frozen, content_id

Role = Literal["annotation", "audit", "adjudication"]
Flag = Literal["rendering", "corrupted", "underspecified", "expert"]
Answer = Literal["flagged", "not_interpretable", "not_attributable", "attributable"]
ROLES: tuple[Role, ...] = get_args(Role)
FLAGS: dict[Flag, str] = {
    "rendering": "The task is not shown properly",
    "corrupted": "The text is corrupted",
    "underspecified": "The source is underspecified",
    "expert": "It takes an expert to judge",
}
ANSWERS: dict[Answer, str] = {
    "attributable": "Attributable",
    "not_attributable": "Not attributable",
    "not_interpretable": "Not interpretable",
    "flagged": "Flagged",
}
LONGEST = 20_000  # characters of a justification, note or explicature


class Content(Frozen):
    """What is said of the task; nothing yet where `interpretable` is None and no flag is set."""

    interpretable: bool | None = None
    attributable: bool | None = None  # asked only of what is interpretable
    flags: tuple[Flag, ...] = ()
    justification: str = Field("", max_length=LONGEST)
    explicature: str = Field("", max_length=LONGEST)  # the answer reworded to stand alone; empty: as it is
    seconds: tuple[float, float] = (0.0, 0.0)  # for each stage, without pauses

    @property
    def answer(self) -> Answer | None:
        """Both questions as one answer; None where the task is not finished."""
        if self.flags:
            return "flagged"
        if self.interpretable is False:
            return "not_interpretable"
        if self.interpretable is None or self.attributable is None:
            return None
        return "attributable" if self.attributable else "not_attributable"


class Judgement(Frozen):
    """One record of one annotator about one task."""

    task_id: str
    annotator: str = Field(min_length=1, max_length=MAX_NAME)
    role: Role = "annotation"
    revision: int = Field(ge=1)  # counts the records of this annotator about this task
    origin: str  # the database it was made in
    made_at: str  # ISO 8601, UTC, with microseconds
    stage: Stage
    follows: str = ""  # id of the record before it, whichever that is; empty: none
    parent: str = ""  # id of the record whose content it replaced; empty: none
    restores: str | None = None  # of undo: id of the record whose content it took back, empty for the beginning
    content: Content = Content()

    @property
    def id(self) -> str:
        """A hash of all of it."""
        return content_id(self.model_dump_json())

    @property
    def effective(self) -> str:
        """The id of the record whose content this is; empty after all was undone."""
        return self.id if self.restores is None else self.restores

    @property
    def place(self) -> tuple[str, str, str]:
        return self.task_id, self.annotator, self.role


def current(records: Iterable[Judgement]) -> dict[tuple[str, str, str], Judgement]:
    """The last record of each annotator about each task in each role. The order of the records makes no difference."""
    last: dict[tuple[str, str, str], Judgement] = {}
    for record in records:
        known = last.get(record.place)
        if known is None or _order(known) < _order(record):
            last[record.place] = record
    return last


def _order(record: Judgement) -> tuple[int, str, str, str]:
    return record.revision, record.made_at, record.origin, record.id


def steps(records: Sequence[Judgement]) -> list[Judgement]:
    """The records that still count, oldest first: undo takes back the last of them."""
    by_id = {record.id: record for record in records}
    found: dict[str, Judgement] = {}
    for record in current(records).values():
        key = record.effective
        while key in by_id and key not in found:
            found[key] = by_id[key]
            key = by_id[key].parent
    return sorted(found.values(), key=lambda r: (r.made_at, r.revision, r.id))


def finished(records: Iterable[Judgement], role: Role = "annotation") -> list[Judgement]:
    """The judgements that count: the last record of each annotator about each task, where it is finished."""
    return [r for r in current(records).values() if r.role == role and r.content.answer is not None]


def by_task(judgements: Iterable[Judgement]) -> dict[str, list[Judgement]]:
    """Judgements by task, each task's in the order of the annotators' names."""
    grouped: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in sorted(judgements, key=lambda j: j.annotator):
        grouped[judgement.task_id].append(judgement)
    return dict(grouped)


def consensus(judgements: Sequence[Judgement]) -> Answer | None:
    """What most annotators of a task say; None where as many say otherwise.

    First whether it is flagged, then among the others whether it is interpretable, then whether it is attributable: a
    source is read only by those who said that the answer is interpretable.
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
    judgements: Mapping[str, Sequence[Judgement]], adjudicated: Mapping[str, Judgement]
) -> dict[str, Answer | None]:
    """The answer for each judged task: the adjudicator's where there is one, else the majority's."""
    return {
        task_id: adjudicated[task_id].content.answer if task_id in adjudicated else consensus(of_task)
        for task_id, of_task in judgements.items()
    }

"""Run verifiers on annotated tasks, and compare their verdicts with the annotators' answers."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from attribution.evidence.matching import Matcher
from attribution.pipeline.claims import annotate
from attribution.pipeline.experiment import run_each
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.store import schema as t
from attribution.store.store import Store
from attribution.studies.annotation.figures import nominal_alpha
from attribution.studies.annotation.records import Answer
from attribution.studies.annotation.tasks import Task, explicature, split_turns
from attribution.types import SEVERITY, Claim, Label, Page, content_id
from attribution.verdicts import decide


@dataclass(frozen=True)
class TaskVerdict:
    """A verifier's verdict on a whole task."""

    task_id: str
    label: Label
    confidence: float
    reason: str

    @property
    def grounded(self) -> bool:
        return self.label == "supported"


@dataclass(frozen=True)
class Against:
    """A verifier compared with people, on tasks that they decided and found interpretable."""

    verifier: str
    cells: dict[
        tuple[Answer, Label], tuple[str, ...]
    ]  # the tasks of each cell of the confusion table
    equal: tuple[str, ...]
    differing: tuple[str, ...]
    alpha: float | None  # between people and verifier as two annotators

    @property
    def tasks(self) -> tuple[str, ...]:
        return (*self.equal, *self.differing)

    @property
    def precision(self) -> float | None:
        """The share of tasks called supported by the verifier that people call attributable; None
        without any.
        """
        return self._both / count if (count := self._count(None, "supported")) else None

    @property
    def recall(self) -> float | None:
        """The share of tasks called attributable by people that the verifier calls supported; None
        without any.
        """
        return self._both / count if (count := self._count("attributable", None)) else None

    @property
    def _both(self) -> int:
        return self._count("attributable", "supported")

    def _count(self, answer: Answer | None, label: Label | None) -> int:
        return sum(
            len(tasks)
            for (a, v), tasks in self.cells.items()
            if answer in (None, a) and label in (None, v)
        )


def verify(
    tasks: Sequence[Task], settings: Settings, store: Store, stop: threading.Event | None = None
) -> Iterator[TaskVerdict]:
    """Verify each task with the verifier, chunker and embedder of the settings; each verdict is
    saved at once.

    Earlier verdicts of this verifier are read from the database. A sentence or claim is verified
    decontextualised; an
    answer is split into sentences, and its verdict is the worst of the check-worthy ones.
    """
    version = f"{settings.verifier} {Matcher(settings, store, '').verifier.version}"[:200]
    known = {
        verdict.task_id: verdict
        for verdict in saved(store, [task.id for task in tasks]).get(version, ())
    }

    def verify_task(task: Task) -> TaskVerdict:
        if (verdict := known.get(task.id)) is None:
            verdict = _verify(task, settings, store)
            row = {
                "task_id": task.id,
                "verifier": version,
                "label": verdict.label,
                "confidence": verdict.confidence,
            }
            row["reason"] = verdict.reason
            store.database.insert(t.annotation_verdicts, [row], replace=True)
        return verdict

    for task, result in zip(tasks, run_each(tasks, verify_task, stop), strict=False):
        yield result.value or TaskVerdict(task.id, "not_reached", 0.0, result.problem)


def saved(store: Store, tasks: Sequence[str]) -> dict[str, list[TaskVerdict]]:
    """Return the saved verdicts by verifier: its name, then the version of its model."""
    v, wanted = t.annotation_verdicts.c, set(tasks)
    found: dict[str, list[TaskVerdict]] = {}
    with store.database.engine.connect() as db:
        for row in db.execute(sa.select(t.annotation_verdicts).order_by(v.verifier, v.task_id)):
            if row.task_id in wanted:
                verdict = TaskVerdict(row.task_id, row.label, row.confidence, row.reason)
                found.setdefault(row.verifier, []).append(verdict)
    return found


def _verify(task: Task, settings: Settings, store: Store) -> TaskVerdict:
    sha = hashlib.sha256(task.source.encode()).hexdigest()
    matcher = Matcher(settings, store, "")
    page = Page(
        id=content_id(task.url, sha),
        url=task.url or f"document:{task.id}",
        title=task.title,
        site="",
        kind="document",
        fetched_at="",
        sha256=sha,
        text=task.source,
    )
    matcher.add(page)
    claims = [claim for claim in _claims(task, settings) if claim.checked]
    if not claims:
        return TaskVerdict(
            task.id, "not_checked", 0.0, "It states nothing that a source could confirm."
        )
    evidence = matcher.match(claims)
    verdicts = [
        decide(claim, pieces, matcher.policy)
        for claim, pieces in zip(claims, evidence, strict=True)
    ]
    worst = min(verdicts, key=lambda v: (SEVERITY.index(v.label), v.confidence))
    about = (
        ""
        if len(verdicts) == 1
        else f"“{next(c.text for c in claims if c.id == worst.claim_id)}”: "
    )
    return TaskVerdict(task.id, worst.label, worst.confidence, about + worst.reason)


def _claims(task: Task, settings: Settings) -> list[Claim]:
    if task.unit != "answer":
        reworded = explicature(task)
        enriched = reworded if reworded != task.answer else None
        return [
            Claim(
                id=content_id(reworded),
                text=task.answer,
                spans=((0, len(task.answer)),),
                worthiness="factual",
                independent=enriched is None,
                enriched=enriched,
            )
        ]
    question, before = split_turns(task.turns)
    claims = SEGMENTERS.build("sentences", settings).segment(question, task.answer).claims
    return annotate(question, task.answer, claims, (), None, before)[0]


def against(
    verifier: str, verdicts: Sequence[TaskVerdict], answers: Mapping[str, Answer | None]
) -> Against:
    """Compare attributable with supported, on the tasks that have both."""
    cells: dict[tuple[Answer, Label], list[str]] = {}
    labels: list[tuple[bool, bool]] = []
    equal: list[str] = []
    differing: list[str] = []
    for verdict in verdicts:
        answer = answers.get(verdict.task_id)
        if answer not in ("attributable", "not_attributable"):
            continue
        cells.setdefault((answer, verdict.label), []).append(verdict.task_id)
        people = answer == "attributable"
        labels.append((people, verdict.grounded))
        (equal if people == verdict.grounded else differing).append(verdict.task_id)
    return Against(
        verifier,
        {cell: tuple(tasks) for cell, tasks in cells.items()},
        tuple(equal),
        tuple(differing),
        nominal_alpha(labels),
    )

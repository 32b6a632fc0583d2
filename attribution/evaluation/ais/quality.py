"""How well and how fast people work: audit quality and seconds a task (R23, tables 7 and 8)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from attribution.evaluation.ais.judgements import Judgement

QUARTER = 4  # the start and the end are the first and the last quarter of what somebody has judged
PERIODS = ("pilot", "start", "end")


@dataclass(frozen=True)
class Audited:
    """Of an annotator's judgements that a lead has judged too, those with the same answers."""

    annotator: str  # empty: all annotators together
    tasks: tuple[str, ...]  # one for each judgement
    interpretable: tuple[str, ...]  # equal in the first question
    attributable: tuple[str, ...]  # equal in the second, of those that both found interpretable
    asked: tuple[str, ...]  # that both found interpretable
    both: tuple[str, ...]  # equal in both questions, flags included


def audited(judgements: Sequence[Judgement], audits: Iterable[Judgement]) -> list[Audited]:
    """A row for all annotators, then one for each. With several audits of a task, the first lead by name counts."""
    reference = {audit.task_id: audit for audit in sorted(audits, key=lambda a: a.annotator, reverse=True)}
    compared = [(j, reference[j.task_id]) for j in judgements if j.task_id in reference and j.annotator]
    compared = [(j, audit) for j, audit in compared if audit.annotator != j.annotator]
    names = sorted({j.annotator for j, _ in compared})
    return [_audited(name, compared) for name in ["", *names]] if compared else []


def _audited(name: str, compared: Sequence[tuple[Judgement, Judgement]]) -> Audited:
    own = [(j.task_id, j.content, audit.content) for j, audit in compared if name in ("", j.annotator)]
    asked = [(task, a, b) for task, a, b in own if a.attributable is not None and b.attributable is not None]
    return Audited(
        name,
        tuple(task for task, _, _ in own),
        tuple(task for task, a, b in own if a.interpretable == b.interpretable and bool(a.flags) == bool(b.flags)),
        tuple(task for task, a, b in asked if a.attributable == b.attributable),
        tuple(task for task, _, _ in asked),
        tuple(task for task, a, b in own if a.answer == b.answer),
    )


@dataclass(frozen=True)
class Pace:
    """Median seconds of an annotator's judgements in one period; None where there are none."""

    annotator: str  # empty: all annotators together
    period: str
    tasks: tuple[str, ...]
    first: float | None  # stage one
    second: float | None  # stage two, of those that reached it
    both: float | None


def paces(judgements: Iterable[Judgement], pilot: Iterable[str]) -> list[Pace]:
    """Of finished judgements: in the pilot, at the start and at the end of what came after it."""
    tried = set(pilot)
    by_name: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in sorted(judgements, key=lambda j: (j.made_at, j.id)):
        by_name[judgement.annotator].append(judgement)
    periods: dict[tuple[str, str], list[Judgement]] = defaultdict(list)
    for name, own in by_name.items():
        later = [j for j in own if j.task_id not in tried]
        size = -(-len(later) // QUARTER)
        for period, some in (
            ("pilot", [j for j in own if j.task_id in tried]),
            ("start", later[:size]),
            ("end", later[len(later) - size :] if len(later) > size else []),
        ):
            periods[name, period] += some
            periods["", period] += some
    return [_pace(name, period, periods[name, period]) for name in ["", *sorted(by_name)] for period in PERIODS]


def _pace(name: str, period: str, judgements: Sequence[Judgement]) -> Pace:
    seconds = [j.content.seconds for j in judgements]
    return Pace(
        name,
        period,
        tuple(j.task_id for j in judgements),
        _median([first for first, _ in seconds]),
        _median([second for j, (_, second) in zip(judgements, seconds, strict=True) if j.content.interpretable]),
        _median([first + second for first, second in seconds]),
    )


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None

"""How far annotators agree, how well they judge and how fast they work (R23, section 5, tables 7 and 8).

For agreement each annotator's answers to the two questions are one label; whoever flagged a task gave none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

from attribution.evaluation.ais.judgements import Judgement, by_task

QUARTER = 4  # the start and the end are the first and the last quarter of what somebody has judged
PERIODS = ("pilot", "start", "end")


@dataclass(frozen=True)
class Agreement:
    """`pairwise` and `alpha` are None where no task has two labels, or where all labels are the same for α."""

    tasks: tuple[str, ...]  # with two labels or more
    equal: int  # pairs of judgements of one task
    pairs: int
    alpha: float | None
    differing: tuple[str, ...]  # tasks with unequal labels

    @property
    def pairwise(self) -> float | None:
        return self.equal / self.pairs if self.pairs else None


def agreement(judgements: Iterable[Judgement]) -> Agreement:
    """Of finished judgements. A pair is equal only where both answers are."""
    labels = {
        task: [j.content.answer for j in of_task if j.content.answer not in (None, "flagged")]
        for task, of_task in by_task(judgements).items()
    }
    labels = {task: given for task, given in labels.items() if len(given) > 1}
    pairs = [pair for given in labels.values() for pair in combinations(given, 2)]
    return Agreement(
        tasks=tuple(labels),
        equal=sum(a == b for a, b in pairs),
        pairs=len(pairs),
        alpha=nominal_alpha(list(labels.values())),
        differing=tuple(task for task, given in labels.items() if len(set(given)) > 1),
    )


def nominal_alpha(units: Iterable[Sequence[Hashable]]) -> float | None:
    """Krippendorff's α for nominal labels (Krippendorff 2019, section 12.3); missing labels are left out of their unit.

    1 - observed / expected disagreement. None without a unit of two labels, and where only one label occurs.
    """
    pairable = [Counter(unit) for unit in units if len(unit) > 1]
    totals = Counter[Hashable]()
    for unit in pairable:
        totals.update(unit)
    count = totals.total()
    expected = count * count - sum(n * n for n in totals.values())
    if not expected:
        return None
    observed = sum((unit.total() ** 2 - sum(n * n for n in unit.values())) / (unit.total() - 1) for unit in pairable)
    return 1 - (count - 1) * observed / expected


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

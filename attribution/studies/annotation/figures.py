"""Compute the results of an annotation project and its agreement (R23 Table 3, 4, 5, 6, 7 and 8).

Intervals are bootstrapped over tasks, differences are tested by permutation. A task counts once,
with the answer of
most of its annotators or of the adjudicator.

For agreement, each annotator's answers to the two questions are one label; an annotator who flagged
a task gave none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING, Literal

from attribution.studies.annotation.records import ANSWERS, Annotation, Answer, by_task
from attribution.studies.annotation.tasks import Task
from attribution.studies.results import BATCH, DRAWS, SEED, interval, ratios

if TYPE_CHECKING:
    from attribution.studies.results import Floats, Ints

Measure = Literal["flagged", "interpretable", "attributable"]
# of each measure: the answers in the numerator and in the denominator of its share
MEASURES: dict[Measure, tuple[tuple[Answer, ...], tuple[Answer, ...]]] = {
    "flagged": (("flagged",), tuple(ANSWERS)),
    "interpretable": (
        ("attributable", "not_attributable"),
        ("attributable", "not_attributable", "not_interpretable"),
    ),
    "attributable": (("attributable",), ("attributable", "not_attributable")),
}
ORDER: tuple[Answer, ...] = tuple(ANSWERS)


@dataclass(frozen=True)
class TaskShare:
    """A share with the tasks behind it and its 95 % interval; value and interval are None if
    nothing is counted.
    """

    tasks: tuple[str, ...]
    base: tuple[str, ...]
    low: float | None = None
    high: float | None = None

    @property
    def value(self) -> float | None:
        return len(self.tasks) / len(self.base) if self.base else None


@dataclass(frozen=True)
class SystemFigures:
    """The results of one system on one data set."""

    dataset: str
    system: str
    shares: dict[Measure, TaskShare]
    undecided: tuple[str, ...]  # tied tasks: left out until somebody adjudicates


@dataclass(frozen=True)
class SystemDifference:
    """The difference in the share of a measure between two systems on one data set."""

    dataset: str
    systems: tuple[str, str]
    measure: Measure
    value: float  # first minus second
    low: float
    high: float
    p: float  # two-sided, by permutation
    # pairs of answers to one item; 0: the answers are to different items, and are not paired
    items: int
    tasks: tuple[str, ...]


def _by_dataset(
    tasks: Mapping[str, Task], answers: Iterable[str]
) -> list[tuple[str, dict[str, list[str]]]]:
    """Group the answered tasks by data set and system, both sorted by name."""
    groups: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for task_id in sorted(answers, key=lambda i: (tasks[i].dataset, tasks[i].system)):
        groups[tasks[task_id].dataset].setdefault(tasks[task_id].system, []).append(task_id)
    return list(groups.items())


def rows(tasks: Mapping[str, Task], answers: Mapping[str, Answer | None]) -> list[SystemFigures]:
    """Return a row for each system and data set."""
    return [
        SystemFigures(
            dataset,
            system,
            {measure: share(own, answers, measure) for measure in MEASURES},
            tuple(task_id for task_id in own if answers[task_id] is None),
        )
        for dataset, systems in _by_dataset(tasks, answers)
        for system, own in systems.items()
    ]


def share(
    tasks: Sequence[str], answers: Mapping[str, Answer | None], measure: Measure
) -> TaskShare:
    """Return the share of these tasks with its interval."""
    counting, counted = MEASURES[measure]
    base = tuple(task for task in tasks if answers[task] in counted)
    if not base:
        return TaskShare((), ())
    some = tuple(task for task in base if answers[task] in counting)
    return TaskShare(some, base, *_interval(_codes(tasks, answers), measure))


def differences(
    tasks: Mapping[str, Task], answers: Mapping[str, Answer | None]
) -> list[SystemDifference]:
    """Compare all pairs of systems on each data set by each measure, unless a system has nothing to
    count.

    Answers to one item are compared in pairs if most answers of the smaller system have a partner.
    """
    found = []
    for dataset, systems in _by_dataset(
        tasks, sorted(task_id for task_id, answer in answers.items() if answer)
    ):
        for a, b in combinations(systems, 2):
            pairs = _pairs(tasks, systems[a], systems[b])
            paired = 2 * len(pairs) > min(len(systems[a]), len(systems[b]))
            first, second = zip(*pairs, strict=True) if paired else (systems[a], systems[b])
            codes = _codes(first, answers), _codes(second, answers)
            for measure in MEASURES:
                if test := _test(*codes, paired, measure):
                    items = len(pairs) if paired else 0
                    found.append(
                        SystemDifference(dataset, (a, b), measure, *test, items, (*first, *second))
                    )
    return found


def _pairs(
    tasks: Mapping[str, Task], first: Sequence[str], second: Sequence[str]
) -> list[tuple[str, str]]:
    """Pair the answers to the same item; of several answers of one system to it, as many as the
    other has.
    """
    by_item: dict[tuple[str, str], list[str]] = defaultdict(list)
    for task_id in second:
        by_item[tasks[task_id].item, tasks[task_id].unit].append(task_id)
    return [
        (task_id, others.pop(0))
        for task_id in first
        if (others := by_item.get((tasks[task_id].item, tasks[task_id].unit)))
    ]


def _codes(tasks: Sequence[str], answers: Mapping[str, Answer | None]) -> bytes:
    """Encode the answers as places in ORDER, so that the figures of the same answers are computed
    once.
    """
    return bytes(ORDER.index(answer) for task in tasks if (answer := answers[task]))


def _share(measure: Measure, codes: Ints, axis: int = -1) -> Floats:
    import numpy as np

    counting, counted = (
        np.array([answer in some for answer in ORDER]) for some in MEASURES[measure]
    )
    return ratios(*(np.count_nonzero(some[codes], axis) for some in (counting, counted)))


@lru_cache(maxsize=500)
def _interval(codes: bytes, measure: Measure) -> tuple[float, float]:
    import numpy as np

    return interval([np.frombuffer(codes, np.uint8)], partial(_share, measure))


@lru_cache(maxsize=500)
def _test(
    first: bytes, second: bytes, paired: bool, measure: Measure
) -> tuple[float, float, float, float] | None:
    """Return the difference of two shares with its interval and p; None if nothing is counted.

    A permutation exchanges the answers to an item or, if they are not paired, deals out all answers
    again.
    """
    import numpy as np
    from scipy import stats

    a, b = (np.frombuffer(codes, np.uint8) for codes in (first, second))

    def difference(a: Ints, b: Ints, axis: int = -1) -> Floats:
        return _share(measure, a, axis) - _share(measure, b, axis)

    if np.isnan(value := float(difference(a, b))):
        return None
    if min(len(a), len(b)) < 2:
        return (value, value, value, 1.0)
    permuted = stats.permutation_test(
        (a, b),
        difference,
        permutation_type="samples" if paired else "independent",
        n_resamples=DRAWS,
        batch=BATCH,
        vectorized=True,
        rng=SEED,
    )
    return (value, *interval((a, b), difference, paired), float(permuted.pvalue))


# the start and the end are the first and the last quarter of an annotator's judgements after the
# pilot
QUARTER = 4
PERIODS = ("pilot", "start", "end")


@dataclass(frozen=True)
class Agreement:
    """Agreement of annotators. `pairwise` and `alpha` are None if no task has two labels, `alpha`
    also if all agree.
    """

    tasks: tuple[str, ...]  # with two labels or more
    equal: int  # pairs of judgements of one task
    pairs: int
    alpha: float | None
    differing: tuple[str, ...]  # tasks with unequal labels

    @property
    def pairwise(self) -> float | None:
        return self.equal / self.pairs if self.pairs else None


def agreement(judgements: Iterable[Annotation]) -> Agreement:
    """Compute the agreement of finished judgements. A pair is equal only if both of its answers
    are.
    """
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
    """Compute Krippendorff's α for nominal labels (Krippendorff 2019, section 12.3), without
    missing labels.

    1 - observed / expected disagreement. None without a unit of two labels, and if only one label
    occurs.
    """
    pairable = [Counter(unit) for unit in units if len(unit) > 1]
    totals = Counter[Hashable]()
    for unit in pairable:
        totals.update(unit)
    count = totals.total()
    expected = count * count - sum(n * n for n in totals.values())
    if not expected:
        return None
    observed = sum(
        (unit.total() ** 2 - sum(n * n for n in unit.values())) / (unit.total() - 1)
        for unit in pairable
    )
    return 1 - (count - 1) * observed / expected


@dataclass(frozen=True)
class Audited:
    """The tasks of an annotator that a lead has judged too, and those with the same answers."""

    annotator: str  # empty: all annotators together
    tasks: tuple[str, ...]  # one for each judgement
    interpretable: tuple[str, ...]  # equal in the first question
    attributable: tuple[str, ...]  # equal in the second, of those that both found interpretable
    asked: tuple[str, ...]  # that both found interpretable
    both: tuple[str, ...]  # equal in both questions, flags included


def audited(judgements: Sequence[Annotation], audits: Iterable[Annotation]) -> list[Audited]:
    """Return a row for all annotators, then one for each. Of several audits, the first lead by name
    counts.
    """
    reference = {
        audit.task_id: audit for audit in sorted(audits, key=lambda a: a.annotator, reverse=True)
    }
    compared = [
        (j, a) for j in judgements if (a := reference.get(j.task_id)) and a.annotator != j.annotator
    ]
    names = sorted({j.annotator for j, _ in compared})
    return [_audited(name, compared) for name in ["", *names]] if compared else []


def _audited(name: str, compared: Sequence[tuple[Annotation, Annotation]]) -> Audited:
    own = [
        (j.task_id, j.content, audit.content) for j, audit in compared if name in ("", j.annotator)
    ]
    asked = [
        (task, a, b)
        for task, a, b in own
        if a.attributable is not None and b.attributable is not None
    ]
    return Audited(
        name,
        tuple(task for task, _, _ in own),
        tuple(
            task
            for task, a, b in own
            if a.interpretable == b.interpretable and bool(a.flags) == bool(b.flags)
        ),
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


def periods(
    judgements: Iterable[Annotation], pilot: Iterable[str]
) -> dict[tuple[str, str], list[Annotation]]:
    """Return each annotator's judgements in the pilot, and at the start and the end of those after
    it; "" for all.
    """
    tried = set(pilot)
    by_name: dict[str, list[Annotation]] = defaultdict(list)
    for judgement in sorted(judgements, key=lambda j: (j.made_at, j.id)):
        by_name[judgement.annotator].append(judgement)
    found: dict[tuple[str, str], list[Annotation]] = defaultdict(list)
    for name, own in by_name.items():
        later = [j for j in own if j.task_id not in tried]
        size = -(-len(later) // QUARTER)
        end = later[len(later) - size :] if len(later) > size else []
        for period, some in zip(
            PERIODS, ([j for j in own if j.task_id in tried], later[:size], end), strict=True
        ):
            found[name, period] += some
            found["", period] += some
    return found


def paces(judgements: Iterable[Annotation], pilot: Iterable[str]) -> list[Pace]:
    """Return the pace of finished judgements by annotator and period."""
    found = periods(judgements, pilot)
    names = sorted({name for name, _ in found} | {""})
    return [
        _pace(name, period, found.get((name, period), [])) for name in names for period in PERIODS
    ]


def _pace(name: str, period: str, judgements: Sequence[Annotation]) -> Pace:
    seconds = [j.content.seconds for j in judgements]
    read = [j.content.seconds[1] for j in judgements if j.content.interpretable]
    medians = (
        median(some) if some else None
        for some in ([s[0] for s in seconds], read, [sum(s) for s in seconds])
    )
    return Pace(name, period, tuple(j.task_id for j in judgements), *medians)

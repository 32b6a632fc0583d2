"""Compute the results of an annotation project and its agreement (R23 Table 3, 4, 5, 6, 7 and 8).

Intervals are bootstrapped over tasks, differences are tested by permutation. A task counts once,
with the answer of
most of its annotators or of the adjudicator.

For agreement, each annotator's answers to the two questions are one label; an annotator who flagged
a task gave none.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
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
    """Judgements of tasks that a lead has judged too, and those with the lead's answer.

    Attributes:
        annotator: Empty for all annotators together.
        tasks: One for each judgement.
        both: Equal in both questions, flags included.
    """

    annotator: str
    tasks: tuple[str, ...]
    both: tuple[str, ...]


def audited(judgements: Sequence[Annotation], audits: Iterable[Annotation]) -> list[Audited]:
    """Return a row for all annotators, then one for each; of several leads, the first counts."""
    leads: dict[str, Annotation] = {}
    for audit in sorted(audits, key=lambda one: one.annotator):
        leads.setdefault(audit.task_id, audit)
    rows: dict[str, list[Annotation]] = {"": []}
    for judgement in sorted(judgements, key=lambda one: one.annotator):
        lead = leads.get(judgement.task_id)
        if lead is not None and lead.annotator != judgement.annotator:
            rows[""].append(judgement)
            rows.setdefault(judgement.annotator, []).append(judgement)
    return [_audited(name, compared, leads) for name, compared in rows.items() if compared]


def _audited(
    name: str, judgements: Sequence[Annotation], leads: Mapping[str, Annotation]
) -> Audited:
    equal = [one for one in judgements if one.content.answer == leads[one.task_id].content.answer]
    return Audited(
        name, tuple(one.task_id for one in judgements), tuple(one.task_id for one in equal)
    )


@dataclass(frozen=True)
class Pace:
    """Median seconds of an annotator's judgements in one period; None where there are none.

    Attributes:
        annotator: Empty for all annotators together.
    """

    annotator: str
    period: str
    tasks: tuple[str, ...]
    seconds: float | None


def periods(
    judgements: Iterable[Annotation], pilot: Collection[str]
) -> dict[tuple[str, str], list[Annotation]]:
    """Return the judgements by annotator and period; the annotator "" stands for all.

    The start and the end are the first and the last quarter of an annotator's judgements after the
    pilot.
    """
    by_annotator: dict[str, list[Annotation]] = defaultdict(list)
    for judgement in sorted(judgements, key=lambda one: (one.made_at, one.id)):
        by_annotator[judgement.annotator].append(judgement)
    by_period: dict[tuple[str, str], list[Annotation]] = defaultdict(list)
    for name, own in by_annotator.items():
        later = [one for one in own if one.task_id not in pilot]
        quarter = math.ceil(len(later) / 4)
        parts = (
            [one for one in own if one.task_id in pilot],
            later[:quarter],
            later[-quarter:] if len(later) > quarter else [],
        )
        for period, part in zip(PERIODS, parts, strict=True):
            by_period[name, period] += part
            by_period["", period] += part
    return by_period


def paces(judgements: Iterable[Annotation], pilot: Collection[str]) -> list[Pace]:
    """Return the pace of finished judgements by annotator and period."""
    rows: list[Pace] = []
    for (name, period), own in sorted(
        periods(judgements, pilot).items(), key=lambda item: item[0][0]
    ):
        seconds = [sum(one.content.seconds) for one in own]
        tasks = tuple(one.task_id for one in own)
        rows.append(Pace(name, period, tasks, median(seconds) if seconds else None))
    return rows

"""What people found: shares by system and data set, differences between systems (R23, tables 3 to 6).

Intervals are bootstrapped over tasks, differences are tested by permutation. A task counts once, with what most of its
annotators say or what the adjudicator decided.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

from attribution.evaluation.ais.judgements import ANSWERS, Answer
from attribution.evaluation.ais.tasks import Task

if TYPE_CHECKING:
    import numpy as np

DRAWS = 10_000  # bootstrap samples and permutations
SEED = 20230401
Measure = Literal["flagged", "interpretable", "attributable"]
# of each measure: the answers that count, and those that are counted
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
class Share:
    """A share with the tasks behind it and its 95 % interval; all None where nothing is counted."""

    tasks: tuple[str, ...]
    base: tuple[str, ...]
    low: float | None = None
    high: float | None = None

    @property
    def value(self) -> float | None:
        return len(self.tasks) / len(self.base) if self.base else None


@dataclass(frozen=True)
class Row:
    """One system on one data set."""

    dataset: str
    system: str
    shares: dict[Measure, Share]
    undecided: tuple[str, ...]  # as many annotators say one thing as another: left out until somebody adjudicates


@dataclass(frozen=True)
class Difference:
    """Of the share of a measure between two systems on one data set."""

    dataset: str
    systems: tuple[str, str]
    measure: Measure
    value: float  # first minus second
    low: float
    high: float
    p: float  # two-sided, by permutation
    items: int  # pairs of answers to one item; 0: the answers are to different items, and are not paired
    tasks: tuple[str, ...]


def rows(tasks: Mapping[str, Task], answers: Mapping[str, Answer | None]) -> list[Row]:
    """A row for each system and data set, by name."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for task_id in answers:
        groups[tasks[task_id].dataset, tasks[task_id].system].append(task_id)
    return [
        Row(
            dataset,
            system,
            {measure: share(own, answers, measure) for measure in MEASURES},
            tuple(task_id for task_id in own if answers[task_id] is None),
        )
        for (dataset, system), own in sorted(groups.items())
    ]


def share(tasks: Sequence[str], answers: Mapping[str, Answer | None], measure: Measure) -> Share:
    """The share of these tasks with a percentile interval."""
    import numpy as np

    counting, counted = MEASURES[measure]
    base = tuple(task for task in tasks if answers[task] in counted)
    some = tuple(task for task in base if answers[task] in counting)
    if not base:
        return Share((), ())
    counts = _counts([answers[task] for task in tasks if answers[task]])
    drawn = np.random.default_rng(SEED).multinomial(counts.sum(), counts / counts.sum(), size=DRAWS)
    low, high = _interval(_shares(drawn, measure))
    return Share(some, base, low, high)


def differences(tasks: Mapping[str, Task], answers: Mapping[str, Answer | None]) -> list[Difference]:
    """Of all pairs of systems on each data set, for each measure; none where a system has nothing to count.

    Answers to one item are compared in pairs where most answers of the smaller system have a partner.
    """
    datasets: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for task_id, answer in sorted(answers.items()):
        if answer:
            datasets[tasks[task_id].dataset][tasks[task_id].system].append(task_id)
    found = []
    for dataset, systems in sorted(datasets.items()):
        for a, b in combinations(sorted(systems), 2):
            pairs = _pairs(tasks, systems[a], systems[b])
            for measure in MEASURES:
                paired = 2 * len(pairs) > min(len(systems[a]), len(systems[b]))
                if difference := _difference(systems[a], systems[b], pairs if paired else [], answers, measure):
                    found.append(Difference(dataset, (a, b), measure, *difference))
    return found


def _pairs(tasks: Mapping[str, Task], first: Sequence[str], second: Sequence[str]) -> list[tuple[str, str]]:
    """Answers to the same item; of several answers of one system to it, as many as the other has."""
    by_item: dict[tuple[str, str], list[str]] = defaultdict(list)
    for task_id in second:
        by_item[tasks[task_id].item, tasks[task_id].unit].append(task_id)
    return [
        (task_id, others.pop(0))
        for task_id in first
        if (others := by_item.get((tasks[task_id].item, tasks[task_id].unit)))
    ]


def _difference(
    first: Sequence[str],
    second: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    answers: Mapping[str, Answer | None],
    measure: Measure,
) -> tuple[float, float, float, float, int, tuple[str, ...]] | None:
    """Value, interval, p, number of pairs and tasks. A permutation exchanges the answers to an item, or, where they are
    not paired, deals out all answers again."""
    import numpy as np

    chance = np.random.default_rng(SEED)
    if pairs:
        first, second = [a for a, _ in pairs], [b for _, b in pairs]
    a, b = (_counts([answers[task] for task in own]) for own in (first, second))
    value = float(_shares(a, measure) - _shares(b, measure))
    if np.isnan(value):
        return None
    if pairs:
        kinds = Counter((ORDER.index(_said(answers, x)), ORDER.index(_said(answers, y))) for x, y in pairs)
        here, there = (np.eye(len(ORDER), dtype=int)[[kind[side] for kind in kinds]] for side in (0, 1))
        times = np.array(list(kinds.values()))
        swapped = chance.binomial(times, 0.5, size=(DRAWS, len(times)))
        kept = times - swapped
        permuted = _shares(kept @ here + swapped @ there, measure) - _shares(kept @ there + swapped @ here, measure)
        drawn = chance.multinomial(len(pairs), times / times.sum(), size=DRAWS)
        resampled = _shares(drawn @ here, measure) - _shares(drawn @ there, measure)
    else:
        dealt = chance.multivariate_hypergeometric(a + b, a.sum(), size=DRAWS)
        permuted = _shares(dealt, measure) - _shares(a + b - dealt, measure)
        resampled = _shares(chance.multinomial(a.sum(), a / a.sum(), size=DRAWS), measure) - _shares(
            chance.multinomial(b.sum(), b / b.sum(), size=DRAWS), measure
        )
    extreme = int((np.abs(np.nan_to_num(permuted)) >= abs(value) - 1e-12).sum())
    return (value, *_interval(resampled), (1 + extreme) / (1 + DRAWS), len(pairs), (*first, *second))


def _said(answers: Mapping[str, Answer | None], task: str) -> Answer:
    answer = answers[task]
    assert answer is not None
    return answer


def _counts(answers: Sequence[Answer | None]) -> np.ndarray[Any, Any]:
    """How often each answer occurs, in the order of ORDER."""
    import numpy as np

    counts = Counter(answers)
    return np.array([counts[answer] for answer in ORDER])


def _shares(counts: np.ndarray[Any, Any], measure: Measure) -> np.ndarray[Any, Any]:
    """The share in each row of counts; not a number where nothing is counted."""
    import numpy as np

    counting, counted = ([ORDER.index(answer) for answer in some] for some in MEASURES[measure])
    some, base = counts[..., counting].sum(axis=-1), counts[..., counted].sum(axis=-1)
    shares: np.ndarray[Any, Any] = np.divide(some, base, out=np.full(np.shape(base), np.nan), where=base > 0)
    return shares


def _interval(values: np.ndarray[Any, Any]) -> tuple[float, float]:
    import numpy as np

    low, high = np.nanpercentile(values, [2.5, 97.5])
    return float(low), float(high)

"""How far annotators agree: pairwise agreement and Krippendorff's α, on both questions together (R23, section 5).

Each annotator's answers to the two questions are one label; whoever flagged a task gave none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from attribution.evaluation.ais.judgements import Judgement, by_task


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

"""How well methods tell grounded from ungrounded responses (T24, section 5): tuned on one split, reported on the other.

The class that is looked for is *ungrounded*: a response is flagged where its score is below the threshold.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attribution.studies.groundedness.labelled_set import LabelledRow
from attribution.studies.groundedness.outcomes import Outcome
from attribution.types import Frozen

DRAWS, SEED = 1000, 0  # of the bootstrap
GROUNDED = ""  # the error type of grounded responses


class Estimate(Frozen):
    """A share with its 95 % bootstrap interval over groups of rows; None where it is undefined."""

    value: float | None
    low: float | None
    high: float | None


class ErrorType(Frozen):
    """Test rows of one error type, and how many of them were misclassified (T24, table 4)."""

    name: str  # GROUNDED: responses without an error
    rows: int
    misclassified: int


class MethodFigures(Frozen):
    """One method on one labelled set."""

    method: str
    reading: str  # of the method's scores, tuned with the threshold
    threshold: float  # the least score of a response that is not flagged
    development: int  # rows that were tuned on
    development_macro_f1: float
    test: int  # rows that are reported
    failed: int  # rows of both splits that could not be scored, left out of all figures
    precision: Estimate  # of the flagged responses, the share that is ungrounded
    recall: Estimate  # of the ungrounded responses, the share that is flagged
    macro_f1: Estimate  # the mean of the F1 scores of both classes
    accuracy: Estimate
    seconds: float | None  # median of a response; None where all replies came from the store
    tokens: float | None  # mean of a response; None where no language model is asked
    cost: float | None  # of the whole run
    error_types: tuple[ErrorType, ...] = ()


class Evaluation(Frozen):
    figures: tuple[MethodFigures, ...]
    unmeasured: dict[str, str] = {}  # methods without figures, and why


def evaluate(
    rows: Sequence[LabelledRow], outcomes: Sequence[Outcome], methods: Sequence[str], draws: int = DRAWS
) -> Evaluation:
    """The figures of each method, in the order given. The reading and threshold are tuned on development rows alone."""
    by_row = {row.id: row for row in rows}
    figures, unmeasured = [], {}
    for method in methods:
        own = [o for o in outcomes if o.method == method and o.row in by_row]
        scored = {
            split: [(by_row[o.row], o) for o in own if not o.error and by_row[o.row].split == split]
            for split in ("development", "test")
        }
        lacking = [
            f"no {kind} response in the {split} split"
            for split, pairs in scored.items()
            for kind, label in (("grounded", True), ("ungrounded", False))
            if all(row.grounded != label for row, _ in pairs)
        ]
        if lacking:
            unmeasured[method] = f"{'; '.join(lacking)} has a score"
            continue
        reading, threshold, tuned = tune(scored["development"])
        figures.append(_figures(method, reading, threshold, tuned, scored["development"], scored["test"], own, draws))
    return Evaluation(figures=tuple(figures), unmeasured=unmeasured)


def tune(scored: Sequence[tuple[LabelledRow, Outcome]]) -> tuple[str, float, float]:
    """(reading, threshold, macro F1) with the highest macro F1 on these rows; the first reading among equal ones."""
    grounded = np.array([row.grounded for row, _ in scored])
    best = ("", 0.0, -1.0)
    for reading in scored[0][1].scores:
        threshold, f1 = best_threshold(np.array([o.scores[reading] for _, o in scored]), grounded)
        if f1 > best[2]:
            best = (reading, threshold, f1)
    return best


def best_threshold(scores: Any, grounded: Any) -> tuple[float, float]:
    """(threshold, macro F1) with the highest macro F1, halfway between two scores; the middle one of equals."""
    values = np.unique(scores)
    candidates = np.concatenate([values[:1], (values[:-1] + values[1:]) / 2, values[-1:] + 1e-6])
    cells = np.stack([_confusion(grounded, scores < t) for t in candidates])
    f1 = _measures(cells)["macro_f1"]
    equal = np.flatnonzero(f1 >= f1.max() - 1e-12)
    chosen = equal[len(equal) // 2]
    return float(candidates[chosen]), float(f1[chosen])


def flagged(outcome: Outcome, figures: MethodFigures) -> bool:
    """Does the method call this response ungrounded?"""
    return outcome.scores[figures.reading] < figures.threshold


def _confusion(grounded: Any, flags: Any) -> Any:
    """(4,): ungrounded and flagged, ungrounded and not, grounded and flagged, grounded and not."""
    return np.array(
        [(~grounded & flags).sum(), (~grounded & ~flags).sum(), (grounded & flags).sum(), (grounded & ~flags).sum()],
        dtype=float,
    )


def _measures(cells: Any) -> Mapping[str, Any]:
    """(n,) of each measure for (n, 4) confusions; not a number where it is undefined."""
    hit, missed, false, passed = cells.T

    def share(part: Any, whole: Any) -> Any:
        return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)

    f1 = [
        np.nan_to_num(share(2 * right, 2 * right + missed + false)) for right in (hit, passed)
    ]  # 0 where a class is neither there nor predicted
    return {
        "precision": share(hit, hit + false),
        "recall": share(hit, hit + missed),
        "macro_f1": (f1[0] + f1[1]) / 2,
        "accuracy": share(hit + passed, cells.sum(axis=1)),
    }


def estimates(groups: Sequence[str], grounded: Any, flags: Any, draws: int = DRAWS) -> dict[str, Estimate]:
    """Each measure with its interval. Groups are drawn again with replacement, since their rows are not independent."""
    names = sorted(set(groups))
    place = {name: i for i, name in enumerate(names)}
    cells = np.zeros((len(names), 4))
    for group, g, f in zip(groups, grounded, flags, strict=True):
        cells[place[group], 2 * int(g) + int(not f)] += 1
    found = _measures(cells.sum(axis=0, keepdims=True))
    drawn = np.random.default_rng(SEED).multinomial(len(names), [1 / len(names)] * len(names), size=draws)
    spread = _measures(drawn @ cells)
    result = {}
    for name, values in found.items():
        value, known = float(values[0]), spread[name][~np.isnan(spread[name])]
        if np.isnan(value):
            result[name] = Estimate(value=None, low=None, high=None)
            continue
        low, high = np.percentile(known, [2.5, 97.5])
        result[name] = Estimate(value=round(value, 4), low=round(float(low), 4), high=round(float(high), 4))
    return result


def _figures(
    method: str,
    reading: str,
    threshold: float,
    tuned: float,
    development: Sequence[tuple[LabelledRow, Outcome]],
    test: Sequence[tuple[LabelledRow, Outcome]],
    outcomes: Sequence[Outcome],
    draws: int,
) -> MethodFigures:
    grounded = [row.grounded for row, _ in test]
    flags = [o.scores[reading] < threshold for _, o in test]
    wrong: dict[str, list[bool]] = {}
    for (row, _), flag in zip(test, flags, strict=True):
        kind = GROUNDED if row.grounded else row.error_type or "not said"
        wrong.setdefault(kind, []).append(flag == row.grounded)
    seconds = [o.seconds for o in outcomes if o.seconds is not None and not o.error]
    tokens = [o.tokens for o in outcomes if o.tokens is not None and not o.error]
    costs = [o.cost for o in outcomes if o.cost is not None]
    return MethodFigures(
        method=method,
        reading=reading,
        threshold=round(threshold, 6),
        development=len(development),
        development_macro_f1=round(tuned, 4),
        test=len(test),
        failed=sum(bool(o.error) for o in outcomes),
        seconds=round(statistics.median(seconds), 5) if seconds else None,
        tokens=round(statistics.fmean(tokens), 1) if tokens else None,
        cost=round(sum(costs), 6) if costs else None,
        error_types=tuple(
            ErrorType(name=name, rows=len(found), misclassified=sum(found)) for name, found in sorted(wrong.items())
        ),
        **estimates([row.group for row, _ in test], grounded, flags, draws),
    )

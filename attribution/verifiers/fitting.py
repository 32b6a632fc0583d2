"""Judged badges → the calibration of a verifier.

A calibration has thresholds that keep a guarantee, and the share of right badges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from attribution.errors import BadInput
from attribution.text_files import Row
from attribution.types import LABELS, Label
from attribution.verdicts import LOWEST_THRESHOLD
from attribution.verifiers.calibration import (
    ENOUGH,
    GUARANTEES,
    Calibration,
    Curve,
    Point,
)

REQUIRED, OPTIONAL = ("claim", "verifier", "label"), ("set",)
CONFIDENCE = 0.9  # of the intervals
STEP = 0.02  # between two thresholds
THRESHOLDS = tuple(
    round(LOWEST_THRESHOLD + STEP * n, 2) for n in range(round((0.99 - LOWEST_THRESHOLD) / STEP))
)


@dataclass(frozen=True)
class Badge:
    """A verdict of `judge`.

    Attributes:
        right: None where nobody judged it.
        source: The set that the claim is from.
    """

    label: Label
    probability: float
    right: bool | None
    source: str


def badge(row: Row) -> Badge:
    """Read a row. Raises BadInput with what was found in it, and what was expected."""
    if row.error:
        raise BadInput(row.error)
    label = next((known for known in LABELS if known == row.fields["label"]), None)
    if label is None:
        raise BadInput(f'"label" is "{row.fields["label"]}"; expected one of {", ".join(LABELS)}')
    probability, right = row.fields.get("confidence"), row.fields.get("right")
    is_number = isinstance(probability, int | float) and not isinstance(probability, bool)
    if probability is None or not is_number or not 0 <= probability <= 1:
        raise BadInput(f'"confidence" is {probability!r}; expected a number from 0 to 1')
    if label in GUARANTEES and (right not in (True, False, None) or "right" not in row.fields):
        found = repr(right) if "right" in row.fields else "missing"
        expected = "true or false, or null where nobody judged the badge"
        raise BadInput(f'"right" is {found}; expected {expected}')
    return Badge(label, probability, right, row.fields.get("set") or "")


def read(rows: Sequence[Row]) -> tuple[str, list[Badge], list[tuple[int, str]]]:
    """Return the version of the verifier, its badges, and the problems of other lines."""
    version = ""
    badges: list[Badge] = []
    problems: list[tuple[int, str]] = []
    for row in rows:
        try:
            read_badge = badge(row)
            named = row.fields["verifier"]
            version = version or named
            if named != version:
                expected = f'expected "{version}", as in the lines before'
                raise BadInput(f'"verifier" is "{named}"; {expected}')
            badges.append(read_badge)
        except BadInput as error:
            problems.append((row.line, str(error)))
    return version, badges, problems


def calibrate(version: str, badges: Sequence[Badge]) -> Calibration:
    """Fit the calibration of the verifier that gave these badges at the lowest thresholds."""
    curves = [_curve(label, badges, guarantee) for label, guarantee in GUARANTEES.items()]
    claims = Counter(badge.source for badge in badges)
    return Calibration(
        verifier=version, claims=dict(claims), supported=curves[0], contradicted=curves[1]
    )


def _curve(label: Label, badges: Sequence[Badge], guarantee: float) -> Curve:
    known = [b for b in badges if b.label == label and b.right is not None]
    judged = {b.source for b in known}  # sets that judge such badges
    return Curve(
        claims=sum(b.source in judged for b in badges),
        guarantee=guarantee,
        threshold=threshold(known, guarantee),
        points=tuple(_from(known, least) for least in THRESHOLDS),
        steps=steps(known),
    )


def threshold(badges: Sequence[Badge], guarantee: float) -> float | None:
    """Return the least threshold that keeps the guarantee.

    From it on, the lower end of the interval of the right share is at the guarantee. A set with
    more than a third of the badges weighs half of what the others have.
    """
    counts = Counter(badge.source for badge in badges)
    weights = dict.fromkeys(counts, 1.0)
    if len(counts) > 2:
        weights = {name: min(1.0, (len(badges) - n) / (2 * n)) for name, n in counts.items()}
    for least in THRESHOLDS:
        shown = [badge for badge in badges if badge.probability >= least]
        whole = round(sum(weights[badge.source] for badge in shown))
        right = round(sum(weights[badge.source] for badge in shown if badge.right))
        if whole and lower_end(right, whole) >= guarantee:
            return least
    return None


def lower_end(right: int, shown: int) -> float:
    """Return the lower end of Wilson's 90 % interval of a share."""
    from scipy.stats import binomtest

    return float(binomtest(right, shown).proportion_ci(CONFIDENCE, "wilson").low)


def steps(badges: Sequence[Badge]) -> tuple[Point, ...]:
    """Group badges by probability so that their share of right ones never falls.

    By isotonic regression of groups of equal size.
    """
    import numpy as np
    from sklearn.isotonic import IsotonicRegression

    if len(badges) < ENOUGH:
        return ()
    in_order = sorted((badge.probability, bool(badge.right)) for badge in badges)
    groups = np.array_split(in_order, len(badges) // ENOUGH)
    shares = [float(group[:, 1].mean()) for group in groups]
    rising = IsotonicRegression().fit_transform(
        range(len(groups)), shares, sample_weight=[len(group) for group in groups]
    )
    points: list[Point] = []
    for value in np.unique(rising):
        equal = [group for group, share in zip(groups, rising, strict=True) if share == value]
        joined = np.concatenate(equal)
        points.append(Point(round(float(joined[0, 0]), 4), len(joined), int(joined[:, 1].sum())))
    return tuple(points)


def _from(badges: Sequence[Badge], least: float) -> Point:
    shown = [badge for badge in badges if badge.probability >= least]
    return Point(least, len(shown), sum(bool(badge.right) for badge in shown))

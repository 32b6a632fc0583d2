"""Judged badges → the calibration of a verifier: thresholds that keep a guarantee, and the share of
right badges.

A threshold is chosen on four folds and reported on the fifth, in turn; the one that is kept is
chosen on all of them.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from attribution.errors import BadInput
from attribution.files import Row
from attribution.policy import LOWEST_THRESHOLD
from attribution.review.judgements import wilson
from attribution.types import LABELS, Label
from attribution.verifiers.calibration import (
    CAREFUL,
    ENOUGH,
    GUARANTEES,
    Calibration,
    Curve,
    HeldOut,
    Point,
)

REQUIRED, OPTIONAL = ("claim", "verifier", "label"), ("set", "group")
ALL = "all"
FOLDS = 5
CONFIDENCE = 0.9  # of the intervals
STEP = 0.02  # between two thresholds
THRESHOLDS = tuple(
    round(LOWEST_THRESHOLD + STEP * n, 2) for n in range(round((0.99 - LOWEST_THRESHOLD) / STEP))
)


@dataclass(frozen=True)
class Badge:
    """A verdict of `judge`, and whether it is right; None where nobody judged it."""

    label: Label
    probability: float
    right: bool | None
    source: str  # the set that the claim is from
    fold: int  # claims of one group share it


def badge(row: Row) -> Badge:
    """The badge of a row. BadInput says what was found in it, and what was expected."""
    if row.error:
        raise BadInput(row.error)
    label = next((known for known in LABELS if known == row.fields["label"]), None)
    if label is None:
        raise BadInput(f'"label" is "{row.fields["label"]}"; expected one of {", ".join(LABELS)}')
    probability, right = row.fields.get("confidence"), row.fields.get("right")
    if (
        isinstance(probability, bool)
        or not isinstance(probability, (int, float))
        or not 0 <= probability <= 1
    ):
        raise BadInput(f'"confidence" is {probability!r}; expected a number from 0 to 1')
    if label in GUARANTEES and (right not in (True, False, None) or "right" not in row.fields):
        found = repr(right) if "right" in row.fields else "missing"
        raise BadInput(
            f'"right" is {found}; expected true or false, or null where nobody judged the badge'
        )
    group = row.fields.get("group") or row.fields["claim"]
    return Badge(
        label, probability, right, row.fields.get("set") or "", zlib.crc32(group.encode()) % FOLDS
    )


def read(rows: Sequence[Row]) -> tuple[str, list[Badge], list[tuple[int, str]]]:
    """The version of the verifier, its badges, and the lines that cannot be used, with the reason."""
    version, badges, problems = "", list[Badge](), list[tuple[int, str]]()
    for row in rows:
        try:
            found = badge(row)
            if (named := row.fields["verifier"]) != (version := version or named):
                raise BadInput(
                    f'"verifier" is "{named}"; expected "{version}", as in the lines before'
                )
            badges.append(found)
        except BadInput as error:
            problems.append((row.line, str(error)))
    return version, badges, problems


def calibrate(version: str, badges: Sequence[Badge]) -> Calibration:
    """The calibration of the verifier that gave these badges, made with the lowest thresholds."""
    claims = Counter(b.source for b in badges)
    supported, contradicted = (
        _curve(label, badges, guarantee) for label, guarantee in GUARANTEES.items()
    )
    return Calibration(
        verifier=version, claims=dict(claims), supported=supported, contradicted=contradicted
    )


def _curve(label: Label, badges: Sequence[Badge], guarantee: float) -> Curve:
    known = [b for b in badges if b.label == label and b.right is not None]
    judged = {b.source for b in known}  # sets that judge such badges
    held: dict[str, list[Badge]] = {}
    for fold in range(FOLDS):
        least = threshold([b for b in known if b.fold != fold], guarantee) or CAREFUL
        for b in known:
            if b.fold == fold and b.probability >= least:
                for name in {ALL, b.source or ALL}:
                    held.setdefault(name, []).append(b)
    return Curve(
        claims=sum(b.source in judged for b in badges),
        guarantee=guarantee,
        threshold=threshold(known, guarantee),
        points=tuple(_from(known, least) for least in THRESHOLDS),
        steps=steps(known),
        held={name: _held_out(some) for name, some in sorted(held.items())},
    )


def threshold(badges: Sequence[Badge], guarantee: float) -> float | None:
    """The least threshold from which on the lower end of the interval of the right share is at the
    guarantee.

    A set with more than a third of the badges weighs half of what the others have.
    """
    counts = Counter(b.source for b in badges)
    weights = {
        name: min(1.0, (len(badges) - n) / (2 * n)) if len(counts) > 2 else 1.0
        for name, n in counts.items()
    }
    for least in THRESHOLDS:
        shown = [b for b in badges if b.probability >= least]
        whole = round(sum(weights[b.source] for b in shown))
        right = round(sum(weights[b.source] for b in shown if b.right))
        if whole and interval(right, whole)[0] >= guarantee:
            return least
    return None


def interval(right: int, shown: int) -> tuple[float, float]:
    """Return the 90 % interval of a share, rounded for the file."""
    low, high = wilson(right, shown, CONFIDENCE)
    return round(low, 3), round(high, 3)


def steps(badges: Sequence[Badge]) -> tuple[Point, ...]:
    """Badges by probability, their share of right ones never falling: isotonic regression of groups
    of equal size.
    """
    import numpy as np
    from sklearn.isotonic import IsotonicRegression

    if len(badges) < ENOUGH:
        return ()
    groups = np.array_split(
        sorted((b.probability, bool(b.right)) for b in badges), len(badges) // ENOUGH
    )
    shares = [float(group[:, 1].mean()) for group in groups]
    rising = IsotonicRegression().fit_transform(
        range(len(groups)), shares, sample_weight=[len(g) for g in groups]
    )
    joined = [
        np.concatenate([g for g, s in zip(groups, rising, strict=True) if s == value])
        for value in np.unique(rising)
    ]
    return tuple(Point(round(float(g[0, 0]), 4), len(g), int(g[:, 1].sum())) for g in joined)


def _from(badges: Sequence[Badge], least: float) -> Point:
    shown = [b for b in badges if b.probability >= least]
    return Point(least, len(shown), sum(bool(b.right) for b in shown))


def _held_out(badges: Sequence[Badge]) -> HeldOut:
    right = sum(bool(b.right) for b in badges)
    return HeldOut(len(badges), right, *interval(right, len(badges)))

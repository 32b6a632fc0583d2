"""Values of a claim that a sentence does not have, but that can be computed from two of its own: a
total, a share.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import permutations

from attribution.text.differences import unmet
from attribution.text.value_reading import like, values
from attribution.text.values import Value
from attribution.types import quoted

MOST = 8  # quantities of a sentence
WHOLE = 0.005  # share by which a result may differ where no digits are lost in rounding


def computed(claim: str, sentence: str) -> str:
    """Return how a value of the claim is computed from two of a sentence, “four × 85 MW”; empty for
    none.
    """
    found = [w for w in values(sentence) if w.kind == "quantity" and w.is_exact][:MOST]
    unit = next((w for w in found if w.dimension), None)
    found = [like(w, unit) if unit and not w.dimension and not w.counted else w for w in found]
    for mine in (
        v for v in unmet(claim, sentence) if v.kind == "quantity" and math.isfinite(v.high - v.low)
    ):
        for one, sign, two, result in _results(mine, found):
            if abs(result - (mine.low + mine.high) / 2) <= max(
                (mine.high - mine.low) / 2, mine.step, WHOLE * result
            ):
                return quoted(f"{sentence[slice(*one.span)]} {sign} {sentence[slice(*two.span)]}")
    return ""


def _results(mine: Value, found: Sequence[Value]) -> Iterator[tuple[Value, str, Value, float]]:
    for one, two in permutations(found, 2):
        if one.dimension == two.dimension == mine.dimension:
            if one.start < two.start:
                yield one, "+", two, one.low + two.low
            if one.low > two.low:
                yield one, "−", two, one.low - two.low
        if one.dimension == two.dimension and mine.dimension == "%" and 0 < one.low <= two.low:
            yield one, "of", two, 100 * one.low / two.low
        if two.dimension == mine.dimension and not one.dimension and one.counted and mine.dimension:
            yield one, "×", two, one.low * two.low
        if two.dimension == mine.dimension and one.dimension == "%":
            yield one, "of", two, one.low * two.low / 100

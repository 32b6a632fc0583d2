"""Quantities, dates, times, frequencies, shares and ranks of a text, and whether two of them can
both be true.

A value is an interval: "fewer than 1,000" reaches from minus infinity to 1,000, "1889" from its
first day to its last,
"about 330" a few percent to either side. Two values differ if they are of one dimension and their
intervals are apart.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from attribution.text.words import stem
from attribution.types import Span

if TYPE_CHECKING:
    import pint

Kind = Literal["quantity", "date", "time", "frequency", "factor", "rank", "score"]
Agreement = Literal["equal", "compatible", "different", "not comparable"]
Comparator = Literal[
    "", "at_least", "at_most", "more", "less", "about", "nearly", "barely", "range"
]

DATA = tomllib.loads((Path(__file__).parent / "data" / "measures.toml").read_text("utf-8"))

CONVERTED = 0.03  # and a number that was converted from another unit
_PEOPLE = frozenset(
    map(stem, "people person persons inhabitants residents citizens souls individuals".split())
)
TOUCHING = 0.05  # share of a span of time that two others have in common without being one
HALF_DAY = 720  # minutes
PER_YEAR = {
    "hour": 8766.0,
    "day": 365.25,
    "night": 365.25,
    "week": 52.18,
    "fortnight": 26.09,
    "month": 12.0,
    "quarter": 4.0,
    "year": 1.0,
    "decade": 0.1,
    "minute": 525960.0,
    "second": 31557600.0,
}


@dataclass(frozen=True)
class Value:
    """A value with the characters of the whole expression, its comparator included.

    `low` and `high` are in the base unit of `dimension`: days for dates, minutes for times, times a
    year for
    frequencies, percent for shares. A date without a year has `month` and `day` alone.
    """

    kind: Kind
    start: int
    end: int
    low: float
    high: float
    dimension: str = ""  # of a quantity: "[length]", "currency euro", "%"; empty for a bare number
    unit: str = ""  # as measures.toml has it
    comparator: Comparator = ""
    step: float = 0.0  # half a unit of the last digit that is written, in the base unit
    counted: frozenset[str] = frozenset()  # stems of the nouns after a bare number
    per: str = ""  # "day" of "900 people a day"
    parts: tuple[int | None, int | None, int | None] = (None, None, None)  # year, month, day
    universal: bool = (
        False  # "no runner needed more than 50 minutes": it holds for all that the source lists
    )

    @property
    def span(self) -> Span:
        return self.start, self.end

    @property
    def is_exact(self) -> bool:
        return not self.comparator


def compare(claim: Value, source: Value) -> Agreement:
    """Return how the value of a claim stands to that of a source.

    `equal` holds for a claim that the source's value implies, `compatible` where both can be true.
    """
    if claim.kind != source.kind:
        return _across_kinds(claim, source)
    if claim.kind == "date":
        return _compare_dates(claim, source)
    if claim.kind == "time":
        return _compare_times(claim, source)
    if claim.kind == "quantity":
        return _compare_quantities(claim, source)
    if claim.kind == "rank" and (
        claim.dimension != source.dimension or not _count_alike(claim, source)
    ):
        return "not comparable"
    if (
        claim.kind == "frequency"
        and claim.counted
        and source.counted
        and claim.counted != source.counted
    ):
        return "different"  # every Monday, every Friday
    return _intervals(claim, source, 0.01 if claim.kind == "frequency" else 0.0)


LIMITS = ("at_least", "at_most", "more", "less")


def is_other_limit(claim: Value, source: Value) -> bool:
    """Return True for a limit that does not follow from the source's, or has its figure in another
    unit.
    """
    if claim.comparator not in LIMITS or source.comparator not in LIMITS:
        return False
    found = compare(claim, source)
    renamed = claim.unit != source.unit and figures_meet(claim, source)
    return found == "compatible" or found != "not comparable" and renamed


def _across_kinds(claim: Value, source: Value) -> Agreement:
    """“Nine times a day” and “nine departures a day” are one rate; a factor of three and “300 %”
    are no such pair.
    """
    frequency, other = (claim, source) if claim.kind == "frequency" else (source, claim)
    if (
        frequency.kind != "frequency"
        or other.kind != "quantity"
        or other.dimension
        or not other.per
    ):
        return "not comparable"
    found = _intervals(frequency, _a_year(other), 0.01)
    return "not comparable" if found == "different" else found


def _intervals(claim: Value, source: Value, slack: float = 0.0) -> Agreement:
    """Compare two intervals of one dimension; `slack` is a share of the greater value."""
    room = slack * max(
        (abs(b) for b in (claim.low, claim.high, source.low, source.high) if math.isfinite(b)),
        default=0.0,
    )
    room += max(claim.step, source.step)
    if (
        claim.comparator == source.comparator == "at_most"
    ):  # two limits: "up to 100 MB" is not "up to 50 MB"
        return "equal" if abs(claim.high - source.high) <= room else "different"
    if claim.comparator == source.comparator == "range":
        apart = abs(claim.low - source.low) > room or abs(claim.high - source.high) > room
        inside = source.low >= claim.low - room and source.high <= claim.high + room
        if apart and inside and claim.kind == "quantity":
            return "compatible"
        return "different" if apart else "equal"
    if claim.low > source.high + room or source.low > claim.high + room:
        return "different"
    rough = {"about", "nearly", "barely"} & {claim.comparator, source.comparator}
    if rough or (source.low >= claim.low - room and source.high <= claim.high + room):
        return "equal"
    return "compatible"


def _compare_quantities(claim: Value, source: Value) -> Agreement:
    one, two = _as_sterling_or_weight(claim, source), _as_sterling_or_weight(source, claim)
    one, two = _as_rise(one, two), _as_rise(two, one)
    if _is_its_rise(one, two) or _is_its_rise(two, one):
        return "not comparable"
    if one.dimension != two.dimension and not _same_currency(one.dimension, two.dimension):
        if _confusable(one, two) and figures_meet(one, two):
            return "different"
        return "not comparable"
    if not one.dimension and not _count_alike(one, two):
        return "not comparable"
    if one.per and two.per and one.per != two.per:
        one, two = _a_year(one), _a_year(two)
        return _intervals(one, two, CONVERTED)
    return _intervals(one, two, CONVERTED if one.unit != two.unit and one.dimension else 0.0)


def _confusable(one: Value, two: Value) -> bool:
    """Return True for units of which one is written for the other: % and points, € and $, km and
    km², MW and MWh.
    """
    kinds = [_kind_of_unit(value.dimension) for value in (one, two)]
    if not all(kinds) or kinds[0] != kinds[1]:
        return False
    if kinds[0] != "measure":
        return True
    ratio = (_registry().Quantity(1, one.unit) / _registry().Quantity(1, two.unit)).dimensionality
    return len(ratio) == 1 and not {*ratio} - {"[length]", "[time]"}


def _kind_of_unit(dimension: str) -> str:
    if dimension in ("%", "percentage points"):
        return "share"
    return (
        "currency"
        if dimension.startswith("currency")
        else "measure"
        if dimension.startswith("[")
        else ""
    )


def figures_meet(one: Value, two: Value) -> bool:
    """Return True if the written figures are the same, whatever their units."""
    bounds = [value.low if math.isfinite(value.low) else value.high for value in (one, two)]
    return (
        _factor(one) != 0
        and _factor(two) != 0
        and math.isclose(bounds[0] / _factor(one), bounds[1] / _factor(two))
    )


def _factor(value: Value) -> float:
    """The size of its unit in the base unit; a temperature is compared in the base alone."""
    if not value.dimension.startswith("[") or value.unit.startswith("deg"):
        return 1.0
    return to_base(1.0, value.unit)[0]


def _same_currency(one: str, two: str) -> bool:
    """Return True for "$" and "US$", or "cents" and "$", of which one says more than the other."""
    if not (one.startswith("currency") and two.startswith("currency")):
        return False
    return one == two or one.startswith(f"{two} ") or two.startswith(f"{one} ")


def _as_sterling_or_weight(value: Value, beside: Value) -> Value:
    """Read "pounds" as money or as a weight, as the other value is."""
    if value.dimension != "pound":
        return value
    if beside.dimension == "[mass]":
        low, high, step = (
            x * to_base(1.0, "pound")[0] for x in (value.low, value.high, value.step)
        )
        return replace(value, dimension="[mass]", unit="pound", low=low, high=high, step=step)
    return replace(value, dimension="currency pound")


def _as_rise(value: Value, beside: Value) -> Value:
    """Read "from 52 to 61 %" as a rise by 9 percentage points, where the other value counts such
    points.
    """
    if (
        value.dimension == "%"
        and value.comparator == "range"
        and beside.dimension == "percentage points"
    ):
        rise = value.high - value.low
        return replace(
            value, dimension=beside.dimension, unit=beside.unit, low=rise, high=rise, comparator=""
        )
    return value


def _is_its_rise(claim: Value, source: Value) -> bool:
    """Return True for the difference between the ends of a range: "by £6" and "from £32 to £38"."""
    apart = source.high - source.low
    same = (
        source.comparator == "range"
        and claim.is_exact
        and claim.dimension == source.dimension != ""
    )
    return same and 0 < apart < math.inf and math.isclose(claim.low, apart, rel_tol=0.01)


def _count_alike(one: Value, two: Value) -> bool:
    """Return True unless two numbers say what they count, and count other things."""
    if not (one.counted and two.counted) or one.counted & two.counted:
        return True
    return bool(one.counted & _PEOPLE and two.counted & _PEOPLE)


def _a_year(value: Value) -> Value:
    times = PER_YEAR[value.per]
    return replace(value, low=value.low * times, high=value.high * times, step=value.step * times)


def _compare_dates(claim: Value, source: Value) -> Agreement:
    mine, its = claim.parts, source.parts
    if claim.is_exact and source.is_exact and any(mine) and any(its):
        both = [(a, b) for a, b in zip(mine, its, strict=True) if a is not None and b is not None]
        if any(a != b for a, b in both):
            return "different"
        if not both:
            return "not comparable"
        return "compatible" if any(a and not b for a, b in zip(mine, its, strict=True)) else "equal"
    if math.isnan(claim.low) or math.isnan(source.low):
        return "not comparable"
    shortest = min(claim.high - claim.low, source.high - source.low)
    if (
        shortest > 0
        and min(claim.high, source.high) - max(claim.low, source.low) < TOUCHING * shortest
    ):
        return "different"  # one ends as the other begins: two decades
    return _intervals(claim, source)


def _compare_times(claim: Value, source: Value) -> Agreement:
    if claim.per and source.per:  # both say which half of the day
        return _intervals(claim, source)
    halves = [replace(v, low=v.low % HALF_DAY, high=v.high % HALF_DAY) for v in (claim, source)]
    return _intervals(halves[0], halves[1])


@cache
def _registry() -> pint.UnitRegistry[float]:
    import pint

    registry: pint.UnitRegistry[float] = pint.UnitRegistry(autoconvert_offset_to_baseunit=True)
    registry.define("night = day")
    registry.define("ten_years = 10 * year")
    registry.define("kilotonne = 1000 * metric_ton")
    registry.define("megatonne = 1000000 * metric_ton")
    return registry


@cache
def to_base(number: float, unit: str) -> tuple[float, str]:
    """Convert a number to the base unit; with the dimension by name. Sizes of data have one of
    their own.
    """
    quantity = _registry().Quantity(number, unit).to_base_units()
    dimension = str(quantity.dimensionality)
    return float(quantity.magnitude), {"dimensionless": f"unit {quantity.units}"}.get(
        dimension, dimension
    )

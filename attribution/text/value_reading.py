"""Read the values of a text: each with its comparator; ranges, sums and lists are put together."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import lru_cache

from attribution.text.value_kinds import read_at
from attribution.text.value_patterns import (
    AFTER,
    AROUND,
    BETWEEN,
    CITED,
    COMPARATORS,
    FLIPPED,
    NEAR,
    NONE,
    ROUNDED,
    START,
    TIMES_AS,
)
from attribution.text.values import Comparator, Value, to_base
from attribution.text.words import plain

EACH_DAY = re.compile(r"(?: [^\W\d_]+){1,3} ")
_BY = re.compile(r"\bby $", re.IGNORECASE)
_INCHES = re.compile(r" ?in\b")
TODAY = 737_000  # about: a year long ago is less surely known


@lru_cache(maxsize=4096)
def values(text: str) -> tuple[Value, ...]:
    """Return the values of a text, in their order."""
    flat = plain(text)
    cited = [found.span() for found in CITED.finditer(flat)]
    found: list[Value] = []
    at = 0
    while start := START.search(flat, at):
        at = start.start()
        value = None if any(a <= at < b for a, b in cited) else next(read_at(flat, at), None)
        if value is None:
            at = _next_word(flat, at)
            continue
        found.append(_compared(flat, value, found[-1].end if found else 0))
        at = max(value.end, at + 1)
    return tuple(_listed(flat, _joined(flat, found)))


def _next_word(text: str, at: int) -> int:
    while at < len(text) and (text[at].isalnum() or text[at] in ".,") and text[at] != " ":
        at += 1
    return at + 1


def _compared(text: str, value: Value, after: int) -> Value:
    """Add the comparator before or behind a value; a negation before it turns "more than" into "at
    most".
    """
    before = AROUND["comparator"].search(text, max(after, value.start - 40), value.start)
    if before and (name := COMPARATORS[before["comparator"].lower()]):
        word = before["comparator"].lower()
        if not _takes(word, value):
            return value
        start = before.start()
        if name in FLIPPED and (
            negated := AROUND["not"].search(text, max(after, start - 30), start)
        ):
            name, start = FLIPPED[name], negated.start()
        elif name in FLIPPED and NONE.search(text, max(after, start - 120), start):
            return replace(_bounded(replace(value, start=start), FLIPPED[name]), universal=True)
        universal = bool(AROUND["each"].search(text, max(after, start - 120), start))
        return replace(_bounded(replace(value, start=start), name), universal=universal)
    behind = AROUND["behind"].match(text, value.end)
    if behind and value.kind in ("quantity", "date", "time"):
        return _bounded(replace(value, end=behind.end()), AFTER[behind["comparator"].lower()])
    return value


def _takes(word: str, value: Value) -> bool:
    """Return True if a comparator goes with a kind of value: "by 1970" and "within 42 minutes", not
    "by 40 people".
    """
    dated = value.kind in ("date", "time")
    if word in (
        "by",
        "before",
        "after",
        "earlier than",
        "later than",
        "prior to",
        "just before",
        "just after",
    ):
        return dated
    if word in ("some", "under", "over", "above", "below", "as much as", "within"):
        return not dated or word == "within"
    return value.kind != "rank"


def _bounded(value: Value, name: Comparator) -> Value:
    """Widen a value to the interval that its comparator allows; "over nine" may be nine."""
    low, high, size = value.low, value.high, abs(value.high)
    if value.kind == "date":
        near, rounded = 400.0, max(1100.0, 0.02 * (TODAY - low))  # days
    elif value.kind == "time":
        near, rounded = 20.0, 31.0
    elif value.dimension == "[temperature]":
        near = rounded = 2.0  # degrees, whatever their zero
    else:
        near, rounded = NEAR * size, ROUNDED * size
    bounds: dict[str, tuple[float, float]] = {
        "at_least": (low, math.inf),
        "at_most": (-math.inf, high),
        "more": (high, math.inf),
        "less": (-math.inf, low),
        "about": (low - rounded, high + rounded),
        "nearly": (low - near, high),
        "barely": (low, high + near),
    }
    one_sided = name in ("at_least", "at_most", "more", "less")
    low, high = bounds[name]
    return replace(
        value, low=low, high=high, comparator=name, step=0.0 if one_sided else value.step
    )


def _joined(text: str, found: list[Value]) -> list[Value]:
    """Join ranges ("5 to 10 km", "1939–1945") and sums ("2 hours 58 minutes") into one value."""
    joined: list[Value] = []
    for value in found:
        before = joined[-1] if joined else None
        between = text[before.end : value.start] if before else ""
        if before and before.per and value.kind == "frequency" and EACH_DAY.fullmatch(between):
            continue  # "900 people every day"
        if (
            before
            and before.kind == value.kind
            and not value.comparator
            and (made := _range(text, before, value, between))
        ):
            joined[-1] = made
        elif (
            before
            and before.kind == "factor"
            and value.kind == "quantity"
            and TIMES_AS.fullmatch(between)
        ):
            joined[-1] = replace(
                value,
                start=before.start,
                low=before.low * value.low,
                high=before.high * value.high,
                comparator=before.comparator,
                step=0.0,
            )
        elif before and _adds(
            before, value := _smaller_unit(text, before, value, between), between
        ):
            joined[-1] = replace(
                before,
                end=value.end,
                low=before.low + value.low,
                high=before.high + value.high,
                step=value.step,
            )
        else:
            joined.append(value)
    return joined


def _range(text: str, one: Value, two: Value, between: str) -> Value | None:
    inner = between.strip(" \u202f").lower()
    dash = inner in ("-", "–", "—", "to", "until", "through")
    opened = bool(BETWEEN.search(text, max(0, one.start - 9), one.start))
    if (
        not (dash or (opened and inner == "and"))
        or one.kind not in ("quantity", "date")  # of opening hours, each is a value
        or one.comparator == "range"
        or (inner == "-" and text[two.start].isupper())  # "7-Eleven"
        or (
            inner == "to" and _BY.search(text, max(0, one.start - 4), one.start)
        )  # "rose by 4 % to 91 %"
    ):
        return None
    low = one
    if one.kind == "quantity" and one.dimension != two.dimension:
        if one.dimension or one.counted:
            return None
        low = like(one, two)
    if math.isnan(low.low) or math.isnan(two.high) or low.low > two.high:
        return None
    start = BETWEEN.search(text, max(0, one.start - 9), one.start)
    return replace(
        two,
        start=start.start() if start else one.start,
        low=low.low,
        high=two.high,
        comparator="range",
        parts=(None, None, None),
    )


def like(bare: Value, measured: Value) -> Value:
    """Give a bare number the unit of the one after it: the 5 of "5 to 10 km", the 41 of "41, 43 and
    47 minutes".
    """
    if (
        measured.dimension.startswith(("currency", "%", "percentage"))
        or not measured.unit
        or measured.dimension == "pound"
    ):
        return replace(
            bare,
            dimension=measured.dimension,
            unit=measured.unit,
            counted=measured.counted,
            per=bare.per or measured.per,
        )
    low, high = (
        to_base(x, measured.unit)[0] if math.isfinite(x) else x for x in (bare.low, bare.high)
    )
    return replace(
        bare,
        dimension=measured.dimension,
        unit=measured.unit,
        low=low,
        high=high,
        counted=frozenset(),
    )


def _smaller_unit(text: str, one: Value, two: Value, between: str) -> Value:
    """Read the minutes of "2h 15m" and the inches of "5 ft 10 in", whose units mean something else
    elsewhere.
    """
    if between.strip() or two.kind != "quantity" or two.comparator:
        return two
    if one.unit == "hour" and two.unit == "metre" and text[two.end - 1] == "m":
        low, dimension = to_base(two.low, "minute")
        return replace(two, low=low, high=low, dimension=dimension, unit="minute", step=0.0)
    if one.unit == "foot" and not two.dimension and (inches := _INCHES.match(text, two.end)):
        low, dimension = to_base(two.low, "inch")
        return replace(
            two, end=inches.end(), low=low, high=low, step=0.0, dimension=dimension, unit="inch"
        )
    return two


def _adds(one: Value, two: Value, between: str) -> bool:
    """Return True for parts of one measure, the greater unit first: "2 hours 58 minutes", "5 feet 3
    inches".
    """
    same = (
        one.kind == two.kind == "quantity"
        and one.dimension == two.dimension
        and one.dimension.startswith("[")
    )
    return bool(
        same
        and between.strip(" ,").lower() in ("", "and")
        and one.unit != two.unit
        and not two.comparator
        and one.comparator != "range"
        and abs(two.high) < abs(to_base(1.0, one.unit)[0])
    )


def _listed(text: str, found: list[Value]) -> list[Value]:
    """Give bare numbers of a list the unit of its last: "41, 43 and 47 minutes"."""
    done: list[Value] = []
    for value in reversed(found):
        after = done[-1] if done else None
        if (
            after
            and value.kind == after.kind == "quantity"
            and not value.dimension
            and not value.counted
            and not value.per
        ):
            between = text[value.end : after.start].strip().lower()
            if between in (",", "and", "or", ", and", ", or"):
                value = (
                    like(value, after) if after.dimension else replace(value, counted=after.counted)
                )
        done.append(value)
    return done[::-1]

"""Read the quantities, dates and shares of a text.

A value is an interval in a base unit: "fewer than 1,000" reaches from minus infinity to 1,000,
"1889" from its first day to its last, "about 330" a few percent to either side. The patterns are
in `data/value_patterns.toml`, units and limits in `data/measures.toml`.
"""

from __future__ import annotations

import calendar
import math
import re
import tomllib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from attribution.text.words import STOP_WORDS, plain, stem
from attribution.types import Span

if TYPE_CHECKING:
    import pint

Kind = Literal["quantity", "date"]
Comparator = Literal[
    "", "at_least", "at_most", "more", "less", "about", "nearly", "barely", "range"
]
DATA = Path(__file__).parent / "data"
MEASURES = tomllib.loads((DATA / "measures.toml").read_text("utf-8"))
PATTERNS = tomllib.loads((DATA / "value_patterns.toml").read_text("utf-8"))
SCALES: dict[str, float] = MEASURES["scales"]
PARTS: dict[str, float] = MEASURES["parts"]
LIMITS_OF: dict[str, list[str]] = MEASURES["limits_of"]
SHARES_OF = {"percent": "%", "percentage_point": "% points"}
MOST_NOUNS = 3  # words after a number among which the thing that it counts stands
REACH = 40  # characters before a number in which its limit or label stands
ROUNDED = 0.06  # share by which "about" may be off
ROUGH_SHARE = 0.04  # and "half" or "one in ten"
NEAR = 0.12  # and "nearly", on one side
LONG_AGO = 0.02  # share of the time since then by which "about 1450" may be off
TODAY = date(2020, 1, 1).toordinal()
NEGATED: dict[Comparator, Comparator] = {
    "more": "at_most",
    "at_least": "less",
    "less": "at_least",
    "at_most": "more",
}


@dataclass(frozen=True)
class Value:
    """A value with the characters of the whole expression, its limit included.

    `low` and `high` are in the base unit of `dimension`: days for dates, percent for
    shares. A date without a year has `month` and `day` alone.
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
    parts: tuple[int | None, int | None, int | None] = (None, None, None)  # year, month, day

    @property
    def span(self) -> Span:
        return self.start, self.end

    @property
    def is_exact(self) -> bool:
        return not self.comparator


class Number(NamedTuple):
    """A number as it is written, without its unit."""

    end: int
    amount: float
    step: float = 0.0


# --- words and patterns ---


def _forms(table: str) -> dict[str, str]:
    names: dict[str, str] = {}
    for name, forms in MEASURES[table].items():
        for form in forms.split():
            names[form.replace("_", " ").replace("-", " ")] = name
    return names


UNITS, CURRENCIES, CENTS = _forms("units"), _forms("currencies"), _forms("cents")
ORDINALS = {word: n for n, word in enumerate(MEASURES["ordinals"], 1)}
MONTHS = {name.lower(): n for n, name in enumerate(calendar.month_name) if name}
MONTHS |= {name.lower(): n for n, name in enumerate(calendar.month_abbr) if name} | {"sept": 9}


def _limits(table: str) -> dict[str, Comparator]:
    return {word: name for name, words in MEASURES[table].items() for word in words}


BEFORE, BEHIND = _limits("comparators"), _limits("after")


def _alternatives(forms: Iterable[str]) -> str:
    """Return a pattern of all forms; short ones and symbols only in the capitals they have."""
    patterns = []
    for form in sorted(forms, key=len, reverse=True):
        escaped = re.escape(form).replace(r"\ ", "[ \u202f-]")
        is_symbol = len(form) <= 3 or (len(form) <= 5 and not form.islower())
        patterns.append(f"(?-i:{escaped})" if is_symbol else escaped)
    return "|".join(patterns)


def _phrases(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_FILLED = PATTERNS["parts"] | {
    "ordinals": _phrases(ORDINALS),
    "months": _phrases(MONTHS),
    "units": _alternatives(UNITS),
    "currencies": _alternatives(CURRENCIES),
    "symbols": _alternatives(form for form in CURRENCIES if not form.islower()),
    "cents": _alternatives(CENTS),
    "before": _phrases(BEFORE),
    "behind": _phrases(BEHIND),
    "part": _phrases(PARTS),
}


def _fill(match: re.Match[str]) -> str:
    return f"(?:{_filled(_FILLED[match[1]])})"


def _filled(pattern: str) -> str:
    return re.sub(r"<<(\w+)>>", _fill, pattern)


def _compiled(table: str) -> dict[str, re.Pattern[str]]:
    flags = re.VERBOSE | re.IGNORECASE
    return {name: re.compile(_filled(text), flags) for name, text in PATTERNS[table].items()}


DATES, SHARES = _compiled("dates"), _compiled("shares")
NUMBERS, AROUND = _compiled("numbers"), _compiled("around")


# --- units ---


@cache
def _registry() -> pint.UnitRegistry[float]:
    import pint

    return pint.UnitRegistry(autoconvert_offset_to_baseunit=True)


@cache
def to_base(number: float, unit: str) -> tuple[float, str]:
    """Convert a number to the base unit of its dimension.

    Returns:
        The number, and the name of the dimension. Sizes of data have one of their own.
    """
    quantity = _registry().Quantity(number, unit).to_base_units()
    dimension = str(quantity.dimensionality)
    if dimension == "dimensionless":
        dimension = f"unit {quantity.units}"
    return float(quantity.magnitude), dimension


# --- the values of a text ---


@lru_cache(maxsize=512)
def values(text: str) -> tuple[Value, ...]:
    """Return the values of a text, in order."""
    flat = plain(text)
    read: list[Value] = []
    at = 0
    start = AROUND["start"].search(flat)
    while start:
        at = start.start()
        value = _read(flat, at)
        if value is None:
            at = _word_end(flat, at)
        else:
            read.append(_limited(flat, value, read[-1].end if read else 0))
            at = max(value.end, at + 1)
        start = AROUND["start"].search(flat, at)
    return tuple(_joined(flat, read))


def _word_end(text: str, at: int) -> int:
    match = AROUND["rest_of_word"].match(text, at)
    return match.end() if match else at + 1


def _read(text: str, at: int) -> Value | None:
    cited = AROUND["cited"].match(text, max(0, at - 1))
    if cited:
        return None
    for reader in (_date, _share, _quantity):
        value = reader(text, at)
        if value:
            return value
    return None


def _date(text: str, at: int) -> Value | None:
    for pattern in DATES.values():
        match = pattern.match(text, at)
        try:
            value = _as_date(text, match) if match else None
        except ValueError:  # 31 February
            continue
        if value:
            return value
    return None


def _as_date(text: str, match: re.Match[str]) -> Value | None:
    parts = match.groupdict()
    year = int(parts["year"]) if parts.get("year") else None
    if parts.get("bc"):
        low = -366.0 * (year or 0)
        return Value("date", *match.span(), low, low)
    if parts.get("decade"):
        first = int(parts["decade"])
        return Value("date", *match.span(), _day(first, 1, 1), _day(first + 9, 12, 31))
    if parts.get("century"):
        last = 100 * _ordinal(parts["century"])
        return Value("date", *match.span(), _day(last - 99, 1, 1), _day(last, 12, 31))
    written = parts.get("month") or ""
    if written[:1].islower() or (match[0].isdigit() and _counts_something(text, match)):
        return None
    month = int(written) if written.isdigit() else MONTHS.get(written.lower())
    day = _ordinal(parts["day"]) if parts.get("day") else None
    last_month = month or 12
    last_day = calendar.monthrange(year or 2000, last_month)[1]
    low = _day(year or 2000, month or 1, day or 1)
    high = _day(year or 2000, last_month, day or last_day)
    if not year:
        low = high = math.nan
    return Value("date", *match.span(), low, high, parts=(year, month, day))


def _day(year: int, month: int, day: int) -> float:
    return float(date(year, month, day).toordinal())


def _ordinal(word: str) -> int:
    return ORDINALS.get(word.lower()) or int(re.sub(r"\D", "", word))


def _counts_something(text: str, match: re.Match[str]) -> bool:
    """Return True if four digits are no year: "1200 km", "$1950"."""
    if NUMBERS["prefix"].search(text, max(0, match.start() - 12), match.start()):
        return True
    return NUMBERS["unit"].match(text, match.end()) is not None


def _small(word: str) -> float:
    """Return the number of a short word or figure: "seven", "1,000", "a hundred"."""
    if word[0].isdigit():
        return float(re.sub(r"\D", "", word))
    return _spelled(word) or 0.0


def _share(text: str, at: int) -> Value | None:
    for pattern in SHARES.values():
        match = pattern.match(text, at)
        if not match:
            continue
        parts = {name: word.lower() for name, word in match.groupdict().items() if word}
        share = _small(parts["up"]) if "up" in parts else 1.0
        if "down" in parts:
            share /= _small(parts["down"]) or math.inf
        else:
            share *= PARTS[parts["part"]]
        if 0 < share <= 1:
            size = 100 * share
            step = ROUGH_SHARE * size
            return Value("quantity", *match.span(), size, size, "%", "percent", step=step)
    return None


def _more(match: re.Match[str]) -> float:
    """Return the share in "and a half", "and three quarters"; 0 for no such words."""
    more = match["more"]
    return PARTS[more.lower()] if more else 0.0


def _quantity(text: str, at: int) -> Value | None:
    prefix = NUMBERS["prefix"].search(text, max(0, at - 12), at)
    number = _number(text, at, has_currency=prefix is not None)
    if number is None:
        return None
    if prefix:
        return _money(prefix.start(), number, _name(CURRENCIES, prefix["currency"]))
    unit = NUMBERS["unit"].match(text, number.end)
    if unit:
        number = Number(unit.end(), number.amount + _more(unit), number.step)
        if unit["unit"]:
            return _measured(at, number, unit["unit"])
        if unit["cents"]:
            number = Number(unit.end(), number.amount / 100, number.step / 100)
            return _money(at, number, _name(CENTS, unit["cents"]))
        return _money(at, number, _name(CURRENCIES, unit["currency"]))
    if text[number.end : number.end + 1].isalnum():
        return None
    nouns = _nouns(text, number.end)
    step = 0.0 if number.step == 0.5 else number.step
    amount = number.amount
    return Value("quantity", at, number.end, amount, amount, step=step, counted=nouns)


def _name(forms: dict[str, str], written: str) -> str:
    """Return the unit or currency of a form, in the capitals it has in the table or in others."""
    written = re.sub("[\u202f-]", " ", written)
    if written in forms:
        return forms[written]
    return next(name for form, name in forms.items() if form.lower() == written.lower())


def _money(start: int, number: Number, currency: str) -> Value:
    amount = number.amount
    dimension = f"currency {currency}".strip()
    value = Value("quantity", start, number.end, amount, amount, dimension, currency)
    return replace(value, step=number.step)


def _measured(start: int, number: Number, written: str) -> Value:
    """Return a number with a unit, in the unit's base."""
    unit = _name(UNITS, written)
    amount, step = number.amount, number.step
    if unit in SHARES_OF:
        dimension = SHARES_OF[unit]
        step = step or 0.5
    else:
        step = abs(to_base(amount + step, unit)[0] - to_base(amount, unit)[0])
        amount, dimension = to_base(amount, unit)
    return Value("quantity", start, number.end, amount, amount, dimension, unit, step=step)


def _nouns(text: str, end: int) -> frozenset[str]:
    """Return the stems of the words after a number, up to a mark or a stop word."""
    at = end
    nouns: list[str] = []
    while len(nouns) < MOST_NOUNS:
        noun = AROUND["noun"].match(text, at)
        if not noun or noun["noun"].lower() in STOP_WORDS:
            break
        nouns.append(stem(noun["noun"].lower()))
        at = noun.end()
    return frozenset(nouns)


# --- numbers ---


def _number(text: str, at: int, *, has_currency: bool) -> Number | None:
    match = NUMBERS["figure"].match(text, at)
    if match:
        return _of_figures(text, match, has_currency=has_currency)
    match = NUMBERS["words"].match(text, at)
    if not match:
        return None
    words = match["number"].lower()
    if words == "one" and not match["more"] and not NUMBERS["unit"].match(text, match.end()):
        return None  # mostly a pronoun
    amount = PARTS.get(words.removesuffix(" of"), 0.0) or _spelled(words)
    if amount is None:
        return None
    scale = SCALES[match["scale"].lower()] if match["scale"] else 1.0
    return Number(match.end(), (amount + _more(match)) * scale)


@cache
def _spelled(words: str) -> float | None:
    """Return the number that words spell: "two hundred and fifty thousand", "two dozen"."""
    from text_to_num import text2num

    words = words.removeprefix("a ")
    factor = 12 if words.endswith("dozen") else 1
    words = words.removesuffix("dozen").strip()
    if not words:
        return float(factor)
    if words in SCALES:
        return factor * SCALES[words]
    try:
        return float(factor * text2num(words, "en"))
    except ValueError:
        return None


def _of_figures(text: str, match: re.Match[str], *, has_currency: bool) -> Number | None:
    if AROUND["goes_on"].match(text, match.end()) and not match["scale"]:
        return None  # a version, an address, a date of figures
    decimals = match["decimals"] or ""
    amount = float(re.sub(r"\D", "", match["digits"]) + decimals) if match["digits"] else 0.0
    if match["vulgar"]:
        amount += unicodedata.numeric(match["vulgar"])
    power = unicodedata.normalize("NFKC", match["power"] or "0")
    scale = 10.0 ** int(power)
    end = match.end()
    if match["scale"]:
        scale *= SCALES[match["scale"].lower()]
    elif match["letter"]:
        if has_currency or AROUND["crowd"].match(text, end):
            scale = SCALES[match["letter"].lower()]
        else:
            end = match.start("letter")
    amount *= -scale if match["sign"] else scale
    step = 0.5 * scale / 10 ** max(0, len(decimals) - 1)
    return Number(end, amount, step)


# --- limits, ranges and sums ---


def _limited(text: str, value: Value, after: int) -> Value:
    """Apply the limit before or behind a value; "not more than" is "at most"."""
    before = AROUND["limit"].search(text, max(after, value.start - REACH), value.start)
    if before:
        word = before["limit"].lower()
        others = LIMITS_OF["quantities" if value.kind == "date" else "dates"]
        if word in others:  # "by 1970", but "by 40 people" is no limit
            return value
        comparator, start = BEFORE[word], before.start()
        negation = AROUND["not"].search(text, max(after, start - REACH), start)
        if negation and comparator in NEGATED:
            comparator = NEGATED[comparator]
            start = negation.start() if negation["direct"] else start
        return _bounded(replace(value, start=start), comparator)
    behind = AROUND["limit_behind"].match(text, value.end)
    if behind:
        return _bounded(replace(value, end=behind.end()), BEHIND[behind["limit"].lower()])
    return value


def _bounded(value: Value, comparator: Comparator) -> Value:
    """Widen a value to the interval that its limit or rounding allows."""
    low, high = value.low, value.high
    near, rounded = NEAR * abs(high), ROUNDED * abs(high)
    if value.kind == "date":
        near, rounded = 400.0, max(1100.0, LONG_AGO * (TODAY - low))  # days
    elif value.dimension == "[temperature]":
        near = rounded = 2.0
    bounds: dict[str, tuple[float, float]] = {
        "at_least": (low, math.inf),
        "at_most": (-math.inf, high),
        "more": (high, math.inf),
        "less": (-math.inf, low),
        "about": (low - rounded, high + rounded),
        "nearly": (low - near, high),
        "barely": (low, high + near),
    }
    low, high = bounds[comparator]
    step = value.step if math.isfinite(low) and math.isfinite(high) else 0.0
    return replace(value, low=low, high=high, comparator=comparator, step=step)


def _joined(text: str, read: Iterable[Value]) -> list[Value]:
    """Join ranges ("5 to 10 km", "1939–1945") and sums ("2 hours 58 minutes") into one value."""
    joined: list[Value] = []
    for value in read:
        last = joined[-1] if joined else None
        whole = None
        if last and last.kind == value.kind and not value.comparator:
            between = text[last.end : value.start].strip(" \u202f,").lower()
            whole = _range(text, last, value, between) or _sum(last, value, between)
        if whole:
            joined[-1] = whole
        else:
            joined.append(value)
    return joined


def _range(text: str, one: Value, two: Value, between: str) -> Value | None:
    opening = AROUND["from"].search(text, max(0, one.start - 9), one.start)
    is_range = between in ("-", "–", "—", "to", "until", "through")
    if not (is_range or (opening and between == "and")):
        return None
    if one.comparator == "range":
        return None
    if one.dimension != two.dimension:
        if one.dimension or one.counted:
            return None
        one = _in_unit_of(one, two)
    if math.isnan(one.low) or math.isnan(two.high) or one.low > two.high:
        return None
    start = opening.start() if opening else one.start
    parts = (None, None, None)
    return replace(two, start=start, low=one.low, comparator="range", parts=parts)


def _sum(one: Value, two: Value, between: str) -> Value | None:
    """Add the parts of one measure, the greater unit first: "5 feet 3 inches"."""
    is_measure = one.dimension.startswith("[") and one.dimension == two.dimension
    if not is_measure or one.unit == two.unit or one.comparator == "range":
        return None
    if between not in ("", "and") or abs(two.high) >= abs(to_base(1.0, one.unit)[0]):
        return None
    low, high = one.low + two.low, one.high + two.high
    return replace(one, end=two.end, low=low, high=high, step=two.step)


def _in_unit_of(bare: Value, measured: Value) -> Value:
    """Give a bare number the unit of the one after it: the 5 of "5 to 10 km"."""
    low, high = bare.low, bare.high
    if measured.dimension.startswith("["):
        low, high = to_base(low, measured.unit)[0], to_base(high, measured.unit)[0]
    return replace(bare, dimension=measured.dimension, unit=measured.unit, low=low, high=high)

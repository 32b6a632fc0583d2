"""Read one value at a place of a text: a date, a time, a frequency, a share, a factor, a quantity,
a score or a rank.

Words to numbers are done by `text2num`, units by `pint`.
"""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

from attribution.text.value_patterns import (
    AGED,
    AROUND,
    CENTS,
    CURRENCIES,
    DATES,
    FACTORS,
    FRACTIONS,
    FREQUENCIES,
    HOUR,
    LY,
    MANY,
    MONTHS,
    NOUN,
    NOUNS,
    NTH,
    NUMBERS,
    OF_THE,
    ONES,
    OTHERS,
    PARTIAL,
    PARTS,
    RAISED,
    SCALES,
    SHARES,
    TENS,
    TIMES,
    UNITS,
    WEEKDAYS,
)
from attribution.text.values import HALF_DAY, PER_YEAR, Value, to_base
from attribution.text.words import STOP_WORDS, stem

_OF_ONE = re.compile(r"(?: of)? an?$")
_NO_DIGIT, _GOES_ON = re.compile(r"\D"), re.compile(r"[.,/]\d")
_BEFORE_YEAR = re.compile(r"\b(?:the|in|of|since|from|its|early|late|by)[ ]$", re.IGNORECASE)
_PERCENT, _MONEY = (
    re.compile(r"[ ](?:%|percent|per cent)"),
    re.compile(r" (?:dollars|euros|pounds)"),
)
_SUPERLATIVE = re.compile(r"[ -]((?:most|least) \w+|\w+est)\b")
_UNUSUAL_BLANK = re.compile(r"[\u202f-]")
_LABELLED = re.compile(r"(?:^|(?P<inner>[a-z,] )|\W)(?P<word>[^\W\d_]+) $")


def read_at(text: str, at: int) -> Iterator[Value]:
    for reader in (
        _score,
        _date,
        _time,
        _frequency,
        _share,
        _factor_of,
        _rank,
        _two_units,
        _quantity,
    ):
        if value := reader(text, at):
            yield value


def _small(word: str) -> float:
    """The number of a short word or figure: "seven", "1,000", "a hundred"."""
    word = word.lower().removeprefix("a ")
    if word[0].isdigit():
        return float(word.replace(",", "").replace("\u202f", ""))
    if word in SCALES:
        return SCALES[word]
    return float(ONES.index(word) + 1 if word in ONES else 10 * (TENS.index(word) + 2))


def _partial(words: str | None) -> float:
    """The share in "half a", "a quarter of an", "and three quarters"; 0 for other words."""
    return PARTIAL.get(_OF_ONE.sub("", (words or "").lower()), 0.0)


def _nth(word: str) -> int:
    return NTH.get(word.lower()) or int(_NO_DIGIT.sub("", word))


def _date(text: str, at: int) -> Value | None:
    for pattern in DATES.values():
        found = pattern.match(text, at)
        if found and (value := _as_date(text, found)):
            return value
    month = OTHERS["month"].match(text, at) if text[at].isupper() else None
    if month and (
        month[0] not in ("May", "March", "Mar", "Jan", "Dec")
        or AROUND["after_preposition"].search(text, 0, at)
    ):
        return Value(
            "date",
            at,
            month.end(),
            math.nan,
            math.nan,
            parts=(None, MONTHS[month[0].lower()], None),
        )
    weekday = OTHERS["weekday"].match(text, at) if text[at].isupper() else None
    if weekday:
        n = float(WEEKDAYS[weekday["weekday"].lower()])
        return Value(
            "rank", at, weekday.end(), n, n, dimension="weekday", counted=frozenset(["weekday"])
        )
    return None


def _as_date(text: str, found: re.Match[str]) -> Value | None:
    parts = found.groupdict()
    year = int(parts["year"]) if parts.get("year") else None
    month = parts.get("month")
    day = parts.get("day")
    if month and not month.isdigit() and not month[0].isupper():
        return None
    number = int(month) if month and month.isdigit() else MONTHS[month.lower()] if month else None
    of_month = _nth(day) if day else None
    if of_month is not None and not 1 <= of_month <= 31:
        return None
    if parts.get("a"):  # 14/03/2023 can be read in one way only, 04/03/2023 in two
        a, b = int(parts["a"]), int(parts["b"])
        number, of_month = (
            (b, a)
            if 12 < a <= 31 and b <= 12
            else (a, b)
            if 12 < b <= 31 and a <= 12
            else (None, None)
        )
    if (
        year
        and not month
        and not parts.get("a")
        and not parts.get("bc")
        and _counts_something(text, found)
    ):
        return None
    if parts.get("decade") or parts.get("century"):
        low, high = _span_of(parts)
        return Value("date", *found.span(), low, high, parts=(None, None, None))
    if parts.get("bc"):
        return Value("date", *found.span(), -366.0 * (year or 0), -366.0 * (year or 0))
    low = high = math.nan
    if year:
        first, last = number or 1, number or 12
        try:
            low = date(year, first, of_month or 1).toordinal()
            high = date(year, last, of_month or calendar.monthrange(year, last)[1]).toordinal()
        except ValueError:
            return None
    return Value("date", *found.span(), low, high, parts=(year, number, of_month))


def _span_of(parts: dict[str, str]) -> tuple[float, float]:
    """First and last day of a decade or century, or of its early, middle or late part."""
    if parts.get("decade"):
        first, length = int(parts["decade"]), 10
    else:
        n = _nth(parts["century"])
        first, length = (-100 * n, 100) if parts.get("bc") else (100 * (n - 1), 100)
    begin, end = {"early": (0.0, 0.4), "mid": (0.3, 0.7), "late": (0.6, 1.0)}.get(
        (parts.get("era") or "").lower(), (0.0, 1.0)
    )
    return 365.2425 * (first - 1 + begin * length) + 1, 365.2425 * (
        first - 1 + end * length + (length == 100 and end == 1)
    )


def _counts_something(text: str, found: re.Match[str]) -> bool:
    """Return True if four digits count something: "1500 soldiers", "1200 km", "$1950"."""
    unit = NUMBERS["unit"].match(text, found.end())
    if (unit and (unit["unit"] or unit["currency"])) or NUMBERS["prefix"].search(
        text, max(0, found.start() - 12), found.start()
    ):
        return True
    noun = NOUN.match(text, found.end())
    return bool(
        noun
        and noun[0][0] == " "
        and noun[1].islower()
        and noun[1] not in STOP_WORDS
        and (noun[1].endswith("s") or noun[1] in ("people", "men", "women", "children"))
        and not noun[1].endswith("ss")
        and not _BEFORE_YEAR.search(text, max(0, found.start() - 8), found.start())
    )


def _time(text: str, at: int) -> Value | None:
    for pattern in TIMES.values():
        if not (found := pattern.match(text, at)):
            continue
        parts = found.groupdict()
        if name := parts.get("name"):
            minutes = 0.0 if name.lower() == "midnight" else float(HALF_DAY)
            start = found.start("name")
            return Value("time", start, found.end(), minutes, minutes, per="half known")
        hour = _small(parts["hour"])
        minutes = HOUR * hour + float(parts.get("minute") or 0)
        if offset := parts.get("offset"):
            offset = offset.lower().removeprefix("a ")
            words = {"half": 30.0, "quarter": 15.0, "twenty-five": 25.0}
            by = words[offset] if offset in words else _small(offset)
            minutes += by if parts["side"].lower() in ("past", "after") else -by
        half = (parts.get("half") or "").lower()[:1] or {
            "morning": "a",
            "afternoon": "p",
            "evening": "p",
        }.get((parts.get("part") or "").lower(), "")
        if half:
            minutes = minutes % HALF_DAY + HALF_DAY * (half == "p")
        known = (
            bool(half)
            or hour > 12
            or hour == 0
            or (parts.get("minute") is not None and parts["hour"].startswith("0"))
        )
        return Value("time", *found.span(), minutes, minutes, per="half known" if known else "")
    return None


def _score(text: str, at: int) -> Value | None:
    """A result such as "3–1" or "three goals to one", where the words before it are about a match
    or a vote.
    """
    if pressure := OTHERS["pressure"].match(text, at):
        return Value(
            "score",
            *pressure.span(),
            _small(pressure["two"]),
            _small(pressure["one"]),
            comparator="range",
        )
    found = OTHERS["score"].match(text, at)
    if (
        not found
        or not AROUND["played"].search(text, max(0, at - 80), at)
        or _PERCENT.match(text, found.end())
    ):
        return None
    one, two = (0.0 if n.lower() == "nil" else _small(n) for n in (found["one"], found["two"]))
    return Value("score", *found.span(), min(one, two), max(one, two), comparator="range")


def _frequency(text: str, at: int) -> Value | None:
    for pattern in FREQUENCIES.values():
        if not (found := pattern.match(text, at)):
            continue
        parts = {k: v.lower() for k, v in found.groupdict().items() if v}
        times = {"once": 1.0, "twice": 2.0, "thrice": 3.0}.get(
            t := parts.get("times", "once")
        ) or _small(t.split()[0])
        day = frozenset[str]()
        if (ly := parts.get("ly")) in ("biennially", "biannually"):
            rate = 0.5 if ly == "biennially" else 2.0
        else:
            period = LY[ly] if ly else parts["period"]
            n = parts.get("n", "1")
            every = {"other": 2.0}.get(n) or (float(NTH[n]) if n in NTH else _small(n))
            if period in WEEKDAYS:
                day, period = frozenset([period]), "week"
            rate = (
                times
                * PER_YEAR[period]
                / (0.5 if "halved" in parts else every + 0.5 * ("half" in parts))
            )
        if most := parts.get("most"):
            return Value(
                "frequency",
                *found.span(),
                rate * _small(n) / _small(most),
                rate,
                comparator="range",
            )
        return Value("frequency", *found.span(), rate, rate, counted=day)
    return None


def _share(text: str, at: int) -> Value | None:
    for pattern in SHARES.values():
        if not (found := pattern.match(text, at)):
            continue
        parts = {k: v.lower() for k, v in found.groupdict().items() if v}
        up = _small(parts["up"]) if "up" in parts else 1.0
        part = parts.get("part", "")
        down = (
            _small(parts["down"])
            if "down" in parts
            else PARTS["half" if part == "halves" else part.removesuffix("s")]
        )
        if not 0 < up <= down:
            continue
        share = 100 * up / down
        return Value(
            "quantity", *found.span(), share, share, dimension="%", unit="percent", step=0.4
        )
    return None


def _factor_of(text: str, at: int) -> Value | None:
    if not (found := OTHERS["factor"].match(text, at)):
        return None
    if found["verb"]:
        n = float(FACTORS[found["verb"].lower()])
    elif found["fold"]:
        n = float(found["fold"])
    else:
        word = found["n"].lower()
        figure = word.split()[0]
        n = {"twice": 2.0, "half": 0.5, "thrice": 3.0}.get(word) or (
            float(figure) if figure[0].isdigit() else _small(figure)
        )
    return Value("factor", *found.span(), n, n)


def _rank(text: str, at: int) -> Value | None:
    if most := OTHERS["superlative"].match(text, at):
        return Value("rank", *most.span(), 1.0, 1.0, dimension=stem(most[0].lower()))
    found = OTHERS["rank"].match(text, at)
    if not found or (
        found["word"]
        and found["word"].lower() == "second"
        and text[:at].lower().endswith(("per ", "a ", "each "))
    ):
        return None
    n = float(found["number"] or _nth(found["nth"] or found["word"]))
    superlative = _SUPERLATIVE.match(text, found.end())
    dimension = stem(superlative[1].lower()) if superlative else ""
    return Value(
        "rank", *found.span(), n, n, dimension=dimension, counted=_nouns(text, found.end())
    )


def _two_units(text: str, at: int) -> Value | None:
    """Feet and inches, hours and minutes in signs: `5'10"`, "2h15", "2:58:31"."""
    if not (both := OTHERS["two_units"].match(text, at)):
        return None
    if both["feet"]:
        number, unit = float(both["feet"]) + float(both["inches"]) / 12, "feet"
    elif both["clocked"]:
        number, unit = (
            HOUR * float(both["clocked"]) + float(both["minute"]) + float(both["second"]) / 60,
            "minutes",
        )
    else:
        number, unit = float(both["hours"]) + float(both["minutes"]) / HOUR, "hours"
    return _measured(text, at, both.end(), number, number, 0.0, unit)


def _quantity(text: str, at: int) -> Value | None:
    if one := NUMBERS["one_unit"].match(text, at):
        number = (_partial(one["many"]) or 1.0) + _partial(one["more"])
        if (
            one["more"]
            or one["many"].lower() not in ("a", "an")
            or AROUND["comparator"].search(text, max(0, at - 30), at)
            or AROUND["lasting"].search(text, max(0, at - 30), at)
        ):
            return _measured(text, at, one.end(), number, number, 0.0, one["unit"])
        return None
    figure = _figure(text, at)
    if figure is None:
        return None
    end, low, high, step = figure
    start = at
    prefix = NUMBERS["prefix"].search(text, max(0, at - 12), at)
    if prefix:
        start = prefix.start()
        currency = _name(CURRENCIES, prefix["currency"])
        return _counted_per(
            text,
            Value("quantity", start, end, low, high, f"currency {currency}", currency, step=step),
        )
    unit = NUMBERS["unit"].match(text, end)
    more = NUMBERS["unit_and"].match(text, unit.end()) if unit and unit["unit"] else None
    if more:  # "two hours and a half"
        low, high = (x + _partial(more["more"]) for x in (low, high))
    if unit and unit["unit"]:
        return _measured(
            text, at, more.end() if more else unit.end(), low, high, step, unit["unit"]
        )
    if unit and (unit["currency"] or unit["cents"]):
        hundredths = 100.0 if unit["cents"] else 1.0
        name = _name(CENTS if unit["cents"] else CURRENCIES, unit["currency"] or unit["cents"])
        dimension = (
            "pound"
            if (unit["currency"] or "").lower() in ("pound", "pounds")
            else f"currency {name}"
        )
        if name == "dollar" and unit["cents"]:
            dimension = "currency"  # of whichever currency
        return _counted_per(
            text,
            Value(
                "quantity",
                at,
                unit.end(),
                low / hundredths,
                high / hundredths,
                dimension,
                name,
                step=step / hundredths,
            ),
        )
    if AGED.search(text, max(0, at - 8), at) and not _nouns(text, end):
        return _measured(text, at, end, low, high, step, "years")
    if step == 0.5 and (label := _label(text, at)) and not _nouns(text, end, of=False):
        return Value("rank", at, end, low, high, counted=frozenset([stem(label.lower())]))
    return _counted_per(
        text,
        Value(
            "quantity",
            at,
            end,
            low,
            high,
            step=step if step != 0.5 else 0.0,
            counted=_nouns(text, end),
        ),
    )


def _name(forms: dict[str, str], written: str) -> str:
    written = _UNUSUAL_BLANK.sub(" ", written).replace("∕", "/")
    return (
        forms.get(written)
        or {f.lower(): n for f, n in forms.items()}.get(written.lower())
        or _lower(forms)[written.lower().replace(" ", "-")]
    )


def _lower(forms: dict[str, str]) -> dict[str, str]:
    return {form.lower().replace(" ", "-"): name for form, name in forms.items()}


def _label(text: str, at: int) -> str:
    """The word before a number that is a part of its name: "Article 5", "route 9", "the Marlin 22";
    else nothing.
    """
    word = _LABELLED.search(text[max(0, at - 40) : at])
    if word and (
        (word["inner"] and word["word"][0].isupper()) or AROUND["label"].fullmatch(word["word"])
    ):
        return word["word"]
    return ""


def _measured(
    text: str, start: int, end: int, low: float, high: float, step: float, written: str
) -> Value:
    """A number with a unit, in the unit's base."""
    unit = _name(UNITS, written)
    if unit == "permille":
        low, high, step, unit = low / 10, high / 10, step / 10, "percent"
    if unit in ("percent", "percentage_point"):
        dimension = "%" if unit == "percent" else "percentage points"
        return _counted_per(
            text, Value("quantity", start, end, low, high, dimension, unit, step=step or 0.5)
        )
    if unit == "degree":
        return Value("quantity", start, end, low, high, "degree", unit, step=step)
    (bottom, dimension), top = to_base(low, unit), to_base(high, unit)[0]
    rounding = abs(to_base(low + step, unit)[0] - bottom)
    return _counted_per(
        text, Value("quantity", start, end, bottom, top, dimension, unit, step=rounding)
    )


def _counted_per(text: str, value: Value) -> Value:
    """Add "a day" to "900 people a day"."""
    at = value.end
    for _ in range(NOUNS):
        if per := NUMBERS["per"].match(text, at):
            return replace(
                value, per=per["per"].lower(), end=per.end() if at == value.end else value.end
            )
        noun = NOUN.match(text, at)
        if not noun:
            break
        at = noun.end()
    return value


def _nouns(text: str, end: int, of: bool = True) -> frozenset[str]:
    """The stems of the words after a number, up to a mark or a stop word: what it counts is among
    them.
    """
    found: list[str] = []
    if of and (found_of := OF_THE.match(text, end)):
        end = found_of.end()
    while (
        len(found) < NOUNS and (noun := NOUN.match(text, end)) and noun[1].lower() not in STOP_WORDS
    ):
        found.append(stem(noun[1].lower()))
        end = noun.end()
    return frozenset(found)


def _figure(text: str, at: int) -> tuple[int, float, float, float] | None:
    """Read a number in figures or words: its end, its bounds, and half a unit of its last written
    digit.
    """
    if found := NUMBERS["figure"].match(text, at):
        return _of_figures(text, found)
    if not (found := NUMBERS["words"].match(text, at)):
        return None
    if found["halved"]:
        number = _partial(found["half"]) * SCALES[found["halved"].lower()]
        return found.end(), number, number, 0.0
    if found["dozens"]:
        one = SCALES[found["dozens"].lower().removesuffix("s")]
        return found.end(), 2 * one, MANY * one, 0.0
    words = found["number"].lower()
    if words == "one" and not NUMBERS["unit"].match(text, found.end()) and not found["more"]:
        return None  # mostly a pronoun
    spelled = _of_words(words)
    if spelled is None:
        return None
    scale = (
        SCALES[(found["scale"] or found["scaled"] or "").lower()]
        if found["scale"] or found["scaled"]
        else 1.0
    )
    number = (
        spelled + _partial(found["more"]) + (_small(found["point"]) / 10 if found["point"] else 0.0)
    )
    number *= scale
    return found.end(), number, number, 0.05 * scale if found["point"] else 0.0


def _of_words(words: str) -> float | None:
    """The number that words spell: "two hundred and fifty thousand", "forty-three", "two dozen"."""
    dozens = words.endswith("dozen")
    words = words.removesuffix("dozen").strip()
    if not words:
        return 12.0
    from text_to_num import text2num

    try:
        number = float(text2num(words, "en"))
    except ValueError:
        return None
    return 12 * number if dozens else number


def _of_figures(text: str, found: re.Match[str]) -> tuple[int, float, float, float] | None:
    if found["alone"]:
        number, digits, scale = FRACTIONS[found["alone"]], 0, 1.0
    elif found["raised"]:
        number, digits, scale = 10.0 ** int(found["raised"].translate(RAISED)), 0, 1.0
    else:
        decimals = found["decimals"] or ""
        if _GOES_ON.match(text, found.end()) and not found["scale"]:
            return None  # a version, an address, a date of figures
        number = float(_NO_DIGIT.sub("", found["digits"]) + decimals)
        digits, scale = len(decimals) - 1 if decimals else 0, 1.0
        if vulgar := (found["vulgar"] or "").strip(" \u202f"):
            up, _, down = vulgar.partition("/")
            number += float(up) / float(down) if down else FRACTIONS[vulgar]
        if power := found["power"] or found["exponent"]:
            scale = 10.0 ** int(power.translate(RAISED))
    end = found.end()
    if letter := found["letter"]:
        if _abbreviates(text, found):
            scale = SCALES[letter.lower()]
        else:
            end = found.start("letter")
    elif found["scale"]:
        scale = SCALES[found["scale"].lower()]
    number *= -scale if found["sign"] else scale
    exact = scale == 1.0 and not digits
    return end, number, number, 0.5 if exact else 0.5 * scale / 10**digits


def _abbreviates(text: str, found: re.Match[str]) -> bool:
    """Return True if a letter joined to a number is a power of ten: of money, or before a thing in
    the plural.
    """
    if found["letter"] in ("B", "b"):
        return bool(NUMBERS["prefix"].search(text, max(0, found.start() - 12), found.start()))
    if found["letter"] == "K" or NUMBERS["prefix"].search(
        text, max(0, found.start() - 12), found.start()
    ):
        return True
    noun = NOUN.match(text, found.end())
    plural = (
        noun is not None
        and noun[1] not in STOP_WORDS
        and (noun[1].endswith("s") or noun[1] == "people")
    )
    return (
        plural or (found["letter"] == "k" and noun is None) or bool(_MONEY.match(text, found.end()))
    )

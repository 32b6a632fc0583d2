"""Write numbers, dates and units in one way, so that the verifier compares equals."""

from __future__ import annotations

import calendar
import re
from decimal import Decimal
from functools import lru_cache

from attribution.text.words import SCALES

UNITS = "one two three four five six seven eight nine".split()
TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
YEAR = re.compile(  # nineteen fourteen, twenty twenty-one, nineteen oh six
    rf"""
    \b(?P<century>{"|".join(TEENS[1:])}|twenty)[ -]
    (?: oh[ -](?P<digit>{"|".join(UNITS)})
    | (?P<rest>{"|".join(TEENS)}|(?:{"|".join(TENS)})(?:[ -](?:{"|".join(UNITS)}))?) )\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_COUNT = rf"(?:{'|'.join([*UNITS, *TEENS, *TENS])})"
IN_WORDS = re.compile(  # two thousand and nine, forty-two, a hundred
    rf"\b(?<!half )(?:{_COUNT}|an?(?=[ ](?:{'|'.join(SCALES)})))"
    rf"(?:[ -](?:and[ ])?(?:{_COUNT}|{'|'.join(SCALES)})){{0,12}}\b",
    re.IGNORECASE,
)
ARTICLE = re.compile(r"an?\b", re.IGNORECASE)
DATES = (  # 12.11.2004 and 2004-11-12
    re.compile(r"\b(?P<day>\d{1,2})([.-])(?P<month>\d{1,2})\2(?P<year>\d{4})\b"),
    re.compile(r"\b(?P<year>\d{4})([-/])(?P<month>\d\d)\2(?P<day>\d\d)\b"),
)
SLASHED = re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b")  # day or month first
POWER = re.compile(  # 5 × 10^6
    r"""
    (?<![\w.]) (?: (?P<factor>\d+(?:\.\d+)?)[ ]?[×x·*][ ]? )?
    (?P<base>\d+)\^(?P<power>\d{1,2})\b
    """,
    re.VERBOSE,
)
LARGEST_POWER = 60  # bits
FIGURE = re.compile(
    rf"""
    (?<![\w.,:/^])(?<!\d-)
    (?P<digits>
        [1-9]\d{{0,2}}(?:(?:[, \u00a0\u2009\u202f'’])\d{{3}}(?!\d)){{1,5}}
        | [1-9]\d{{0,2}}(?:\.\d{{3}}){{2,5}}(?!\d)
        | [1-9]\d{{0,14}} | 0(?=\.) )
    (?P<decimals>\.\d{{1,9}})?
    (?:[ ](?P<scale>{"|".join(SCALES)})\b)?
    (?![\w^]|[.,:/-]\w)
    """,
    re.VERBOSE,
)
YEARS = range(1000, 2200)
BEHIND_YEAR = re.compile(r"\b\d{4} ")
ROUNDED = Decimal("0.05")  # share by which a round number may be off
POWERS = {"²": "square ", "³": "cubic "}
PREFIXES = {"k": "kilo", "c": "centi", "m": "milli", "": ""}
METRES = re.compile(r"\b([kcm]?)m([²³])")


@lru_cache(maxsize=32)  # a text may be as long as a request
def in_figures(text: str) -> str:
    """Return a text with numbers in figures and months and units in words; for English.

    Numbers below ten stay words, unless they are part of a larger one.
    """
    text = _dates(text)
    text = POWER.sub(_power, text)
    text = YEAR.sub(_year, text)
    text = IN_WORDS.sub(_spelled, text)
    text = FIGURE.sub(_figure, text)
    return METRES.sub(lambda unit: f"{POWERS[unit[2]]}{PREFIXES[unit[1]]}metres", text)


def rounded_as(claim: str, text: str) -> str:
    """Return a text in figures, with numbers that a claim rounds as the claim writes them.

    "4.212 million" beside "about 4.2 million" becomes "4.2 million".
    """
    stated = [m for m in FIGURE.finditer(claim) if m["scale"] or not m["digits"].isdigit()]

    def rounded(match: re.Match[str]) -> str:
        amount = _amount(match)
        for figure in stated:
            wanted = _amount(figure)
            last_place = SCALES.get(figure["scale"], 0) - len((figure["decimals"] or ".")[1:])
            room = min(Decimal(10) ** last_place / 2, ROUNDED * wanted)
            if abs(amount - wanted) <= room:
                return figure[0]
        return match[0]

    return FIGURE.sub(rounded, text) if stated else text


def _dates(text: str) -> str:
    """Return a text with dates in words where it is clear which figure is the month."""
    dates = SLASHED.findall(text)
    labels = text.lower()
    is_month_first = "mm/dd" in labels or any(int(second) > 12 for _, second, _ in dates)
    is_day_first = "dd/mm" in labels or any(int(first) > 12 for first, _, _ in dates)
    if is_month_first != is_day_first:
        text = SLASHED.sub(r"\2.\1.\3" if is_month_first else r"\1.\2.\3", text)
    for form in DATES:
        text = form.sub(_date, text)
    return text


def _date(match: re.Match[str]) -> str:
    day, month = int(match["day"]), int(match["month"])
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        return match[0]
    return f"{day} {calendar.month_name[month]} {match['year']}"


def _power(match: re.Match[str]) -> str:
    base, power = int(match["base"]), int(match["power"])
    if base.bit_length() * power > LARGEST_POWER:
        return match[0]
    return f"{Decimal(match['factor'] or 1) * base**power:f}"


def _year(match: re.Match[str]) -> str:
    rest = _digits(match["rest"]) if match["rest"] else f"0{_digits(match['digit'])}"
    return _digits(match["century"]) + rest


def _digits(words: str) -> str:
    from text_to_num import alpha2digit

    digits: str = alpha2digit(words, "en")
    return digits


def _spelled(match: re.Match[str]) -> str:
    is_small = match[0].lower() in UNITS
    return match[0] if is_small else _digits(ARTICLE.sub("one", match[0], 1))


def _figure(match: re.Match[str]) -> str:
    """Return a figure with commas, or in millions or billions; a year or a decimal as it is."""
    amount = _amount(match)
    is_plain = not match["scale"] and match["digits"].isdigit()
    has_year_before = BEHIND_YEAR.fullmatch(match.string, max(0, match.start() - 5), match.start())
    if is_plain and (amount < 1000 or amount in YEARS and not has_year_before):
        return match[0]
    if amount != int(amount):
        return match[0]
    for scale in ("trillion", "billion", "million"):
        size = 10 ** SCALES[scale]
        if amount >= size and amount % (size // 1000) == 0:
            return f"{(amount / size).normalize():f} {scale}"
    return f"{int(amount):,}"


def _amount(match: re.Match[str]) -> Decimal:
    number = re.sub(r"\D", "", match["digits"]) + (match["decimals"] or "")
    return Decimal(number).scaleb(SCALES.get(match["scale"], 0))

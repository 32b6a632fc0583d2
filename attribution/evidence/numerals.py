"""Numbers in figures, such as "nineteen ninety-eight" and "1 234 567", and months in words."""

from __future__ import annotations

import calendar
import re
from functools import lru_cache

UNITS = "oh one two three four five six seven eight nine".split()
TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
VALUES = (
    {word: value for value, word in enumerate(UNITS)}
    | {word: value for value, word in enumerate(TEENS, 10)}
    | {word: 10 * value for value, word in enumerate(TENS, 2)}
)
YEAR = re.compile(
    rf"""
    \b(?P<century>{"|".join(TEENS[1:])}|twenty)             # nineteen, twenty
    [ -](?:
        (?P<teen>{"|".join(TEENS)})                         # nineteen fourteen
        | (?P<tens>{"|".join(TENS)})(?:[ -](?P<unit>{"|".join(UNITS[1:])}))?
        | oh[ -](?P<digit>{"|".join(UNITS[1:])})            # nineteen oh six
    )\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
SPACED = re.compile(r"(?<![\d.,])\d{1,3}(?:[ \u00a0\u2009\u202f'’]\d{3})+(?![\d])")
DOTTED = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?![\d,.]\d)")
SEPARATORS = re.compile(r"[ \u00a0\u2009\u202f'’.]")
DATES = (  # 12.11.2004 and 2004-11-12; with slashes, 11/12/2004 may be either
    re.compile(r"\b(?P<day>\d{1,2})([.-])(?P<month>\d{1,2})\2(?P<year>\d{4})\b"),
    re.compile(r"\b(?P<year>\d{4})([-/])(?P<month>\d\d)\2(?P<day>\d\d)\b"),
)
ARTICLE = re.compile(r"\ban? (?=hundred|thousand|million|billion)", re.IGNORECASE)
IN_WORDS = re.compile(rf"\b(?:{'|'.join([*TEENS, *TENS])}|hundred|thousand)\b", re.IGNORECASE)


@lru_cache(maxsize=512)
def in_figures(text: str) -> str:
    """Return a text with its numbers in figures, grouped by commas; for English.

    Numbers below ten stay words, unless they are part of a larger one. Months become words.
    """
    for form in DATES:
        text = form.sub(_date, text)
    text = SPACED.sub(_with_commas, text)
    text = DOTTED.sub(_with_commas, text)
    if not IN_WORDS.search(text):
        return text
    from text_to_num import alpha2digit

    text = YEAR.sub(_year, text)
    lines = [alpha2digit(ARTICLE.sub("one ", line), "en") for line in text.split("\n")]
    return "\n".join(lines)


def _date(match: re.Match[str]) -> str:
    day, month = int(match["day"]), int(match["month"])
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        return match[0]
    return f"{day} {calendar.month_name[month]} {match['year']}"


def _with_commas(match: re.Match[str]) -> str:
    return SEPARATORS.sub(",", match[0])


def _year(match: re.Match[str]) -> str:
    parts = {name: VALUES.get((word or "").lower(), 0) for name, word in match.groupdict().items()}
    rest = parts["teen"] + parts["tens"] + parts["unit"] + parts["digit"]
    return str(100 * parts["century"] + rest)

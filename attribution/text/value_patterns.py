"""The words and patterns of values: which forms `value_kinds.py` reads, made from the tables in
`data/`.
"""

from __future__ import annotations

import calendar
import re
import tomllib
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from attribution.text.values import DATA, Comparator

SCALES: dict[str, float] = DATA["scales"]
COMPARATORS: dict[str, Comparator] = {
    phrase: name for name, phrases in DATA["comparators"].items() for phrase in phrases
}
AFTER: dict[str, Comparator] = {
    phrase: name for name, phrases in DATA["after"].items() for phrase in phrases
}
FLIPPED: dict[str, Comparator] = {
    "more": "at_most",
    "at_least": "less",
    "less": "at_least",
    "at_most": "more",
}  # under a negation
ROUNDED = 0.06  # share by which "about" may be off
NEAR = 0.12  # and "nearly", on one side
MANY = 10.0  # "dozens" are two dozen to ten times as many
NOUNS = 3  # words after a number among which the thing that it counts stands
HOUR = 60  # minutes


FRACTIONS = {c: unicodedata.numeric(c) for c in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"}


def _forms(table: dict[str, str]) -> dict[str, str]:
    return {form.replace("_", " "): name for name, forms in table.items() for form in forms.split()}


UNITS, CURRENCIES, CENTS = (_forms(DATA[name]) for name in ("units", "currencies", "cents"))


def _alternatives(forms: dict[str, str]) -> str:
    """A pattern of all forms, the longest first; symbols in their own capitals, words in any."""
    symbols = [f for f in forms if len(f) <= 5 and (not f.islower() or len(f) <= 3)]
    words = [f for f in forms if f not in symbols]
    longest = [sorted(part, key=len, reverse=True) for part in (words, symbols)]
    patterns = [
        "|".join(re.escape(f).replace(r"\ ", "[ \u202f-]").replace("/", "[/∕]") for f in part)
        for part in longest
    ]
    return f"(?:(?i:{patterns[0]})|{patterns[1]})"


TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
ONES = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_NTHS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
NTH = {word: n for n, word in enumerate(_NTHS, 1)} | {"thirtieth": 30, "thirty-first": 31}
NTH |= {f"twenty-{word}": 20 + n for n, word in enumerate(_NTHS[:9], 1)}
PARTS = (
    {"half": 2, "quarter": 4}
    | {word: n for word, n in NTH.items() if 3 <= n <= 20}
    | {"hundredth": 100, "thousandth": 1000}
)
PARTIAL = {"half": 0.5, "a half": 0.5, "a quarter": 0.25, "three quarters": 0.75}
MONTHS = {name.lower(): n for n, name in enumerate(calendar.month_name) if name} | {"sept": 9}
MONTHS |= {name.lower(): n for n, name in enumerate(calendar.month_abbr) if name}
WEEKDAYS = {name.lower(): n for n, name in enumerate(calendar.day_name)}
FACTORS = {
    "halved": 0.5,
    "halving": 0.5,
    "doubled": 2,
    "double": 2,
    "doubling": 2,
    "twofold": 2,
    "tripled": 3,
    "trebled": 3,
    "triple": 3,
    "tripling": 3,
    "threefold": 3,
    "quadrupled": 4,
    "quadrupling": 4,
    "fourfold": 4,
    "quintupled": 5,
    "fivefold": 5,
    "sixfold": 6,
    "tenfold": 10,
}
LY = {
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "quarterly": "quarter",
    "yearly": "year",
    "annually": "year",
    "nightly": "night",
    "hourly": "hour",
    "fortnightly": "fortnight",
}


def _longest_first(forms: Iterable[str]) -> str:
    return "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))


_FILLED = {
    "small": _longest_first([*ONES, *TENS]),
    "nth": _longest_first(NTH),
    "months": _longest_first(MONTHS),
    "weekdays": _longest_first(WEEKDAYS),
    "factors": _longest_first(FACTORS),
    "cents": _longest_first(CENTS),
    "units": _alternatives(UNITS),
    "currencies": _alternatives(CURRENCIES),
    "comparators": _longest_first(COMPARATORS),
    "after": _longest_first(AFTER),
}
_PATTERNS = tomllib.loads(
    (Path(__file__).parent / "data" / "value_patterns.toml").read_text("utf-8")
)
_ALTERNATIVES = _FILLED | _PATTERNS["parts"]


_TO_FILL = re.compile(r"<<(\w+)>>")


def _compiled(table: str, before: str = "") -> dict[str, re.Pattern[str]]:
    """The patterns of a table of value_patterns.toml, by name."""

    def filled(pattern: str) -> str:
        return _TO_FILL.sub(lambda found: f"(?:{filled(_ALTERNATIVES[found[1]])})", pattern)

    return {
        name: re.compile(f"{before}(?:{filled(pattern)})", re.VERBOSE | re.IGNORECASE)
        for name, pattern in _PATTERNS[table].items()
    }


NUMBERS, OTHERS, AROUND = _compiled("numbers"), _compiled("others"), _compiled("around")
DATES, TIMES = _compiled("dates", r"(?<![\w.])"), _compiled("times", r"(?<![\w.:])")
FREQUENCIES, SHARES = _compiled("frequencies", r"(?<!\w)"), _compiled("shares", r"(?<![\w/-])")
NONE = re.compile(r"\b(?:No|None of the|Neither of the|Nobody|No one)\b[^.;]*$")
BETWEEN = re.compile(r"\b(?:between|from|both) [$€£¥]?$", re.IGNORECASE)
NOUN = re.compile(r"[ \u202f-]([^\W\d_]+(?:-[^\W\d_]+)*)")
AGED = re.compile(r"\b(?:aged|age|age of) $", re.IGNORECASE)
OF_THE = re.compile(r" of (?:the|its|their|his|her|these|those|all)(?= )")
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
TIMES_AS = re.compile(r" ?as \w+ as (?:the )?$")
CITED = re.compile(r"\[\d+(?:[,–-] ?\d+)*\]|\^\d+\^")
START = re.compile(
    r"(?<![\w/])(?:\d|[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]|-\d|[a-z])|(?<=[$€£¥₹₽₩₪])\d|(?<=[A-Z$]\$)\d|(?<=\b[A-Z]{3})\d",
    re.IGNORECASE,
)

"""The values of a text: numbers, dates, units, names and negations, with their characters and a normal form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from attribution.text.remembering import remember
from attribution.text.words import STOP_WORDS, folded
from attribution.types import Span

Kind = Literal["year", "month", "day", "number", "unit", "name", "negation"]
NUMERIC: tuple[Kind, ...] = ("year", "month", "day", "number")
MONTHS = (
    "january february march april may june july august september october november december "
    "jan feb mar apr may jun jul aug sep oct nov dec"
).split()  # fmt: skip
_CARDINALS = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty thirty forty fifty sixty seventy eighty ninety"
).split()  # fmt: skip
_NUMBER_WORDS = dict(zip(_CARDINALS, map(str, (*range(2, 20), *range(20, 100, 10))), strict=True))
_NTH = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_ORDINALS = {word: f"#{n}" for n, word in enumerate(_NTH, 1)}
_LINES = (Path(__file__).parent / "data" / "units.txt").read_text("utf-8").splitlines()
UNITS = {word: words.split()[0] for words in _LINES for word in words.split()}
_DIGITS = 30  # a longer number is multiplied no further
_POWERS = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}  # of ten
_ABBREVIATED = {"m": "million", "k": "thousand"}  # of money or things: "£4m", "40k people"; else a metre
# Units written without a space, "20mg", "16million"; a single letter only in lower case, since "5G" is none.
_JOINED_UNITS = "|".join(sorted((w for w in {*UNITS, *_ABBREVIATED} if w.isalpha()), key=len, reverse=True))
TOKEN = re.compile(
    r"(?P<number>(?<!\d)(?<!\d[.,])(?>\d+(?:[.,]\d+)*)(?P<ending>st|nd|rd|th|['’]?s)?"
    rf"(?:(?![^\W\d_])|(?=(?![A-Z](?![A-Za-z]))(?i:{_JOINED_UNITS})(?![^\W\d_]))))|(?P<sign>[%$€£¥°])"
    r"|(?P<word>[^\W\d_]+(?:['’-][^\W\d_]+)*)"
)
_NEGATION = re.compile(r"(?:not|no|never|none|neither|nor|without|nobody|nothing|cannot|\w+n['’]t)", re.IGNORECASE)
_YEAR = re.compile(r"1\d{3}|20\d\d")
_PLURAL = re.compile(r"\s+(?:[a-z]+s|people|men|women|children)\b")
_JOINED = re.compile(r" (?:[A-Z]\. )?|-")


@dataclass(frozen=True)
class Value:
    """`normal` is the same for two spellings of a value: "9,000" and "9000", "three" and "3"."""

    kind: Kind
    start: int
    end: int
    normal: str

    @property
    def span(self) -> Span:
        return self.start, self.end

    @property
    def words(self) -> frozenset[str]:
        return frozenset(self.normal.split())

    @property
    def is_ordinal(self) -> bool:
        return self.kind == "number" and self.normal.startswith("#")


@remember(4096)
def values(text: str) -> tuple[Value, ...]:
    """All values of a text, in their order; a number and its power of ten are one: "1.2 million"."""
    tokens = list(TOKEN.finditer(text))
    found: list[Value] = []
    words: list[list[str]] = []  # of the normal form of each
    for i, token in enumerate(tokens):
        kind, normal = _kind(text, tokens, i)
        if kind is None:
            continue
        before = found[-1] if found else None
        between = text[before.end : token.start()] if before else ""
        if before and kind == before.kind == "name" and _JOINED.fullmatch(between):
            found[-1] = replace(before, end=token.end())
            words[-1].append(normal)
        elif before and kind == "unit" and (multiplied := _multiplied(before, normal)) and between in ("", " ", "-"):
            found[-1] = replace(before, end=token.end(), normal=multiplied)
            words[-1] = [multiplied]
        else:
            found.append(Value(kind, token.start(), token.end(), normal))
            words.append([normal])
    return tuple(v if len(w) == 1 else replace(v, normal=" ".join(w)) for v, w in zip(found, words, strict=True))


def _multiplied(value: Value, power: str) -> str:
    """The digits of a number times a power of ten; empty where it is no such number."""
    whole, _, decimals = value.normal.partition(".")
    if (
        value.kind != "number"
        or power not in _POWERS
        or len(whole) > _DIGITS
        or not (whole.isdecimal() and (decimals or "0").isdecimal())
    ):
        return ""
    shift = _POWERS[power]
    digits = whole + decimals.ljust(shift, "0")[:shift]
    return (digits.lstrip("0") or "0") + (f".{decimals[shift:]}" if decimals[shift:] else "")


def _kind(text: str, tokens: Sequence[re.Match[str]], i: int) -> tuple[Kind | None, str]:
    token = tokens[i]
    written = token[0]
    word = folded(written)
    near = [tokens[j] for j in (i - 1, i + 1) if 0 <= j < len(tokens) and _beside(text, token, tokens[j])]
    if token["sign"]:
        return ("unit", UNITS[written]) if any(t["number"] for t in near) else (None, "")
    if token["number"]:
        if text[token.start() - 1 : token.start()] == "[" and text[token.end() : token.end() + 1] == "]":
            return None, ""  # a citation
        digits = written.removesuffix(token["ending"] or "").replace(",", "")
        if token["ending"] in ("s", "'s", "’s"):
            return "year", f"{digits}s"
        if len(digits) <= 2 and digits.isdigit() and any(_is_month(t[0]) for t in near):
            return "day", str(int(digits))
        if _YEAR.fullmatch(written) and not _counts(text, token):
            return "year", digits
        return "number", f"#{digits}" if token["ending"] else digits
    if _NEGATION.fullmatch(word):
        return "negation", "not"
    if _is_month(written) and (word not in ("may", "march", "mar", "jan", "dec") or any(t["number"] for t in near)):
        return "month", word[:3]
    if word in _ABBREVIATED and _abbreviates(text, tokens, i):
        return "unit", _ABBREVIATED[word]
    if word in UNITS and any(_is_number(t) for t in near if t.start() < token.start()):
        return "unit", UNITS[word]
    if word == "one" and any(t[0] in UNITS for t in near if t.start() > token.start()):
        return "number", "1"  # elsewhere it is mostly a pronoun
    if word in _NUMBER_WORDS:
        return "number", _NUMBER_WORDS[word]
    if word in _ORDINALS and not (word == "second" and near and folded(near[0][0]) in ("per", "a", "each")):
        return "number", _ORDINALS[word]
    if written[0].isupper() and len(written) > 1 and word not in STOP_WORDS:
        return "name", word
    return None, ""


def _abbreviates(text: str, tokens: Sequence[re.Match[str]], i: int) -> bool:
    """Return True if a letter joined to a number is a power of ten: of money, or before a thing in the plural."""
    number = tokens[i - 1] if i else None
    if number is None or not number["number"] or number.end() != tokens[i].start():
        return False
    money = text[number.start() - 1 : number.start()] in ("$", "€", "£", "¥")
    return money or _PLURAL.match(text, tokens[i].end()) is not None


def _beside(text: str, one: re.Match[str], other: re.Match[str]) -> bool:
    between = text[min(one.end(), other.end()) : max(one.start(), other.start())]
    return between in ("", " ", "-", ", ", " of ", ". ")


def _is_month(word: str) -> bool:
    return word[0].isupper() and word.casefold().rstrip(".") in MONTHS


def _is_number(token: re.Match[str]) -> bool:
    word = folded(token[0])
    return bool(token["number"]) or word in _NUMBER_WORDS or word in UNITS or word == "one"


def _counts(text: str, token: re.Match[str]) -> bool:
    """Return True if four digits count something: "1500 soldiers", "1200 km"."""
    following = TOKEN.match(text, token.end()) or TOKEN.match(text, token.end() + 1)
    unit = following is not None and following[0] in UNITS
    plural = _PLURAL.match(text, token.end())
    return (
        unit
        or (plural is not None and plural[0].strip() not in STOP_WORDS)
        or text[token.start() - 1 : token.start()] in tuple("$€£¥")
    )

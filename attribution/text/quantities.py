"""Read the numbers, shares and dates of a text, and find those that two texts give differently.

A number is compared with those of the same unit, as it is written: "330 metres" with "312 metres",
"three rooms" with "4 rooms", one date with another. Other units are for the verifier to convert.
"""

from __future__ import annotations

import calendar
import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from attribution.text.words import (
    NUMBER_WORDS,
    ORDINALS,
    SCALES,
    STOP_WORDS,
    plain,
    shared_words,
    stem,
    words_of,
)
from attribution.types import Span

ROUNDED = 0.05  # share by which a round number of a claim may be off
SUBJECT = 0.5  # share of a claim's words in a sentence whose dates are those of the same event
_NAMES = [*calendar.month_name[1:], *calendar.month_abbr[1:]]
MONTHS = {name: number % 12 + 1 for number, name in enumerate(_NAMES)}
UNITS = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen", "%": "percent"}
SHARES = ("percent", "per")  # units of 2 % and of 2 per cent
COUNTS = [word for word in NUMBER_WORDS if word not in ORDINALS]
CELL = ";"  # between the cells of a row, as tables are read
NEIGHBOURS = 3  # words on either side of a quantity that tell what it is of
LIMIT = re.compile(  # of a number that can't be set against another; “from 4 to” is none
    r"""(?: \b(?:than|over|under|above|below|least|most|up[ ]to)
          | (?<!\S) (?<!from[ ]) \S*\d[ ]to
        )[ ][$€£¥]?$""",
    re.VERBOSE,
)
IN = re.compile(r"\b(?:in|since|until|during) $", re.IGNORECASE)  # before a year
CLOSE = 40  # characters before a number in which LIMIT and IN are looked for
SHORT_SCALES = {"k": 3, "m": 6, "b": 9, "t": 12}  # $5m, 2bn
YEAR = r"(?:1\d|20)\d\d(?![\d.,]\d|\w|%)"
EXPRESSION = re.compile(
    rf"""
    (?<![\w.,:/[-])
    (?: (?P<day>\d{{1,2}})(?:st|nd|rd|th)?[ ](?:of[ ])? )?  # 3 May 1975, May 3, 1975, May 1975
    (?P<month>{"|".join(MONTHS)})\b\.?
    (?: [ ](?P<day_behind>\d{{1,2}})(?:st|nd|rd|th)?\b )? (?: ,?[ ](?P<year>{YEAR}) )?
    | (?<![\w.,:/[-]) (?P<sign>[$€£¥])?
    (?: (?P<digits>\d{{1,3}}(?:[, \u202f]\d{{3}})+(?!\d)|\d++)(?P<decimals>\.\d++)?
    | (?P<word>{"|".join(COUNTS)})\b )
    (?![\d.,/:]\d|\])
    (?: [ ]?(?P<scale>{"|".join(SCALES)}|(?(sign)[KMBTkmbt]n?|[mbt]n))s?\b )?
    (?: [ \u202f-]?(?P<unit>%|€|°?[^\W\d_]+) )?
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Quantity:
    """A number with its unit, or a date.

    Attributes:
        span: The characters of the number or date, without a unit in words.
        unit: The stem of the word behind the number, "date", or empty for a bare number.
        amount: The number; 0 for a date.
        date: Year, month and day, as far as they are given.
        whole: The span with the unit; None without one.
    """

    span: Span
    unit: str
    amount: float = 0.0
    date: tuple[int | None, int | None, int | None] = (None, None, None)
    whole: Span | None = None


@dataclass(frozen=True)
class Contrast:
    """A quantity of a claim and the source's in its place, as each is written.

    Attributes:
        is_clear: No other quantity of the source can be meant, and the claim's doesn't follow from
            them.
    """

    claim: str
    source: str
    claim_span: Span
    source_span: Span
    is_clear: bool


@lru_cache(maxsize=32)  # a text may be as long as a request
def quantities(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of a text in order, without limits such as "up to 300"."""
    return tuple(_read(plain(text)))


def _read(text: str) -> Iterator[Quantity]:
    for match in EXPRESSION.finditer(text):
        start = match.start()
        before = text[max(0, start - CLOSE) : start]
        if LIMIT.search(before):
            continue
        if match["month"]:
            day = match["day"] or match["day_behind"]
            if day or match["year"]:
                year = int(match["year"]) if match["year"] else None
                date = (year, MONTHS[match["month"]], int(day) if day else None)
                end = start + len(match[0].rstrip("."))  # the full stop is the sentence's
                yield Quantity((start, end), "date", date=date)
            continue
        written = (match["unit"] or "").lower()
        noun = "" if written in STOP_WORDS else stem(written)
        unit = UNITS.get(match["sign"] or written, noun)
        digits = re.sub(r"\D", "", match["digits"] or NUMBER_WORDS[match["word"]])
        end = match.start("unit") if written.isalpha() else match.end()
        number = text[start:end].rstrip(" \u202f-")
        place = (start, start + len(number))
        is_year = re.fullmatch(YEAR, number)
        if is_year and (not unit or IN.search(before)):
            yield Quantity(place, "date", date=(int(digits), None, None))
        elif match["word"] != "one":  # mostly a pronoun
            amount = float(digits + (match["decimals"] or ""))
            scale = match["scale"] or ""
            power = SCALES.get(scale) or SHORT_SCALES.get(scale[:1].lower(), 0)
            whole = match.span() if unit else None
            yield Quantity(place, unit, amount * 10**power, whole=whole)


def contrasts(claim: str, sentence: str, is_denied: bool = False) -> list[Contrast]:
    """Return the quantities of a claim that a sentence gives differently.

    Each is set against the one of the same unit that has most words of the claim beside it.

    Args:
        claim: The claim.
        sentence: The sentence.
        is_denied: The sentence is known to contradict the claim, so that any number may be set
            against another with a word of the claim beside it: a cell of a table has no unit.
    """
    claimed, written = quantities(claim), quantities(sentence)
    rivals = [r for r in written if not any(agrees(c, r) for c in claimed)]
    is_about = is_denied or shared_words(claim, sentence) >= SUBJECT
    found: list[Contrast] = []
    for quantity in claimed:
        is_stated = any(agrees(quantity, other) for other in written)
        is_date = quantity.unit == "date"
        candidates = [rival for rival in rivals if rival.unit == quantity.unit]
        words = _words_beside(claim, quantity)
        if is_denied and not candidates and not is_date:
            numbers = [rival for rival in rivals if rival.unit != "date"]
            candidates = [n for n in numbers if words & _words_beside(sentence, n)]
        if is_stated or not candidates or is_date and not is_about:
            continue
        shared = [len(words & _words_beside(sentence, rival)) for rival in candidates]
        most = max(shared)
        rival = candidates[shared.index(most)]
        rivals.remove(rival)
        # both years or both days
        is_only = shared.count(most) == 1 and quantity.date.count(None) == rival.date.count(None)
        is_clear = is_only and (is_denied or is_about and not _follows(quantity, rival, written))
        value, other = claim[slice(*quantity.span)], sentence[slice(*rival.span)]
        found.append(Contrast(value, other, quantity.span, rival.span, is_clear))
    return found


def clear_contrasts(claim: str, sentence: str) -> list[Contrast]:
    """Return the contrasts that can be told to a reader."""
    return [contrast for contrast in contrasts(claim, sentence) if contrast.is_clear]


def _words_beside(text: str, quantity: Quantity) -> set[str]:
    start, end = quantity.span
    before = words_of(text[:start].rpartition(CELL)[2])[-NEIGHBOURS:]
    after = words_of(text[end:].partition(CELL)[0])[:NEIGHBOURS]
    return {stem(word) for word in (*before, *after)}


def _follows(quantity: Quantity, rival: Quantity, written: Sequence[Quantity]) -> bool:
    """Return True if a number is a small multiple of the rival, or two others give it."""
    if quantity.unit == "date":
        return False
    multiples = [rival.amount * factor for factor in (2, 3, 4)]
    multiples += [rival.amount / factor for factor in (2, 3, 4)]
    if any(agrees(quantity, replace(quantity, amount=amount)) for amount in multiples):
        return True
    for one, other in itertools.permutations(written, 2):
        results = [one.amount - other.amount, one.amount + other.amount, one.amount * other.amount]
        if other.unit in SHARES:  # 2 % more than 480,000
            share = one.amount * other.amount / 100
            results += [share, one.amount - share, one.amount + share]
        if any(math.isclose(quantity.amount, result) for result in results):
            return True
    return False


def computed(claim: str, sentence: str) -> str:
    """Return how a number of a claim follows from two of a sentence, "34 − 19 = 15", or ""."""
    stated = [quantity for quantity in quantities(sentence) if quantity.unit != "date"]
    for wanted in quantities(claim):
        amount = wanted.amount
        if wanted.unit == "date" or amount in [quantity.amount for quantity in stated]:
            continue
        for one, other in itertools.permutations(stated, 2):
            sign = "−" if one.amount - other.amount == amount else "+"
            is_result = sign == "−" or one.amount + other.amount == amount
            if is_result and {one.unit, other.unit} <= {wanted.unit, ""}:
                terms = f"{sentence[slice(*one.span)]} {sign} {sentence[slice(*other.span)]}"
                return f"{terms} = {claim[slice(*wanted.span)]}"
    return ""


def differing_spans(
    claim: str, sentence: str, is_denied: bool = False
) -> tuple[list[Span], list[Span]]:
    """Return the spans of a claim, and of a sentence, whose quantities clearly differ.

    Args:
        claim: The claim.
        sentence: The sentence.
        is_denied: As in `contrasts`: then the claim's are shown without the sentence's, too.
    """
    found = contrasts(claim, sentence, is_denied)
    shown = [contrast for contrast in found if is_denied or contrast.is_clear]
    return [c.claim_span for c in shown], sorted(c.source_span for c in shown if c.is_clear)


def agrees(claim: Quantity, source: Quantity) -> bool:
    """Return True if both can be true of one thing: 330 of 328 metres, 1962 of 4 May 1962."""
    if claim.unit == source.unit == "date":
        parts = zip(claim.date, source.date, strict=True)
        return all(one == two for one, two in parts if one and two)
    if "date" in (claim.unit, source.unit):
        return False
    digits = f"{claim.amount:.0f}"
    zeros = len(digits) - len(digits.rstrip("0"))
    room = min(0.5 * 10**zeros, ROUNDED * claim.amount) if zeros else 0.0
    return abs(claim.amount - source.amount) <= room

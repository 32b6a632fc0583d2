"""Check the quotations of an answer that name a speaker: word for word in a source, altered, or not
found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from attribution.text.sentences import sentences
from attribution.text.words import Diff
from attribution.types import Page, Report, Span

LEAST = 4  # words; shorter ones are names and ironic words more often than speech
ALIKE = 0.6  # least share of the words of a quotation, in order, that its altered source has
_QUOTE = re.compile(
    r"“([^“”]{8,1500})”|\"([^\"\n]{8,1500})\"|„([^„“”]{8,1500})[“”]|«([^«»]{8,1500})»"
)
_SPEAKER = re.compile(
    r"\b(?:sa(?:id|ys?)|according to|wr(?:ote|ites)|told|tells|stat(?:ed|es)|argu(?:ed|es)|not(?:ed|es)|add(?:ed|s)|"
    r"asked|explain(?:ed|s)|declar(?:ed|es)|announc(?:ed|es)|claim(?:ed|s)|call(?:ed|s)|describ(?:ed|es)|repl(?:ied|ies)|"
    r"recall(?:ed|s)|warn(?:ed|s)|insist(?:ed|s)|remark(?:ed|s)|quot(?:ed|es)|conclud(?:ed|es)|admit(?:ted|s)|"
    r"in the words of|put it|statement|speech|letter)\b|:\s*$",
    re.I,
)
_GAP = re.compile(r"\[?(?:…|\.\s?\.\s?\.)\]?")  # words left out
_LETTER = re.compile(r"\[(\w)\](?=\w)")  # in another case than in the source: "[W]e"
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")

Outcome = Literal["verbatim", "altered", "not_found"]


@dataclass(frozen=True)
class Quotation:
    """The words between quotation marks, with the words of the source that come nearest."""

    span: Span  # in the answer
    text: str
    outcome: Outcome
    page: Page | None = None
    source: str = ""  # the words of the page
    at: Span = (0, 0)  # where they stand


def quotations(report: Report) -> tuple[Quotation, ...]:
    """Return the checked quotations of a run, in order. One that is not found needs the text of
    every page.
    """
    found = list(_spoken(report.answer))
    if not found:
        return ()
    pages = [(page, _words(page.text)) for page in report.pages if page.text]
    complete = bool(pages) and len(pages) == len(report.pages)
    checked = (_check(span, report.answer[slice(*span)], pages) for span in found)
    return tuple(one for one in checked if complete or one.outcome != "not_found")


def _spoken(answer: str) -> Iterator[Span]:
    """Yield the places of quotations whose sentence, or the words before it, name a speaker."""
    for match in _QUOTE.finditer(answer):
        span = match.span(match.lastindex or 0)
        if len(_WORD.findall(answer[slice(*span)])) < LEAST:
            continue
        around = next(
            ((a, b) for a, b in sentences(answer) if a <= match.start() < b), match.span()
        )
        outside = (
            answer[min(around[0], match.start()) : match.start()],
            answer[match.end() : match.end() + 60],
        )
        if _SPEAKER.search(outside[0]) or _SPEAKER.search(outside[1].partition("\n")[0]):
            yield span


@dataclass(frozen=True)
class _Words:
    texts: list[str]
    places: list[Span]
    known: frozenset[str]


def _words(text: str) -> _Words:
    found = list(_WORD.finditer(text))
    texts = [word.group().casefold().replace("’", "'") for word in found]
    return _Words(texts, [word.span() for word in found], frozenset(texts))


def _check(span: Span, text: str, pages: Sequence[tuple[Page, _Words]]) -> Quotation:
    parts = [its for part in _GAP.split(_LETTER.sub(r"\1", text)) if (its := _words(part).texts)]
    whole = [word for part in parts for word in part]
    best, nearest = 0.0, Quotation(span, text, "not_found")
    for page, words in pages:
        if sum(word in words.known for word in whole) < ALIKE * len(whole):
            continue
        if at := _in_order(parts, words.texts):
            return _quoted(span, text, "verbatim", page, words, at)
        share, at = _near(whole, words.texts)
        if share > best and share >= ALIKE:
            best, nearest = share, _quoted(span, text, "altered", page, words, at)
    return nearest


def _quoted(
    span: Span, text: str, outcome: Outcome, page: Page, words: _Words, at: Span
) -> Quotation:
    place = words.places[at[0]][0], words.places[at[1] - 1][1]
    return Quotation(span, text, outcome, page, page.text[slice(*place)], place)


def _in_order(parts: Sequence[Sequence[str]], words: Sequence[str]) -> Span | None:
    """Return where the parts stand, each whole and one after the other."""
    begin, position = -1, 0
    for part in parts:
        at = next(
            (
                i
                for i in range(position, len(words) - len(part) + 1)
                if words[i] == part[0] and words[i : i + len(part)] == part
            ),
            -1,
        )
        if at < 0:
            return None
        begin, position = (at if begin < 0 else begin), at + len(part)
    return begin, position


def _near(quote: Sequence[str], words: Sequence[str]) -> tuple[float, Span]:
    """Return the share of the quotation's words that the most similar stretch has in order, and the
    stretch.
    """
    size, wanted = min(len(quote) + len(quote) // 4 + 1, len(words)), Counter(quote)
    seen: Counter[str] = Counter()
    shared, most, start = 0, -1, 0
    for i, word in enumerate(words):
        shared += seen[word] < wanted[word]
        seen[word] += 1
        if i >= size:
            gone = words[i - size]
            seen[gone] -= 1
            shared -= seen[gone] < wanted[gone]
        if shared > most:
            most, start = shared, max(0, i - size + 1)
    window = words[start : start + size]
    blocks = [b for b in Diff(quote, window).get_matching_blocks() if b.size]
    if not blocks:
        return 0.0, (0, 0)
    first, last = blocks[0], blocks[-1]
    begin = max(0, start + first.b - first.a)
    end = min(len(words), start + last.b + last.size + len(quote) - last.a - last.size)
    return sum(b.size for b in blocks) / len(quote), (begin, end)

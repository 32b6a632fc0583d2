"""Check the quotations of an answer: word for word in a source, altered, or not found."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rapidfuzz.distance import Indel
from rapidfuzz.fuzz import partial_ratio_alignment

from attribution.text.sentences import sentences
from attribution.text.wrappers import unwrapped
from attribution.types import Page, Report, Span

LEAST = 4  # words; shorter ones are names and ironic words more often than speech
ALIKE = 60  # least similarity of a quotation and its altered source, in percent
MARGIN = 3  # words that the altered source may be longer, on either side
_QUOTE = re.compile(
    r"“([^“”]{8,1500})”|(?<!\w)\"([^\"\n]{0,1500})\"|„([^„“”]{8,1500})[“”]|«([^«»]{8,1500})»"
)
_SPEAKER = re.compile(
    r"\b(?:sa(?:id|ys?)|according to|wr(?:ote|ites)|told|tells|stat(?:ed|es)|argu(?:ed|es)"
    r"|not(?:ed|es)|add(?:ed|s)|asked|explain(?:ed|s)|declar(?:ed|es)|announc(?:ed|es)"
    r"|claim(?:ed|s)|call(?:ed|s)|describ(?:ed|es)|repl(?:ied|ies)|recall(?:ed|s)|warn(?:ed|s)"
    r"|insist(?:ed|s)|remark(?:ed|s)|quot(?:ed|es)|conclud(?:ed|es)|admit(?:ted|s)"
    r"|in the words of|put it|statement|speech|letter)\b|:\s*$",
    re.IGNORECASE,
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
    """Return the checked quotations of a run that name a speaker, in order.

    None is called not found unless the texts of all pages are known.
    """
    spans = list(_spoken(unwrapped(report.answer)))
    if not spans:
        return ()
    pages = [_PageWords.of(page) for page in report.pages if page.text]
    is_complete = bool(pages) and len(pages) == len(report.pages)
    checked = [_check(span, report.answer[slice(*span)], pages) for span in spans]
    return tuple(one for one in checked if is_complete or one.outcome != "not_found")


def _spoken(answer: str) -> Iterator[Span]:
    """Yield the places of quotations beside which the sentence names a speaker."""
    starts = [0, *(start for start, _ in sentences(answer))]
    for match in _QUOTE.finditer(answer):
        span = match.span(match.lastindex or 0)
        if len(_WORD.findall(answer[slice(*span)])) < LEAST:
            continue
        sentence = starts[bisect_right(starts, match.start()) - 1]
        before = answer[sentence : match.start()]
        after = answer[match.end() : match.end() + 60].partition("\n")[0]
        if _SPEAKER.search(before) or _SPEAKER.search(after):
            yield span


@dataclass(frozen=True)
class _PageWords:
    page: Page
    words: list[str]
    places: list[Span]

    @classmethod
    def of(cls, page: Page) -> _PageWords:
        places = [match.span() for match in _WORD.finditer(page.text)]
        return cls(page, _words(page.text), places)

    def quoted(self, quotation: Quotation, outcome: Outcome, at: Span) -> Quotation:
        """Return a quotation as one of the words with these numbers."""
        place = self.places[at[0]][0], self.places[at[1] - 1][1]
        words = self.page.text[slice(*place)]
        return replace(quotation, outcome=outcome, page=self.page, source=words, at=place)


def _check(span: Span, text: str, pages: Sequence[_PageWords]) -> Quotation:
    parts = list(filter(None, map(_words, _GAP.split(_LETTER.sub(r"\1", text)))))
    quotation = Quotation(span, text, "not_found")
    for page in pages:
        at = _in_order(parts, page.words)
        if at:
            return page.quoted(quotation, "verbatim", at)
    quote = [word for part in parts for word in part]
    best = float(ALIKE)
    for page in pages:
        alignment = partial_ratio_alignment(quote, page.words, score_cutoff=best)
        if alignment and len(page.words) >= len(quote):
            best = alignment.score
            at = _trimmed(quote, page.words, alignment.dest_start, alignment.dest_end)
            quotation = page.quoted(quotation, "altered", at)
    return quotation


def _words(text: str) -> list[str]:
    return [word.casefold().replace("’", "'") for word in _WORD.findall(text)]


def _in_order(parts: Sequence[list[str]], words: list[str]) -> Span | None:
    """Return where the parts of a quotation stand, each whole and one after the other."""
    start = None
    end = 0
    for part in parts:
        if len(part) > len(words) - end:
            return None
        alignment = partial_ratio_alignment(part, words[end:], score_cutoff=100)
        if alignment is None:
            return None
        start = end + alignment.dest_start if start is None else start
        end += alignment.dest_end
    return None if start is None else (start, end)


def _trimmed(quote: list[str], words: list[str], start: int, end: int) -> Span:
    """Return the stretch of words from the first to the last one that the quotation has too."""
    first = max(0, start - MARGIN)
    window = words[first : end + MARGIN]
    equal = [code for code in Indel.opcodes(quote, window) if code.tag == "equal"]
    return first + equal[0].dest_start, first + equal[-1].dest_end

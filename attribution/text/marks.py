"""Find the citation marks in a text by the forms in data/marks.toml: one table for claims,
citations and display.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from attribution.text.references import SUPERSCRIPTS, Listed, addresses, listed, normal_key
from attribution.types import Span

Form = Literal[
    "number", "footnote", "superscript", "link", "address", "named", "author_year", "unnamed", ""
]
LONGEST_RANGE = 50  # sources in [1–50]
LONGEST_NAME = 60  # characters of an entry that is a name alone
_PART = re.compile(r"«(\w+)»")
_NUMBERS = re.compile(r"(\d+)(?:\s*[–—-]\s*\^?(\d+))?")
_END_OF_SENTENCE = re.compile(r"[*_]{0,3}(?:[.,;:!?]|\s*(?:$|\n))")
_AUTHOR = re.compile(r"[^\W\d_a-z][\w'’-]{1,60}+")
_YEAR = re.compile(r"(?:1[6-9]|20)\d\d[a-z]?|in press|n\.d\.")
_TARGET = re.compile(r"\]\(\s?<?(https?://(?:[^\s()<>]|\([^\s()<>]*\))++)", re.IGNORECASE)
_BRACKETED = re.compile(r"\[\d{1,3}\]")
_REFERENCE = re.compile(r"\]\[([^\[\]\s]{1,40})\]")
_WORD = re.compile(r"[^\W_]+")
_BRACKETS = re.compile(r"[\[\]^#\s]")


@dataclass(frozen=True)
class MarkForm:
    """A row of the table, which explains the fields."""

    pattern: re.Pattern[str]
    form: Form | Literal["text"]
    example: str
    read: str = ""
    words: bool = False
    listed: bool = False
    twice: bool = False
    run: bool = False
    page: bool = False
    folded: bool = False


@dataclass(frozen=True)
class FoundMark:
    """A mark of a text, `text[start:end]`."""

    row: MarkForm
    match: re.Match[str]

    @property
    def start(self) -> int:
        return self.match.start()

    @property
    def end(self) -> int:
        return self.match.end()

    @property
    def hidden(self) -> tuple[Span, ...]:
        """The characters that are no part of the sentence."""
        if self.row.words:
            return ()
        if "kept" not in self.row.pattern.groupindex:
            return ((self.start, self.end),)
        start, end = self.match.span("kept")
        return (self.start, start), (end, self.end)

    @property
    def number(self) -> str:
        """The number of the mark as written, without brackets; empty if it has none."""
        number = self.match.groupdict().get("n") or ""
        return _BRACKETS.sub("", number.translate(SUPERSCRIPTS))


def _read_table() -> Iterator[MarkForm]:
    table = tomllib.loads((Path(__file__).parent / "data" / "marks.toml").read_text("utf-8"))

    def expand(pattern: str) -> str:
        return _PART.sub(lambda part: expand(table["parts"][part[1]]), pattern)

    for row in table["mark"]:
        fields: dict[str, Any] = row | {"pattern": re.compile(expand(row["pattern"]), re.VERBOSE)}
        yield MarkForm(**fields)


FORMS: tuple[MarkForm, ...] = tuple(_read_table())


@lru_cache(maxsize=4)  # whole answers
def marks(text: str, names: frozenset[str] = frozenset()) -> tuple[FoundMark, ...]:
    """Return the marks of a text in order, apart from each other.

    Lists of sources hold no marks. Code is not known here: a mark in it is for the caller to leave
    out.

    Args:
        text: An answer.
        names: Names of the run's sources; those of the answer's list count too.
    """
    lists = listed(text)
    for source in lists.sources:
        if len(source.text) < LONGEST_NAME and "," not in source.text:
            names |= {name_of(source.text)}
    candidates: list[FoundMark] = []
    for row in FORMS:
        matches = [
            FoundMark(row, match)
            for match in row.pattern.finditer(text)
            if not lists.holds(match.start()) and _is_mark(row, match, lists, names)
        ]
        if len(matches) > 1 or not row.twice:
            candidates += matches
    apart: list[FoundMark] = []
    for mark in sorted(candidates, key=lambda mark: (mark.start, -mark.end)):
        if not apart or mark.start >= apart[-1].end:
            apart.append(mark)
    return tuple(mark for mark in apart if mark.row.form != "text")


def _is_mark(row: MarkForm, match: re.Match[str], lists: Listed, names: Collection[str]) -> bool:
    """Check what a row asks for beside its pattern."""
    if row.run:
        return any(name_of(name) in names for name in match["name"].split(";"))
    if row.read == "number":
        cited = numbers(match["n"])
        return bool(cited) and (not row.listed or _is_listed_number(match, cited, lists))
    if not row.listed:
        return True
    if row.read == "author":
        return any(lists.author(surname, year) for surname, year in authors(match["author"]))
    return all(lists.has(key) for key in references(match[0]))


def _is_listed_number(match: re.Match[str], cited: list[str], lists: Listed) -> bool:
    """Return True for a "(1)" that is listed and ends a sentence, unless others are "[1]"."""
    text = match.string
    if not all(map(lists.has, cited)) or _BRACKETED.search(text, 0, lists.regions[0][0]):
        return False
    follows_stop = text[: match.start()].rstrip()[-1:] in ".!?"
    return follows_stop or _END_OF_SENTENCE.match(text, match.end()) is not None


def name_of(source: str) -> str:
    """Return the name of a source as a reader would write it: without folder, suffix, locator,
    signs and capitals.
    """
    name = re.split(r"[/\\]", source)[-1].split(",")[0]
    stem, _, suffix = name.rpartition(".")
    if stem and len(suffix) <= 5 and suffix.isalnum():
        name = stem
    return " ".join(_WORD.findall(name)).casefold()


def without_names(answer: str, names: frozenset[str]) -> str:
    """Return the answer with marks of an assistant, of equal length, in place of names of the run's
    sources.
    """
    for mark in marks(answer, names) if names else ():
        if mark.row.run:
            blank = "\ue200" + " " * (mark.end - mark.start - 2) + "\ue201"
            answer = answer[: mark.start] + blank + answer[mark.end :]
    return answer


def without_numbers(text: str) -> str:
    """Return the text of a page with as many blanks in place of numbered marks."""
    for row in FORMS:
        if row.page:
            text = row.pattern.sub(lambda match: " " * len(match[0]), text)
    return text


def numbers(text: str) -> list[str]:
    """Return the numbers of a mark with ranges expanded; empty if one cannot be a source."""
    expanded: list[str] = []
    for match in _NUMBERS.finditer(text.translate(SUPERSCRIPTS).replace("⁻", "-")):
        first, last = int(match[1]), int(match[2] or match[1])
        if not 0 < first <= last <= first + LONGEST_RANGE:
            return []
        expanded += map(str, range(first, last + 1))
    return expanded


def references(text: str) -> list[str]:
    """Return the keys of reference links: "[words][1]"."""
    return [normal_key(key) for key in _REFERENCE.findall(text)]


def authors(text: str) -> Iterator[tuple[str, str]]:
    """Yield each first author with a year: "Smith 2019a, 2019b; Doe, in press" has three pairs."""
    for part in text.split(";"):
        author = _AUTHOR.search(part)
        if author:
            surname = re.sub(r"['’]s$", "", author[0])
            yield from ((surname, year) for year in _YEAR.findall(part))


def targets(text: str) -> list[str]:
    """Return the addresses that a mark links to, or else those that are written in it."""
    return _TARGET.findall(text) or [url for _, url in addresses(text)]

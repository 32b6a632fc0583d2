"""Find the citation marks in a text by the forms in data/marks.toml: one table for claims,
citations and display.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
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
_POWER = re.compile(
    r"(?:\d|(?<![^\W\d_])(?:[^\W\d_]|[kcdmµ]m|ft|in|mi|yd|mc))$"
)  # "10²", "m²", "x²"
_A_YEAR = re.compile(r"(?<![\d.,])[12]\d{3}$")
_LAST = re.compile(r"[*_]{0,3}(?:[.,;:!?]|\s*(?:$|\n))")
_AUTHOR = re.compile(r"[^\W\d_a-z][\w'’-]{1,60}+")
_YEAR = re.compile(r"(?:1[6-9]|20)\d\d[a-z]?|in press|n\.d\.")
_TARGET = re.compile(r"\]\(\s?<?(https?://(?:[^\s()<>]|\([^\s()<>]*\))++)", re.IGNORECASE)
_BRACKETED = re.compile(r"\[\d{1,3}\]")
_REFERENCE = re.compile(r"\]\[([^\[\]\s]{1,40})\]")
_WORDS = re.compile(r"[^\W_]+")
_BRACKETS = re.compile(r"[\[\]^#\s]")


@dataclass(frozen=True)
class MarkForm:
    """A row of the table, which explains the fields."""

    pattern: re.Pattern[str]
    form: Form
    example: str
    read: str = ""
    words: bool = False
    raised: bool = False
    listed: bool = False
    twice: bool = False
    run: bool = False
    page: bool = False
    folded: bool = False


@dataclass(frozen=True)
class Found:
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
        if "kept" in self.row.pattern.groupindex:
            return (self.start, self.match.start("kept")), (self.match.end("kept"), self.end)
        return ((self.start, self.end),)

    @property
    def number(self) -> str:
        """The number of the mark as written, without brackets; empty if it has none."""
        return (
            _BRACKETS.sub("", self.match["n"].translate(SUPERSCRIPTS))
            if "n" in self.row.pattern.groupindex
            else ""
        )


def _rows() -> Iterator[MarkForm]:
    table = tomllib.loads((Path(__file__).parent / "data" / "marks.toml").read_text("utf-8"))
    parts: Mapping[str, str] = table["parts"]

    def whole(pattern: str) -> str:
        return _PART.sub(lambda m: whole(parts[m[1]]), pattern)

    for row in table["mark"]:
        fields: dict[str, Any] = row | {"pattern": re.compile(whole(row["pattern"]))}
        yield MarkForm(**fields)


FORMS: tuple[MarkForm, ...] = tuple(_rows())


@lru_cache(maxsize=32)
def marks(text: str, names: frozenset[str] = frozenset()) -> tuple[Found, ...]:
    """Return the marks of a text in order, apart from each other.

    `names` are those of the run's sources; those of the answer's list count too. Lists of sources
    hold no marks.
    Code is not known here: a mark in it is for the caller to leave out.
    """
    lists = listed(text)
    names |= {
        name_of(source.text)
        for source in lists.sources
        if len(source.text) < LONGEST_NAME and "," not in source.text
    }
    found = list[Found]()
    for row in FORMS:
        outside = (match for match in row.pattern.finditer(text) if not lists.holds(match.start()))
        matches = [match for match in outside if _counts(row, match, lists, names)]
        found += [Found(row, match) for match in matches if not row.twice or len(matches) > 1]
    apart: list[Found] = []
    for mark in sorted(found, key=lambda m: (m.start, -m.end)):
        if not apart or mark.start >= apart[-1].end:
            apart.append(mark)
    return tuple(apart)


def _counts(row: MarkForm, match: re.Match[str], lists: Listed, names: Collection[str]) -> bool:
    if row.read == "number" and not numbers(match["n"]):
        return False
    if row.raised:
        before = match.string[max(0, match.start() - 8) : match.start()]
        return not _POWER.search(before) or bool(_A_YEAR.search(before))
    if row.run:
        return any(map(names.__contains__, map(name_of, match["name"].split(";"))))
    if row.listed and row.read == "number":
        written = {lists.shape(match.string, key) for key in numbers(match["n"])}
        ends = (
            _LAST.match(match.string, match.end())
            or match.string[: match.start()].rstrip()[-1:] in ".!?"
        )
        if "[]" in written and _cites_in_brackets(match.string):
            return False
        return written == {"()"} or bool(ends) and written <= {".", ")", "[]"}
    if row.listed and row.read == "author":
        return any(lists.author(*pair) for pair in authors(match["author"]))
    return not row.listed or all(lists.has(key) for key in references(match[0]))


@lru_cache(maxsize=32)
def _cites_in_brackets(text: str) -> bool:
    return any(not listed(text).holds(found.start()) for found in _BRACKETED.finditer(text))


def name_of(source: str) -> str:
    """Return the name of a source as a reader would write it: without folder, suffix, locator,
    signs and capitals.
    """
    named = source.rpartition("/")[2].rpartition("\\")[2].split(",")[0]
    stem, _, suffix = named.rpartition(".")
    return " ".join(
        _WORDS.findall(stem if stem and len(suffix) <= 5 and suffix.isalnum() else named)
    ).casefold()


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
    """Return the text of a page with blanks in place of numbered marks; offsets stay as they are."""
    for row in FORMS:
        if row.page:
            text = row.pattern.sub(lambda found: " " * len(found[0]), text)
    return text


def numbers(text: str) -> list[str]:
    """Return the numbers of a mark with ranges expanded; empty if one of them cannot be a source."""
    found = []
    for m in _NUMBERS.finditer(text.translate(SUPERSCRIPTS).replace("⁻", "-")):
        first, last = int(m[1]), int(m[2] or m[1])
        if not 0 < first <= last <= first + LONGEST_RANGE:
            return []
        found += [str(n) for n in range(first, last + 1)]
    return found


def references(text: str) -> list[str]:
    """Return the keys of reference links: "[words][1]"."""
    return list(map(normal_key, _REFERENCE.findall(text)))


def authors(text: str) -> Iterator[tuple[str, str]]:
    """Yield each first author with a year: "Smith 2019a, 2019b; Doe, in press" has three pairs."""
    for part in text.split(";"):
        if author := _AUTHOR.search(part):
            yield from (
                (author[0].removesuffix("'s").removesuffix("’s"), year)
                for year in _YEAR.findall(part)
            )


def targets(text: str) -> list[str]:
    """Return the addresses that a mark links to, or else those that are written in it."""
    return _TARGET.findall(text) or [url for _, url in addresses(text)]

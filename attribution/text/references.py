"""Find the sources that an answer lists, and the addresses in a text."""

from __future__ import annotations

import re
import sys
import tomllib
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from attribution.types import Frozen, Span

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
LONGEST_ALONE = 25  # words in the line of a source outside a list
_TABLE = tomllib.loads((Path(__file__).parent / "data" / "marks.toml").read_text("utf-8"))
_TITLES = _TABLE["lists"]["titles"].replace("\n", "")
_WEAK_TITLES = _TABLE["lists"]["weak"]
_ADDRESS = re.compile(
    r"""
    (?: https?:// | (?<![\w./@-])www\. )
    (?: [^\s<>"`\[\]{}|\\^¹²³⁰⁴-⁹，。】] | \\(?=[_*~]) )+  # Markdown escapes some signs
    """,
    re.IGNORECASE | re.VERBOSE,
)
_HOST = re.compile(r"\w\.\w|://\w")
_HEADING = re.compile(
    rf"""
    (?: [^\w\n<] | </?\w{{1,10}}> )*+ (?: \d{{1,2}}[.)]\s )?
    (?: (?P<strong>{_TITLES.replace(" ", "[ ]")}) | {_WEAK_TITLES.replace(" ", "[ ]")} )
    (?: \s?(?:and|&|/|,|und|et|y)\s?(?:{(_TITLES + "|" + _WEAK_TITLES).replace(" ", "[ ]")}) )*+
    [ \t*_]*+ (?: \[\d{{1,3}}\] )? [ \t]*+ (?P<colon>[:：]?)
    (?: [ \t*_\#] | </\w{{1,10}}> )*+ (?P<rest>.*)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LINE = re.compile(r"[^\r\n]+")
_BULLET = re.compile(r"\s*(?:>\s*)*[-*+•◦▪‣][ \t]+")
_KEY = re.compile(
    r"""
    \s* (?:\*\*)?
    (?: \\?\[\^?(?P<bracketed>[^\[\]\s\\]{1,40})\\?\](?!\():?
    | \(?(?P<number>\d{1,3})[.)](?=\s)
    | (?P<raised>[⁰¹²³⁴-⁹]{1,3})
    | <sup>(?P<sup>\d{1,3})</sup> )
    (?:\*\*)? [ \t]*
    """,
    re.VERBOSE,
)
_DEFINITION = re.compile(r"\s*\[(\^?)([^\[\]\s]{1,40})\]:[ \t]*(\S.*)")
_NUMBERED_ADDRESS = re.compile(r"\s*\[(\d{1,3})\][ \t]++(?=.*(?:https?://|www\.))")
_NEXT_OF_SEVERAL = re.compile(r"(?<=[^\s,;])[ \t,;]++(?=\[\^?\d{1,3}\](?!\())")
_MARKUP_ALONE = re.compile(
    r"(?: \s*</?(?:details|summary|ol|ul|p|br|hr)\b[^<>]{0,40}>\s*+ )++ | [\s*_>=-]*+ | [\s|:-]*+",
    re.VERBOSE,
)
_ROW = re.compile(r"\s*\|\s*(?:[\[(]?(?P<key>\d{1,3})[\]).]?\s*\|)?(?P<text>.*?)\|?\s*")
_WRITER = re.compile(
    r"\s* (?: [^\W\d_a-z][\w'’-]{1,60},?[ ](?:[^\W\d_a-z]\.|[^\W\d_a-z][\w-]+) | [—–_-]{2,}[.,] )",
    re.VERBOSE,
)
_FILE = re.compile(
    rf"\s*[*_`]*[^\s()]{{1,80}}{_TABLE['parts']['suffix']}.{{0,60}}", re.IGNORECASE | re.VERBOSE
)
_DATED = re.compile(r"\b(?:1[6-9]|20)\d\d[a-z]?\b|\bin press\b|\bdoi\b", re.IGNORECASE)
_SAME_AUTHOR = re.compile(r"[—–_-]{2,}(?=[.,])")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_RULE = re.compile(r"\s*([*_-])(?:[ \t]*\1){2,}\s*")
_CITED = re.compile(
    r"""
    (?: [\[【^(](?:(?:sources?|refs?\.?)[ ])?\^? | <sup>\[? )\d{1,3}(?:[ ,–-]{1,3}\d{1,3})*+
    | [⁰¹²³⁴-⁹]{1,3}(?:[,˒][⁰¹²³⁴-⁹]{1,3})*+
    """,
    re.VERBOSE,
)
_FIGURES = re.compile(r"\d+")
_SENTENCE_OR_MARK = re.compile(r"[^\W\d_][.!?](?![A-Za-z/])|\[\^?\d")
_SENTENCE = re.compile(r"[^\W\d_A-Z]{3}[.!?] ?(?:\(|\[|http|$)|\)\)\.?$")


class AnswerSource(Frozen):
    """A source that an answer cites or lists."""

    # number or name in its marks (footnotes: with ^); if it is not listed, its address or name
    key: str
    url: str = ""  # http(s); empty: the answer gives no address
    text: str = ""  # its entry as written, on one line
    span: Span | None = None  # of the entry in the answer


@dataclass(frozen=True)
class Listed:
    """The listed sources in order, and the parts of the answer that only list sources."""

    sources: tuple[AnswerSource, ...]
    regions: tuple[Span, ...]

    def holds(self, place: int) -> bool:
        """Return True if a position of the answer is in one of the regions."""
        at = bisect_right(self.regions, (place, sys.maxsize)) - 1
        return at >= 0 and place < self.regions[at][1]

    def has(self, key: str) -> bool:
        return any(source.key == key for source in self.sources)

    def shape(self, answer: str, key: str) -> str:
        """Return how the number of an entry is written, without the figures: "()", "." or "[]"."""
        for source in self.sources:
            if source.key == key and source.span:
                before, _, after = answer[: source.span[0]].rstrip(" \t*|").rpartition(key)
                return before[-1:].strip() + after
        return "none"

    def author(self, surname: str, year: str) -> str:
        """Return the key of the entry with this surname near its start and this year, or "".

        "———" in place of the author is the one of the entry before.
        """
        names: set[str] = set()
        for source in self.sources:
            if not _SAME_AUTHOR.match(source.text):
                names = set(_WORD.findall(source.text[:120]))
            if year in source.text and surname in names:
                return source.key
        return ""


@dataclass(frozen=True)
class _Entry:
    key: str
    start: int
    end: int


@dataclass(frozen=True)
class _List:
    entries: list[_Entry]
    region: Span
    following: int  # number of the first line after it


@lru_cache(maxsize=32)
def listed(answer: str) -> Listed:
    """Find the sources that an answer lists. Entries without a number are numbered from 1."""
    lines = _SourceLines(answer)
    entries: list[_Entry] = []
    regions: list[Span] = []
    has_heading = False
    number = 0
    while number < len(lines.spans):
        below = lines.list_below(number)
        alone = None if below else lines.entry_alone(number)
        if below:
            entries += below.entries
            regions.append(below.region)
            has_heading = True
        elif alone:
            entries.append(alone)
            regions.append(lines.spans[number])
        number = below.following if below else number + 1
    last = None if has_heading else lines.list_at_the_end()
    if last:
        before = [entry for entry in entries if entry.start < last.region[0]]
        if len(entries) < len(before) + len(last.entries):
            entries = before + last.entries
            regions = [region for region in regions if region[0] < last.region[0]]
            regions.append(last.region)
    return Listed(tuple(_source(answer, entry) for entry in entries), tuple(regions))


def addresses(text: str) -> list[tuple[Span, str]]:
    """Find the http(s) addresses in a text with their spans; `www.` without a scheme gets https."""
    found = []
    for match in _ADDRESS.finditer(text):
        written = _without_end(match[0])
        address = written.replace("\\", "")
        if _HOST.search(address):
            full = address if "://" in address else f"https://{address}"
            found.append(((match.start(), match.start() + len(written)), full))
    return found


def _without_end(address: str) -> str:
    """Return an address without punctuation at its end and a bracket that it doesn't open."""
    unopened = address.count(")") - address.count("(")
    end = len(address)
    while end and (
        address[end - 1] in ".,;:!?*_~'\"”’»" or address[end - 1] == ")" and unopened > 0
    ):
        unopened -= address[end - 1] == ")"
        end -= 1
    return address[:end]


def normal_key(name: str) -> str:
    """Normalise a key: "¹", "01" and "^1" are the same number."""
    name = name.translate(SUPERSCRIPTS).strip("^")
    return str(int(name)) if name.isascii() and name.isdigit() else name.casefold()


class _SourceLines:
    """The lines of an answer, read as entries of lists."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.spans = [m.span() for m in _LINE.finditer(answer) if m[0].strip()]

    def list_below(self, number: int) -> _List | None:
        """Return the list whose heading this line is, with entries on the line or below it."""
        start, end = self.spans[number]
        heading = _HEADING.fullmatch(self.answer, start, end)
        if not heading:
            return None
        rest = heading["rest"]
        opens = addresses(rest) or _KEY.match(rest) or _FILE.fullmatch(rest)
        if rest.strip() and not (heading["colon"] and opens):
            return None
        entries = self._inline(*heading.span("rest")) if rest.strip() else []
        following = self._read_entries(entries, number + 1, bool(heading["strong"]))
        region = (start, self.spans[following - 1][1])
        return _List(entries, region, following) if entries else None

    def entry_alone(self, number: int) -> _Entry | None:
        """Return an entry outside a list, "[1]: …" or "[1] https://…"."""
        start, end = self.spans[number]
        definition = _DEFINITION.fullmatch(self.answer, start, end)
        if definition:
            caret, name, _ = definition.groups()
            is_number = name.endswith("^")  # Copilot's "[^1^]"
            key = normal_key(name) if is_number else caret + normal_key(name)
            return _Entry(key, definition.start(3), end)
        match = _NUMBERED_ADDRESS.match(self.answer, start, end)
        if match and len(self.answer[match.end() : end].split()) <= LONGEST_ALONE:
            return _Entry(normal_key(match[1]), match.end(), end)
        return None

    def list_at_the_end(self) -> _List | None:
        """Return a list without a heading, numbered from 1, that ends the answer.

        Its entries are notes or addresses, or stand apart and are all cited.
        """
        entries: list[_Entry] = []
        style: str | None = None
        is_sure = True  # the entries can be nothing else
        for start, end in reversed(self.spans[1:]):
            key = _KEY.match(self.answer, start, end)
            if not key or style not in (None, key.lastgroup):
                break
            style = key.lastgroup
            line = self.answer[key.end() : end]
            is_note = style != "number" and key[style or ""].isnumeric() and key[0][-1].isspace()
            is_sure = is_sure and (is_note or _is_source(line) and not _SENTENCE.search(line))
            entries.insert(0, _entry(key, end))
        if not entries or entries[0].key != "1":
            return None
        first = len(self.spans) - len(entries)
        cited = self._cited_before(self.spans[first][0])
        keys = {entry.key for entry in entries}
        is_apart = cited >= keys and self._stands_apart(first, entries)
        if len(keys) < len(entries) or "1" not in cited or not (is_sure or is_apart):
            return None
        start = self.spans[first - 1 if self._heading_with_colon(first - 1) else first][0]
        return _List(entries, (start, len(self.answer)), len(self.spans))

    def _cited_before(self, end: int) -> set[str]:
        marks = [m[0].translate(SUPERSCRIPTS) for m in _CITED.finditer(self.answer, 0, end)]
        return {normal_key(figures) for mark in marks for figures in _FIGURES.findall(mark)}

    def _heading_with_colon(self, number: int) -> bool:
        """Return True for a line such as "Source: Conversation with Bing"."""
        heading = _HEADING.fullmatch(self.answer, *self.spans[number])
        return bool(heading and heading["colon"])

    def _stands_apart(self, first: int, entries: Sequence[_Entry]) -> bool:
        """Return True for entries below a rule or heading, and for any that are no sentences."""
        start, end = self.spans[first - 1]
        if _RULE.fullmatch(self.answer, start, end) or self._heading_with_colon(first - 1):
            return True
        texts = [self.answer[entry.start : entry.end] for entry in entries]
        leads_in = self.answer[start:end].rstrip().endswith(":")
        return not leads_in and not any(map(_SENTENCE_OR_MARK.search, texts))

    def _read_entries(self, entries: list[_Entry], first: int, is_strong: bool) -> int:
        """Add the entries below a heading; return the number of the first line after them."""
        style = ""  # of the first entry: key, bullet, row or line
        indent = 0
        for number in range(first, len(self.spans)):
            start, end = self.spans[number]
            line = self.answer[start:end]
            between = self.answer[self.spans[number - 1][1] : start].replace("\r\n", "\n")
            has_gap = between.count("\n") > 1
            line_indent = len(line) - len(line.lstrip())
            bullet = _BULLET.match(self.answer, start, end)
            key = _KEY.match(self.answer, bullet.end() if bullet else start, end)
            row = _ROW.fullmatch(self.answer, start, end)
            if line.lstrip().startswith("#") and not key:
                return number
            if _MARKUP_ALONE.fullmatch(line):
                if row and entries and not style:
                    entries.pop()  # the head of the table
                style = style or ("row" if row else "")
            elif row:
                entries.append(_Entry(row["key"] or str(len(entries) + 1), *row.span("text")))
            elif key or bullet:
                style = style or ("key" if key else "bullet")
                entries += self._inline(bullet.end() if bullet else start, end, len(entries))
            elif entries and not has_gap and (style == "key" or line_indent > indent):
                entries[-1] = replace(entries[-1], end=end)
            elif is_strong and not (has_gap and entries) or _is_source(line):
                previous = self.answer[entries[-1].start : entries[-1].end] if entries else ""
                goes_on = style == "line" and not has_gap and not _WRITER.match(line)
                if goes_on and _WRITER.match(previous):
                    entries[-1] = replace(entries[-1], end=end)
                    continue
                indent = indent if entries else line_indent
                style = style or "line"
                entries.append(_Entry(str(len(entries) + 1), start, end))
            else:
                return number
        return len(self.spans)

    def _inline(self, start: int, end: int, before: int = 0) -> list[_Entry]:
        """Return the entries of one line: one, several with numbers, or several addresses."""
        line = self.answer[start:end]
        cuts = [match.end() for match in _NEXT_OF_SEVERAL.finditer(self.answer, start, end)]
        if not cuts and not _KEY.match(self.answer, start, end) and "](" not in line:
            cuts = [start + stop for (_, stop), _ in addresses(line)[:-1]]
        entries: list[_Entry] = []
        for first, last in zip([start, *cuts], [*cuts, end], strict=True):
            key = _KEY.match(self.answer, first, last)
            number = str(before + len(entries) + 1)
            entries.append(_entry(key, last) if key else _Entry(number, first, last))
        return entries


def _entry(key: re.Match[str], end: int) -> _Entry:
    name = next(group for group in key.groups() if group)
    return _Entry(normal_key(name), key.end(), end)


def _is_source(line: str) -> bool:
    """Return True for a line with an address, the name of a file, or an entry of a bibliography."""
    is_work = _WRITER.match(line) and _DATED.search(line)
    return bool(addresses(line) or _FILE.fullmatch(line) or is_work)


def _source(answer: str, entry: _Entry) -> AnswerSource:
    text = answer[entry.start : entry.end].lstrip(" \t,;")
    found = addresses(text)
    return AnswerSource(
        key=entry.key,
        url=found[0][1] if found else "",
        text=" ".join(text.split()),
        span=(entry.end - len(text), entry.end),
    )

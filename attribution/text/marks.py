"""Find the sources that an answer lists and the marks that cite them, by the forms in
data/marks.toml: one table for claims, citations and display.
"""

from __future__ import annotations

import re
import sys
import tomllib
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

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
_WORD_OF_ENTRY = re.compile(r"[^\W\d_][\w'’-]*")
_RULE = re.compile(r"\s*([*_-])(?:[ \t]*\1){2,}\s*")
_CITED = re.compile(
    r"""
    (?: [\[【^(](?:(?:sources?|refs?\.?)[ ])?\^? | <sup>\[? )\d{1,3}(?:[ ,–-]{1,3}\d{1,3})*+
    | [⁰¹²³⁴-⁹]{1,3}(?:[,˒][⁰¹²³⁴-⁹]{1,3})*+
    """,
    re.VERBOSE,
)
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

    def author(self, surname: str, year: str) -> str:
        """Return the key of the entry with this surname near its start and this year, or ""."""
        for source in self.sources:
            if year in source.text and surname in _WORD_OF_ENTRY.findall(source.text[:120]):
                return source.key
        return ""


class _AnswerLine(NamedTuple):
    """A line of an answer that is not blank."""

    start: int
    text: str
    has_gap: bool  # a blank line stands before it

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())


class _Entry(NamedTuple):
    key: str
    start: int
    end: int


class _List(NamedTuple):
    entries: list[_Entry]
    region: Span
    following: int  # number of the first line after it


@lru_cache(maxsize=4)  # whole answers
def listed(answer: str) -> Listed:
    """Find the sources that an answer lists. Entries without a number are numbered from 1."""
    lines = _lines(answer)
    entries: list[_Entry] = []
    regions: list[Span] = []
    has_heading = False
    number = 0
    while number < len(lines):
        line = lines[number]
        below = _list_below(lines, number)
        alone = None if below else _entry_alone(line)
        if below:
            entries += below.entries
            regions.append(below.region)
            has_heading = True
        elif alone:
            entries.append(alone)
            regions.append((line.start, line.end))
        number = below.following if below else number + 1
    last = None if has_heading else _list_at_the_end(answer, lines)
    if last:
        before = [entry for entry in entries if entry.start < last.region[0]]
        if len(entries) < len(before) + len(last.entries):
            entries = before + last.entries
            regions = [region for region in regions if region[0] < last.region[0]]
            regions.append(last.region)
    return Listed(tuple(_source(answer, entry) for entry in entries), tuple(regions))


def addresses(text: str) -> list[tuple[Span, str]]:
    """Find the http(s) addresses in a text with their spans; `www.` without a scheme gets https."""
    spans_and_addresses = []
    for match in _ADDRESS.finditer(text):
        written = without_end(match[0])
        address = written.replace("\\", "")
        if _HOST.search(address):
            full = address if "://" in address else f"https://{address}"
            spans_and_addresses.append(((match.start(), match.start() + len(written)), full))
    return spans_and_addresses


def without_end(address: str) -> str:
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


def _lines(answer: str) -> list[_AnswerLine]:
    lines: list[_AnswerLine] = []
    end = 0
    for match in _LINE.finditer(answer):
        if match[0].strip():
            has_gap = answer.count("\n", end, match.start()) > 1
            lines.append(_AnswerLine(match.start(), match[0], has_gap))
            end = match.end()
    return lines


def _list_below(lines: Sequence[_AnswerLine], number: int) -> _List | None:
    """Return the list whose heading a line is, with entries on the line or below it."""
    line = lines[number]
    heading = _HEADING.fullmatch(line.text)
    if not heading:
        return None
    rest = heading["rest"]
    opens = addresses(rest) or _KEY.match(rest) or _FILE.fullmatch(rest)
    if rest.strip() and not (heading["colon"] and opens):
        return None
    entries = _inline(line.start + heading.start("rest"), rest) if rest.strip() else []
    following = _read_entries(lines, number + 1, entries, bool(heading["strong"]))
    region = (line.start, lines[following - 1].end)
    return _List(entries, region, following) if entries else None


def _entry_alone(line: _AnswerLine) -> _Entry | None:
    """Return an entry outside a list, "[1]: …" or "[1] https://…"."""
    definition = _DEFINITION.fullmatch(line.text)
    if definition:
        caret, name, _ = definition.groups()
        is_number = name.endswith("^")  # Copilot's "[^1^]"
        key = normal_key(name) if is_number else caret + normal_key(name)
        return _Entry(key, line.start + definition.start(3), line.end)
    match = _NUMBERED_ADDRESS.match(line.text)
    if match and len(line.text[match.end() :].split()) <= LONGEST_ALONE:
        return _Entry(normal_key(match[1]), line.start + match.end(), line.end)
    return None


def _list_at_the_end(answer: str, lines: Sequence[_AnswerLine]) -> _List | None:
    """Return a list without a heading, numbered from 1, that ends the answer.

    Its entries are notes or addresses, or stand apart and are all cited.
    """
    entries: list[_Entry] = []
    style: str | None = None
    is_sure = True  # the entries can be nothing else
    has_sentence = False
    for line in reversed(lines[1:]):
        key = _KEY.match(line.text)
        text = line.text[key.end() :] if key else ""
        if not key or not text.strip() or style not in (None, key.lastgroup):
            break
        style = key.lastgroup
        is_note = style != "number" and key[style or ""].isnumeric() and key[0][-1].isspace()
        is_sure = is_sure and (is_note or _is_source(text) and not _SENTENCE.search(text))
        has_sentence = has_sentence or _SENTENCE_OR_MARK.search(text) is not None
        entries.insert(0, _entry(key, line.start, line.end))
    if not entries or entries[0].key != "1":
        return None
    first = len(lines) - len(entries)
    above = lines[first - 1]
    heading = _HEADING.fullmatch(above.text)
    has_heading = bool(heading and heading["colon"])  # "Source: Conversation with Bing"
    is_apart = has_heading or bool(_RULE.fullmatch(above.text))
    is_apart = is_apart or not has_sentence and not above.text.rstrip().endswith(":")
    marks = [m[0].translate(SUPERSCRIPTS) for m in _CITED.finditer(answer, 0, lines[first].start)]
    cited = {normal_key(figures) for mark in marks for figures in re.findall(r"\d+", mark)}
    keys = {entry.key for entry in entries}
    is_list = is_sure or is_apart and cited >= keys
    if not is_list or len(keys) < len(entries) or "1" not in cited:
        return None
    return _List(entries, (lines[first - has_heading].start, len(answer)), len(lines))


def _read_entries(
    lines: Sequence[_AnswerLine], first: int, entries: list[_Entry], is_strong: bool
) -> int:
    """Add the entries below a heading; return the number of the first line after them."""
    style = ""  # of the first entry: key, bullet, row or line
    indent = 0
    for number in range(first, len(lines)):
        line = lines[number]
        bullet = _BULLET.match(line.text)
        start = bullet.end() if bullet else 0
        key = _KEY.match(line.text, start)
        row = _ROW.fullmatch(line.text)
        is_indented = line.indent > indent or line.text[:1].islower()
        if line.text.lstrip().startswith("#") and not key:
            return number
        if _MARKUP_ALONE.fullmatch(line.text):
            if row and entries and not style:
                entries.pop()  # the head of the table
            style = style or ("row" if row else "")
        elif row:
            text_start, text_end = row.span("text")
            name = row["key"] or str(len(entries) + 1)
            entries.append(_Entry(name, line.start + text_start, line.start + text_end))
        elif key or bullet:
            style = style or ("key" if key else "bullet")
            entries += _inline(line.start + start, line.text[start:], len(entries))
        elif entries and not line.has_gap and (style == "key" or is_indented):
            entries[-1] = entries[-1]._replace(end=line.end)
        elif is_strong and not (line.has_gap and entries) or _is_source(line.text):
            indent = indent if entries else line.indent
            style = style or "line"
            entries.append(_Entry(str(len(entries) + 1), line.start, line.end))
        else:
            return number
    return len(lines)


def _inline(start: int, text: str, before: int = 0) -> list[_Entry]:
    """Return the entries of one line: one, several with numbers, or several addresses."""
    cuts = [match.end() for match in _NEXT_OF_SEVERAL.finditer(text)]
    if not cuts and not _KEY.match(text) and "](" not in text:
        cuts = [stop for (_, stop), _ in addresses(text)[:-1]]
    entries: list[_Entry] = []
    for first, last in pairwise([0, *cuts, len(text)]):
        key = _KEY.match(text, first, last)
        number = str(before + len(entries) + 1)
        end = start + last
        entries.append(_entry(key, start, end) if key else _Entry(number, start + first, end))
    return entries


def _entry(key: re.Match[str], start: int, end: int) -> _Entry:
    name = next(group for group in key.groups() if group)
    return _Entry(normal_key(name), start + key.end(), end)


def _is_source(line: str) -> bool:
    """Return True for a line with an address, the name of a file, or an entry of a bibliography."""
    is_work = _WRITER.match(line) and _DATED.search(line)
    return bool(addresses(line) or _FILE.fullmatch(line) or is_work)


def _source(answer: str, entry: _Entry) -> AnswerSource:
    text = answer[entry.start : entry.end].lstrip(" \t,;")
    urls = addresses(text)
    return AnswerSource(
        key=entry.key,
        url=urls[0][1] if urls else "",
        text=" ".join(text.split()),
        span=(entry.end - len(text), entry.end),
    )


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
    def expand(pattern: str) -> str:
        return _PART.sub(lambda part: expand(_TABLE["parts"][part[1]]), pattern)

    for row in _TABLE["mark"]:
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

"""Find the sources that an answer lists, and the addresses in a text."""

from __future__ import annotations

import re
import sys
import tomllib
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from attribution.types import Frozen, Span

_ADDRESS = re.compile(
    r"(?:https?://|(?<![\w./@-])www\.)(?:[^\s<>\"`\[\]{}|\\^¹²³⁰⁴-⁹，。】]|\\(?=[_*~]))+",
    re.IGNORECASE,
)
_HOST = re.compile(r"\w\.\w|://\w")


def addresses(text: str) -> list[tuple[Span, str]]:
    """Find the http(s) addresses in a text with their spans; `www.` without a scheme gets https."""
    found = []
    for match in _ADDRESS.finditer(text):
        end, unopened = match.end(), match[0].count(")") - match[0].count("(")
        while end > match.start():
            last = text[end - 1]
            if not (last == ")" and unopened > 0) and last not in ".,;:!?*_~'\"”’»":
                break
            unopened -= last == ")"
            end -= 1
        address = text[match.start() : end].replace("\\", "")  # Markdown's escapes
        if _HOST.search(address):
            found.append(
                ((match.start(), end), address if "://" in address else f"https://{address}")
            )
    return found


SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_TABLE = tomllib.loads((Path(__file__).parent / "data" / "marks.toml").read_text("utf-8"))
_STRONG, _WEAK = _TABLE["lists"]["titles"].replace("\n", ""), _TABLE["lists"]["weak"]
_MARKUP = r"(?:[^\w\n<]|</?\w{1,10}>)*+"
_HEADING = re.compile(
    rf"{_MARKUP}(?:\d{{1,2}}[.)]\s)?(?:(?P<strong>{_STRONG})|{_WEAK})(?:\s?(?:and|&|/|,|und|et|y)\s?(?:{_STRONG}|{_WEAK}))*+"
    r"[ \t*_]*+(?:\[\d{1,3}\])?[ \t]*+(?P<colon>[:：]?)(?:[ \t*_#]|</\w{1,10}>)*+(?P<rest>.*)",
    re.IGNORECASE,
)
_LINE = re.compile(r"[^\r\n]+")
_BULLET = re.compile(r"\s*(?:>\s*)*[-*+•◦▪‣][ \t]+")
_KEY = re.compile(
    r"\s*(?:\*\*)?(?:\\?\[\^?([^\[\]\s\\]{1,40})\\?\](?!\():?|\(?(\d{1,3})[.)](?=\s)|([⁰¹²³⁴-⁹]{1,3})"
    r"|<sup>(\d{1,3})</sup>)(?:\*\*)?[ \t]*"
)
_DEFINITION = re.compile(r"\s*\[(\^?)([^\[\]\s]{1,40})\]:[ \t]*(\S.*)")
_NUMBERED = re.compile(r"\s*\[(\d{1,3})\][ \t]++(?=.*(?:https?://|www\.))")
_SEVERAL = re.compile(r"(?<=[^\s,;])[ \t,;]++(?=\[\^?\d{1,3}\](?!\())")
_MARKUP_ALONE = re.compile(
    r"\s*(?:</?(?:details|summary|ol|ul|p|br|hr)\b[^<>]{0,40}>\s*+)++|[\s*_>=-]*+|[\s|:-]*+"
)
_ROW = re.compile(r"\s*\|\s*(?:[\[(]?(\d{1,3})[\]).]?\s*\|)?(.*?)\|?\s*")
_WRITER = re.compile(
    r"\s*(?:[^\W\d_a-z][\w'’-]{1,60},? (?:[^\W\d_a-z]\.|[^\W\d_a-z][\w-]+)|[—–_-]{2,}[.,])"
)
_FILE = re.compile(rf"\s*[*_`]*[^\s()]{{1,80}}{_TABLE['parts']['suffix']}.{{0,60}}", re.IGNORECASE)
_DATED = re.compile(r"\b(?:1[6-9]|20)\d\d[a-z]?\b|\bin press\b|\bdoi\b", re.IGNORECASE)
_DASHES = re.compile(r"[—–_-]{2,}(?=[.,])")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_RULE = re.compile(r"\s*([*_-])(?:[ \t]*\1){2,}\s*")
_CITED = re.compile(
    r"(?:[\[【^(](?:(?:sources?|refs?\.?) )?\^?|<sup>\[?)\d{1,3}(?:[ ,–-]{1,3}\d{1,3})*+"
    r"|[⁰¹²³⁴-⁹]{1,3}(?:[,˒][⁰¹²³⁴-⁹]{1,3})*+"
)
_FIGURES, _STOP = re.compile(r"\d+"), re.compile(r"[^\W\d_][.!?](?![A-Za-z/])|\[\^?\d")
_SENTENCE = re.compile(r"[^\W\d_A-Z]{3}[.!?] ?(?:\(|\[|http|$)|\)\)\.?$")
MAX_WORDS = 25  # in the line of a source outside a list


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
        """Return how the number of an entry is written, without the figures: "()", "." or "[]";
        else some text.
        """
        start = next(
            (source.span[0] for source in self.sources if source.key == key and source.span), 0
        )
        before, _, after = answer[:start].rstrip(" \t*|").rpartition(key)
        return before[-1:].strip() + after

    def author(self, surname: str, year: str) -> str:
        """Return the key of the entry with this surname near its start, and this year; empty if
        there is none.

        "———" in place of the author is the one of the entry before.
        """
        near: set[str] = set()
        for source in self.sources:
            if not _DASHES.match(source.text):
                near = set(_WORD.findall(source.text[:120]))
            if year in source.text and surname in near:
                return source.key
        return ""


@dataclass
class _Entry:
    key: str
    start: int
    end: int

    def text(self, answer: str) -> str:
        return answer[self.start : self.end]


@lru_cache(maxsize=32)
def listed(answer: str) -> Listed:
    """Find the sources that an answer lists. Entries without a number are numbered from 1."""
    entries: list[_Entry] = []
    regions: list[Span] = []
    headed = False
    lines = [m.span() for m in _LINE.finditer(answer) if m[0].strip()]
    at = 0
    while at < len(lines):
        start, end = lines[at]
        heading = _HEADING.fullmatch(answer, start, end)
        if heading and (
            not heading["rest"].strip() or (heading["colon"] and _opens(heading["rest"]))
        ):
            found, after = _list(answer, lines, at, heading)
            if found:
                entries, headed = entries + found, True
                while after < len(lines) and answer[slice(*lines[after])].strip().startswith("</"):
                    after += 1
                opening = at > 0 and answer[slice(*lines[at - 1])].strip().startswith("<details")
                regions.append((lines[at - 1][0] if opening else start, lines[after - 1][1]))
                at = after
                continue
        elif entry := _alone(answer, start, end):
            entries.append(entry)
            regions.append((start, end))
        at += 1
    if not headed and (found := _at_the_end(answer, lines)):
        first = len(lines) - len(found)
        heading = _HEADING.fullmatch(answer, *lines[first - 1])
        start = lines[first - 1 if heading and heading["colon"] else first][0]
        before = [entry for entry in entries if entry.start < start]
        if len(entries) < len(before) + len(found):
            entries = before + found
            regions = [*(region for region in regions if region[0] < start), (start, len(answer))]
    return Listed(tuple(_source(answer, entry) for entry in entries), tuple(regions))


def _opens(rest: str) -> bool:
    """Return True if the rest of the line after "Sources:" already lists sources."""
    return bool(addresses(rest) or _KEY.match(rest) or _FILE.fullmatch(rest))


def _is_source(line: str) -> bool:
    """Return True for a line that has an address, is the name of a file, or begins as an entry of a
    bibliography.
    """
    return bool(
        addresses(line) or _FILE.fullmatch(line) or (_WRITER.match(line) and _DATED.search(line))
    )


def _at_the_end(answer: str, lines: list[Span]) -> list[_Entry]:
    """Return the entries of a list without a heading, numbered from 1, that ends the answer.

    If all numbers are cited, lines below a rule are such entries, and any that are no sentences.
    """
    entries: list[_Entry] = []
    plain = 0  # entries that can be nothing else
    for start, end in reversed(lines[1:]):
        if not (key := _KEY.match(answer, start, end)):
            break
        line = answer[key.end() : end]
        note = (
            key[1] and key[1].isdecimal() or (key[3] or key[4]) and answer[key.end() - 1].isspace()
        )
        plain += plain == len(entries) and bool(
            note or _is_source(line) and not _SENTENCE.search(line)
        )
        entries.insert(0, _Entry(normal_key(next(k for k in key.groups() if k)), key.end(), end))
    if not entries:
        return []
    start, end = lines[-len(entries) - 1]
    marks = (m[0].translate(SUPERSCRIPTS) for m in _CITED.finditer(answer, 0, end))
    cited = {normal_key(figures) for mark in marks for figures in _FIGURES.findall(mark)}
    heading = _HEADING.fullmatch(answer, start, end)  # "Source: Conversation with Bing"
    keys = {entry.key for entry in entries}
    apart = _RULE.fullmatch(answer, start, end) or heading and heading["colon"]
    apart = (
        apart
        or answer[start:end].rstrip()[-1:] != ":"
        and not any(_STOP.search(e.text(answer)) for e in entries)
    )
    if not (apart and cited.issuperset(keys) and len(keys) == len(entries)):
        entries = entries[len(entries) - plain :]
    return entries if entries and entries[0].key == "1" and "1" in cited else []


def _list(
    answer: str, lines: list[Span], at: int, heading: re.Match[str]
) -> tuple[list[_Entry], int]:
    """Return the entries below a heading, and the number of the first line after them."""
    entries = _inline(answer, *heading.span("rest")) if heading["rest"].strip() else []
    kind, indent = "", 0  # of the first entry: key, bullet, row or line
    for number in range(at + 1, len(lines)):
        (start, end), line = lines[number], answer[slice(*lines[number])]
        gap = answer[lines[number - 1][1] : start].replace("\r\n", "\n").count("\n") > 1
        bullet = _BULLET.match(answer, start, end)
        key = _KEY.match(answer, bullet.end() if bullet else start, end)
        if line.lstrip().startswith(("#", "</details")) and not key:
            return entries, number
        row = _ROW.fullmatch(answer, start, end)
        if _MARKUP_ALONE.fullmatch(line):
            if row and entries and not kind:
                entries.pop()  # the head of the table
            kind = kind or ("row" if row else "")
        elif row:
            entries.append(_Entry(row[1] or str(len(entries) + 1), *row.span(2)))
        elif key or bullet:
            kind = kind or ("key" if key else "bullet")
            entries += _inline(answer, bullet.end() if bullet else start, end, len(entries))
        elif entries and not gap and (kind == "key" or len(line) - len(line.lstrip()) > indent):
            entries[-1].end = end  # the entry goes on
        elif (heading["strong"] and not (gap and entries)) or _is_source(line):
            dated = _WRITER.match(entries[-1].text(answer)) if entries else None
            if dated and not gap and not _WRITER.match(line) and kind == "line":
                entries[-1].end = end
                continue
            indent = len(line) - len(line.lstrip()) if not entries else indent
            kind = kind or "line"
            entries.append(_Entry(str(len(entries) + 1), start, end))
        else:
            return entries, number
    return entries, len(lines)


def _inline(answer: str, start: int, end: int, before: int = 0) -> list[_Entry]:
    """Return the entries of one line: one, several with numbers, or several addresses."""
    cuts = [start, *(m.end() for m in _SEVERAL.finditer(answer, start, end)), end]
    parts = list(zip(cuts, cuts[1:], strict=False))
    found = addresses(answer[start:end])
    if (
        len(parts) == 1
        and len(found) > 1
        and not _KEY.match(answer, start, end)
        and "](" not in answer[start:end]
    ):
        cuts = [start, *(start + stop for (_, stop), _ in found[:-1]), end]
        parts = list(zip(cuts, cuts[1:], strict=False))
    entries = []
    for number, (a, b) in enumerate(parts, before + 1):
        key = _KEY.match(answer, a, b)
        name = next((k for k in key.groups() if k), "") if key else ""
        entries.append(_Entry(normal_key(name) or str(number), key.end() if key else a, b))
    return entries


def _alone(answer: str, start: int, end: int) -> _Entry | None:
    """Return an entry outside a list, "[1]: …" or "[1] https://…"."""
    if match := _DEFINITION.fullmatch(answer, start, end):
        footnote = "" if match[2].endswith("^") else match[1]  # Copilot's "[^1^]" is a number
        return _Entry(footnote + normal_key(match[2]), match.start(3), end)
    match = _NUMBERED.match(answer, start, end)
    if match and len(answer[match.end() : end].split()) <= MAX_WORDS:
        return _Entry(normal_key(match[1]), match.end(), end)
    return None


def normal_key(name: str) -> str:
    """Normalise a key: "¹", "01" and "^1" are the same number."""
    name = name.translate(SUPERSCRIPTS).strip("^")
    return str(int(name)) if name.isascii() and name.isdigit() else name.casefold()


def _source(answer: str, entry: _Entry) -> AnswerSource:
    text = entry.text(answer).lstrip(" \t,;")
    found = addresses(text)
    return AnswerSource(
        key=entry.key,
        url=found[0][1] if found else "",
        text=" ".join(text.split()),
        span=(entry.end - len(text), entry.end),
    )

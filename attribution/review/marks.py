"""Find the citation marks of an answer: numbers, footnotes, links, addresses, "(source: …)", authors with years."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from attribution.review.references import SUPERSCRIPTS, Listed, Source, addresses, listed, normal_key
from attribution.text.markdown import Element, read
from attribution.text.urls import canonical
from attribution.types import Frozen, Span

Form = Literal["number", "footnote", "superscript", "link", "address", "named", "author_year"]
LONGEST_RANGE = 50  # sources in [1–50]
_NUMBER = re.compile(r"\[\^?\d{1,3}(?:\s*(?:[,;–—-]|and|&)\s*\^?\d{1,3})*\](?!\()")
_NUMBERS = re.compile(r"(\d+)(?:\s*[–—-]\s*\^?(\d+))?")
_TOOL = re.compile(r"【(\d{1,3})(?:[:†][^】\n]{0,80})?】")  # as some assistants write it
_FOOTNOTE = re.compile(r"\[\^[\w-]{1,40}\](?!:)")
_REFERENCE = re.compile(r"(?<!!)\[[^\[\]\n]{1,300}\]\[([^\[\]\s^][^\[\]\s]{0,39})\]")  # [words][1]
_LINK = re.compile(
    r"(?<!!)\[(?:\[[^\[\]\n]{1,80}\]|[^\[\]\n]{1,300})\]"
    r"\(\s*<?(https?://(?:[^\s()<>]|\([^\s()<>]*\))+)>?(?:\s+[\"'][^\"'\n]*[\"'])?\s*\)",
    re.IGNORECASE,
)
_IMAGE = re.compile(r"!\[[^\[\]\n]{0,300}\]\([^()\s]*\)?")
_SUPERSCRIPT = re.compile(r"[⁰¹²³⁴-⁹]{1,3}(?:[,˒ʼ⁻⁼–-][⁰¹²³⁴-⁹]{1,3})*")
_POWER = re.compile(r"(?:\d|(?<![^\W\d_])(?:[^\W\d_]|[kcdmµ]m|ft|in|mi|yd))$")  # "10²", "m²", "x²"
_NAMED = re.compile(
    r"[(\[](?:sources?|refs?|references?|citations?|via)\s*[:：]\s*((?:[^()\[\]\n]|\([^()\n]*\)|\[[^\[\]\n]*\])"
    r"{2,300}+)[)\]]",
    re.IGNORECASE,
)
_YEAR = r"(?:1[6-9]|20)\d\d[a-z]?"
_AUTHORS = re.compile(rf"\((?=[^()\n]*+\))([^()\n]*?\b{_YEAR}\b[^()\n]*+)\)")
_NAME = r"[A-Z][\w'’-]{1,60}+"
_NARRATIVE = re.compile(rf"(?<!\w)({_NAME})(?:(?:,? (?:and|&) {_NAME})|,? et al\.?)?,? \(({_YEAR})(?:,[^()\n]*)?\)")
_BRACKETED, _FIGURES = re.compile(r"\[(\^?)([^\[\]]+)\]"), re.compile(r"[\d\s,;–-]+")
_A_YEAR = re.compile(_YEAR)
_SURNAME = re.compile(r"[^\W\d_a-z][\w'’-]{1,60}+")


class Mark(Frozen):
    """A citation mark; `answer[start:end]` is its text."""

    start: int
    end: int
    form: Form
    sources: tuple[str, ...]  # keys


@dataclass(frozen=True)
class Cited:
    """The marks of an answer in order, and every source that it lists or cites."""

    marks: tuple[Mark, ...]
    sources: tuple[Source, ...]
    lists: Listed

    def source(self, key: str) -> Source:
        return next(source for source in self.sources if source.key == key)


def find(answer: str, more: str = "") -> Cited:
    """Find the citations of an answer. `more` lists sources that the answer itself lacks, one per line.

    A superscript or an author with a year is a mark only if a list has its source: "m²" or "in Paris (1900)" is not.
    """
    lists = listed(answer)
    by_key = {s.key: s for s in lists.sources}
    if more.strip():
        by_key |= {s.key: s.model_copy(update={"span": None}) for s in listed(f"Sources:\n{more}").sources}
    known = _Known(by_key)
    hidden = bytearray(len(answer))  # 1: code, or an image
    for start, end in (*_code(read(answer)), *(m.span() for m in _IMAGE.finditer(answer))):
        hidden[start:end] = b"\1" * (end - start)
    marks: list[Mark] = []
    for mark in sorted(_candidates(answer, known), key=lambda m: (m.start, -m.end)):
        free = not marks or mark.start >= marks[-1].end
        if free and not lists.holds(mark.start) and not any(hidden[mark.start : mark.end]):
            marks.append(mark)
    used = {key for mark in marks for key in mark.sources}
    sources = [s for s in known.by_key.values() if s.key in used or s.key in by_key]
    return Cited(tuple(marks), tuple(sources), lists)


class _Known:
    """Sources by key; a source that is cited without being listed is added."""

    def __init__(self, by_key: dict[str, Source]) -> None:
        self.by_key: dict[str, Source] = {}
        self._texts, self._starts, self._keys = "", list[int](), list[str]()  # all entries as one text
        for source in by_key.values():
            self._enter(source)
        self._by_url = {canonical(s.url): s.key for s in by_key.values() if s.url}

    def number(self, number: str) -> str:
        key = normal_key(number)
        self.by_key.setdefault(key, Source(key=key))
        return key

    def footnote(self, name: str) -> str:
        """Return the key of the definition of [^1]; without one, of number 1 in a list."""
        key = f"^{normal_key(name)}"
        return key if key in self.by_key else self.number(name)

    def raised(self, number: str) -> str:
        """Return the key for ¹: number 1 in a list; without one, the footnote."""
        return number if number in self.by_key else f"^{number}"

    def address(self, url: str) -> str:
        return self._by_url.get(canonical(url)) or self._add(Source(key=url, url=url))

    def name(self, text: str) -> str:
        """Return the key of a source that is only named: an entry whose text contains the name, or a new source."""
        wanted = " ".join(text.split())
        place = self._texts.find(wanted.casefold())
        if place >= 0:
            return self._keys[bisect_right(self._starts, place) - 1]
        return self._add(Source(key=wanted, text=wanted))

    def author(self, surname: str, year: str) -> str | None:
        """Return the key of the entry with this surname near its start, and this year."""
        for source in self.by_key.values():
            if year in source.text and re.search(rf"\b{re.escape(surname)}\b", source.text[:120]):
                return source.key
        return None

    def _add(self, source: Source) -> str:
        self._by_url.setdefault(canonical(source.url), source.key) if source.url else None
        if source.key not in self.by_key:
            self._enter(source)
        return source.key

    def _enter(self, source: Source) -> None:
        self.by_key[source.key] = source
        if source.text:
            self._starts.append(len(self._texts))
            self._keys.append(source.key)
            self._texts += f"{source.text.casefold()}\n"


def _candidates(answer: str, known: _Known) -> Iterator[Mark]:
    """Yield everything that may be a mark; of two that overlap, the earlier or longer one counts."""

    def mark(span: Span, form: Form, keys: Iterable[str]) -> Mark:
        return Mark(start=span[0], end=span[1], form=form, sources=tuple(dict.fromkeys(keys)))

    for m in _LINK.finditer(answer):
        yield mark(m.span(), "link", [known.address(m[1])])
    for m in _NAMED.finditer(answer):
        yield mark(m.span(), "named", _named(m[1], known))
    for m in _NUMBER.finditer(answer):
        if numbers := _numbers(m[0]):
            footnote = "^" in m[0]
            keys = map(known.footnote if footnote else known.number, numbers)
            yield mark(m.span(), "footnote" if footnote else "number", keys)
    for m in _TOOL.finditer(answer):
        yield mark(m.span(), "number", [known.number(m[1])])
    for m in _FOOTNOTE.finditer(answer):
        yield mark(m.span(), "footnote", [known.footnote(m[0][2:-1])])
    for m in _REFERENCE.finditer(answer):
        if normal_key(m[1]) in known.by_key and not _NUMBER.match(m[0]):
            yield mark(m.span(), "link", [normal_key(m[1])])
    for m in _SUPERSCRIPT.finditer(answer):
        numbers = _numbers(m[0].translate(SUPERSCRIPTS).replace("⁻", "-"))
        numbers = list(map(known.raised, numbers))
        listed_too = numbers and all(n in known.by_key and known.by_key[n].text for n in numbers)
        if listed_too and not _POWER.search(answer, max(0, m.start() - 8), m.start()):
            yield mark(m.span(), "superscript", numbers)
    for span, url in addresses(answer):
        yield mark(_in_angles(answer, span), "address", [known.address(url)])
    yield from (mark(span, "author_year", keys) for span, keys in _authors(answer, known))


def _numbers(text: str) -> list[str]:
    """Return the numbers of a mark with ranges expanded; empty if one of them cannot be a source."""
    numbers = []
    for m in _NUMBERS.finditer(text):
        first, last = int(m[1]), int(m[2] or m[1])
        if not 0 < first <= last <= first + LONGEST_RANGE:
            return []
        numbers += [str(n) for n in range(first, last + 1)]
    return numbers


def _named(text: str, known: _Known) -> list[str]:
    if urls := [url for _, url in addresses(text)]:
        return [known.address(url) for url in urls]
    if found := [(m[1], n) for m in _BRACKETED.finditer(text) for n in _numbers(m[2])]:
        return [known.footnote(n) if caret else known.number(n) for caret, n in found]
    if _FIGURES.fullmatch(text):
        return [known.number(n) for n in _numbers(text)]
    return [known.name(part) for part in text.split(";") if part.strip()]


def _authors(answer: str, known: _Known) -> Iterator[tuple[Span, list[str]]]:
    for m in _NARRATIVE.finditer(answer):
        if key := known.author(m[1], m[2]):
            yield m.span(), [key]
    for m in _AUTHORS.finditer(answer):
        keys = []
        for part in m[1].split(";"):
            surname, year = _SURNAME.search(part), _A_YEAR.search(part)
            if surname and year and (key := known.author(surname[0], year[0])):
                keys.append(key)
        if keys:
            yield m.span(), keys


def _in_angles(answer: str, span: Span) -> Span:
    start, end = span
    return (start - 1, end + 1) if answer[start - 1 : start] == "<" and answer[end : end + 1] == ">" else span


def _code(element: Element) -> Iterator[Span]:
    """Yield the spans of code, where nothing is a citation."""
    for child in element.elements:
        if child.tag in ("code", "pre"):
            texts = list(child.texts())
            if texts:
                yield texts[0].start, texts[-1].end
        else:
            yield from _code(child)

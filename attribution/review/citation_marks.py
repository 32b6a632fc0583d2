"""Find the citation marks of an answer with the sources that they name."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from attribution.text.markdown import Element, read
from attribution.text.marks import Form, Found, authors, marks, numbers, references, targets
from attribution.text.references import AnswerSource, Listed, addresses, listed, normal_key
from attribution.text.urls import canonical
from attribution.types import Frozen, Span

_IMAGE = re.compile(r"!\[[^\[\]\n]{0,300}\]\([^()\s]*\)?")
_BRACKETED, _FIGURES = re.compile(r"\[(\^?)([^\[\]]+)\]"), re.compile(r"[\d\s,;–-]+")
UNNAMED = "?"  # the key of a source of which the mark says nothing


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
    sources: tuple[AnswerSource, ...]
    lists: Listed

    def source(self, key: str) -> AnswerSource:
        return next(source for source in self.sources if source.key == key)


def find(answer: str, more: str = "", names: frozenset[str] = frozenset()) -> Cited:
    """Find the citations of an answer.

    `more` lists sources that the answer itself lacks, one per line; `names` are those of the run's
    sources.
    """
    lists = listed(answer)
    by_key = {s.key: s for s in lists.sources}
    if more.strip():
        by_key |= {
            s.key: s.model_copy(update={"span": None}) for s in listed(f"Sources:\n{more}").sources
        }
    known = _Known(by_key, lists)
    hidden = bytearray(len(answer))  # 1: code, or an image
    for start, end in (*_code(read(answer)), *(m.span() for m in _IMAGE.finditer(answer))):
        hidden[start:end] = b"\1" * (end - start)
    found: list[Mark] = []
    for mark in marks(answer, names):
        if mark.row.form and not any(hidden[mark.start : mark.end]):
            keys = tuple(dict.fromkeys(_sources(mark, known)))
            found.append(Mark(start=mark.start, end=mark.end, form=mark.row.form, sources=keys))
    used = {key for mark in found for key in mark.sources}
    sources = [s for s in known.by_key.values() if s.key in used or s.key in by_key]
    return Cited(tuple(found), tuple(sources), lists)


class _Known:
    """Sources by key; a source that is cited without being listed is added."""

    def __init__(self, by_key: dict[str, AnswerSource], lists: Listed) -> None:
        self.by_key: dict[str, AnswerSource] = {}
        self.lists = lists
        self._texts, self._starts, self._keys = (
            "",
            list[int](),
            list[str](),
        )  # all entries as one text
        for source in by_key.values():
            self._enter(source)
        self._by_url = {canonical(s.url): s.key for s in by_key.values() if s.url}

    def number(self, number: str) -> str:
        key = normal_key(number)
        self.by_key.setdefault(key, AnswerSource(key=key))
        return key

    def footnote(self, name: str) -> str:
        """Return the key of the definition of [^1]; without one, of number 1 in a list."""
        key = f"^{normal_key(name)}"
        return key if key in self.by_key else self.number(name)

    def raised(self, number: str) -> str:
        """Return the key for ¹: number 1 in a list; without one, the footnote."""
        return number if number in self.by_key else self.footnote(number)

    def address(self, url: str) -> str:
        return self._by_url.get(canonical(url)) or self._add(AnswerSource(key=url, url=url))

    def name(self, text: str) -> str:
        """Return the key of a source that is only named: an entry whose text contains the name, or
        a new source.
        """
        wanted = " ".join(text.split())
        place = self._texts.find(wanted.casefold())
        if place >= 0:
            return self._keys[bisect_right(self._starts, place) - 1]
        return self._add(AnswerSource(key=wanted, text=wanted))

    def unnamed(self) -> str:
        return self._add(AnswerSource(key=UNNAMED))

    def _add(self, source: AnswerSource) -> str:
        self._by_url.setdefault(canonical(source.url), source.key) if source.url else None
        if source.key not in self.by_key:
            self._enter(source)
        return source.key

    def _enter(self, source: AnswerSource) -> None:
        self.by_key[source.key] = source
        if source.text:
            self._starts.append(len(self._texts))
            self._keys.append(source.key)
            self._texts += f"{source.text.casefold()}\n"


def _sources(mark: Found, known: _Known) -> Iterable[str]:
    """Return the keys of a mark's sources."""
    match mark.row.read:
        case "number":
            resolve = known.raised if mark.row.form == "superscript" else known.number
            return map(resolve, numbers(mark.match["n"]))
        case "figures":  # "12" is source 12, or sources 1 and 2
            figures = mark.match["n"]
            return map(
                known.number, [figures] if known.lists.has(figures) or "0" in figures else figures
            )
        case "footnote":
            return _footnotes(mark.match["n"], known)
        case "reference":
            return references(mark.match[0])
        case "address":
            return map(known.address, targets(mark.match[0]))
        case "author":
            pairs = list(authors(mark.match["author"]))
            keys = [key for author, year in pairs if (key := known.lists.author(author, year))]
            return keys or [known.name(part.strip()) for part in mark.match["author"].split(";")]
        case "name":
            return _named(mark.match["name"], known)
    return [known.unnamed()]


def _footnotes(text: str, known: _Known) -> list[str]:
    return (
        [known.footnote(n) for n in numbers(text)]
        if _FIGURES.fullmatch(text.replace("^", ""))
        else [known.footnote(text)]
    )


def _named(text: str, known: _Known) -> list[str]:
    if urls := [url for _, url in addresses(text)]:
        return [known.address(url) for url in urls]
    if found := [(m[1], n) for m in _BRACKETED.finditer(text) for n in numbers(m[2])]:
        return [known.footnote(n) if caret else known.number(n) for caret, n in found]
    if _FIGURES.fullmatch(text):
        return [known.number(n) for n in numbers(text)]
    return [known.name(part) for part in text.split(";") if part.strip()]


def _code(element: Element) -> Iterator[Span]:
    """Yield the spans of code, where nothing is a citation."""
    for child in element.elements:
        if child.tag in ("code", "pre"):
            texts = list(child.texts())
            if texts:
                yield texts[0].start, texts[-1].end
        else:
            yield from _code(child)

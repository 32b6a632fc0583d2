"""Find an answer's citation marks, the sources they name, and the claims they belong to."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from attribution.text.markdown import Element, read
from attribution.text.marks import (
    AnswerSource,
    Form,
    FoundMark,
    Listed,
    addresses,
    authors,
    listed,
    marks,
    normal_key,
    numbers,
    references,
    targets,
)
from attribution.text.urls import canonical
from attribution.types import Claim, Frozen, Span

UNNAMED = "?"  # the key of a source of which the mark says nothing
_BRACKETED = re.compile(r"\[(\^?)([^\[\]]+)\]")
_FIGURES = re.compile(r"[\d\s,;–-]+")


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


def find(answer: str, names: frozenset[str] = frozenset()) -> Cited:
    """Find the citations of an answer.

    Args:
        answer: The answer in Markdown.
        names: Names of the run's sources, by which marks may cite them.
    """
    lists = listed(answer)
    by_key = {source.key: source for source in lists.sources}
    resolver = _Resolver(by_key, lists)
    is_hidden = bytearray(len(answer))  # in code, nothing is a citation
    for start, end in _code_spans(read(answer)):
        is_hidden[start:end] = b"\1" * (end - start)
    cited: list[Mark] = []
    for mark in marks(answer, names):
        form = mark.row.form
        if form and not any(is_hidden[mark.start : mark.end]):
            keys = dict.fromkeys(resolver.keys(mark))
            cited.append(Mark(start=mark.start, end=mark.end, form=form, sources=tuple(keys)))
    used = {key for mark in cited for key in mark.sources}
    sources = [s for s in resolver.by_key.values() if s.key in used or s.key in by_key]
    return Cited(tuple(cited), tuple(sources), lists)


def _code_spans(element: Element) -> Iterator[Span]:
    for child in element.elements:
        if child.tag not in ("code", "pre"):
            yield from _code_spans(child)
            continue
        texts = list(child.texts())
        if texts:
            yield texts[0].start, texts[-1].end


class _Resolver:
    """Finds the sources that marks name, and adds those that are cited without being listed."""

    def __init__(self, by_key: dict[str, AnswerSource], lists: Listed) -> None:
        self.by_key: dict[str, AnswerSource] = {}
        self._lists = lists
        # All entries as one text, which is searched at once, with the start and key of each.
        self._texts = ""
        self._starts: list[int] = []
        self._keys: list[str] = []
        self._by_url: dict[str, str] = {}
        for source in by_key.values():
            self._add(source)

    def keys(self, mark: FoundMark) -> Iterable[str]:
        """Return the keys of a mark's sources."""
        match mark.row.read:
            case "number":
                resolve = self._raised if mark.row.form == "superscript" else self._number
                return map(resolve, numbers(mark.match["n"]))
            case "figures":
                return self._figures(mark.match["n"])
            case "footnote":
                return self._footnotes(mark.match["n"])
            case "reference":
                return references(mark.match[0])
            case "address":
                return map(self._address, targets(mark.match[0]))
            case "author":
                return self._authors(mark.match["author"])
            case "name":
                return self._names(mark.match["name"])
        return [self._add(AnswerSource(key=UNNAMED))]

    def _figures(self, text: str) -> Iterable[str]:
        """Read "12" as source 12 if it is listed, else as sources 1 and 2."""
        is_one = self._lists.has(text) or "0" in text
        return map(self._number, [text] if is_one else text)

    def _footnotes(self, text: str) -> Iterable[str]:
        if _FIGURES.fullmatch(text.replace("^", "")):
            return map(self._footnote, numbers(text))
        return [self._footnote(text)]

    def _authors(self, text: str) -> list[str]:
        keys = [self._lists.author(author, year) for author, year in authors(text)]
        if any(keys):
            return [key for key in keys if key]
        return [self._name(part.strip()) for part in text.split(";")]

    def _names(self, text: str) -> list[str]:
        urls = [url for _, url in addresses(text)]
        if urls:
            return [self._address(url) for url in urls]
        keys: list[str] = []
        for match in _BRACKETED.finditer(text):
            resolve = self._footnote if match[1] else self._number
            keys += map(resolve, numbers(match[2]))
        if keys:
            return keys
        if _FIGURES.fullmatch(text):
            return [self._number(number) for number in numbers(text)]
        keys = [normal_key(part.strip()) for part in re.split("[,;]", text)]
        if self.by_key.keys() >= set(keys):  # "[S1, S2]" with a list of sources
            return keys
        return [self._name(part) for part in text.split(";") if part.strip()]

    def _number(self, number: str) -> str:
        key = normal_key(number)
        self.by_key.setdefault(key, AnswerSource(key=key))
        return key

    def _footnote(self, name: str) -> str:
        """Return the key of the definition of [^1]; without one, of number 1 in a list."""
        key = f"^{normal_key(name)}"
        return key if key in self.by_key else self._number(name)

    def _raised(self, number: str) -> str:
        """Return the key for ¹: number 1 in a list; without one, the footnote."""
        return number if number in self.by_key else self._footnote(number)

    def _address(self, url: str) -> str:
        known = self._by_url.get(canonical(url))
        return known or self._add(AnswerSource(key=url, url=url))

    def _name(self, words: str) -> str:
        """Return the key of the entry whose text contains the name, or of a new source."""
        name = " ".join(words.split())
        text = name.casefold()
        match = text in self._texts and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", self._texts)
        if match:
            return self._keys[bisect_right(self._starts, match.start()) - 1]
        return self._add(AnswerSource(key=name, text=name))

    def _add(self, source: AnswerSource) -> str:
        if source.url:
            self._by_url.setdefault(canonical(source.url), source.key)
        if source.key not in self.by_key:
            self.by_key[source.key] = source
            if source.text:
                self._starts.append(len(self._texts))
                self._keys.append(source.key)
                self._texts += f"{source.text.casefold()}\n"
        return source.key


# --- the claims that a mark belongs to ---


def attach(answer: str, cited: Cited, claims: Sequence[Claim]) -> dict[str, tuple[int, ...]]:
    """Attach the marks to claims outside lists of sources.

    A mark belongs to the sentence it stands in or right after; one that opens a paragraph belongs
    to the sentence that follows. Within a sentence it is attached to the claims that end between
    the previous mark and itself; if there are none, to all claims of the sentence.

    Returns:
        The indices of the marks of each claim that has any, by its id.
    """
    claims_of: dict[Span, list[Claim]] = {}
    for claim in claims:
        if claim.spans:
            claims_of.setdefault(claim.sentence or _extent(claim), []).append(claim)
    text = _AnswerText(answer, cited.marks)
    sentences = sorted(claims_of)
    marks_of: dict[Span, list[int]] = {}
    for number, mark in enumerate(cited.marks):
        sentence = text.sentence_of(mark, sentences)
        if sentence is not None:
            marks_of.setdefault(sentence, []).append(number)
    attached: dict[str, list[int]] = {}
    for sentence, indices in marks_of.items():
        position = sentence[0]
        for group in text.adjacent(indices):
            start, end = cited.marks[group[0]].start, cited.marks[group[-1]].end
            ending = [c for c in claims_of[sentence] if text.ends_between(c, position, start)]
            for claim in ending or claims_of[sentence]:
                attached.setdefault(claim.id, []).extend(group)
            position = end
    return {claim_id: tuple(dict.fromkeys(indices)) for claim_id, indices in attached.items()}


def _extent(claim: Claim) -> Span:
    return min(start for start, _ in claim.spans), max(end for _, end in claim.spans)


class _AnswerText:
    """An answer, and the same characters with its marks blanked."""

    def __init__(self, answer: str, marks: Sequence[Mark]) -> None:
        self._answer = answer
        self._marks = marks
        characters = list(answer)
        for mark in marks:
            if mark.form != "link":  # its words are part of the sentence
                characters[mark.start : mark.end] = " " * (mark.end - mark.start)
        self._blanked = "".join(characters)

    def sentence_of(self, mark: Mark, sentences: Sequence[Span]) -> Span | None:
        following = bisect_right(sentences, (mark.start, sys.maxsize))
        if following:
            before = sentences[following - 1]
            if mark.start < before[1] or self._is_joined(before[1], mark.start):
                return before
        if following < len(sentences):
            after = sentences[following]
            if self._is_joined(mark.end, after[0]):
                return after
        return None

    def adjacent(self, indices: Sequence[int]) -> list[list[int]]:
        """Group marks that have no words between them."""
        groups: list[list[int]] = []
        for index in indices:
            start = self._marks[index].start
            if groups and self._is_wordless(self._marks[groups[-1][-1]].end, start):
                groups[-1].append(index)
            else:
                groups.append([index])
        return groups

    def ends_between(self, claim: Claim, start: int, end: int) -> bool:
        """Return True if the claim's last words stand between these positions."""
        _, last = _extent(claim)
        if self._is_wordless(start, last):
            return False
        return last <= end or self._is_wordless(end, last)

    def _is_joined(self, start: int, end: int) -> bool:
        """Return True if there are neither words nor a paragraph break between two positions."""
        between = self._answer[start:end].replace("\r\n", "\n").replace(" ", "")
        return "\n\n" not in between and self._is_wordless(start, end)

    def _is_wordless(self, start: int, end: int) -> bool:
        return not any(map(str.isalnum, self._blanked[start:end]))

"""Find the sources that an answer lists, and read their pages from the run, the store or the web."""

from __future__ import annotations

import re
import sys
import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass

from attribution.errors import StageFailure
from attribution.evidence.search import Budget
from attribution.fetching.fetcher import Fetcher
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.urls import canonical
from attribution.types import Frozen, Page, Span

_ADDRESS = re.compile(r"(?:https?://|(?<![\w./@-])www\.)[^\s<>\"'`\[\]{}|\\^¹²³⁰⁴-⁹，。】]+", re.IGNORECASE)
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
        address = text[match.start() : end]
        if _HOST.search(address):
            found.append(((match.start(), end), address if "://" in address else f"https://{address}"))
    return found


SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_TITLE = (
    r"(?:sources?|references?|citations?|bibliography|works cited|footnotes?|links|further reading)"
    r"(?: (?:used|cited|consulted|list))?"
)
_HEADING = re.compile(rf"[ \t>#*_-]*{_TITLE}[ \t*_]*+(?:\[\d{{1,3}}\])?[ \t]*+([:：]?)[ \t*_]*+(.*)", re.IGNORECASE)
_LINE = re.compile(r"[^\r\n]+")
_BULLET = re.compile(r"\s*(?:>\s*)*[-*+•◦▪‣][ \t]+")
_KEY = re.compile(r"\s*(?:\[\^?([^\[\]\s]{1,40})\](?!\():?|\(?(\d{1,3})[.)](?=\s)|([⁰¹²³⁴-⁹]{1,3}))[ \t]*")
_DEFINITION = re.compile(r"\s*\[(\^?)([^\[\]\s]{1,40})\]:[ \t]*(\S.*)")
_NUMBERED = re.compile(r"\s*\[(\d{1,3})\][ \t]++(?=.*(?:https?://|www\.))")
_SEVERAL = re.compile(r"(?<=[^\s,;])[ \t,;]++(?=\[\^?\d{1,3}\](?!\())")
MAX_WORDS = 25  # in the line of a source outside a list


class Source(Frozen):
    """A source that an answer cites or lists."""

    key: str  # number or name in its marks (footnotes: with ^); if it is not listed, its address or name
    url: str = ""  # http(s); empty: the answer gives no address
    text: str = ""  # its entry as written, on one line
    span: Span | None = None  # of the entry in the answer


@dataclass(frozen=True)
class Listed:
    """The listed sources in order, and the parts of the answer that only list sources."""

    sources: tuple[Source, ...]
    regions: tuple[Span, ...]

    def holds(self, place: int) -> bool:
        """Return True if a position of the answer is in one of the regions."""
        at = bisect_right(self.regions, (place, sys.maxsize)) - 1
        return at >= 0 and place < self.regions[at][1]


@dataclass
class _Entry:
    key: str
    start: int
    end: int


def listed(answer: str) -> Listed:
    """Find the sources that an answer lists. Entries without a number are numbered from 1."""
    entries: list[_Entry] = []
    regions: list[Span] = []
    lines = list(_lines(answer))
    at = 0
    while at < len(lines):
        start, end = lines[at]
        heading = _HEADING.fullmatch(answer, start, end)
        if heading and (not heading[2].strip() or (heading[1] and _opens(heading[2]))):
            found, at = _list(answer, lines, at, heading)
            if found:
                entries += found
                regions.append((start, found[-1].end))
                continue
            at += 1
            continue
        entry = _alone(answer, start, end)
        if entry:
            entries.append(entry)
            regions.append((start, end))
        at += 1
    return Listed(tuple(_source(answer, entry) for entry in entries), tuple(regions))


def _lines(text: str) -> Iterator[Span]:
    for match in _LINE.finditer(text):
        if match[0].strip():
            yield match.span()


def _opens(rest: str) -> bool:
    """Return True if the rest of the line after "Sources:" already lists sources."""
    return bool(addresses(rest) or _KEY.match(rest))


def _list(answer: str, lines: list[Span], at: int, heading: re.Match[str]) -> tuple[list[_Entry], int]:
    """Return the entries below a heading, and the number of the first line after them."""
    entries: list[_Entry] = []
    if heading[2].strip():
        entries += _inline(answer, *heading.span(2))
    at += 1
    numbered = False
    while at < len(lines):
        start, end = lines[at]
        gap = answer[lines[at - 1][1] : start].count("\n") > 1 or "\r\n\r\n" in answer[lines[at - 1][1] : start]
        bullet = _BULLET.match(answer, start, end)
        key = _KEY.match(answer, bullet.end() if bullet else start, end)
        if answer[start:end].lstrip().startswith("#") and not key:
            break
        if key or bullet:
            numbered = numbered or bool(key)
            entries += _inline(answer, bullet.end() if bullet else start, end, len(entries))
        elif entries and (gap or numbered) and not addresses(answer[start:end]):
            if gap:
                break
            entries[-1].end = end  # the entry goes on
        elif entries and numbered and not gap:
            entries[-1].end = end
        elif gap and entries:
            break
        else:
            entries.append(_Entry(str(len(entries) + 1), start, end))
        at += 1
    return entries, at


def _inline(answer: str, start: int, end: int, before: int = 0) -> list[_Entry]:
    """Return the entries of one line: one, several with numbers, or several addresses."""
    cuts = [start, *(m.end() for m in _SEVERAL.finditer(answer, start, end)), end]
    parts = list(zip(cuts, cuts[1:], strict=False))
    found = addresses(answer[start:end])
    if len(parts) == 1 and len(found) > 1 and not _KEY.match(answer, start, end) and "](" not in answer[start:end]:
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
        return _Entry(match[1] + normal_key(match[2]), match.start(3), end)
    match = _NUMBERED.match(answer, start, end)
    if match and len(answer[match.end() : end].split()) <= MAX_WORDS:
        return _Entry(normal_key(match[1]), match.end(), end)
    return None


def normal_key(name: str) -> str:
    """Normalise a key: "¹", "01" and "^1" are the same number."""
    name = name.translate(SUPERSCRIPTS).removeprefix("^")
    return str(int(name)) if name.isascii() and name.isdigit() else name.casefold()


def _source(answer: str, entry: _Entry) -> Source:
    text = answer[entry.start : entry.end].lstrip(" \t,;")
    found = addresses(text)
    return Source(
        key=entry.key, url=found[0][1] if found else "", text=" ".join(text.split()),
        span=(entry.end - len(text), entry.end),
    )  # fmt: skip


UNNAMED = "The answer does not say which source this is."
NOT_FOUND = "The answer gives no address for it, and no document of this run has its name."
NO_TEXT = "It is a document of this run, whose text is not in this database: use the one in which the run was made."


def known_page(source: Source, pages: Sequence[Page]) -> Page | None:
    """Find the page of a source among the run's pages, by its address, or by a document's title or file name.

    An article of the built-in library matches only by its own name, not by the pages that its facts are from.
    """
    if source.url:
        wanted = canonical(source.url)
        return next((p for p in pages if wanted in (canonical(p.url), canonical(p.reference))), None)
    text = source.text.casefold()
    return next((p for p in pages if text and _is_named(p, text)), None)


def _is_named(page: Page, text: str) -> bool:
    title = page.title.casefold()
    if page.facts_from:
        return text.strip("'\"“”*_.,; ") == title or page.cited.casefold() in text
    if len(title) > 3 and (title in text or text in title):
        return True
    _, _, name = page.url.rpartition("/")[2].rpartition(":")  # document:NAME, library:FOLDER/NAME, collection:C/NAME
    name = name.casefold() if page.kind != "web" else ""
    return bool(name) and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) is not None


def read_sources(
    sources: Sequence[Source], pages: Sequence[Page], settings: Settings, store: Store, stop: threading.Event
) -> Iterator[tuple[Source, Page | str]]:
    """Yield each source with its page, or with the reason why it could not be read, as soon as this is known.

    Stops early if `stop` is set.
    """
    web = []
    for source in sources:
        page = known_page(source, pages)
        if page and page.text:
            yield source, page
        elif source.url:
            web.append(source)
        elif page:
            yield source, NO_TEXT
        else:
            yield source, NOT_FOUND if source.text else UNNAMED
    budget = Budget(settings)
    fetcher = Fetcher(settings)

    def fetch(source: Source) -> Page | str:
        try:
            page = store.cache.page(source.url, settings.page_days)
            if page is None:
                budget.spend("downloads", source.url)
                page = fetcher.fetch(source.url, store.cache.page(source.url))
                store.cache.put_pages([page])
            return page
        except StageFailure as error:
            return str(error)

    pool = ThreadPoolExecutor(settings.workers, thread_name_prefix="cited")
    try:
        running = {pool.submit(fetch, source): source for source in web}
        while running and not stop.is_set():
            done, _ = wait(running, timeout=0.1, return_when=FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)

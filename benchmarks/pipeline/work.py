"""The work that pipeline and plain recipes are given: an answer, and pages of the workload's web or
files on disk.
"""

from __future__ import annotations

import random
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import httpx2

from attribution.evidence import EvidenceSource
from attribution.evidence.gathering import LiveSources
from attribution.evidence.sources import Sources, open_sources
from attribution.fetching.fetcher import Fetcher
from attribution.fetching.formats import extract
from attribution.fetching.page import make_page
from attribution.settings import ROOT, Settings
from attribution.store.store import Store
from attribution.text.sentences import sentences
from attribution.text.words import words_of
from attribution.types import Claim, Document, Page, SearchHit
from benchmarks import examples
from benchmarks.evaluation_sets import rows
from benchmarks.pipeline.workload import Workload, make
from benchmarks.pipeline.workload import library as library_sentences

ARTICLES, SAMPLE = 30, 60  # of the cited articles of so many claims, the longest
Round = tuple[
    Sequence[Claim], Sequence[Page]
]  # claims, and the pages that the plain recipe compares them with


class Stages(defaultdict[str, float]):
    """Seconds by stage."""

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self[stage] += time.perf_counter() - started


class Work(Protocol):
    answer: str

    def source(self, settings: Settings, store: Store) -> EvidenceSource:
        """Open the pages as the pipeline does."""
        ...

    def rounds(self, claims: Sequence[Claim], stages: Stages) -> Iterator[Round]:
        """Read the pages as the plain recipe does, one after the other."""
        ...


class Engine:
    """The search engine of the workload: three pages for each claim, at once."""

    name = "workload"

    def __init__(self, workload: Workload, port: int) -> None:
        self._workload, self._port = workload, port
        self._words = [set(words_of(claim)) for claim in workload.claims]

    def search(self, query: str, k: int) -> list[SearchHit]:
        asked = set(words_of(query))
        best = max(range(len(self._words)), key=lambda i: (len(asked & self._words[i]), -i))
        pages = [self._workload.pages[i] for i in self._workload.found[best]]
        urls = [f"http://{page.host}:{self._port}{page.path}" for page in pages]
        return [
            SearchHit(url, page.title, n, self.name, query)
            for n, (url, page) in enumerate(zip(urls, pages, strict=True), 1)
        ]


class Web:
    """Three pages for each claim, which the plain recipe downloads when it comes to the claim, and
    again for others.
    """

    def __init__(self, workload: Workload, port: int) -> None:
        self.answer, self._engine = workload.answer, Engine(workload, port)

    def source(self, settings: Settings, store: Store) -> EvidenceSource:
        fetcher = Fetcher(settings, allow=lambda address: address == "127.0.0.1")
        return LiveSources(settings, store, Sources(searchers=[self._engine]), fetcher.fetch)

    def rounds(self, claims: Sequence[Claim], stages: Stages) -> Iterator[Round]:
        for claim in claims:
            pages = []
            for hit in self._engine.search(claim.statement, 3):
                with stages.timed("download"):
                    reply = httpx2.get(hit.url, follow_redirects=True).raise_for_status()
                with stages.timed("extract"):
                    pages.append(_read(hit.url, reply.content, reply.headers["content-type"]))
            yield [claim], pages


class Disk:
    """Every claim is compared with all documents, which the plain recipe, too, reads and embeds
    once.
    """

    def __init__(self, claims: Sequence[str], documents: Sequence[Document]) -> None:
        self.answer, self._documents = " ".join(claims), documents

    def source(self, settings: Settings, store: Store) -> EvidenceSource:
        settings = settings.model_copy(update={"sources": ("documents",)})
        return LiveSources(
            settings, store, open_sources(settings, self._documents, store), Fetcher(settings).fetch
        )

    def rounds(self, claims: Sequence[Claim], stages: Stages) -> Iterator[Round]:
        with stages.timed("extract"):
            pages = [
                _read(f"document:{d.name}", d.content, "text/markdown") for d in self._documents
            ]
        yield claims, pages


def library(claims: int) -> Disk:
    """The library's articles, and claims of the example answers."""
    paths = sorted((ROOT / "examples" / "library").glob("*.md"))
    texts = [
        c["text"]
        for number in range(30)
        for e in examples()
        for c in e["claims"][number : number + 1]
    ]
    return Disk(_single(texts)[:claims], [Document(path.name, path.read_bytes()) for path in paths])


def wice(data: Path, claims: int) -> Disk:
    """Long articles that Wikipedia cites, and what it says after them."""
    found = [
        r for r in rows(data / "eval" / "wice_claim_dev.jsonl.gz") if any(r["supporting_sentences"])
    ]
    found.sort(key=lambda row: (zlib.crc32(row["id"].encode()), row["id"]))
    of_claim = [
        (row["claim"], "".join(f"{' '.join(s.split())} " for s in row["evidence"]))
        for row in found[:SAMPLE]
    ]
    longest = sorted(dict.fromkeys(article for _, article in of_claim), key=len, reverse=True)[
        :ARTICLES
    ]
    texts = _single([claim for claim, article in of_claim if article in longest])
    names = (f"{zlib.crc32(article.encode())}.md" for article in longest)
    return Disk(
        texts[:claims], [Document(name, a.encode()) for name, a in zip(names, longest, strict=True)]
    )


def book(pages: int, claims: int = 10) -> Disk:
    """One document of so many pages of 3,000 characters, and claims that some of them state."""
    workload = make(claims)
    draw = random.Random(pages)
    paragraphs: list[str] = []
    for site in workload.pages:
        paragraphs += site.paragraphs
    while sum(map(len, paragraphs)) < pages * 3_000:
        paragraphs.append(" ".join(draw.sample(library_sentences(), 6)))
    draw.shuffle(paragraphs)
    text = "\n\n".join(paragraphs)[: pages * 3_000]
    return Disk(workload.claims, [Document("book.md", text.encode())])


def _single(texts: Sequence[str]) -> list[str]:
    """Return those that are one sentence, so that an answer of them has as many claims."""
    return [text for text in texts if len(sentences(text)) == 1 and text.endswith(".")]


def _read(url: str, content: bytes, media_type: str) -> Page:
    return make_page(url, "web", extract(content, media_type, url))

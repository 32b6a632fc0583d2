"""This project's own way: the response's claims, the passages of the context nearest to each, and their verdicts."""

from __future__ import annotations

import hashlib
import threading

from attribution.chunkers import CHUNKERS, Chunker
from attribution.embedders import EMBEDDERS, Embedder
from attribution.evaluation.groundedness import Given, Part, Scored
from attribution.pipeline.claims import annotate, segment
from attribution.pipeline.judge import GivenClaim, JudgedClaim, judge
from attribution.registry import build
from attribution.retrieval.index import Index
from attribution.settings import Settings
from attribution.types import Chunk, LlmUsage, Page, content_id
from attribution.verifiers import VERIFIERS, Verifier, usage_of


class Pipeline:
    """Method `pipeline`, with the segmenter, chunker, embedder, verifier and thresholds of the settings.

    Claims that are not check-worthy do not count; a response without any other claim is grounded.
    """

    aggregation = "minimum: of the claims' support; share: of the checked claims that are supported"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._chunker: Chunker = build(CHUNKERS, settings.chunker, settings, "chunker")
        self._embedder: Embedder = build(EMBEDDERS, settings.embedder, settings, "embedder")
        self._verifier: Verifier = build(VERIFIERS, settings.verifier, settings, "verifier")
        own = settings.model_dump(include={"segmenter", "chunker", "chunk_size", "chunk_overlap", "top_k"}, mode="json")
        thresholds = [str(t) for t in settings.thresholds]
        choices = content_id(*map(str, own.values()), *thresholds)
        self._segmentation: LlmUsage | None = None
        self.version = f"pipeline.1/{choices}/{self._embedder.version}/{self._verifier.version}"

    @property
    def usage(self) -> LlmUsage | None:
        return added(self._segmentation, usage_of(self._verifier))

    def score(self, given: Given, stop: threading.Event) -> Scored:
        segmented = segment(given.question, given.response, self._settings, stop)
        self._segmentation = added(self._segmentation, segmented.usage)
        annotated, _ = annotate(given.question, given.response, segmented.claims, (), None)
        claims = [c for c in annotated if c.checked]
        passages = self._passages(given, [c.statement for c in claims])
        judged = list(
            judge(
                [GivenClaim(c.statement, texts) for c, texts in zip(claims, passages, strict=True)],
                self._verifier,
                self._settings.thresholds,
            )
        )
        if not judged:
            return Scored({"minimum": 1.0, "share": 1.0})
        support = [_support(one) for one in judged]
        share = sum(one.verdict.label == "supported" for one in judged) / len(judged)
        parts = [
            Part(start=a, end=b, score=round(score, 6))
            for claim, score in zip(claims, support, strict=True)
            for a, b in claim.spans
        ]
        return Scored({"minimum": min(support), "share": share}, tuple(parts))

    def _passages(self, given: Given, statements: list[str]) -> list[tuple[str, ...]]:
        """The top_k chunks of the context nearest to each statement; all where there are no more."""
        chunks = [chunk for text in given.context for chunk in self._chunker.chunk(_page(text))]
        if len(chunks) <= self._settings.top_k or not statements:
            return [tuple(c.text for c in chunks)] * len(statements)
        index, texts = Index(), [c.text for c in chunks]
        vectors = self._embedder.embed(texts + statements)
        index.add(chunks, vectors[: len(texts)])
        found = [index.search(vectors[n : n + 1], self._settings.top_k, -1.0) for n in range(len(texts), len(vectors))]
        return [_texts([candidate.chunk for candidate in nearest]) for nearest in found]


def _texts(chunks: list[Chunk]) -> tuple[str, ...]:
    return tuple(c.text for c in chunks)


def _page(text: str) -> Page:
    sha = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Page(
        id=sha[:16], url="document:context", title="", site="", kind="document", fetched_at="", sha256=sha, text=text
    )


def _support(judged: JudgedClaim) -> float:
    """How surely the best passage entails the claim, at most as surely as no passage contradicts it."""
    entailed = max(e.probabilities.entailed for e in judged.evidence)
    against = judged.verdict.label in ("contradicted", "conflicting")
    return min(entailed, 1 - max(e.probabilities.contradicted for e in judged.evidence)) if against else entailed


def added(one: LlmUsage | None, other: LlmUsage | None) -> LlmUsage | None:
    """The use of both; None where neither asked a language model."""
    if one is None or other is None:
        return one or other
    costs = [u.cost for u in (one, other) if u.cost is not None]
    sums = {name: getattr(one, name) + getattr(other, name) for name in LlmUsage.model_fields if name != "cost"}
    return LlmUsage(**sums, cost=sum(costs) if costs else None)

"""Pages → chunks → vectors → the best passages of a claim → judged evidence; every model call through the store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attribution.chunkers import CHUNKERS, Chunker
from attribution.embedders import EMBEDDERS, Embedder
from attribution.registry import build
from attribution.retrieval.bm25 import Chunks
from attribution.retrieval.index import Candidate, Index
from attribution.retrieval.rank_fusion import reciprocal_ranks
from attribution.settings import Settings
from attribution.storage.store import Store
from attribution.types import Claim, Evidence, Failure, Judgement, Page, Pair, Provenance, Span, Trace, content_id
from attribution.verdicts import relation
from attribution.verifiers import VERIFIERS, Verifier

if TYPE_CHECKING:
    import numpy as np

DEPTH = 100  # chunks of which the nearest are chosen with their words in view
MAX_SIMILARITY_GAP = 0.3  # a passage whose cosine is so much below the nearest one's is about something else
DOCUMENTS = Trace("", "", "", "documents", 1)


class Judge:
    """A verifier whose judgements are kept in the store."""

    def __init__(self, verifier: Verifier, store: Store, judged: Iterable[str] = ()) -> None:
        """`judged` are keys that count as judged here, not as taken from the store."""
        self.verifier, self.store = verifier, store
        self.pairs = self.cached_pairs = 0
        self.keys: set[str] = set()  # of all that was asked
        self._judged = set(judged)

    def judge(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """One judgement for each (claim, evidence) or (claim, evidence, title), in order."""
        keys = [content_id(self.verifier.version, *pair) for pair in pairs]
        known = self.store.judgements(list(dict.fromkeys(keys)))
        new = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in known}
        if new:
            made = dict(zip(new, self.verifier.verify(list(new.values())), strict=True))
            self.store.put_judgements(made)
            known |= made
            self._judged.update(made)
        self.keys.update(keys)
        self.pairs += len(pairs)
        self.cached_pairs += sum(key not in self._judged for key in keys)
        return [known[key] for key in keys]

    def settle(self) -> None:
        """Count anew from here."""
        self.pairs = self.cached_pairs = 0
        self.keys.clear()

    def entailed(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The probability that the evidence of each pair entails its claim."""
        return [j.probabilities.entailed for j in self.judge(pairs)]


class Matcher:
    """The passages of one run's pages, held against its claims."""

    def __init__(self, settings: Settings, store: Store, question: str, judged: Iterable[str] = ()) -> None:
        self.settings, self.store, self.question = settings, store, question
        self.chunker: Chunker = build(CHUNKERS, settings.chunker, settings, "chunker")
        self.embedder: Embedder = build(EMBEDDERS, settings.embedder, settings, "embedder")
        self.judge = Judge(build(VERIFIERS, settings.verifier, settings, "verifier"), store, judged)
        self.pages: dict[str, Page] = {}
        self.traces: dict[str, list[Trace]] = defaultdict(list)
        self._index, self._words = Index(), Chunks()
        self._unembedded: list[Page] = []
        self.chunks = 0
        self._spans: dict[str, tuple[Span, ...]] = {}  # of the chunks, by page
        self._vector_keys: set[str] = set()

    def add(self, page: Page) -> bool:
        """Take a page in; False if the same text from the same address is there already."""
        if page.id in self.pages:
            return False
        self.pages[page.id] = page
        self._unembedded.append(page)
        return True

    def trace(self, traces: Iterable[Trace]) -> None:
        for trace in traces:
            self.traces[trace.page_id].append(trace)

    def embed(self) -> None:
        """Chunk and embed the pages that came since the last call."""
        cut = {page.id: self.chunker.chunk(page) for page in self._unembedded}
        self._spans |= {page_id: tuple((c.start, c.end) for c in chunks) for page_id, chunks in cut.items()}
        chunks = [chunk for of_page in cut.values() for chunk in of_page]
        self._unembedded = []
        if chunks:
            self._index.add(chunks, self._vectors([c.text for c in chunks]))
            self._words.add(chunks)
            self.chunks += len(chunks)

    def _vectors(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        import numpy as np

        keys = [content_id(self.embedder.version, text) for text in texts]
        self._vector_keys.update(keys)
        known = self.store.vectors(list(dict.fromkeys(keys)))
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            made = {
                k: np.asarray(v, dtype=np.float32).tobytes()
                for k, v in zip(new, self.embedder.embed(list(new.values())), strict=True)
            }
            self.store.put_vectors(made)
            known |= made
        return np.stack([np.frombuffer(known[key], dtype=np.float32) for key in keys])

    def settle(self) -> None:
        """All pages are there: from now on the pairs count that stand in the report, whichever page came first."""
        self.embed()
        self.judge.settle()

    def provenance(self, concerns: Mapping[str, Sequence[Failure]]) -> Provenance:
        """What a snapshot needs beyond the report, in a fixed order."""
        traces = {trace for of_page in self.traces.values() for trace in of_page}
        return Provenance(
            traces=tuple(sorted(traces, key=lambda t: (t.claim_id, t.page_id, t.searcher, t.query, t.rank))),
            concerns={claim_id: tuple(failures) for claim_id, failures in sorted(concerns.items()) if failures},
            chunks=dict(sorted(self._spans.items())),
            vectors=tuple(sorted(self._vector_keys)),
            judgements=tuple(sorted(self.judge.keys)),
        )

    def match(self, claims: Sequence[Claim]) -> list[tuple[Evidence, ...]]:
        """The evidence of each claim, nearest first; their pairs go to the verifier together."""
        self.embed()
        found = [self._candidates(claim) for claim in claims]
        pairs = [(claim, c) for claim, candidates in zip(claims, found, strict=True) for c in candidates]
        judged = iter(
            self.judge.judge([(claim.statement, c.chunk.text, self._title(c.chunk.page_id)) for claim, c in pairs])
        )
        return [
            tuple(self._evidence(claim, c, next(judged)) for c in candidates)
            for claim, candidates in zip(claims, found, strict=True)
        ]

    def _candidates(self, claim: Claim) -> list[Candidate]:
        if not len(self._index):
            return []
        queries = [claim.statement]
        if self.question and not claim.independent:
            queries.append(f"{self.question} {claim.statement}")
        top_k, hybrid = self.settings.top_k, self.settings.ranking == "hybrid"
        depth = max(top_k, DEPTH) if hybrid else top_k
        found = self._index.search(self._vectors(queries), depth, self.embedder.floor)
        near = [c for c in found if c.similarity >= found[0].similarity - MAX_SIMILARITY_GAP]
        if len(near) <= top_k:
            return near
        nearest = [c.chunk for c in near]
        score = reciprocal_ranks(((1.0, nearest), (1.0, self._words.ranked(claim.statement))))
        chosen = set(sorted(nearest, key=lambda chunk: -score[chunk])[:top_k])  # a stable sort: ties as by cosine
        return [c for c in near if c.chunk in chosen]

    def without_added(self, claim: Claim, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
        """The same pieces judged against the claim's own words, without those that enrichment added."""
        judged = self.judge.judge([(claim.text, e.text, self._title(e.page_id)) for e in evidence])
        threshold = self.settings.threshold
        return tuple(
            e.model_copy(update={"probabilities": j.probabilities, "relation": relation(j.probabilities, threshold)})
            for e, j in zip(evidence, judged, strict=True)
        )

    def _title(self, page_id: str) -> str:
        return self.pages[page_id].title

    def _evidence(self, claim: Claim, candidate: Candidate, judgement: Judgement) -> Evidence:
        chunk, (first, last) = candidate.chunk, judgement.sentence
        traces = self.traces[chunk.page_id] or [DOCUMENTS]
        trace = min(traces, key=lambda t: (t.claim_id != claim.id, t.rank, t.query, t.searcher))
        return Evidence(
            claim_id=claim.id,
            page_id=chunk.page_id,
            start=chunk.start,
            end=chunk.end,
            text=chunk.text,
            similarity=candidate.similarity,
            relation=relation(judgement.probabilities, self.settings.threshold),
            probabilities=judgement.probabilities,
            sentence=(chunk.start + first, chunk.start + last),
            query=trace.query,
            searcher=trace.searcher,
            rank=trace.rank,
            signals=judgement.signals,
        )

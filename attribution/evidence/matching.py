"""Pages → chunks → vectors → the best passages of a claim → verified evidence; every model call goes via the store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from attribution.chunkers import CHUNKERS, Chunker
from attribution.claims.enrichment import added_words
from attribution.embedders import EMBEDDERS, Embedder
from attribution.provenance import Provenance, Trace
from attribution.registry import build
from attribution.retrieval.bm25 import Chunks
from attribution.retrieval.index import Candidate, Index
from attribution.retrieval.rank_fusion import reciprocal, reciprocal_ranks
from attribution.retrieval.shortlist import SAMPLE, Shortlist, sample
from attribution.settings import Settings
from attribution.storage.store import Store
from attribution.text.differences import difference
from attribution.text.prose import prose
from attribution.text.sentences import sentences
from attribution.types import Chunk, Claim, Evidence, Failure, Judgement, Page, Pair, Probabilities, Span, content_id
from attribution.verdicts import relation
from attribution.verifiers import VERIFIERS
from attribution.verifiers.cached import CachedVerifier

if TYPE_CHECKING:
    import numpy as np

DEPTH = 100  # nearest chunks that are ranked again with their words in view
MAX_SIMILARITY_GAP = 0.3  # a passage whose cosine is this much below the nearest one's is about something else
DOCUMENTS = Trace("", "", "", "documents", 1)


class Passage(NamedTuple):
    """A chunk as the verifier reads it, in its context."""

    page_id: str
    start: int
    end: int
    text: str
    similarity: float  # of the chunk


def with_context(text: str, start: int, end: int, limit: int) -> Span:
    """The chunk `text[start:end]` with the sentence before it, or with the rest of the sentence that it begins in.

    Only within its line, and if both together have at most `limit` characters: the verifier is less sure of long
    passages, and reading more context made verdicts on the examples worse (docs/measurements.md).
    """
    line = text.rfind("\n", 0, start) + 1
    first = max(line, end - limit)
    starts = [first + a for a, _ in sentences(text[first:end]) if first + a < start]
    if first > line:
        starts = starts[1:]  # the first one may begin in the middle of a sentence
    return (starts[-1] if starts else start), end


class Matcher:
    """The passages of one run's pages, compared with its claims."""

    def __init__(self, settings: Settings, store: Store, question: str, judged: Iterable[str] = ()) -> None:
        """`judged` are keys of judgements that count as made in this run.

        Raises UnknownName or Unavailable for a chunker, embedder or verifier that cannot be used.
        """
        self.settings, self.store, self.question = settings, store, question
        self.chunker: Chunker = build(CHUNKERS, settings.chunker, settings, "chunker")
        self.embedder: Embedder = build(EMBEDDERS, settings.embedder, settings, "embedder")
        self.verifier = CachedVerifier(build(VERIFIERS, settings.verifier, settings, "verifier"), store, judged)
        self.pages: dict[str, Page] = {}
        self.traces: dict[str, list[Trace]] = defaultdict(list)
        self._words = Chunks()
        self._sample: list[Chunk] = []  # of all chunks; empty: not drawn yet
        self._index = Index()  # of all chunks, where none is left out beforehand
        self._unread: list[Page] = []
        self._unindexed: list[Chunk] = []
        self._chunk_spans: dict[str, tuple[Span, ...]] = {}  # by page
        self._known: dict[str, bytes] = {}  # vectors that were read or computed, float32, by key

    @property
    def chunks(self) -> int:
        """How many passages the pages have."""
        return sum(map(len, self._chunk_spans.values()))

    def add(self, page: Page) -> bool:
        """Add a page; False if the same text from the same address is there already."""
        if page.id in self.pages:
            return False
        self.pages[page.id] = page
        self._unread.append(page)
        return True

    def trace(self, traces: Iterable[Trace]) -> None:
        """Record how pages were found."""
        for trace in traces:
            self.traces[trace.page_id].append(trace)

    def chunk(self) -> None:
        """Chunk the pages added since the last call."""
        by_page = {page.id: self.chunker.chunk(page) for page in self._unread}
        self._chunk_spans |= {page_id: tuple((c.start, c.end) for c in chunks) for page_id, chunks in by_page.items()}
        self._unread = []
        # a chunk of nothing but addresses, references, navigation and headings is evidence of nothing
        chunks = [c for of_page in by_page.values() for c in of_page if not self._premise(c)[0].isspace()]
        self._words.add(chunks)
        if chunks:
            self._sample = []
        self._unindexed += chunks

    def _vectors(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        import numpy as np

        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        keys = [content_id(self.embedder.version, text) for text in texts]
        self._known |= self.store.vectors([key for key in dict.fromkeys(keys) if key not in self._known])
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if new:
            rows = np.asarray(self.embedder.embed(list(new.values())), dtype=np.float32)
            computed = {key: row.tobytes() for key, row in zip(new, rows, strict=True)}
            self.store.put_vectors(computed)
            self._known |= computed
        return np.stack([np.frombuffer(self._known[key], dtype=np.float32) for key in keys])

    def settle(self) -> None:
        """All pages are there: from now on the verified pairs count, whichever page came first."""
        self.chunk()
        self.verifier.reset_counts()

    def provenance(self, concerns: Mapping[str, Sequence[Failure]]) -> Provenance:
        """What a snapshot needs beyond the report, in a fixed order; `concerns` are failures by claim."""
        traces = {trace for of_page in self.traces.values() for trace in of_page}
        return Provenance(
            traces=tuple(sorted(traces, key=lambda t: (t.claim_id, t.page_id, t.searcher, t.query, t.rank))),
            concerns={claim_id: tuple(failures) for claim_id, failures in sorted(concerns.items()) if failures},
            chunks=dict(sorted(self._chunk_spans.items())),
            vectors=tuple(sorted(self._known)),
            judgements=tuple(sorted(self.verifier.keys)),
        )

    def match(self, claims: Sequence[Claim], early: bool = False) -> list[tuple[Evidence, ...]]:
        """The evidence of each claim, nearest first; `early` while other pages are still under way.

        All pairs go to the verifier together, those of an enriched claim as written included.
        """
        self.chunk()
        by_words = [self._words.ranked(claim.statement) for claim in claims]
        chosen = [self._shortlist(ranked, early) for ranked in by_words]
        self._vectors([c.text for short in chosen if short for c in short.chunks])  # those of all claims together
        candidates = map(self._candidates, claims, by_words, chosen)
        matched = [
            (claim, self._passage(c)) for claim, of_claim in zip(claims, candidates, strict=True) for c in of_claim
        ]
        pairs: list[Pair] = [(claim.statement, *self._premise(p)) for claim, p in matched]
        again = [i for i, (claim, _) in enumerate(matched) if self.settings.without_added and added_words(claim)]
        pairs += [(claim.text, *self._premise(p)) for claim, p in (matched[i] for i in again)]
        judgements = self.verifier.verify(pairs)
        as_written = {i: j.probabilities for i, j in zip(again, judgements[len(matched) :], strict=True)}
        evidence: dict[str, list[Evidence]] = {claim.id: [] for claim in claims}
        for i, (claim, passage) in enumerate(matched):
            evidence[claim.id].append(self._evidence(claim, passage, judgements[i], as_written.get(i)))
        return [tuple(evidence[claim.id]) for claim in claims]

    def _shortlist(self, ranked: Sequence[Chunk], early: bool) -> Shortlist | None:
        """The chunks that are embedded for a claim: of many, those that share most words with it; None: all chunks.

        Chunks far down one of two rankings are hardly ever among the best of both (docs/retrieval.md has the share).
        Early, no others are embedded: the sample changes with every page.
        """
        most = self.settings.shortlist
        few = len(self._words) <= most + SAMPLE
        if not most or few or self.settings.ranking == "vectors":
            return None
        best, held = ranked[:most], set(ranked[:most])
        if not early:
            self._sample = self._sample or sample(self._words.chunks)
        others = [] if early else [chunk for chunk in self._sample if chunk not in held]
        return Shortlist(best, others, len(self._words) - len(best))

    def _nearest(self, queries: Sequence[str], short: Shortlist | None, depth: int) -> list[tuple[Candidate, float]]:
        """Chunks with their ranks by similarity, nearest first: the nearest `depth`, or the shortlist's, estimated."""
        if short is None:
            self._index.add(self._unindexed, self._vectors([c.text for c in self._unindexed]))
            self._unindexed, index = [], self._index
            found = index.search(self._vectors(queries), depth, self.embedder.floor) if len(index) else []
            return [(candidate, rank) for rank, candidate in enumerate(found, 1)]
        index, chunks = Index(), short.chunks
        index.add(chunks, self._vectors([c.text for c in chunks]))
        found = index.search(self._vectors(queries), len(chunks), floor=-1.0)
        ranks = short.ranks({c.chunk: c.similarity for c in found})
        return [(c, ranks[c.chunk]) for c in found if c.similarity >= self.embedder.floor]

    def _candidates(self, claim: Claim, by_words: Sequence[Chunk], short: Shortlist | None) -> list[Candidate]:
        queries = [claim.statement]
        if self.question and not claim.independent:
            queries.append(f"{self.question} {claim.statement}")
        top_k, hybrid = self.settings.top_k, self.settings.ranking == "hybrid"
        found = self._nearest(queries, short, max(top_k, DEPTH) if hybrid else top_k)
        near = [(c, rank) for c, rank in found if c.similarity >= found[0][0].similarity - MAX_SIMILARITY_GAP]
        score = reciprocal_ranks(((1.0, by_words if hybrid else ()),))
        # a stable sort: ties as by cosine
        best = sorted(near, key=lambda of: -(reciprocal(of[1]) + score[of[0].chunk]))[:top_k]
        chosen = {candidate.chunk for candidate, _ in best}
        return [candidate for candidate, _ in near if candidate.chunk in chosen]

    def _passage(self, candidate: Candidate) -> Passage:
        """A chunk in its context."""
        chunk, text = candidate.chunk, self.pages[candidate.chunk.page_id].text
        start, end = with_context(text, chunk.start, chunk.end, self.settings.chunk_size)
        return Passage(chunk.page_id, start, end, text[start:end], candidate.similarity)

    def _premise(self, passage: Chunk | Passage) -> tuple[str, str]:
        """What the verifier reads: the passage with the lines that state nothing blanked, and its page's title."""
        page = self.pages[passage.page_id]
        return prose(page.text)[passage.start : passage.end], page.title

    def _evidence(
        self, claim: Claim, passage: Passage, judgement: Judgement, as_written: Probabilities | None
    ) -> Evidence:
        first, last = judgement.sentence
        traces = self.traces[passage.page_id] or [DOCUMENTS]
        trace = min(traces, key=lambda t: (t.claim_id != claim.id, t.rank, t.query, t.searcher))
        return Evidence(
            claim_id=claim.id,
            page_id=passage.page_id,
            start=passage.start,
            end=passage.end,
            text=passage.text,
            similarity=passage.similarity,
            relation=relation(judgement.probabilities, self.settings.thresholds),
            probabilities=judgement.probabilities,
            sentence=(passage.start + first, passage.start + last),
            query=trace.query,
            searcher=trace.searcher,
            rank=trace.rank,
            signals=judgement.signals,
            as_written=as_written,
            difference=difference(claim.statement, passage.text[first:last], judgement.probabilities),
        )

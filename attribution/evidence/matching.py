"""The passages of a run's pages: chunks, the best ones for each claim, and what they say."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING

from attribution.embedders import EMBEDDERS
from attribution.embedders.minilm import embed_statically
from attribution.evidence.judging import PlacedPassage, Reading, read
from attribution.evidence.origins import Origins
from attribution.evidence.search import queries as search_queries
from attribution.evidence.steps import prose
from attribution.retrieval.bm25 import Chunks
from attribution.retrieval.chunkers import CHUNKERS, with_context
from attribution.retrieval.index import (
    CONSTANT,
    Candidate,
    Index,
    reciprocal,
)
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.tables import key_of
from attribution.text.words import shared_words, words_of
from attribution.types import (
    Chunk,
    Claim,
    Evidence,
    Failure,
    Page,
    Provenance,
    Trace,
    content_id,
)
from attribution.verdicts import DecisionPolicy
from attribution.verifiers import VERIFIERS
from attribution.verifiers.reader import CachedVerifier

if TYPE_CHECKING:
    from attribution.retrieval.bm25 import Numbers
    from attribution.retrieval.index import Vectors

DOCUMENTS = Trace("", "", "", "documents", 1)
CHOSEN = 5  # passages of a claim that `shortlist` is meant for; for more it grows in proportion
SAME_ORIGIN = 2  # of CHOSEN, unless there are no others: else one page's repetitions take all
EARLY = 2  # passages of a claim that are read while others are still being fetched
NEAR = 0.8  # of the similarity of the best passage, or of the words it shares: see `worth_reading`
MOST_REPEATING = 50  # chunks with most words of the claim that may repeat it
REPEATED = 1.0  # what that adds to a score: more than both ranks together
OriginIds = Mapping[str, str]  # the origin of a page by its id; empty for a page without copies


def worth_reading(claim: Claim, passages: Sequence[PlacedPassage]) -> list[PlacedPassage]:
    """Leave out passages that are far from the claim and lack its words, compared with the best.

    They hardly ever decide.

    Args:
        claim: The claim.
        passages: Its passages, nearest first.
    """
    shares = [shared_words(claim.statement, passage.text) for passage in passages]
    return [
        passage
        for passage, share in zip(passages, shares, strict=True)
        if passage.similarity >= NEAR * passages[0].similarity or share >= NEAR * max(shares)
    ]


class Matcher:
    """The passages of a run's pages, compared with its claims."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        question: str,
        answer: str = "",
    ) -> None:
        """Build chunker, embedder and verifier.

        Args:
            settings: Those of the run.
            store: Keeps vectors and judgements.
            question: The question of the run; may be empty.
            answer: Web pages that publish it don't count.

        Raises:
            UnknownName: One of them is not in its table.
            Unavailable: One of them cannot be used.
        """
        self.settings = settings
        self.question = question
        self.chunker = CHUNKERS.chosen(settings)
        self.candidates = Candidates(settings, store)
        self.policy = DecisionPolicy.of(dict(settings))
        self.verifier = CachedVerifier(VERIFIERS.chosen(settings), store)
        self.pages: dict[str, Page] = {}
        self.traces: dict[str, list[Trace]] = defaultdict(list)
        self._unread: deque[Page] = deque()
        self._finding = threading.Lock()
        self._prose: dict[str, str] = {}
        self.chunks = 0
        self._origins = Origins(answer, question)
        self._marked: dict[str, Page] = {}  # the pages with their origins, as far as determined

    def add(self, page: Page) -> bool:
        """Add a page; return False if the same text from the same address was added already."""
        if page.id in self.pages:
            return False
        self.pages[page.id] = page
        self._unread.append(page)
        return True

    def trace(self, traces: Iterable[Trace]) -> None:
        """Record how pages were found."""
        for trace in traces:
            self.traces[trace.page_id].append(trace)

    def chunk(self, stop: threading.Event | None = None) -> None:
        """Chunk the pages added since the last call.

        If `stop` is set, finish only the current one.
        """
        while self._unread and not (stop and stop.is_set()):
            page = self._unread.popleft()
            chunks = self.chunker.chunk(page)
            self.chunks += len(chunks)
            if self.policy.has("prose"):  # chunks that state nothing are not evidence
                stated = self._prose[page.id] = prose(page.text)
                chunks = [c for c in chunks if not stated[c.start : c.end].isspace()]
            self.candidates.add(chunks)

    def settle(self, stop: threading.Event) -> None:
        """Mark all pages as added: from now on, verified pairs count in any order of pages."""
        self.chunk(stop)
        self.verifier.reset_counts()

    def provenance(self, concerns: Mapping[str, Sequence[Failure]]) -> Provenance:
        """Return how the evidence was found, in a fixed order.

        Args:
            concerns: Failures by claim.
        """
        traces = sorted(set[Trace]().union(*self.traces.values()))
        failures = {claim_id: tuple(some) for claim_id, some in sorted(concerns.items()) if some}
        return Provenance(traces=tuple(traces), concerns=failures)

    def match(self, claims: Sequence[Claim]) -> list[tuple[Evidence, ...]]:
        """Return the evidence for each claim."""
        return self.judge(claims, self.find(claims))

    def find(self, claims: Sequence[Claim], early: bool = False) -> list[list[Candidate]]:
        """Return the chunks to judge each claim by, best first.

        Safe to call from several threads.

        Args:
            claims: The claims.
            early: Other pages are still being fetched.
        """
        with self._finding:
            self.chunk()
            origins = {} if early else {page.id: page.origin for page in self.marked.values()}
            best = self.candidates.best(claims, self.question, origins)
        return [of_claim[:EARLY] for of_claim in best] if early else best

    def judge(
        self, claims: Sequence[Claim], candidates: Sequence[Sequence[Candidate]]
    ) -> list[tuple[Evidence, ...]]:
        """Return the evidence in the chunks found for each claim.

        Args:
            claims: The claims.
            candidates: As `find` returns them.
        """
        cases: list[Reading] = []
        for claim, of_claim in zip(claims, candidates, strict=True):
            passages = [self._passage(claim, candidate) for candidate in of_claim]
            if self.policy.has("near"):
                passages = worth_reading(claim, passages)
            cases.append(Reading(claim, passages))
        question = self.question if self.verifier.reads_question else ""
        return read(cases, self.verifier, self.policy, question)

    @property
    def marked(self) -> dict[str, Page]:
        """The pages with their origins, by id, determined before anything is decided."""
        if len(self._marked) < len(self.pages):
            pages = self._origins.marked(list(self.pages.values()))
            self._marked = {page.id: page for page in pages}
        return self._marked

    def _passage(self, claim: Claim, candidate: Candidate) -> PlacedPassage:
        """Return a chunk in its context."""
        chunk = candidate.chunk
        page = self.marked[chunk.page_id]
        start, end = chunk.start, chunk.end
        if self.policy.has("context"):
            start, end = with_context(page.text, start, end)
        traces = self.traces[page.id] or [DOCUMENTS]
        trace = min(traces, key=lambda t: (t.claim_id != claim.id, t.rank, t.query, t.searcher))
        return PlacedPassage(
            page=page,
            start=start,
            end=end,
            similarity=candidate.similarity,
            query=trace.query,
            searcher=trace.searcher,
            rank=trace.rank,
            prose=self._prose.get(page.id, ""),
        )


# --- the best chunks for a claim ---


def spread(ranked: Iterable[Chunk], k: int, origins: OriginIds | None) -> list[Chunk]:
    """Return the k best chunks, of which at most two in five are of one origin.

    More of one origin are returned only for want of others.

    Args:
        ranked: Chunks, best first.
        k: The number of chunks.
        origins: By page; without it, nothing is limited.
    """
    most = k if origins is None else ceil(k * SAME_ORIGIN / CHOSEN)
    taken: Counter[str] = Counter()
    selected: list[Chunk] = []
    spare: list[Chunk] = []
    for chunk in ranked:
        origin = (origins or {}).get(chunk.page_id) or chunk.page_id
        taken[origin] += 1
        if taken[origin] > most:
            spare.append(chunk)
            continue
        selected.append(chunk)
        if len(selected) == k:
            break
    return [*selected, *spare][:k]


class Candidates:
    """The chunks of a run's pages."""

    def __init__(self, settings: Settings, store: Store) -> None:
        """Build the embedder. Raises UnknownName or Unavailable if it cannot be used."""
        self.embedder = EMBEDDERS.chosen(settings)
        self._settings, self._store = settings, store
        self._words = Chunks()
        self._static = embed_statically(())  # of the first chunks
        self._known: dict[str, bytes] = {}  # vectors that were read or computed, float32, by key

    def add(self, chunks: Sequence[Chunk]) -> None:
        """Add the chunks of a page."""
        self._words.add(chunks)

    def best(
        self,
        claims: Sequence[Claim],
        question: str,
        origins: OriginIds | None,
    ) -> list[list[Candidate]]:
        """Return the `top_k` chunks of each claim, nearest first.

        Args:
            claims: The claims.
            question: The question of the run, for claims that depend on it.
            origins: Pages of one origin share their places, except in the ranking by vectors alone
                (V24).
        """
        if self._settings.ranking == "vectors":
            origins = None
            queries = [[claim.statement] for claim in claims]  # the claim alone (V24 4.3)
        else:
            queries = [
                [*search_queries(claim, question, "enriched"), claim.statement] for claim in claims
            ]
        ranked = [self._words.ranked(texts[0]) for texts in queries]
        shortlists = self._shortlists(queries, ranked, origins)
        shown: dict[str, None] = {}
        for shortlist in shortlists:
            shown |= dict.fromkeys(chunk.text for chunk in shortlist)
        if shown:
            self._vectors(list(shown))  # those of all claims together
        best: list[list[Candidate]] = []
        for of_claim in zip(queries, ranked, shortlists, strict=True):
            best.append(self._best(*of_claim, origins))
        return best

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts (at least one), computed once and kept in the store."""
        import numpy as np

        version = key_of(self.embedder)
        keys = [content_id(version, text) for text in texts]
        missing = [key for key in dict.fromkeys(keys) if key not in self._known]
        self._known |= self._store.cache.values("vector", missing)
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if new:
            rows = np.asarray(self.embedder.embed(list(new.values())), dtype=np.float32)
            computed = {key: row.tobytes() for key, row in zip(new, rows, strict=True)}
            self._store.cache.put("vector", computed)
            self._known |= computed
        return np.stack([np.frombuffer(self._known[key], dtype=np.float32) for key in keys])

    def _shortlists(
        self,
        queries: Sequence[Sequence[str]],
        ranked: Sequence[Numbers],
        origins: OriginIds | None,
    ) -> list[Sequence[Chunk]]:
        """Return the chunks to embed for each claim: the best by words and static vectors.

        Args:
            queries: The texts of each claim.
            ranked: The chunks that share words with each claim, best first.
            origins: As in `spread`.
        """
        import numpy as np

        most = self._settings.shortlist * ceil(self._settings.top_k / CHOSEN)
        chunks = self._words.chunks
        if not most or len(chunks) <= most or self._settings.ranking == "vectors":
            return [chunks] * len(queries)
        new = embed_statically([chunk.text for chunk in chunks[len(self._static) :]])
        self._static = np.concatenate([self._static, new])
        places = self._words.places
        of_ranks = 1 / (CONSTANT + np.arange(1, len(chunks) + 1))
        shortlists: list[Sequence[Chunk]] = []
        for claim_queries, of_claim in zip(queries, ranked, strict=True):
            # on this thread alone: those of BLAS cost more than the product
            cosines = np.einsum("cd,qd->cq", self._static, embed_statically(claim_queries))
            # rounded, since a product may depend on the rows beside it in the last digits
            similar = cosines.max(axis=1).round(4)
            scores = np.empty(len(chunks))
            scores[np.lexsort((places, -similar))] = of_ranks
            scores[of_claim] += of_ranks[: len(of_claim)]
            scores[self._repeating(claim_queries[-1], of_claim)] += REPEATED
            best = np.lexsort((places, scores))[::-1]
            shortlists.append(spread((chunks[number] for number in best), most, origins))
        return shortlists

    def _best(
        self,
        queries: Sequence[str],
        ranked: Numbers,
        shortlist: Sequence[Chunk],
        origins: OriginIds | None,
    ) -> list[Candidate]:
        """Return the `top_k` chunks of a claim with the highest scores, nearest first.

        Args:
            queries: The claim with what it depends on, and last alone.
            ranked: All chunks that share words with it, best first.
            shortlist: The chunks to compare it with.
            origins: As in `spread`.
        """
        if not shortlist:
            return []
        index = Index()
        index.add(shortlist, self._vectors([chunk.text for chunk in shortlist]))
        nearest = index.search(self._vectors(queries), len(index))
        scores = {candidate.chunk: reciprocal(n) for n, candidate in enumerate(nearest, 1)}
        if self._settings.ranking == "hybrid":
            repeating = self._repeating(queries[-1], ranked)
            for n, number in enumerate(ranked.tolist(), 1):
                chunk = self._words.chunks[number]
                if chunk in scores:
                    scores[chunk] += reciprocal(n) + REPEATED * (number in repeating)
        in_order = sorted(scores, key=scores.__getitem__, reverse=True)  # stable: ties as by cosine
        selected = set(spread(in_order, self._settings.top_k, origins))
        return [candidate for candidate in nearest if candidate.chunk in selected]

    def _repeating(self, claim: str, ranked: Numbers) -> list[int]:
        """Return the chunks that repeat the claim, among those that share most words with it."""
        wanted = f" {' '.join(words_of(claim))} "
        repeating = []
        for number in ranked[:MOST_REPEATING].tolist():
            if wanted in f" {' '.join(words_of(self._words.chunks[number].text))} ":
                repeating.append(number)
        return repeating

"""Find the best chunks of a run's pages for a claim; vectors are kept in the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from attribution.claims.context import named_by_context
from attribution.embedders import EMBEDDERS, key_of
from attribution.embedders.static import embed_statically
from attribution.retrieval.bm25 import Chunks
from attribution.retrieval.index import Candidate, Index, rank_among, reciprocal, reciprocal_ranks
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.words import share_terms, shared_words, words_of
from attribution.types import Chunk, Claim, content_id

if TYPE_CHECKING:
    from attribution.retrieval.index import Vectors

CHOSEN = 5  # passages of a claim that `shortlist` is meant for; for more it grows in proportion
# of them at most, unless there are no others: else a page that repeats itself takes all places
SAME_ORIGIN = 2
DEPTH = 100  # nearest chunks, and those with most words of the claim
Origins = Mapping[
    str, str
]  # the origin of a page by its id; empty, or missing, for a page without copies
MAX_SIMILARITY_GAP = (
    0.3  # a passage whose cosine is this much below the nearest one's is about something else
)
SHARED = 0.5  # of the claim's words: a chunk that has them is about the claim, whatever its cosine


@dataclass(frozen=True)
class Ranking:
    """Candidate evidence for a claim, ranked by similarity and by words."""

    near: Sequence[Candidate]  # nearest first
    rank: Callable[[float], float]  # by similarity, among all chunks
    by_words: Mapping[Chunk, float]  # what the words of a chunk add to its score

    def best(self, k: int, origins: Origins | None = None) -> list[Candidate]:
        """Return the k candidates with the highest scores, nearest first; with `origins`, few of
        each.
        """
        ranked = sorted(
            self.near, key=lambda c: -self._score(c)
        )  # a stable sort: ties as by cosine
        chosen = set(spread([candidate.chunk for candidate in ranked], k, origins))
        return [candidate for candidate in self.near if candidate.chunk in chosen]

    def _score(self, candidate: Candidate) -> float:
        return reciprocal(self.rank(candidate.similarity)) + self.by_words.get(candidate.chunk, 0.0)


def spread(ranked: Sequence[Chunk], k: int, origins: Origins | None) -> list[Chunk]:
    """Return the k best chunks with at most two in five of one origin, and others of it only for
    want of others.
    """
    most = k if origins is None else ceil(k * SAME_ORIGIN / CHOSEN)
    taken: Counter[str] = Counter()
    first: list[Chunk] = []
    later: list[Chunk] = []
    for chunk in ranked:
        origin = (origins or {}).get(chunk.page_id) or chunk.page_id
        taken[origin] += 1
        (first if taken[origin] <= most else later).append(chunk)
    return [*first, *later][:k]


class Candidates:
    """The chunks of a run's pages."""

    def __init__(self, settings: Settings, store: Store) -> None:
        """Build the embedder. Raises UnknownName or Unavailable if it cannot be used."""
        self.embedder = EMBEDDERS.build(settings.embedder, settings)
        self._settings, self._store = settings, store
        self._words = Chunks()
        self._static = embed_statically(())  # of the first chunks
        self._index = Index()  # of all chunks, where none is left out beforehand
        self._unindexed: list[Chunk] = []
        self._known: dict[str, bytes] = {}  # vectors that were read or computed, float32, by key

    def add(self, chunks: Sequence[Chunk]) -> None:
        self._words.add(chunks)
        self._unindexed += chunks

    def best(
        self,
        claims: Sequence[Claim],
        question: str,
        early: bool = False,
        origins: Origins | None = None,
    ) -> list[list[Candidate]]:
        """Return the `top_k` chunks of each claim, nearest first; `early` while other pages are
        still under way.

        Pages with the same one of the `origins` share their places, except in the ranking by
        vectors alone (V24).
        """
        origins = None if self._settings.ranking == "vectors" else origins or {}
        queries = [_queries(claim, question) for claim in claims]
        by_words = [
            self._words.ranked(f"{named_by_context(claim)} {claim.statement}".strip())
            for claim in claims
        ]
        chosen = self._shortlists(queries, by_words, early, origins)
        # those of all claims together
        self._vectors([c.text for shortlist in chosen if shortlist for c in shortlist])
        rankings = [
            self._ranking(*of_claim) for of_claim in zip(queries, by_words, chosen, strict=True)
        ]
        return [ranking.best(self._settings.top_k, origins) for ranking in rankings]

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        keys = [content_id(key_of(self.embedder), text) for text in texts]
        self._known |= self._store.cache.vectors(
            [key for key in dict.fromkeys(keys) if key not in self._known]
        )
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if new:
            rows = np.asarray(self.embedder.embed(list(new.values())), dtype=np.float32)
            computed = {key: row.tobytes() for key, row in zip(new, rows, strict=True)}
            self._store.cache.put_vectors(computed)
            self._known |= computed
        return np.stack([np.frombuffer(self._known[key], dtype=np.float32) for key in keys])

    def _shortlists(
        self,
        queries: Sequence[Sequence[str]],
        by_words: Sequence[Sequence[Chunk]],
        early: bool,
        origins: Origins | None,
    ) -> list[list[Chunk] | None]:
        """Return the chunks to embed for each claim: of many, the best by words and by static
        vectors; None: all.

        If `early`, only half as many, since not all of them stay.
        """
        import numpy as np

        most = self._settings.shortlist * ceil(self._settings.top_k / CHOSEN)
        most = ceil(most / 2) if early else most
        chunks = self._words.chunks
        if not most or len(chunks) <= most or self._settings.ranking == "vectors":
            return [None] * len(queries)
        new = embed_statically([chunk.text for chunk in chunks[len(self._static) :]])
        self._static = np.concatenate([self._static, new])
        shortlists: list[list[Chunk] | None] = []
        for claim_queries, ranked in zip(queries, by_words, strict=True):
            cosines = self._static @ embed_statically(claim_queries).T
            # rounded, since a product may depend on the rows beside it in the last digits
            similar = cosines.max(axis=1).round(4).tolist()
            nearest = sorted(
                range(len(chunks)), key=lambda i: (-similar[i], chunks[i].page_id, chunks[i].start)
            )
            scores = reciprocal_ranks([(1.0, ranked), (1.0, [chunks[i] for i in nearest])])
            best = sorted(scores, key=lambda c: (scores[c], c.page_id, c.start), reverse=True)
            shortlists.append(spread(best, most, origins))
        return shortlists

    def _ranking(
        self, queries: Sequence[str], ranked: Sequence[Chunk], short: Sequence[Chunk] | None
    ) -> Ranking:
        if short is None:
            self._index.add(self._unindexed, self._vectors([c.text for c in self._unindexed]))
            # all that are ranked by words too, since one page may have the nearest DEPTH
            depth = (
                len(self._index)
                if self._settings.ranking == "hybrid"
                else max(self._settings.top_k, DEPTH)
            )
            self._unindexed, index = [], self._index
        else:
            index, depth = Index(), len(short)
            index.add(short, self._vectors([c.text for c in short]))
        found = index.search(self._vectors(queries), depth, floor=-1.0) if len(index) else []
        rank = rank_among([c.similarity for c in found])
        near = self._near(queries[0], found)
        hybrid = self._settings.ranking == "hybrid"
        score = reciprocal_ranks(((1.0, ranked if hybrid else ()),))
        if hybrid:
            score |= dict.fromkeys(
                _repeating(queries[0], ranked), 1.0
            )  # more than both ranks together
        return Ranking(near, rank, score)

    def _near(self, claim: str, found: Sequence[Candidate]) -> list[Candidate]:
        """Return the chunks that may be evidence, nearest first, without those about something
        else.

        A chunk with half of the claim's words stays whatever its similarity. If none is left, the
        nearest one that
        shares a word with the claim stays. If a run has at most `top_k` chunks, all of them stay.
        """
        if len(self._words) <= self._settings.top_k:
            return list(found)
        least = max(self.embedder.floor, found[0].similarity - MAX_SIMILARITY_GAP) if found else 0.0
        near = [
            c for c in found if c.similarity >= least or shared_words(claim, c.chunk.text) >= SHARED
        ]
        return near or [c for c in found if share_terms(claim, c.chunk.text)][:1]


def _repeating(claim: str, ranked: Sequence[Chunk]) -> Iterator[Chunk]:
    """Return the chunks that repeat the claim word for word, among those that share most words with
    it.
    """
    wanted = f" {' '.join(words_of(claim))} "
    return (chunk for chunk in ranked[:DEPTH] if wanted in f" {' '.join(words_of(chunk.text))} ")


def _queries(claim: Claim, question: str) -> list[str]:
    """Return the texts to compare chunks with: the claim, and with what it depends on if it does
    not stand alone.
    """
    context = named_by_context(claim)
    more = [
        f"{text} {claim.statement}"
        for text in (context, "" if claim.independent else question)
        if text
    ]
    return [claim.statement, *more]

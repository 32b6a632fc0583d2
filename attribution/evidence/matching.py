"""Match claims with pages: chunks, the best passages for each claim, and their judgements."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from attribution.claims.enrichment import added_words
from attribution.errors import BadInput
from attribution.evidence.candidates import Candidates
from attribution.evidence.compounds import with_predicates
from attribution.evidence.fact_checks import headline, with_rulings
from attribution.evidence.judging import (
    Judged,
    as_evidence,
    judge_pairs,
    read_plainly,
    relevance,
    weigh,
)
from attribution.evidence.origins import with_origins
from attribution.models import reranker
from attribution.models.reranker import Relevance
from attribution.provenance import Provenance, Trace
from attribution.retrieval.chunkers import CHUNKERS
from attribution.retrieval.index import Candidate
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.prose import prose
from attribution.text.sentences import sentences
from attribution.types import Chunk, Claim, Evidence, Failure, Page, Pair, Probabilities, Span
from attribution.verifiers import VERIFIERS, policy_of
from attribution.verifiers.pairs import CachedVerifier, check_pairs

DOCUMENTS = Trace("", "", "", "documents", 1)


class ChunkInContext(NamedTuple):
    """A chunk in the context that the verifier reads."""

    page_id: str
    start: int
    end: int
    text: str
    similarity: float  # of the chunk
    headline: bool = False  # of a fact check, which counts by it


def with_context(text: str, start: int, end: int, limit: int) -> Span:
    """Extend the chunk `text[start:end]` by the sentence before it, or by the rest of the sentence
    that it begins in.

    Only within its line, and only if both together have at most `limit` characters: the verifier is
    less confident on
    long passages, and more context made verdicts on the examples worse.
    """
    line = (
        text.rfind("\n", max(0, end - limit - 1), start) + 1
    )  # 0: the line begins before the part searched
    first = max(line, end - limit)
    starts = [first + a for a, _ in sentences(text[first:end]) if first + a < start]
    if first > line:
        starts = starts[1:]  # the first one may begin in the middle of a sentence
    return (starts[-1] if starts else start), end


def _distinct(passages: Iterable[ChunkInContext]) -> list[ChunkInContext]:
    """Return the passages, each once: all chunks of a fact check stand for its headline."""
    return list({(p.page_id, p.start, p.end): p for p in passages}.values())


class Matcher:
    """The passages of a run's pages, compared with its claims."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        question: str,
        judged: Iterable[str] = (),
        answer: str = "",
    ) -> None:
        """`judged` are the keys of judgements that count as made in this run; pages with the
        `answer` don't count.

        Raises UnknownName or Unavailable for a chunker, embedder or verifier that cannot be used.
        """
        self.settings, self.store, self.question, self.answer = settings, store, question, answer
        self.chunker = CHUNKERS.build(settings.chunker, settings)
        self.candidates = Candidates(settings, store)
        self.policy = policy_of(settings)
        self.verifier = CachedVerifier(VERIFIERS.build(settings.verifier, settings), store, judged)
        self.relevance = (
            CachedVerifier(Relevance(), store, judged)
            if self.policy.weighed_by_relevance and reranker.installed()
            else None
        )
        self.pages: dict[str, Page] = {}
        self.traces: dict[str, list[Trace]] = defaultdict(list)
        self._unread: deque[Page] = deque()
        self._finding = threading.Lock()
        self._chunk_spans: dict[str, tuple[Span, ...]] = {}  # by page
        self._prose: dict[str, str] = {}  # by page
        self._marked: dict[str, Page] = {}  # the pages with their origins, as far as determined
        self._plain = self.policy.decision == "plain"

    @property
    def chunks(self) -> int:
        """The number of passages in the pages."""
        return sum(map(len, self._chunk_spans.values()))

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
        """Chunk the pages added since the last call; if `stop` is set, finish only the current one."""
        while self._unread and not (stop and stop.is_set()):
            page = self._unread.popleft()
            chunks = self.chunker.chunk(page)
            self._chunk_spans[page.id] = tuple((c.start, c.end) for c in chunks)
            # a chunk of only addresses, references, navigation and headings is not evidence
            self.candidates.add([c for c in chunks if not self._premise(c)[0].isspace()])

    def settle(self, stop: threading.Event | None = None) -> None:
        """Mark all pages as added: from now on the verified pairs count, whichever page came first."""
        self.chunk(stop)
        self.verifier.reset_counts()
        if self.relevance:
            self.relevance.reset_counts()

    def provenance(self, concerns: Mapping[str, Sequence[Failure]]) -> Provenance:
        """Return what a snapshot needs beyond the report, in a fixed order; `concerns` are failures
        by claim.
        """
        traces = {trace for of_page in self.traces.values() for trace in of_page}
        return Provenance(
            traces=tuple(
                sorted(traces, key=lambda t: (t.claim_id, t.page_id, t.searcher, t.query, t.rank))
            ),
            concerns={
                claim_id: tuple(failures)
                for claim_id, failures in sorted(concerns.items())
                if failures
            },
            chunks=dict(sorted(self._chunk_spans.items())),
            vectors=self.candidates.vectors,
            judgements=tuple(
                sorted(self.verifier.keys | (self.relevance.keys if self.relevance else set()))
            ),
        )

    def match(self, claims: Sequence[Claim], early: bool = False) -> list[tuple[Evidence, ...]]:
        """Return the evidence for each claim, nearest first; `early` while other pages are still
        being fetched.
        """
        return self.judge(claims, self.find(claims, early))

    def find(self, claims: Sequence[Claim], early: bool = False) -> list[list[Candidate]]:
        """Return the chunks to judge each claim by. Other threads may find or judge those of other
        claims meanwhile.
        """
        with self._finding:
            self.chunk()
            origins = {} if early else {page.id: page.origin for page in self.marked.values()}
            return self.candidates.best(claims, self.question, early, origins)

    def judge(
        self, claims: Sequence[Claim], found: Sequence[Sequence[Candidate]]
    ) -> list[tuple[Evidence, ...]]:
        """Return the evidence in the chunks found for each claim, and for each predicate of one
        that it leaves open.
        """

        def read(parts: Sequence[tuple[int, str]]) -> list[tuple[Evidence, ...]]:
            of_parts = [
                claims[i].model_copy(update={"text": part, "enriched": None}) for i, part in parts
            ]
            near = zip(of_parts, self.find(of_parts) if of_parts else (), strict=True)
            return self._judge(
                of_parts, [[c for c in of_part if self.can_read(part, c)] for part, of_part in near]
            )

        return with_predicates(claims, self._judge(claims, found), self.policy, read)

    def _judge(
        self, claims: Sequence[Claim], found: Sequence[Sequence[Candidate]]
    ) -> list[tuple[Evidence, ...]]:
        """All pairs go to the verifier together, including those of an enriched claim as written."""
        asked = (self.question,) if self.verifier.reads_question else ()
        read = [
            (place, claim, passage)
            for place, (claim, of_claim) in enumerate(zip(claims, found, strict=True))
            for passage in _distinct(map(self._passage, of_claim))
        ]
        places, matched = (
            [place for place, *_ in read],
            [(claim, passage) for _, claim, passage in read],
        )
        pairs: list[Pair] = [
            (claim.statement, p.text, *asked)
            if self._plain
            else (claim.statement, *self._premise(p))
            for claim, p in matched
        ]
        without_added = self.settings.without_added and not self._plain
        again = [i for i, (claim, _) in enumerate(matched) if without_added and added_words(claim)]
        pairs += [(claim.text, *self._premise(p)) for claim, p in (matched[i] for i in again)]
        if self._plain:
            judged = read_plainly(pairs, self.verifier)
        else:
            judged = judge_pairs(pairs, self.verifier, self.verifier.uncounted)
            pages = [self.marked[p.page_id] for _, p in (*matched, *(matched[i] for i in again))]
            judged = with_rulings(pairs, judged, pages, self.verifier.uncounted)
        relevances = relevance(pairs[: len(matched)], judged[: len(matched)], self.relevance)
        written = dict(zip(again, judged[len(matched) :], strict=True))
        evidence: list[list[Evidence]] = [[] for _ in claims]
        for i, (claim, passage) in enumerate(matched):
            as_written = (
                weigh(written[i].judgement.probabilities, relevances[i]) if i in written else None
            )
            evidence[places[i]].append(
                self._evidence(claim, passage, pairs[i], judged[i], as_written, relevances[i])
            )
        return [tuple(pieces) for pieces in evidence]

    @property
    def marked(self) -> dict[str, Page]:
        """The pages with their origins, by id: determined here alone, before anything is decided."""
        if len(self._marked) < len(self.pages):
            found = with_origins(list(self.pages.values()), self.answer, self.question)
            self._marked = {page.id: page for page in found}
        return self._marked

    def can_read(self, claim: Claim, candidate: Candidate) -> bool:
        """Return False if the claim or the passage is too long for the verifier."""
        premise = self._premise(self._passage(candidate))
        try:
            check_pairs([(statement, *premise) for statement in {claim.statement, claim.text}])
        except BadInput:
            return False
        return True

    def _passage(self, candidate: Candidate) -> ChunkInContext:
        """Return a chunk in its context; a plain decision reads the chunk alone."""
        chunk, text = candidate.chunk, self.pages[candidate.chunk.page_id].text
        start, end = chunk.start, chunk.end
        own = None if self._plain else headline(self.marked[chunk.page_id])
        if own:
            start, end = own
        elif not self._plain:
            start, end = with_context(text, start, end, self.settings.chunk_size)
        return ChunkInContext(
            chunk.page_id, start, end, text[start:end], candidate.similarity, own is not None
        )

    def _premise(self, passage: Chunk | ChunkInContext) -> tuple[str, str]:
        """Return the verifier's input: the passage, with lines that state nothing blanked, and its
        page's title.
        """
        page = self.pages[passage.page_id]
        if isinstance(passage, ChunkInContext) and passage.headline:
            return passage.text, ""
        if page.id not in self._prose:
            self._prose[page.id] = prose(page.text)
        return self._prose[page.id][passage.start : passage.end], page.title

    def _evidence(
        self,
        claim: Claim,
        passage: ChunkInContext,
        pair: Pair,
        judged: Judged,
        as_written: Probabilities | None,
        relevance: float | None,
    ) -> Evidence:
        traces = self.traces[passage.page_id] or [DOCUMENTS]
        trace = min(traces, key=lambda t: (t.claim_id != claim.id, t.rank, t.query, t.searcher))
        evidence = as_evidence(
            claim.id,
            self.marked[passage.page_id],
            passage.text,
            passage.start,
            passage.similarity,
            pair,
            judged,
            relevance,
            claim.context,
            self.policy,
        )
        found = {
            "query": trace.query,
            "searcher": trace.searcher,
            "rank": trace.rank,
            "as_written": as_written,
        }
        return evidence.model_copy(update=found)

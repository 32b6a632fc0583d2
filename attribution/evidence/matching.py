"""Pages → chunks → the best passages of a claim → verified evidence; every model call goes via the store."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from attribution.chunkers import CHUNKERS, Chunker
from attribution.claims.enrichment import added_words
from attribution.evidence.about import is_about
from attribution.evidence.candidates import Candidates
from attribution.evidence.judging import Judged, explain_difference, judge_pairs
from attribution.provenance import Provenance, Trace
from attribution.registry import build
from attribution.retrieval.index import Candidate
from attribution.settings import Settings
from attribution.storage.store import Store
from attribution.text.prose import prose
from attribution.text.sentences import sentences
from attribution.types import Chunk, Claim, Evidence, Failure, Page, Pair, Probabilities, Span
from attribution.verdicts import relation
from attribution.verifiers import VERIFIERS
from attribution.verifiers.cached import CachedVerifier

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
    line = text.rfind("\n", max(0, end - limit - 1), start) + 1  # 0: it begins earlier than is looked at
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
        self.candidates = Candidates(settings, store)
        self.verifier = CachedVerifier(build(VERIFIERS, settings.verifier, settings, "verifier"), store, judged)
        self.pages: dict[str, Page] = {}
        self.traces: dict[str, list[Trace]] = defaultdict(list)
        self._unread: deque[Page] = deque()
        self._chunk_spans: dict[str, tuple[Span, ...]] = {}  # by page
        self._prose: dict[str, str] = {}  # by page

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

    def chunk(self, stop: threading.Event | None = None) -> None:
        """Chunk the pages added since the last call; where `stop` is set, none after the one at work."""
        while self._unread and not (stop and stop.is_set()):
            page = self._unread.popleft()
            chunks = self.chunker.chunk(page)
            self._chunk_spans[page.id] = tuple((c.start, c.end) for c in chunks)
            # a chunk of nothing but addresses, references, navigation and headings is evidence of nothing
            self.candidates.add([c for c in chunks if not self._premise(c)[0].isspace()])

    def settle(self, stop: threading.Event | None = None) -> None:
        """All pages are there: from now on the verified pairs count, whichever page came first."""
        self.chunk(stop)
        self.verifier.reset_counts()

    def provenance(self, concerns: Mapping[str, Sequence[Failure]]) -> Provenance:
        """What a snapshot needs beyond the report, in a fixed order; `concerns` are failures by claim."""
        traces = {trace for of_page in self.traces.values() for trace in of_page}
        return Provenance(
            traces=tuple(sorted(traces, key=lambda t: (t.claim_id, t.page_id, t.searcher, t.query, t.rank))),
            concerns={claim_id: tuple(failures) for claim_id, failures in sorted(concerns.items()) if failures},
            chunks=dict(sorted(self._chunk_spans.items())),
            vectors=self.candidates.vectors,
            judgements=tuple(sorted(self.verifier.keys)),
        )

    def match(self, claims: Sequence[Claim], early: bool = False) -> list[tuple[Evidence, ...]]:
        """The evidence of each claim, nearest first; `early` while other pages are still under way.

        All pairs go to the verifier together, those of an enriched claim as written included.
        """
        self.chunk()
        best = self.candidates.best(claims, self.question, early)
        matched = [(claim, self._passage(c)) for claim, of_claim in zip(claims, best, strict=True) for c in of_claim]
        pairs: list[Pair] = [(claim.statement, *self._premise(p)) for claim, p in matched]
        again = [i for i, (claim, _) in enumerate(matched) if self.settings.without_added and added_words(claim)]
        pairs += [(claim.text, *self._premise(p)) for claim, p in (matched[i] for i in again)]
        judged = judge_pairs(pairs, self.verifier, self.verifier.uncounted)
        as_written = {i: j.judgement.probabilities for i, j in zip(again, judged[len(matched) :], strict=True)}
        evidence: dict[str, list[Evidence]] = {claim.id: [] for claim in claims}
        for i, (claim, passage) in enumerate(matched):
            evidence[claim.id].append(self._evidence(claim, passage, pairs[i], judged[i], as_written.get(i)))
        return [tuple(evidence[claim.id]) for claim in claims]

    def _passage(self, candidate: Candidate) -> Passage:
        """A chunk in its context."""
        chunk, text = candidate.chunk, self.pages[candidate.chunk.page_id].text
        start, end = with_context(text, chunk.start, chunk.end, self.settings.chunk_size)
        return Passage(chunk.page_id, start, end, text[start:end], candidate.similarity)

    def _premise(self, passage: Chunk | Passage) -> tuple[str, str]:
        """What the verifier reads: the passage with the lines that state nothing blanked, and its page's title."""
        page = self.pages[passage.page_id]
        if page.id not in self._prose:
            self._prose[page.id] = prose(page.text)
        return self._prose[page.id][passage.start : passage.end], page.title

    def _evidence(
        self, claim: Claim, passage: Passage, pair: Pair, judged: Judged, as_written: Probabilities | None
    ) -> Evidence:
        judgement = judged.judgement
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
            about=is_about(*pair),
            signals=judgement.signals,
            parts=judged.parts,
            as_written=as_written,
            difference=explain_difference(pair, judged),
        )

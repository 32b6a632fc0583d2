"""The passages of a run's pages: chunks, the best ones for each claim, and what they say."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence

from attribution.evidence.candidates import Candidates
from attribution.evidence.judging import PlacedPassage, Reading, read
from attribution.evidence.origins import with_origins
from attribution.provenance import Provenance, Trace
from attribution.retrieval.chunkers import CHUNKERS
from attribution.retrieval.index import Candidate
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.prose import prose
from attribution.text.sentences import sentences
from attribution.types import Claim, Evidence, Failure, Page, Span
from attribution.verifiers import VERIFIERS, policy_of
from attribution.verifiers.pairs import CachedVerifier

SENTENCES_BEFORE = 2
READ_CHARACTERS = 900  # about what the reader reads in one pass
DOCUMENTS = Trace("", "", "", "documents", 1)


def with_context(text: str, start: int, end: int) -> Span:
    """Extend a chunk by the sentences before it, which often name what it is about.

    By `SENTENCES_BEFORE` at most, within its line, and as far as both have `READ_CHARACTERS`.
    """
    line = text.rfind("\n", max(0, end - READ_CHARACTERS - 1), start) + 1
    first = max(line, end - READ_CHARACTERS)
    starts = [first + a for a, _ in sentences(text[first:end]) if first + a < start]
    if first > line:
        starts = starts[1:]  # the first one may begin in the middle of a sentence
    before = starts[-SENTENCES_BEFORE:]
    return (before[0] if before else start), end


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
            answer: Web pages that publish it don't count.

        Raises:
            UnknownName, Unavailable: One of them cannot be used.
        """
        self.settings = settings
        self.question = question
        self.answer = answer
        self.chunker = CHUNKERS.build(settings.chunker, settings)
        self.candidates = Candidates(settings, store)
        self.policy = policy_of(settings)
        self.verifier = CachedVerifier(VERIFIERS.build(settings.verifier, settings), store)
        self.pages: dict[str, Page] = {}
        self.traces: dict[str, list[Trace]] = defaultdict(list)
        self._unread: deque[Page] = deque()
        self._finding = threading.Lock()
        self.chunks = 0
        self._prose: dict[str, str] = {}  # by page
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
        """Chunk the pages added since the last call; if `stop` is set, finish only the current one."""
        while self._unread and not (stop and stop.is_set()):
            page = self._unread.popleft()
            chunks = self.chunker.chunk(page)
            self.chunks += len(chunks)
            # a chunk of only addresses, references, navigation and headings is not evidence
            stating = [c for c in chunks if not self._stated(page, c.start, c.end).isspace()]
            self.candidates.add(stating)

    def settle(self, stop: threading.Event | None = None) -> None:
        """Mark all pages as added: from now on the verified pairs count, whichever page came first."""
        self.chunk(stop)
        self.verifier.reset_counts()

    def provenance(self, concerns: Mapping[str, Sequence[Failure]]) -> Provenance:
        """Return how the evidence was found, in a fixed order.

        Args:
            concerns: Failures by claim.
        """
        traces = {trace for of_page in self.traces.values() for trace in of_page}
        in_order = sorted(
            traces, key=lambda t: (t.claim_id, t.page_id, t.searcher, t.query, t.rank)
        )
        failures = {claim_id: tuple(some) for claim_id, some in sorted(concerns.items()) if some}
        return Provenance(traces=tuple(in_order), concerns=failures)

    def match(self, claims: Sequence[Claim], early: bool = False) -> list[tuple[Evidence, ...]]:
        """Return the evidence for each claim; `early` while other pages are still being fetched."""
        return self.judge(claims, self.find(claims, early))

    def find(self, claims: Sequence[Claim], early: bool = False) -> list[list[Candidate]]:
        """Return the chunks to judge each claim by, best first. Safe to call from several threads."""
        with self._finding:
            self.chunk()
            origins = {} if early else {page.id: page.origin for page in self.marked.values()}
            return self.candidates.best(claims, self.question, early, origins)

    def judge(
        self, claims: Sequence[Claim], candidates: Sequence[Sequence[Candidate]]
    ) -> list[tuple[Evidence, ...]]:
        """Return the evidence in the chunks found for each claim."""
        cases = [
            Reading(claim, [self._passage(claim, candidate) for candidate in of_claim])
            for claim, of_claim in zip(claims, candidates, strict=True)
        ]
        question = self.question if self.verifier.reads_question else ""
        return read(cases, self.verifier, self.policy, question)

    @property
    def marked(self) -> dict[str, Page]:
        """The pages with their origins, by id, determined before anything is decided."""
        if len(self._marked) < len(self.pages):
            pages = with_origins(list(self.pages.values()), self.answer, self.question)
            self._marked = {page.id: page for page in pages}
        return self._marked

    def _passage(self, claim: Claim, candidate: Candidate) -> PlacedPassage:
        """Return a chunk in its context; a plain decision reads the chunk alone."""
        chunk = candidate.chunk
        page = self.marked[chunk.page_id]
        start, end = chunk.start, chunk.end
        if not self.policy.is_plain:
            start, end = with_context(page.text, start, end)
        traces = self.traces[page.id] or [DOCUMENTS]
        trace = min(traces, key=lambda t: (t.claim_id != claim.id, t.rank, t.query, t.searcher))
        return PlacedPassage(
            page=page,
            start=start,
            end=end,
            read=self._stated(page, start, end),
            similarity=candidate.similarity,
            query=trace.query,
            searcher=trace.searcher,
            rank=trace.rank,
        )

    def _stated(self, page: Page, start: int, end: int) -> str:
        """Return a part of a page with lines that state nothing blanked."""
        if page.id not in self._prose:
            self._prose[page.id] = prose(page.text)
        return self._prose[page.id][start:end]

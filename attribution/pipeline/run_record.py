"""What one run has found so far and what it cost, and the report made of it."""

from __future__ import annotations

import time
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from attribution.claims.llm_annotation import LlmAnnotator
from attribution.events import Spent
from attribution.evidence.matching import Matcher
from attribution.evidence.near_duplicates import with_origins
from attribution.settings import Settings
from attribution.snapshots.snapshot import Snapshot
from attribution.storage.database import now
from attribution.types import Claim, Evidence, Failure, LlmUsage, Report, Segmented, Usage, Verdict, content_id

VERSION = "2"  # of the pipeline: part of every report


def new_run_id() -> str:
    """Not to be guessed: whoever knows it can open the run."""
    return content_id(uuid.uuid4().hex)


class RunRecord:
    """Filled by one run while its events are read."""

    def __init__(self, question: str, answer: str, settings: Settings, frozen: Snapshot | None) -> None:
        """A replay has no search of its own: what that cost is taken over from its snapshot."""
        self.question, self.answer, self.settings = question, answer, settings
        self.created_at = now()
        self.claims: list[Claim] = []
        self.segmented = Segmented(())
        self.evidence: dict[str, tuple[Evidence, ...]] = {}
        self.verdicts: dict[str, Verdict] = {}
        self.failures: list[Failure] = []
        self.about: dict[str, list[Failure]] = defaultdict(list)  # failures by claim
        self.timings: dict[str, float] = defaultdict(float)
        self._before = frozen.report if frozen else None
        before = self._before.usage if self._before else Usage()
        self.searches = before.searches
        self.spent = Spent(before.queries, before.downloads, before.seconds)

    def failed(self, failure: Failure, claim_ids: Sequence[str] = ()) -> bool:
        """Take in what stood in the way of those claims; False where it is known already."""
        for claim_id in claim_ids:
            self.about[claim_id].append(failure)
        new = failure not in self.failures
        if new:
            self.failures.append(failure)
        return new

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.timings[stage] += time.perf_counter() - started

    def report(self, matcher: Matcher, asked: LlmAnnotator | None, kept: bool, stopped: bool) -> Report:
        """All of it in a fixed order. `kept`: the claims are those of the run that is replayed."""
        wordings, llm = self._by_llm(asked, kept)
        versions = {"embedder": matcher.embedder.version, "verifier": matcher.judge.verifier.version}
        usage = Usage(
            claims=len(self.claims),
            searches=self.searches,
            queries=self.spent.queries,
            downloads=self.spent.downloads,
            seconds=round(self.spent.seconds, 3),
            pages=len(matcher.pages),
            chunks=matcher.chunks,
            pairs=matcher.judge.pairs,
            cached_pairs=matcher.judge.cached_pairs,
            llm=llm,
        )
        return Report(
            id=new_run_id(),
            created_at=self.created_at,
            question=self.question,
            answer=self.answer,
            settings=self.settings.public(),
            versions={**wordings, "pipeline": VERSION, **versions},
            claims=tuple(self.claims),
            pages=with_origins(sorted(matcher.pages.values(), key=lambda p: (p.kind, p.url, p.id))),
            evidence=tuple(e for c in self.claims for e in self.evidence.get(c.id, ())),
            verdicts=tuple(self.verdicts[c.id] for c in self.claims if c.id in self.verdicts),
            failures=tuple(sorted(self.failures, key=lambda f: (f.stage, f.subject, f.kind, f.message))),
            timings={stage: round(seconds, 3) for stage, seconds in self.timings.items()},
            usage=usage,
            stopped=stopped,
        )

    def _by_llm(self, asked: LlmAnnotator | None, kept: bool) -> tuple[dict[str, str], dict[str, LlmUsage]]:
        """Which wordings and models were asked, and what that cost, by stage; a replay keeps what it takes over."""
        versions: dict[str, str] = {}
        usage: dict[str, LlmUsage] = {}
        if self._before:
            versions = {k: v for k, v in self._before.versions.items() if kept or k == "queries"}
            usage = {k: v for k, v in self._before.usage.llm.items() if kept or k == "queries"}
        if self.segmented.version:
            versions["segmenter"] = self.segmented.version
        if self.segmented.usage:
            usage["segment"] = self.segmented.usage
        if asked:
            versions |= asked.versions
            usage |= asked.usage
        return versions, usage

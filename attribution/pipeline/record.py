"""The record of one run: its claims, verdicts, failures, timings and costs, and the report made of
them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from operator import attrgetter

from attribution import __version__
from attribution.events import Spent
from attribution.evidence.matching import Matcher
from attribution.models.engine import loading_seconds, working_time
from attribution.settings import Settings
from attribution.store.database import now
from attribution.store.runs import new_run_id
from attribution.types import (
    Claim,
    Evidence,
    Failure,
    LlmUsage,
    Page,
    Report,
    Turn,
    Usage,
    Verdict,
)

VERSION = "4"  # of the pipeline: part of every report


@dataclass
class RunRecord:
    """Filled by one run while its events are read."""

    question: str
    answer: str
    settings: Settings
    run_id: str  # empty: a new one
    context: tuple[Turn, ...]  # the conversation before the question

    def __post_init__(self) -> None:
        """Begin the record of a run."""
        self.run_id = self.run_id or new_run_id()
        self.created_at = now()
        self.claims: list[Claim] = []
        self.evidence: dict[str, tuple[Evidence, ...]] = {}
        self.verdicts: dict[str, Verdict] = {}
        self.failures: list[Failure] = []
        self.concerns: dict[str, list[Failure]] = defaultdict(list)  # failures by claim
        self.timings: dict[str, float] = defaultdict(float)
        self.spent = Spent()
        self._llm_versions: dict[str, str] = {}
        self._llm_usage: dict[str, LlmUsage] = {}
        self._used_before = Usage()

    def go_on_from(self, before: Report) -> None:
        """Continue a run that was interrupted. Its verdicts count until there are new ones, its
        costs are added.
        """
        self._used_before = before.usage
        self.created_at = before.created_at
        for verdict in before.verdicts:
            self.add_verdict(verdict, tuple(before.evidence_of(verdict.claim_id)))
        self.timings.update(before.timings)

    def spend(self, spent: Spent) -> None:
        """Record what search and download have used so far."""
        used = self._used_before
        self.spent = replace(
            spent,
            queries=spent.queries + used.queries,
            downloads=spent.downloads + used.downloads,
            seconds=spent.seconds + used.seconds,
        )

    def add_failure(self, failure: Failure, claim_ids: Sequence[str]) -> bool:
        """Record a failure that concerns those claims; return False if it was recorded before."""
        for claim_id in claim_ids:
            self.concerns[claim_id].append(failure)
        if failure in self.failures:
            return False
        self.failures.append(failure)
        return True

    def add_verdict(self, verdict: Verdict, evidence: tuple[Evidence, ...]) -> None:
        """Record a claim's verdict in place of an earlier one."""
        self.verdicts[verdict.claim_id] = verdict
        self.evidence[verdict.claim_id] = evidence

    def add_llm(self, versions: Mapping[str, str], usage: Mapping[str, LlmUsage]) -> None:
        """Record prompts, models and the use of a language model, by stage."""
        self._llm_versions |= versions
        self._llm_usage |= usage

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time inside the block to the stage's seconds, and that of loading models to a
        stage of its own.
        """
        started = working_time()
        loaded = loading_seconds()
        try:
            yield
        finally:
            self.timings[stage] += working_time() - started
            loading = loading_seconds() - loaded
            if loading:
                self.timings["load"] += loading

    def report(self, matcher: Matcher, stopped: bool) -> Report:
        """Return the report, in which pages with the same text are marked."""
        return self._report(matcher, matcher.marked.values(), stopped)

    def state(self, matcher: Matcher) -> Report:
        """Return what is known so far."""
        return self._report(matcher, matcher.pages.values(), stopped=False)

    def _report(self, matcher: Matcher, pages: Iterable[Page], stopped: bool) -> Report:
        """Return a report with everything in a fixed order."""
        place = attrgetter("stage", "subject", "kind", "message")
        models = {
            "program": __version__,
            "pipeline": VERSION,
            "embedder": matcher.candidates.embedder.version,
            "verifier": matcher.verifier.version,
        }
        evidence: list[Evidence] = []
        for claim in self.claims:
            evidence += self.evidence.get(claim.id, ())
        return Report(
            id=self.run_id,
            created_at=self.created_at,
            question=self.question,
            context=self.context,
            answer=self.answer,
            settings=self.settings.public(),
            versions=self._llm_versions | models,
            claims=tuple(self.claims),
            pages=tuple(sorted(pages, key=lambda page: (page.kind, page.url, page.id))),
            evidence=tuple(evidence),
            verdicts=tuple(self.verdicts[c.id] for c in self.claims if c.id in self.verdicts),
            failures=tuple(sorted(self.failures, key=place)),
            timings={stage: round(seconds, 3) for stage, seconds in self.timings.items()},
            usage=self._usage(matcher),
            stopped=stopped,
        )

    def _usage(self, matcher: Matcher) -> Usage:
        verifier = matcher.verifier
        llm = dict(self._llm_usage)
        if verifier.usage:
            llm["verify"] = verifier.usage
        for stage, used in self._used_before.llm.items():
            llm[stage] = used + llm.get(stage, LlmUsage())
        return Usage(
            claims=len(self.claims),
            searches=self.spent.searches,
            queries=self.spent.queries,
            downloads=self.spent.downloads,
            seconds=round(self.spent.seconds, 3),
            pages=len(matcher.pages),
            chunks=matcher.chunks,
            pairs=verifier.pairs,
            cached_pairs=verifier.cached_pairs,
            llm=llm,
        )

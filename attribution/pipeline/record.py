"""The record of one run: its claims, verdicts, failures, timings and costs, and the report made of
them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from attribution import __version__
from attribution.events import Spent
from attribution.evidence import LlmRecord
from attribution.evidence.matching import Matcher
from attribution.models.loading import loading_seconds, working_time
from attribution.settings import Settings
from attribution.store.database import now
from attribution.store.runs import new_run_id
from attribution.types import Claim, Evidence, Failure, LlmUsage, Report, Turn, Usage, Verdict

VERSION = "4"  # of the pipeline: part of every report


class RunRecord:
    """Filled by one run while its events are read."""

    def __init__(
        self,
        question: str,
        answer: str,
        settings: Settings,
        run_id: str = "",
        context: tuple[Turn, ...] = (),
    ) -> None:
        self.run_id = run_id or new_run_id()
        self.question, self.answer, self.settings = question, answer, settings
        self.context = context
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
        self._before = Report(
            id="", created_at="", question="", answer="", settings={}, versions={}
        )

    def go_on_from(self, before: Report) -> None:
        """Continue a run that was interrupted. Its verdicts count until there are new ones, its
        costs are added.
        """
        self._before, self.created_at = before, before.created_at
        for verdict in before.verdicts:
            self.add_verdict(
                verdict, tuple(e for e in before.evidence if e.claim_id == verdict.claim_id)
            )
        self.timings.update(before.timings)

    def spend(self, spent: Spent) -> None:
        """Record what search and download have used so far."""
        used = self._before.usage
        self.spent = replace(
            spent,
            queries=spent.queries + used.queries,
            downloads=spent.downloads + used.downloads,
            seconds=spent.seconds + used.seconds,
        )

    def add_failure(self, failure: Failure, claim_ids: Sequence[str] = ()) -> bool:
        """Record a failure that concerns those claims; False if it was recorded before."""
        for claim_id in claim_ids:
            self.concerns[claim_id].append(failure)
        new = failure not in self.failures
        if new:
            self.failures.append(failure)
        return new

    def add_verdict(self, verdict: Verdict, evidence: tuple[Evidence, ...]) -> None:
        """Record a claim's verdict in place of an earlier one."""
        self.verdicts[verdict.claim_id], self.evidence[verdict.claim_id] = verdict, evidence

    def add_llm(self, record: LlmRecord) -> None:
        """Record what a language model was used for."""
        self._llm_versions |= record.versions
        self._llm_usage |= record.usage

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time inside the block to the stage's seconds, and that of loading models to a
        stage of its own.
        """
        started, loaded = working_time(), loading_seconds()
        try:
            yield
        finally:
            self.timings[stage] += working_time() - started
            if loading := loading_seconds() - loaded:
                self.timings["load"] += loading

    def report(self, matcher: Matcher, stopped: bool, final: bool = True) -> Report:
        """The report, everything in a fixed order. Pages with the same text are found only for the
        final one.
        """
        pages = sorted(
            (matcher.marked if final else matcher.pages).values(),
            key=lambda p: (p.kind, p.url, p.id),
        )
        models = {
            "embedder": matcher.candidates.embedder.version,
            "verifier": matcher.verifier.version,
        }
        if matcher.relevance:
            models["relevance"] = matcher.relevance.version
        return Report(
            id=self.run_id,
            created_at=self.created_at,
            question=self.question,
            context=self.context,
            answer=self.answer,
            settings=self.settings.public(),
            versions={**self._llm_versions, "program": __version__, "pipeline": VERSION, **models},
            claims=tuple(self.claims),
            pages=tuple(pages),
            evidence=tuple(e for c in self.claims for e in self.evidence.get(c.id, ())),
            verdicts=tuple(self.verdicts[c.id] for c in self.claims if c.id in self.verdicts),
            failures=tuple(
                sorted(self.failures, key=lambda f: (f.stage, f.subject, f.kind, f.message))
            ),
            timings={stage: round(seconds, 3) for stage, seconds in self.timings.items()},
            usage=Usage(
                claims=len(self.claims),
                searches=self.spent.searches,
                queries=self.spent.queries,
                downloads=self.spent.downloads,
                seconds=round(self.spent.seconds, 3),
                pages=len(matcher.pages),
                chunks=matcher.chunks,
                pairs=matcher.verifier.pairs,
                cached_pairs=matcher.verifier.cached_pairs,
                llm=self._llm_used(matcher.verifier.usage),
            ),
            stopped=stopped,
        )

    def _llm_used(self, verifying: LlmUsage | None) -> dict[str, LlmUsage]:
        """By stage. A continued run takes the replies of its first part from the store: they are
        counted once.
        """
        used = self._llm_usage | ({"verify": verifying} if verifying else {})
        before = self._before.usage.llm
        return {
            stage: _both(before[stage], usage) if stage in before else usage
            for stage, usage in used.items()
        }


def _both(before: LlmUsage, after: LlmUsage) -> LlmUsage:
    """The use by both parts of a run; what the second took from the store because the first had
    asked is not cached.
    """
    cached = before.cached + max(0, after.cached - before.calls - before.cached)
    return (before + after).model_copy(
        update={"cached": cached, "failed": after.failed}
    )  # what failed was asked again

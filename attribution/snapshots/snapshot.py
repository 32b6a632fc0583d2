"""Everything a run used, frozen: its pages and traces stand in for search and download when it is run again."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from attribution.errors import BadInput
from attribution.events import STAGES, Spent
from attribution.evidence import GatherStep, LlmRecord, PreparedClaims
from attribution.provenance import Provenance
from attribution.settings import Settings
from attribution.storage.store import Store
from attribution.types import Claim, Failure, Judgement, Report

T = TypeVar("T")
# Settings that come into play when the claims are made; while all others stay, so do a snapshot's claims.
AFTER_CLAIMS = frozenset(
    ("sources", "pages_per_claim", "page_bytes", "page_days", "workers", "connect_timeout", "read_timeout")
    + ("page_timeout", "answer_limit", "chunker", "chunk_size", "chunk_overlap", "window_sentences", "window_stride")
    + ("embedder", "embedding_model", "ranking", "top_k", "verifier", "verifier_model", "threshold")
    + ("query", "search_language", "fallback", "exclude", "max_queries", "max_pages", "max_seconds")
    + ("host_connections", "robots_timeout", "crawl_delay", "input_price", "output_price")
)
# What a file from elsewhere may not decide: where things lie here, and whom texts and keys are sent to.
LOCAL = frozenset(("library", "database_url", "openai_base_url", "openai_api_key"))
BEFORE_SEARCH = (*STAGES[: STAGES.index("search")], "worthiness", "independence", "enrichment")


@dataclass(frozen=True)
class Snapshot:
    """A run, how it came by its evidence, and what its models said; vectors are float32 bytes by the store's keys."""

    report: Report  # with its pages' texts
    provenance: Provenance
    vectors: dict[str, bytes]
    judgements: dict[str, Judgement]

    @classmethod
    def of(cls, store: Store, run_id: str) -> Snapshot:
        """The snapshot of a saved run. BadInput where there is no such run, or parts of it are gone."""
        report, provenance = store.load_run(run_id), store.provenance(run_id)
        if report is None:
            raise BadInput(f"there is no saved run {run_id!r}: take the id from the end of its address or its report")
        if provenance is None or not all(page.text for page in report.pages):
            raise BadInput(f"run {run_id} was saved without all it used, by an earlier version: run it again")
        return cls(report, provenance, store.vectors(provenance.vectors), store.judgements(provenance.judgements))

    def settings(self, **choices: Any) -> Settings:
        """The run's settings with other choices; nothing that is this machine's own is taken from the snapshot."""
        own = {name: value for name, value in self.report.settings.items() if name not in LOCAL}
        return Settings.from_environment(**{**own, **choices})

    def claims(self, question: str, answer: str, settings: Settings) -> PreparedClaims | None:
        """The frozen claims with the failures on the way to them; None if the answer or a relevant setting differs."""
        if (question, answer) != (self.report.question, self.report.answer):
            return None
        then, now = self.settings().public(), settings.public()
        changed = {name for name in then.keys() | now.keys() if then.get(name) != now.get(name)}
        if not changed <= AFTER_CLAIMS:
            return None
        failures = _outside(self.report.failures, ("search", "fetch", "embed", "verify"))
        return PreparedClaims(self.report.claims, failures, LlmRecord(self.report.versions, self.report.usage.llm))

    def gather(self, claims: Sequence[Claim], question: str, stop: threading.Event) -> Iterator[GatherStep]:
        """The frozen pages, with what searching for them cost then. Nothing is searched or downloaded."""
        anew = ("verify", *BEFORE_SEARCH)  # these fail again, or not
        usage, versions = self.report.usage, self.report.versions
        spent = Spent(usage.queries, usage.downloads, usage.seconds, usage.searches)
        yield GatherStep(
            "fetch",
            1,
            1,
            pages=self.report.pages,
            traces=self.provenance.traces,
            failures=_outside(self.report.failures, anew),
            spent=spent,
            llm=LlmRecord(_of_queries(versions), _of_queries(usage.llm)),
        )
        for claim in claims:
            same = claim in self.report.claims
            if failures := _outside(self.provenance.concerns.get(claim.id, ()), ("verify",) if same else anew):
                yield GatherStep("fetch", 1, 1, (claim.id,), failures=failures, spent=spent)

    def over(self, store: Store) -> Store:
        """The store, with the snapshot's vectors and judgements before its own; they are never written to it."""
        return _SnapshotStore(store, self)

    def recomputed(self) -> Snapshot:
        """The same without what its models said: a replay asks the models again."""
        return replace(self, vectors={}, judgements={})


def _outside(failures: Sequence[Failure], stages: Sequence[str]) -> tuple[Failure, ...]:
    return tuple(failure for failure in failures if failure.stage not in stages)


class _SnapshotStore(Store):
    def __init__(self, store: Store, snapshot: Snapshot) -> None:
        super().__init__(store._engine)
        self._snapshot = snapshot

    def vectors(self, keys: Sequence[str]) -> dict[str, bytes]:
        held = self._snapshot.vectors
        return super().vectors([k for k in keys if k not in held]) | {k: held[k] for k in keys if k in held}

    def judgements(self, keys: Sequence[str]) -> dict[str, Judgement]:
        held = self._snapshot.judgements
        return super().judgements([k for k in keys if k not in held]) | {k: held[k] for k in keys if k in held}

    def save_run(self, report: Report, provenance: Provenance | None = None, frozen: bool = True) -> None:
        super().save_run(report, provenance, frozen=True)


def _of_queries(by_stage: Mapping[str, T]) -> dict[str, T]:
    return {stage: value for stage, value in by_stage.items() if stage == "queries"}


def comparable(report: Report) -> str:
    """report.json without what differs between two equal runs: id, times, and how much was known before."""
    usage = report.usage.model_copy(update={"cached_pairs": 0})
    return report.model_copy(update={"id": "", "created_at": "", "timings": {}, "usage": usage}).to_json()

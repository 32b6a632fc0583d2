"""Snapshots: everything a run used, so that it can be run again without searching or downloading."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import sqlalchemy as sa

from attribution.errors import BadInput
from attribution.events import STAGES, Spent
from attribution.evidence import GatherStep, LlmRecord, PreparedClaims
from attribution.evidence.strangers import Sifted, sift
from attribution.provenance import Provenance
from attribution.settings import Settings
from attribution.store.cache import Cache
from attribution.store.database import Database
from attribution.store.runs import Runs
from attribution.store.store import Store
from attribution.types import Claim, Failure, Judgement, Page, Report

T = TypeVar("T")
# Settings that have no effect on the claims; if only these change, the claims of the snapshot are used.
AFTER_CLAIMS = frozenset(
    ("sources", "pages_per_claim", "page_bytes", "page_days", "workers", "connect_timeout", "read_timeout")
    + ("page_timeout", "answer_limit", "chunker", "chunk_size", "chunk_overlap", "window_sentences", "window_stride")
    + (
        "embedder",
        "embedding_model",
        "ranking",
        "shortlist",
        "top_k",
        "verifier",
        "verifier_model",
        "gc_model",
        "threshold",
        "contradiction_threshold",
    )
    + ("query", "search_language", "fallback", "exclude", "max_queries", "max_pages", "max_seconds")
    + ("host_connections", "robots_timeout", "crawl_delay", "input_price", "output_price")
)
BEFORE_SEARCH = (*STAGES[: STAGES.index("search")], "worthiness", "independence", "enrichment")


@dataclass(frozen=True)
class Snapshot:
    """A run, its provenance, and what its models returned; vectors are float32 bytes, by the keys of the cache."""

    report: Report  # with its pages' texts
    provenance: Provenance
    vectors: dict[str, bytes]
    judgements: dict[str, Judgement]

    @classmethod
    def of(cls, store: Store, run_id: str) -> Snapshot:
        """The snapshot of a saved run. BadInput if there is none of that id, or parts of it are missing."""
        report, provenance = store.runs.load(run_id), store.runs.provenance(run_id)
        if report is None:
            raise BadInput(
                f"there is no saved run {run_id!r}: expected the `id` of a report, or what follows ?run= in its address"
            )
        if provenance is None or not all(page.text for page in report.pages):
            raise BadInput(f"run {run_id} was saved by an earlier version, without all it used: run it again")
        cache = store.cache
        return cls(report, provenance, cache.vectors(provenance.vectors), cache.judgements(provenance.judgements))

    def settings(self, **choices: object) -> Settings:
        """The run's settings, as far as a file may choose them, with other choices, which are the caller's own."""
        return Settings.from_environment(**self.sifted().chosen | choices)

    def sifted(self) -> Sifted:
        """The run's settings, held against those of this machine."""
        return sift(self.report.settings, Settings.from_environment())

    def claims(self, question: str, answer: str, settings: Settings) -> PreparedClaims | None:
        """The claims and the failures of segmentation; None if the answer or settings require new claims."""
        if (question, answer) != (self.report.question, self.report.answer):
            return None
        then, now = self.settings().public(), settings.public()
        changed = {name for name in then.keys() | now.keys() if then.get(name) != now.get(name)}
        if not changed <= AFTER_CLAIMS:
            return None
        failures = _outside(self.report.failures, ("search", "fetch", "embed", "verify"))
        return PreparedClaims(self.report.claims, failures, LlmRecord(self.report.versions, self.report.usage.llm))

    def gather(self, claims: Sequence[Claim], question: str, stop: threading.Event) -> Iterator[GatherStep]:
        """The frozen pages, with what finding them cost then. Nothing is searched or downloaded."""
        anew = ("verify", *BEFORE_SEARCH)  # run again, so they may fail or succeed
        usage = self.report.usage
        spent = Spent(usage.queries, usage.downloads, usage.seconds, usage.searches)
        yield GatherStep(
            "fetch",
            1,
            1,
            pages=self.report.pages,
            traces=self.provenance.traces,
            failures=_outside(self.report.failures, anew),
            spent=spent,
            llm=LlmRecord(_of_queries(self.report.versions), _of_queries(usage.llm)),
        )
        for claim in claims:
            same = claim in self.report.claims
            if failures := _outside(self.provenance.concerns.get(claim.id, ()), ("verify",) if same else anew):
                yield GatherStep("fetch", 1, 1, (claim.id,), failures=failures, spent=spent)

    def over(self, store: Store) -> Store:
        """The store, reading the snapshot's vectors and judgements first; they and its pages serve no other runs."""
        replaying = Store(store.database, store.rights.by, _SnapshotCache(store.database, self))
        replaying.runs = _Replays(replaying.database, replaying.rights, replaying.cache, replaying.results)
        return replaying

    def recomputed(self) -> Snapshot:
        """The snapshot without the output of its models, which a replay then computes again."""
        return replace(self, vectors={}, judgements={})


def _outside(failures: Sequence[Failure], stages: Sequence[str]) -> tuple[Failure, ...]:
    return tuple(failure for failure in failures if failure.stage not in stages)


def _of_queries(by_stage: Mapping[str, T]) -> dict[str, T]:
    return {stage: value for stage, value in by_stage.items() if stage == "queries"}


class _SnapshotCache(Cache):
    def __init__(self, database: Database, snapshot: Snapshot) -> None:
        super().__init__(database)
        self._snapshot = snapshot

    def vectors(self, keys: Sequence[str]) -> dict[str, bytes]:
        own = self._snapshot.vectors
        return super().vectors([k for k in keys if k not in own]) | {k: own[k] for k in keys if k in own}

    def judgements(self, keys: Sequence[str]) -> dict[str, Judgement]:
        own = self._snapshot.judgements
        return super().judgements([k for k in keys if k not in own]) | {k: own[k] for k in keys if k in own}

    def put_pages(self, pages: Sequence[Page], db: sa.Connection | None = None) -> None:
        self.freeze_pages(pages, db)


class _Replays(Runs):
    def save_unfinished(self, report: Report, pages: Sequence[Page] = ()) -> None:
        """Nothing: a replay that is interrupted is started again from its file."""

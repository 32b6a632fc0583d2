"""The pages of a snapshot as the knowledge source for any answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from attribution.evidence import GatherStep, PreparedClaims
from attribution.settings import Settings
from attribution.snapshots.snapshot import Snapshot
from attribution.storage.store import Store
from attribution.types import Claim, Judgement


@dataclass(frozen=True)
class FrozenPages:
    """An EvidenceSource that searches nothing: every claim meets all pages of the snapshot. Its own claims stay out."""

    snapshot: Snapshot

    @property
    def judgements(self) -> Mapping[str, Judgement]:
        return self.snapshot.judgements

    def over(self, store: Store) -> Store:
        return self.snapshot.over(store)

    def claims(self, question: str, answer: str, settings: Settings) -> PreparedClaims | None:
        return None

    def gather(self, claims: Sequence[Claim], question: str, stop: threading.Event) -> Iterator[GatherStep]:
        pages, ids = self.snapshot.report.pages, tuple(claim.id for claim in claims)
        yield GatherStep("fetch", 1, 1, ids, pages=pages, traces=self.snapshot.provenance.traces, complete=ids)

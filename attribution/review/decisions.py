"""What was proposed for a run and decided about it, kept in the database with the run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import TypeAdapter, ValidationError

from attribution.review.correction import Correction
from attribution.review.corrections import Proposal
from attribution.store.store import Store
from attribution.types import Report

KIND = "corrections"  # of the saved result


@dataclass(frozen=True)
class Decisions:
    accepted: tuple[str, ...] = ()  # claims, in the order of acceptance
    rejected: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Desk:
    """The proposals for one run by claim, the decisions, and those before them for undo."""

    proposals: Mapping[str, Proposal] = field(default_factory=dict)
    now: Decisions = Decisions()
    before: tuple[Decisions, ...] = ()

    def with_proposals(self, proposals: Iterable[Proposal]) -> Desk:
        return replace(self, proposals={**self.proposals, **{p.claim_id: p for p in proposals}})

    def fitting(self, report: Report) -> Desk:
        """Without the corrections of claims, or of words of the answer, that have changed since."""
        wordings = {c.id: c.statement for c in report.claims}

        def fits(found: Correction) -> bool:
            in_place = all(report.answer[e.start : e.end] == e.before for e in found.edits)
            return in_place and found.before == wordings.get(found.claim_id)

        kept = {i: p for i, p in self.proposals.items() if p.correction is None or fits(p.correction)}
        return replace(self, proposals=kept)

    def decide(self, accept: Sequence[str] = (), reject: Sequence[str] = ()) -> Desk:
        """Accept and reject the corrections of these claims; deciding the same again takes it back."""
        both, old = {*accept, *reject}, self.now
        accepted = [i for i in old.accepted if i not in both] + [i for i in accept if i not in old.accepted]
        rejected = (old.rejected - both) | (frozenset(reject) - old.rejected)
        return replace(self, now=Decisions(tuple(accepted), rejected), before=(*self.before, old))

    def undo(self) -> Desk:
        """As it was before the last decision."""
        return replace(self, now=self.before[-1], before=self.before[:-1]) if self.before else self


_DESK = TypeAdapter(Desk)


def save(store: Store, run_id: str, desk: Desk) -> None:
    """Keep it with the run, in place of an earlier state of it. It is deleted with the run."""
    store.save_result(KIND, run_id, _DESK.dump_json(desk).decode())


def load(store: Store, run_id: str) -> Desk:
    """What was kept for a run; an empty desk where that is nothing, or was written by another version."""
    body = store.load_result(KIND, run_id)
    try:
        return _DESK.validate_json(body) if body else Desk()
    except ValidationError:
        return Desk()

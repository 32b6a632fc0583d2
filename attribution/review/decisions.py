"""Proposed corrections of a run and the decisions on them, kept in the database with the run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import TypeAdapter, ValidationError

from attribution.review.correction import Correction
from attribution.review.corrections import Proposal
from attribution.store.store import Store
from attribution.types import Report

KIND = "corrections"  # the kind of the saved result


@dataclass(frozen=True)
class Decisions:
    accepted: tuple[str, ...] = ()  # claims, in the order of acceptance
    rejected: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Desk:
    """The proposals for one run by claim, the decisions, and the earlier ones for undo."""

    proposals: Mapping[str, Proposal] = field(default_factory=dict)
    now: Decisions = Decisions()
    before: tuple[Decisions, ...] = ()

    def with_proposals(self, proposals: Iterable[Proposal]) -> Desk:
        return replace(self, proposals={**self.proposals, **{p.claim_id: p for p in proposals}})

    def fitting(self, report: Report) -> Desk:
        """Drop the corrections of claims, or of words of the answer, that have changed since."""
        wordings = {c.id: c.statement for c in report.claims}

        def fits(found: Correction) -> bool:
            in_place = all(report.answer[e.start : e.end] == e.before for e in found.edits)
            return in_place and found.before == wordings.get(found.claim_id)

        kept = {i: p for i, p in self.proposals.items() if p.correction is None or fits(p.correction)}
        return replace(self, proposals=kept)

    def decide(self, accept: Sequence[str] = (), reject: Sequence[str] = ()) -> Desk:
        """Accept and reject the corrections of these claims; repeating a decision takes it back."""
        both, old = {*accept, *reject}, self.now
        accepted = [i for i in old.accepted if i not in both] + [i for i in accept if i not in old.accepted]
        rejected = (old.rejected - both) | (frozenset(reject) - old.rejected)
        return replace(self, now=Decisions(tuple(accepted), rejected), before=(*self.before, old))

    def undo(self) -> Desk:
        """Return the desk as it was before the last decision."""
        return replace(self, now=self.before[-1], before=self.before[:-1]) if self.before else self


_DESK = TypeAdapter(Desk)


def save(store: Store, run_id: str, desk: Desk) -> None:
    """Save the desk with the run, replacing an earlier state. It is deleted with the run."""
    store.save_result(KIND, run_id, _DESK.dump_json(desk).decode())


def load(store: Store, run_id: str) -> Desk:
    """Load the desk of a run; an empty one if none was saved or another version wrote it."""
    body = store.load_result(KIND, run_id)
    try:
        return _DESK.validate_json(body) if body else Desk()
    except ValidationError:
        return Desk()

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
class Review:
    """The proposals for one run by claim, the decisions, and the earlier ones for undo."""

    proposals: Mapping[str, Proposal] = field(default_factory=dict)
    now: Decisions = Decisions()
    before: tuple[Decisions, ...] = ()

    def with_proposals(self, proposals: Iterable[Proposal]) -> Review:
        return replace(self, proposals={**self.proposals, **{p.claim_id: p for p in proposals}})

    def fitting(self, report: Report) -> Review:
        """Drop the corrections of claims, or of words of the answer, that have changed since."""
        wordings = {c.id: c.statement for c in report.claims}

        def fits(found: Correction) -> bool:
            in_place = all(report.answer[e.start : e.end] == e.before for e in found.edits)
            return in_place and found.before == wordings.get(found.claim_id)

        valid = {i: p for i, p in self.proposals.items() if p.correction is None or fits(p.correction)}
        return replace(self, proposals=valid)

    def decide(self, accept: Sequence[str] = (), reject: Sequence[str] = ()) -> Review:
        """Accept and reject the corrections of these claims; repeating a decision takes it back."""
        both, old = {*accept, *reject}, self.now
        accepted = [i for i in old.accepted if i not in both] + [i for i in accept if i not in old.accepted]
        rejected = (old.rejected - both) | (frozenset(reject) - old.rejected)
        return replace(self, now=Decisions(tuple(accepted), rejected), before=(*self.before, old))

    def undo(self) -> Review:
        """Return the review as it was before the last decision."""
        return replace(self, now=self.before[-1], before=self.before[:-1]) if self.before else self


_REVIEW = TypeAdapter(Review)


def save(store: Store, run_id: str, review: Review) -> None:
    """Save the review with the run, replacing an earlier state. It is deleted with the run."""
    store.results.save(KIND, run_id, _REVIEW.dump_json(review).decode())


def load(store: Store, run_id: str) -> Review:
    """Load the review of a run; an empty one if none was saved or another version wrote it."""
    body = store.results.load(KIND, run_id)
    try:
        return _REVIEW.validate_json(body) if body else Review()
    except ValidationError:
        return Review()

"""Compare two runs: which verdicts differ."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from attribution.text.words import words_of
from attribution.types import Claim, Label, Report
from attribution.verifiers.calibration import badge_of

ALIKE = 0.5  # least likeness of two claims to be matched
PENDING = "pending"


@dataclass(frozen=True)
class ClaimChange:
    """A claim of the first run and the same claim in the second; None if a run lacks it.

    Attributes:
        badges: The verdicts as shown, with their strengths, before and after.
    """

    before: Claim | None
    after: Claim | None
    label_before: Label | None = None
    label_after: Label | None = None
    badges: tuple[str, str] = (PENDING, PENDING)

    @property
    def is_in_both(self) -> bool:
        return self.before is not None and self.after is not None

    @property
    def is_changed(self) -> bool:
        return self.is_in_both and self.label_before != self.label_after


@dataclass(frozen=True)
class _ClaimPair:
    """Two claims that may be the same, by their places in the two runs."""

    likeness: float
    before: int
    after: int


def run_changes(before: Report, after: Report) -> list[ClaimChange]:
    """Match the claims of two runs one to one, by their words or their place in the answer.

    Returns:
        A change for each claim of the second run in its order, then for those of the first alone.
    """
    partners = {pair.after: pair.before for pair in _matched(before, after)}
    changes: list[ClaimChange] = []
    for place, claim in enumerate(after.claims):
        partner = before.claims[partners[place]] if place in partners else None
        changes.append(_change(before, after, partner, claim))
    for place, claim in enumerate(before.claims):
        if place not in partners.values():
            changes.append(_change(before, after, claim, None))
    return changes


def _change(
    before: Report, after: Report, claim_before: Claim | None, claim_after: Claim | None
) -> ClaimChange:
    labels: list[Label | None] = []
    badges: list[str] = []
    for report, claim in ((before, claim_before), (after, claim_after)):
        verdicts = (v for v in report.verdicts if claim and v.claim_id == claim.id)
        verdict = next(verdicts, None)
        labels.append(verdict.label if verdict else None)
        badges.append(badge_of(verdict, report, PENDING))
    return ClaimChange(claim_before, claim_after, labels[0], labels[1], (badges[0], badges[1]))


def _matched(before: Report, after: Report) -> list[_ClaimPair]:
    """Return pairs of matching claims, the most alike first."""
    is_same_answer = before.answer == after.answer
    candidates: list[_ClaimPair] = []
    for i, first in enumerate(before.claims):
        for j, second in enumerate(after.claims):
            likeness = _likeness(first, second, is_same_answer)
            if likeness >= ALIKE:
                candidates.append(_ClaimPair(likeness, i, j))
    candidates.sort(key=lambda pair: (-pair.likeness, pair.before, pair.after))
    pairs: list[_ClaimPair] = []
    for candidate in candidates:
        is_free = all(
            candidate.before != pair.before and candidate.after != pair.after for pair in pairs
        )
        if is_free:
            pairs.append(candidate)
    return pairs


def _likeness(first: Claim, second: Claim, is_same_answer: bool) -> float:
    """Return a score from 0 to 2: shared words, plus the shared place in the same answer."""
    if first.text == second.text:
        words = 1.0
    else:
        words = _overlap(set(words_of(first.text)), set(words_of(second.text)))
    if not is_same_answer:
        return words
    return words + _overlap(_places(first), _places(second))


def _overlap(first: Set[object], second: Set[object]) -> float:
    """Return the F1 of two sets."""
    total = len(first) + len(second)
    return 2 * len(first & second) / total if total else 0.0


def _places(claim: Claim) -> set[int]:
    return {place for start, end in claim.spans for place in range(start, end)}


@dataclass(frozen=True)
class ChangeCounts:
    """How many verdicts changed, and how many claims only one run has."""

    changed: int
    unchanged: int
    only_after: int
    only_before: int


def counts(changes: Sequence[ClaimChange]) -> ChangeCounts:
    """Count the changes of two runs."""
    in_both = [change for change in changes if change.is_in_both]
    changed = sum(change.is_changed for change in in_both)
    return ChangeCounts(
        changed=changed,
        unchanged=len(in_both) - changed,
        only_after=sum(change.before is None for change in changes),
        only_before=sum(change.after is None for change in changes),
    )

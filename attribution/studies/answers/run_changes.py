"""Compare two runs: which verdicts changed, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from attribution.policy import DecisionPolicy
from attribution.settings import LABELS
from attribution.text.urls import canonical
from attribution.text.words import words_of
from attribution.types import (
    UNCHECKED,
    AnalystVerdict,
    Claim,
    Evidence,
    Label,
    Page,
    Relation,
    Report,
    Verdict,
    quoted,
)
from attribution.verdicts import SIDES, recolour
from attribution.verifiers.calibration import badge_of

ALIKE = 0.5  # minimum likeness of two claims to be matched
QUOTED = 120  # characters of a claim or title in a reason
CauseKind = Literal[
    "wording",
    "worthiness",
    "not_compared",
    "thresholds",
    "judgement",
    "new_page",
    "lost_page",
    "changed_page",
    "passage",
    "unexplained",
    "analyst",
]


class Cause(NamedTuple):
    kind: CauseKind
    text: str  # a sentence


@dataclass(frozen=True)
class ClaimChange:
    """A claim of the first run and the same claim in the second; None if a run lacks it."""

    before: Claim | None
    after: Claim | None
    was: Label | None  # None: no verdict
    now: Label | None
    badges: tuple[str, str] = ("pending", "pending")  # as shown, with their strengths
    causes: tuple[
        Cause, ...
    ] = ()  # of another verdict of the model; of the analyst's, the change itself
    judgements: tuple[AnalystVerdict | None, AnalystVerdict | None] = (None, None)  # the analyst's

    @property
    def judged_otherwise(self) -> bool:
        """True if the analyst's verdict, or its note, differs between the runs."""
        was, now = ((j.label, j.note) if j else None for j in self.judgements)
        return self.before is not None and self.after is not None and was != now

    @property
    def changed(self) -> bool:
        return self.before is not None and self.after is not None and self.was != self.now


@dataclass(frozen=True)
class RunChanges:
    """The changes in the order of the second run's claims; claims of the first run alone come last."""

    claims: tuple[ClaimChange, ...]
    settings: tuple[
        tuple[str, object, object], ...
    ]  # those that differ: name, value before, value after
    versions: tuple[tuple[str, str, str], ...]  # of models and the pipeline, in the same form


def run_changes(before: Report, after: Report) -> RunChanges:
    """Compare two runs. Claims are matched one to one, by their words or their place in the answer."""
    pairs = _matched(before, after)
    was, now = ({v.claim_id: v for v in report.verdicts} for report in (before, after))
    judged_was, judged_now = (
        {j.claim_id: j for j in report.judgements} for report in (before, after)
    )
    partner = {b.id: a for a, b in pairs}
    changes = []
    for claim in after.claims:
        old = partner.get(claim.id)
        then, current = was.get(old.id) if old else None, now.get(claim.id)
        labels = then.label if then else None, current.label if current else None
        shown = badge_of(then, before, "pending"), badge_of(current, after, "pending")
        causes = (
            [*_causes(before, after, old, claim, then, current)]
            if old and labels[0] != labels[1]
            else []
        )
        judgements = judged_was.get(old.id) if old else None, judged_now.get(claim.id)
        change = ClaimChange(old, claim, *labels, shown, judgements=judgements)
        causes += [_of_analyst(change)] if change.judged_otherwise else []
        changes.append(replace(change, causes=tuple(dict.fromkeys(causes))))
    found = {claim.id for claim in partner.values()}
    for claim in before.claims:
        if claim.id not in found:
            verdict = was.get(claim.id)
            judgements = judged_was.get(claim.id), None
            shown = badge_of(verdict, before, "pending"), "pending"
            label = verdict.label if verdict else None
            changes.append(ClaimChange(claim, None, label, None, shown, judgements=judgements))
    names = sorted(before.settings.keys() | after.settings.keys())
    settings = [(name, before.settings.get(name), after.settings.get(name)) for name in names]
    names = sorted(before.versions.keys() | after.versions.keys())
    versions = [
        (name, before.versions.get(name, ""), after.versions.get(name, "")) for name in names
    ]
    return RunChanges(
        tuple(changes),
        tuple(s for s in settings if s[1] != s[2]),
        tuple(v for v in versions if v[1] != v[2]),
    )


def _matched(before: Report, after: Report) -> list[tuple[Claim, Claim]]:
    """Return pairs of matching claims, the most alike first."""
    same_answer = before.answer == after.answer
    scored = [
        (_likeness(a, b, same_answer), -i, -j, a, b)
        for i, a in enumerate(before.claims)
        for j, b in enumerate(after.claims)
    ]
    pairs: list[tuple[Claim, Claim]] = []
    taken: set[tuple[str, str]] = set()
    for score, _, _, a, b in sorted(scored, key=lambda s: s[:3], reverse=True):
        if score >= ALIKE and not {("before", a.id), ("after", b.id)} & taken:
            taken |= {("before", a.id), ("after", b.id)}
            pairs.append((a, b))
    return pairs


def _likeness(a: Claim, b: Claim, same_answer: bool) -> float:
    """Return a score from 0 to 2: the F1 of shared words, plus the share of common characters in
    the same answer.
    """
    mine, theirs = set(words_of(a.text)), set(words_of(b.text))
    words = (
        2 * len(mine & theirs) / (len(mine) + len(theirs))
        if mine and theirs
        else float(a.text == b.text)
    )
    if not same_answer:
        return words
    here, there = ({i for start, end in c.spans for i in range(start, end)} for c in (a, b))
    place = len(here & there) / len(here | there) if here | there else 0.0
    return words + place if words >= ALIKE else place


def _causes(
    before: Report, after: Report, a: Claim, b: Claim, was: Verdict | None, now: Verdict | None
) -> Iterator[Cause]:
    """Yield the reasons why the verdicts differ; at least one."""
    if a.checked != b.checked and now and was:
        when, verdict = ("Before", was) if b.checked else ("Now", now)
        yield Cause("worthiness", f"{when} it is not checked: {verdict.reason}")
        return
    if a.statement != b.statement:
        then, later = (quoted(c.statement.rstrip("."), QUOTED) for c in (a, b))
        yield Cause("wording", f"It was checked as {then}, now as {later}.")
    elif now and _only_thresholds(before, after, a, now):
        own, other = (DecisionPolicy.of(r.settings).as_settings() for r in (before, after))
        changed = [
            (LABELS[name].lower(), own[name], other[name])
            for name in own
            if own[name] != other[name]
        ]
        parts = [f"{words} {_shown(one)}, now {_shown(two)}" for words, one, two in changed]
        yield Cause(
            "thresholds", f"Other thresholds: {'; '.join(parts)}. The probabilities are the same."
        )
        return
    reasons = [
        Cause("not_compared", f"{word}: {verdict.reason if verdict else 'it was not reached.'}")
        for word, verdict in (("Before", was), ("Now", now))
        if verdict is None or verdict.label in ("missing", *UNCHECKED)
    ]
    reasons += _evidence(before, after, a, b)
    if not reasons and a.statement == b.statement:
        reasons.append(
            Cause("unexplained", "The two runs read the same passages with the same probabilities.")
        )
    yield from reasons


def _of_analyst(change: ClaimChange) -> Cause:
    own = [
        f"{j.label} {quoted(j.note, QUOTED) * bool(j.note)}".strip() if j else "none"
        for j in change.judgements
    ]
    return Cause("analyst", f"The analyst's verdict was {own[0]}, now {own[1]}.")


def _only_thresholds(before: Report, after: Report, claim: Claim, now: Verdict) -> bool:
    """Return True if the first run gives the second's verdict under the second's thresholds."""
    policy = DecisionPolicy.of(after.settings)
    earlier = DecisionPolicy.of(before.settings)
    if policy == earlier or policy.decision != earlier.decision:  # a plain decision reads otherwise
        return False
    return any(
        v.claim_id == claim.id and v.label == now.label for v in recolour(before, policy).verdicts
    )


def _shown(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _deciding(report: Report, claim: Claim) -> list[Evidence]:
    """Return the most confident passage for each side."""
    own = [e for e in report.evidence if e.claim_id == claim.id]
    sides = dict.fromkeys(e.relation for e in own if e.relation in SIDES)
    return [
        max((e for e in own if e.relation == side), key=lambda e: _probability(e, side))
        for side in sides
    ]


def _probability(piece: Evidence, relation: Relation) -> float:
    return float(getattr(piece.probabilities, relation))


def _evidence(before: Report, after: Report, a: Claim, b: Claim) -> Iterator[Cause]:
    """Yield a cause for each deciding passage of one run that the other lacks or judges otherwise."""
    for own, other, claim, counterpart in ((after, before, b, a), (before, after, a, b)):
        now = own is after
        where = "was not among {} before" if now else "is not among {} now"
        for piece in _deciding(own, claim):
            page, title = _page(own, piece)
            side = SIDES[piece.relation]
            gives = f"{title} gives {side} now" if now else f"{title} gave {side} before"
            if (same := _same_passage(other, counterpart, piece)) is not None:
                if same.relation != piece.relation:
                    pieces = (same, piece) if now else (piece, same)
                    yield _judged(before, after, *pieces, title, piece.relation)
            elif any(p.id == page.id for p in other.pages):
                yield Cause(
                    "passage", f"A passage of {gives}; it {where.format('those compared')}."
                )
            elif any(canonical(p.url) == canonical(page.url) for p in other.pages):
                passage = (
                    f"a passage of it gives {side} now"
                    if now
                    else f"its passage that gave {side} is gone"
                )
                yield Cause("changed_page", f"{title} has changed since; {passage}.")
            else:
                yield Cause(
                    "new_page" if now else "lost_page", f"{gives}; it {where.format('the pages')}."
                )


def _judged(
    before: Report, after: Report, was: Evidence, now: Evidence, title: str, relation: Relation
) -> Cause:
    verifier = " by another verifier" * (
        before.versions.get("verifier") != after.versions.get("verifier")
    )
    change = f"{SIDES[relation]} {_probability(was, relation):.2f}, now {_probability(now, relation):.2f}"
    return Cause("judgement", f"A passage of {title} is judged differently{verifier}: {change}.")


def _same_passage(report: Report, claim: Claim, piece: Evidence) -> Evidence | None:
    place = (piece.page_id, piece.start, piece.end)
    own = (e for e in report.evidence if e.claim_id == claim.id)
    return next((e for e in own if (e.page_id, e.start, e.end) == place), None)


def _page(report: Report, piece: Evidence) -> tuple[Page, str]:
    page = next(p for p in report.pages if p.id == piece.page_id)
    return page, quoted(page.title or page.url, QUOTED)


def counts(changes: Sequence[ClaimChange]) -> tuple[int, int, int, int]:
    """Count changed verdicts, unchanged verdicts, claims of the second run alone, and claims of the
    first alone.
    """
    both = [c for c in changes if c.before and c.after]
    changed = sum(c.changed for c in both)
    return (
        changed,
        len(both) - changed,
        sum(not c.before for c in changes),
        sum(not c.after for c in changes),
    )

"""Probabilities → relation, evidence → verdict. Pure functions: new thresholds relabel a finished
run at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from attribution.policy import DecisionPolicy
from attribution.types import (
    HEARSAY,
    SEVERITY,
    UNCHECKED,
    AnalystLabel,
    Claim,
    Evidence,
    Failure,
    Label,
    OtherVerdict,
    Probabilities,
    Reader,
    Relation,
    Report,
    Reservation,
    Verdict,
    quoted,
)

NOT_CHECKED = {
    "opinion": "An opinion or recommendation: there is nothing to verify.",
    "not_a_claim": "A question, offer, heading or disclaimer: it states nothing about the world.",
    "other": "Not a statement that sources could confirm or deny.",
}
INCONCLUSIVE = "Related passages are inconclusive."
STOPPED = "The run was stopped before this claim was checked."
UNSETTLED: tuple[Label, ...] = (
    "unclear",
    "no_relation",
)  # for these a claim is judged predicate by predicate
SIDES: dict[Relation, str] = {"entailed": "support", "contradicted": "contradiction"}


def relation(probabilities: Probabilities, policy: DecisionPolicy) -> Relation:
    """Entailed or contradicted, whichever is more probable, if it reaches its threshold; else no
    relation.

    A plain decision takes the most probable of the three, whatever the thresholds.
    """
    if policy.decision == "plain":
        return leaning(probabilities)
    side = _stronger_side(probabilities)
    least = policy.support if side == "entailed" else policy.contradiction
    return side if getattr(probabilities, side) >= least else "no_relation"


def counted(
    probabilities: Probabilities, reservation: Reservation | None, policy: DecisionPolicy
) -> Relation:
    """The relation that a passage counts for: that of its probabilities, unless a reservation
    speaks against it.
    """
    found = relation(probabilities, policy)
    return "no_relation" if reservation and found in reservation.relations else found


def agreeing(badge: Label | None) -> AnalystLabel | None:
    """The analyst's verdict that agrees with a badge; None for a claim that was not compared with
    the sources.
    """
    match badge:
        case None | "not_reached" | "not_checked":
            return None
        case "supported" | "contradicted" | "conflicting":
            return badge
        case _:
            return "unclear"


def leaning(probabilities: Probabilities) -> Relation:
    """The most probable relation, whatever the threshold."""
    side = _stronger_side(probabilities)
    return side if getattr(probabilities, side) > probabilities.no_relation else "no_relation"


def _stronger_side(probabilities: Probabilities) -> Relation:
    return "entailed" if probabilities.entailed >= probabilities.contradicted else "contradicted"


def not_reached(claim: Claim, reason: str = STOPPED) -> Verdict:
    """The verdict on a claim that was not compared with the sources, because the run was stopped or
    a step failed.
    """
    return Verdict(claim_id=claim.id, label="not_reached", confidence=0.0, reason=reason)


def beside(
    verdict: Verdict, other: Verdict | OtherVerdict | None, which: Reader = "first"
) -> Verdict:
    """Return the verdict of the reader that decided, with that of the other one and a word about it
    in its reason.
    """
    if isinstance(other, Verdict):
        other = OtherVerdict(
            reader=which, label=other.label, confidence=other.confidence, reason=other.reason
        )
    if other is None:
        return verdict
    label = other.label.replace("_", " ")
    if other.label == verdict.label:
        note = "Both readers say so."
    else:
        note = f"A second reader{' decided; the first' * (other.reader == 'first')}: {label}."
    return verdict.model_copy(update={"other": other, "reason": f"{verdict.reason} {note}"})


def decide(
    claim: Claim,
    evidence: Sequence[Evidence],
    policy: DecisionPolicy,
    failures: Sequence[Failure] = (),
) -> Verdict:
    """The claim's verdict, and for an enriched claim also the label of its own words; failures
    explain a missing one.

    The evidence's own relations count; the policy's thresholds are for the probabilities of the
    claim as written.
    """
    whole = [e for e in evidence if not e.part]
    verdict = _of_weakest_part(claim, whole, policy, failures)
    if verdict.label in UNSETTLED and len(whole) < len(evidence):
        verdict = _of_predicates(
            Case(claim, whole, policy, failures), verdict, [e for e in evidence if e.part]
        )
    as_written = [
        e.model_copy(update=_as_judged(e, e.as_written, policy)) for e in evidence if e.as_written
    ]
    if not as_written:
        return verdict
    return verdict.model_copy(
        update={"without_added": _verdict(Case(claim, as_written, policy)).label}
    )


def _of_predicates(case: Case, whole: Verdict, evidence: Sequence[Evidence]) -> Verdict:
    """The verdict by predicates: one that is contradicted decides, or else all that are surely
    supported.

    Not where a passage denies the whole: each half of "A wrote it and B drew it" may seem true of
    the other's work.
    """
    by_part: dict[str, list[Evidence]] = {}
    for piece in evidence:
        by_part.setdefault(piece.part, []).append(piece)
    found = {part: _verdict(replace(case, evidence=pieces)) for part, pieces in by_part.items()}
    if false := [part for part, verdict in found.items() if verdict.label == "contradicted"]:
        surest = max(false, key=lambda part: found[part].confidence)
        return found[surest].model_copy(
            update={"reason": f"Its part “{surest}” fails. {found[surest].reason}"}
        )
    left = [
        part
        for part, v in found.items()
        if v.label != "supported" or v.confidence < case.policy.sure
    ]
    if not left and all(leaning(e.probabilities) != "contradicted" for e in case.evidence):
        weakest = min(found.values(), key=lambda verdict: verdict.confidence)
        lacks = tuple(dict.fromkeys(value for verdict in found.values() for value in verdict.lacks))
        hearsay = any(verdict.hearsay for verdict in found.values())
        reason = f"Each of its {len(found)} parts is supported. Of the weakest: {weakest.reason}"
        return weakest.model_copy(update={"reason": reason, "lacks": lacks, "hearsay": hearsay})
    if 0 < len(left) < len(found):
        reason = f"{whole.reason} Supported except for {' and '.join(map(quoted, left))}"
        return whole.model_copy(update={"label": "unclear", "reason": reason})
    return whole


def _of_weakest_part(
    claim: Claim, evidence: Sequence[Evidence], policy: DecisionPolicy, failures: Sequence[Failure]
) -> Verdict:
    """The verdict of the worst part of a claim of several sentences, with that part in its reason."""
    statements = [part.statement for part in evidence[0].parts] if evidence else []
    if not statements or not claim.checked:
        return _verdict(Case(claim, evidence, policy, failures))
    verdicts = []
    for place, statement in enumerate(statements):
        of_part = [
            e.model_copy(update=_as_judged(e, e.parts[place].probabilities, policy))
            for e in evidence
        ]
        verdicts.append((_verdict(Case(claim, of_part, policy, failures)), statement))
    worst, statement = min(
        verdicts, key=lambda found: (SEVERITY.index(found[0].label), not found[0].hearsay)
    )
    reason = f"Its weakest part is “{statement}” {worst.reason}"
    if worst.label == "no_relation" and any(v.label != "no_relation" for v, _ in verdicts):
        return worst.model_copy(update={"label": "unclear", "reason": reason})
    return worst.model_copy(update={"reason": reason})


def _as_judged(
    evidence: Evidence, probabilities: Probabilities, policy: DecisionPolicy
) -> dict[str, object]:
    return {
        "probabilities": probabilities,
        "relation": counted(probabilities, evidence.reservation, policy),
    }


@dataclass(frozen=True)
class Case:
    """One claim with all that its verdict is made from."""

    claim: Claim
    evidence: Sequence[Evidence]
    policy: DecisionPolicy
    failures: Sequence[Failure] = ()

    def verdict(self, label: Label, confidence: float, reason: str) -> Verdict:
        return Verdict(
            claim_id=self.claim.id, label=label, confidence=round(confidence, 4), reason=reason
        )

    @cached_property
    def too_few(self) -> list[Evidence]:
        """The passages that support the claim, if they are of fewer sources than the policy asks
        for.
        """
        found = _of(self.evidence, "entailed")
        return found if _independent(found) < self.policy.least_sources else []

    @cached_property
    def uncounted(self) -> list[Evidence]:
        return uncounted(self.evidence, self.policy)

    @cached_property
    def supporting(self) -> list[Evidence]:
        return [] if self.too_few else _of(self.evidence, "entailed")

    @cached_property
    def against(self) -> list[Evidence]:
        return [] if self.uncounted else _of(self.evidence, "contradicted")

    @property
    def support(self) -> float:
        return max((e.probabilities.entailed for e in self.supporting), default=0.0)

    @property
    def contradiction(self) -> float:
        return max((e.probabilities.contradicted for e in self.against), default=0.0)

    @property
    def passages(self) -> str:
        return f"{len(self.evidence)} passage{'s' * (len(self.evidence) != 1)}"

    @property
    def differs(self) -> str:
        """The difference between deciding passage and claim, as the end of a sentence."""
        surest = max(
            self.against,
            key=lambda e: (bool(e.difference), e.probabilities.contradicted),
            default=None,
        )
        return f": {surest.difference}." if surest and surest.difference else "."


def _verdict(case: Case) -> Verdict:
    """The verdict of the first rule that applies; the table in docs/verdicts.md lists them in this
    order.
    """
    verdict = next(found for rule in RULES if (found := rule(case)))
    if verdict.label != "supported" or case.policy.decision == "plain":
        return verdict
    first, *others = (e.lacks for e in case.supporting)
    if lacks := tuple(value for value in first if all(value in other for other in others)):
        reason = (
            f"{verdict.reason} No passage that supports it has {' or '.join(map(quoted, lacks))}."
        )
        verdict = verdict.model_copy(update={"lacks": lacks, "reason": reason})
    genres = {e.genre for e in case.supporting}
    if not genres <= set(HEARSAY):
        return verdict
    names = " and ".join(sorted(genres))
    reason = f"{verdict.reason} Only {names} pages say so, which alone make it likely at most."
    return verdict.model_copy(update={"hearsay": True, "reason": reason})


def _not_worth_checking(case: Case) -> Verdict | None:
    if (worthiness := case.claim.worthiness) not in NOT_CHECKED:
        return None
    return case.verdict("not_checked", 0.0, case.claim.worthiness_reason or NOT_CHECKED[worthiness])


def _incoherent(case: Case) -> Verdict | None:
    if case.claim.coherent:
        return None
    return case.verdict(
        "not_checked",
        0.0,
        f"Its sentence does not say this (entailed at {case.claim.coherence:.2f}).",
    )


def _nothing_to_read(case: Case) -> Verdict | None:
    if case.evidence:
        return None
    reasons = "; ".join(dict.fromkeys(f.message for f in case.failures))
    if any(f.kind == "verifier_failed" for f in case.failures):
        return not_reached(case.claim, reasons)
    return case.verdict("missing", 0.0, reasons or "No matching passage was found.")


def _both_sides(case: Case) -> Verdict | None:
    if not (case.supporting and case.against):
        return None
    counts = f"{_share(case.supporting, case.passages, 'support')}, {_share(case.against, '', 'contradict')}"
    heavier = _heavier(case.supporting, case.against, case.policy)
    if heavier is None or heavier[0] == "supported" and _is_hearsay_against_a_fact_check(case):
        return case.verdict(
            "conflicting", min(case.support, case.contradiction), f"{counts}{case.differs}"
        )
    label, rule = heavier
    confidence = case.support if label == "supported" else case.contradiction
    return case.verdict(label, confidence, f"{counts}; {rule}{case.differs}")


def _is_hearsay_against_a_fact_check(case: Case) -> bool:
    """Return True where forums and the like alone support what a fact check refutes: their number
    does not count.
    """
    said_by = {e.genre for e in case.supporting}
    refuted = any(e.genre == "fact check" for e in case.against)
    return case.policy.decision != "plain" and said_by <= set(HEARSAY) and refuted


def _only_support(case: Case) -> Verdict | None:
    if not case.supporting:
        return None
    counts = _share(case.supporting, case.passages, "support")
    return case.verdict("supported", case.support, f"{counts}, none contradicts it.")


def _only_contradiction(case: Case) -> Verdict | None:
    if not case.against:
        return None
    counts = _share(case.against, case.passages, "contradict")
    others = "too few sources support it" if case.too_few else "none supports it"
    return case.verdict("contradicted", case.contradiction, f"{counts}, {others}{case.differs}")


def _too_few_sources(case: Case) -> Verdict | None:
    least = case.policy.least_sources
    if not (sides := (*case.too_few, *(case.uncounted if least > 1 else ()))):
        return None
    surest = max(max(e.probabilities.entailed, e.probabilities.contradicted) for e in sides)
    verb = "support" if case.too_few else "contradict"
    counts = _share(case.too_few or case.uncounted, case.passages, verb)
    return case.verdict(
        "unclear", surest, f"{counts}, but {least} independent sources are asked for."
    )


def _one_page_without_a_difference(case: Case) -> Verdict | None:
    if not case.uncounted:
        return None
    lean = max(e.probabilities.contradicted for e in case.uncounted)
    return case.verdict(
        "unclear", lean, "One page seems to contradict it, but not clearly enough to count alone."
    )


def _reserved(case: Case) -> Verdict | None:
    held = [
        e
        for e in case.evidence
        if e.reservation and leaning(e.probabilities) in e.reservation.relations
    ]
    if not held:
        return None
    nearest = max(held, key=_strongest)
    note = nearest.reservation.note if nearest.reservation else ""
    return case.verdict("unclear", _strongest(nearest), f"A passage looks decisive, but {note}.")


def _undecided(case: Case) -> Verdict | None:
    leanings = [
        (getattr(e.probabilities, side), side)
        for e in case.evidence
        if (side := leaning(e.probabilities)) in SIDES
    ]
    if leanings:
        probability, side = max(leanings)
        return case.verdict(
            "unclear", probability, f"{INCONCLUSIVE[:-1]}, leaning towards {SIDES[side]}."
        )
    if about := [e for e in case.evidence if e.about]:
        checks = all(e.genre == "fact check" for e in about)
        reason = (
            "A fact check is about it, whose headline and rating do not settle it."
            if checks
            else INCONCLUSIVE
        )
        return case.verdict("unclear", max(map(_strongest, about)), reason)
    return None


def _unrelated(case: Case) -> Verdict:
    neutral = max(e.probabilities.no_relation for e in case.evidence)
    return case.verdict("no_relation", neutral, f"Nothing related was found in {case.passages}.")


RULES: tuple[Callable[[Case], Verdict | None], ...] = (
    _not_worth_checking,
    _incoherent,
    _nothing_to_read,
    _both_sides,
    _only_support,
    _only_contradiction,
    _too_few_sources,
    _one_page_without_a_difference,
    _reserved,
    _undecided,
    _unrelated,
)


def uncounted(evidence: Sequence[Evidence], policy: DecisionPolicy) -> list[Evidence]:
    """The passages that contradict a claim and don't count: in no value, of one page and not very
    sure; or too few.
    """
    against = _of(evidence, "contradicted")
    sure = any(e.difference or e.probabilities.contradicted >= policy.alone for e in against)
    return (
        []
        if (sure or _sources(against) > 1) and _independent(against) >= policy.least_sources
        else against
    )


def _heavier(
    supporting: Sequence[Evidence], against: Sequence[Evidence], policy: DecisionPolicy
) -> tuple[Label, str] | None:
    """Return the label of the side that counts, and why; None where both do, and the claim is
    conflicting.

    Sources count once each. Under "both", a side counts that has two more, or that alone is sure.
    """
    more = _sources(supporting) - _sources(against)
    larger: Label = "supported" if more > 0 else "contradicted"
    match policy.aggregation:
        case "strictest":
            return "contradicted", "one contradiction is enough"
        case "any":
            return "supported", "one support is enough"
        case "most_frequent" if more:
            return larger, "the more frequent counts"
        case "both" if abs(more) >= policy.more:
            return larger, "the side with more origins counts"
        case "both":
            return _surer(supporting, against, policy.sure)
    return None


def _surer(
    supporting: Sequence[Evidence], against: Sequence[Evidence], sure: float
) -> tuple[Label, str] | None:
    """Return the surer side; None where both are sure."""
    support, contradiction = max(map(_strongest, supporting)), max(map(_strongest, against))
    if min(support, contradiction) >= sure:
        return None
    return "supported" if support >= contradiction else "contradicted", "the surer side counts"


def _strongest(piece: Evidence) -> float:
    return max(piece.probabilities.entailed, piece.probabilities.contradicted)


def _of(evidence: Sequence[Evidence], relation: Relation) -> list[Evidence]:
    return [e for e in evidence if e.relation == relation]


def _sources(evidence: Sequence[Evidence]) -> int:
    return len({e.source for e in evidence})


def _independent(evidence: Sequence[Evidence]) -> int:
    """The number of origins, or of publishers if these are fewer."""
    return min(_sources(evidence), len({e.publisher or e.source for e in evidence}))


def _share(pieces: Sequence[Evidence], passages: str, verb: str) -> str:
    """The share of passages that do so: "3 of 5 passages support it (3 pages, 1 origin)"."""
    pages, origins = len({e.page_id for e in pieces}), _sources(pieces)
    copies = f" ({pages} pages, {origins} origin{'s' * (origins != 1)})" if pages > origins else ""
    return f"{len(pieces)}{' of ' * bool(passages)}{passages} {verb}{'s' * (len(pieces) == 1)} it{copies}"


def recolour(report: Report, policy: DecisionPolicy) -> Report:
    """The run relabelled under another policy, from its stored probabilities alone."""
    pages = {page.id: page for page in report.pages}
    evidence = tuple(
        e.model_copy(
            update={
                "relation": counted(e.probabilities, e.reservation, policy),
                "origin": pages[e.page_id].origin if e.page_id in pages else e.origin,
            }
        )
        for e in report.evidence
    )
    by_claim: dict[str, list[Evidence]] = {c.id: [] for c in report.claims}
    for piece in evidence:
        by_claim[piece.claim_id].append(piece)
    claims = {c.id: c for c in report.claims}
    verdicts = tuple(
        v
        if v.label in ("missing", *UNCHECKED)
        else beside(decide(claims[v.claim_id], by_claim[v.claim_id], policy), v.other)
        for v in report.verdicts
        if v.claim_id in claims
    )
    settings = {**report.settings, **policy.as_settings()}
    return report.model_copy(
        update={"evidence": evidence, "verdicts": verdicts, "settings": settings}
    )

"""Probabilities → relation, evidence → verdict. Pure functions: new thresholds relabel a finished run at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from attribution.types import (
    UNCHECKED,
    AnalystLabel,
    Claim,
    Evidence,
    Failure,
    Label,
    Probabilities,
    Relation,
    Report,
    Reservation,
    Verdict,
)

NOT_CHECKED = {
    "opinion": "An opinion or recommendation: there is nothing to verify.",
    "not_a_claim": "A question, offer, heading or disclaimer: it states nothing about the world.",
    "other": "Not a statement that sources could confirm or deny.",
}
STOPPED = "The run was stopped before this claim was checked."
WORST_LAST: tuple[Label, ...] = (  # of the parts of a claim
    "supported", "unclear", "no_relation", "missing", "not_reached", "conflicting", "contradicted", "not_checked",
)  # fmt: skip
SIDES: dict[Relation, str] = {"entailed": "support", "contradicted": "contradiction"}

Aggregation = Literal["both", "strictest", "most_frequent", "any"]  # where passages disagree, see `_heavier`
SURE = 0.75  # probability from which on a side can make a claim conflicting
ALONE = 0.9  # and from which on one page contradicts a claim though no value differs
MORE = 2  # pages that a side must have more to count alone
LOWEST_THRESHOLD = 0.34  # below it, another relation can be more probable


class Thresholds(NamedTuple):
    """Least probabilities of the two relations that count."""

    support: float
    contradiction: float


def relation(probabilities: Probabilities, thresholds: Thresholds) -> Relation:
    """Entailed or contradicted, whichever is more probable, if it reaches its threshold; else no relation."""
    side = _stronger_side(probabilities)
    least = thresholds.support if side == "entailed" else thresholds.contradiction
    return side if getattr(probabilities, side) >= least else "no_relation"


def counted(probabilities: Probabilities, reservation: Reservation | None, thresholds: Thresholds) -> Relation:
    """The relation that a passage counts for: that of its probabilities, unless a reservation speaks against it."""
    found = relation(probabilities, thresholds)
    return "no_relation" if reservation and found in reservation.relations else found


def thresholds_of(report: Report) -> Thresholds:
    """The thresholds that the report was made with; earlier ones had one for both relations."""
    support = float(str(report.settings.get("threshold", 0.5)))
    return Thresholds(support, float(str(report.settings.get("contradiction_threshold", support))))


def agreeing(badge: Label | None) -> AnalystLabel | None:
    """The analyst's verdict that agrees with a badge; None for a claim that was not compared with the sources."""
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
    """The verdict on a claim that was not compared with the sources, because the run was stopped or a step failed."""
    return Verdict(claim_id=claim.id, label="not_reached", confidence=0.0, reason=reason)


def decide(
    claim: Claim,
    evidence: Sequence[Evidence],
    thresholds: Thresholds,
    failures: Sequence[Failure] = (),
    aggregation: Aggregation = "both",
) -> Verdict:
    """The claim's verdict, and for an enriched claim also the label of its own words; failures explain a missing one.

    The evidence's own relations count; the thresholds are for the probabilities of the claim as written.
    """
    verdict = _of_weakest_part(claim, evidence, thresholds, failures, aggregation)
    as_written = [e.model_copy(update=_as_judged(e, e.as_written, thresholds)) for e in evidence if e.as_written]
    if not as_written:
        return verdict
    return verdict.model_copy(update={"without_added": _verdict(claim, as_written, (), aggregation).label})


def _of_weakest_part(
    claim: Claim,
    evidence: Sequence[Evidence],
    thresholds: Thresholds,
    failures: Sequence[Failure],
    aggregation: Aggregation,
) -> Verdict:
    """The verdict of the worst part of a claim of several sentences, with that part in its reason."""
    statements = [part.statement for part in evidence[0].parts] if evidence else []
    if not statements or not claim.checked:
        return _verdict(claim, evidence, failures, aggregation)
    verdicts = []
    for place, statement in enumerate(statements):
        of_part = [e.model_copy(update=_as_judged(e, e.parts[place].probabilities, thresholds)) for e in evidence]
        verdicts.append((_verdict(claim, of_part, failures, aggregation), statement))
    worst, statement = max(verdicts, key=lambda found: WORST_LAST.index(found[0].label))
    reason = f"Its weakest part is “{statement}” {worst.reason}"
    if worst.label == "no_relation" and any(v.label != "no_relation" for v, _ in verdicts):
        return worst.model_copy(update={"label": "unclear", "reason": reason})
    return worst.model_copy(update={"reason": reason})


def _as_judged(evidence: Evidence, probabilities: Probabilities, thresholds: Thresholds) -> dict[str, object]:
    return {"probabilities": probabilities, "relation": counted(probabilities, evidence.reservation, thresholds)}


def _verdict(
    claim: Claim, evidence: Sequence[Evidence], failures: Sequence[Failure], aggregation: Aggregation
) -> Verdict:
    def verdict(label: Label, confidence: float, reason: str) -> Verdict:
        return Verdict(claim_id=claim.id, label=label, confidence=round(confidence, 4), reason=reason)

    if claim.worthiness in NOT_CHECKED:
        return verdict("not_checked", 0.0, claim.worthiness_reason or NOT_CHECKED[claim.worthiness])
    if not claim.coherent:
        return verdict("not_checked", 0.0, f"Its sentence does not say this (entailed at {claim.coherence:.2f}).")
    if not evidence:
        reasons = "; ".join(dict.fromkeys(f.message for f in failures))
        if any(f.kind == "verifier_failed" for f in failures):
            return not_reached(claim, reasons)
        return verdict("missing", 0.0, reasons or "No matching passage was found.")
    supporting = [e for e in evidence if e.relation == "entailed"]
    against = [e for e in evidence if e.relation == "contradicted"]
    if alone := uncounted(evidence):
        against = []
    support = max((e.probabilities.entailed for e in supporting), default=0.0)
    contradiction = max((e.probabilities.contradicted for e in against), default=0.0)
    passages = f"{len(evidence)} passage{'s' * (len(evidence) != 1)}"
    differs = (
        max(against, key=lambda e: (bool(e.difference), e.probabilities.contradicted)).difference if against else ""
    )
    differs = f": {differs}." if differs else "."
    if supporting and against:
        counts = f"{_of(supporting, passages, 'support')}, {_of(against, '', 'contradict')}"
        heavier = _heavier(supporting, against, aggregation)
        if heavier is None:
            return verdict("conflicting", min(support, contradiction), f"{counts}{differs}")
        label, rule = heavier
        return verdict(label, support if label == "supported" else contradiction, f"{counts}; {rule}{differs}")
    if supporting:
        return verdict("supported", support, f"{_of(supporting, passages, 'support')}, none contradicts it.")
    if against:
        reason = f"{_of(against, passages, 'contradict')}, none supports it{differs}"
        return verdict("contradicted", contradiction, reason)
    if alone:
        lean = max(e.probabilities.contradicted for e in alone)
        return verdict("unclear", lean, "One page seems to contradict it, but no number, date or name differs.")
    held = [e for e in evidence if e.reservation and leaning(e.probabilities) in e.reservation.relations]
    if held:
        nearest = max(held, key=lambda e: max(e.probabilities.entailed, e.probabilities.contradicted))
        confidence = max(nearest.probabilities.entailed, nearest.probabilities.contradicted)
        note = nearest.reservation.note if nearest.reservation else ""
        return verdict("unclear", confidence, f"A passage seems to settle it, but {note}.")
    leanings = [(getattr(e.probabilities, side), side) for e in evidence if (side := leaning(e.probabilities)) in SIDES]
    if leanings:
        probability, side = max(leanings)
        return verdict("unclear", probability, f"Related passages don't settle it; they lean to {SIDES[side]}.")
    if about := [e for e in evidence if e.about]:
        nearest_p = max(max(e.probabilities.entailed, e.probabilities.contradicted) for e in about)
        return verdict("unclear", nearest_p, "Related passages don't settle it.")
    neutral = max(e.probabilities.no_relation for e in evidence)
    return verdict("no_relation", neutral, f"Nothing related was found in {passages}.")


def uncounted(evidence: Sequence[Evidence]) -> list[Evidence]:
    """The passages that contradict a claim in no value, if they are of one page and none is very sure."""
    against = [e for e in evidence if e.relation == "contradicted"]
    enough = any(e.difference or e.probabilities.contradicted >= ALONE for e in against) or _sources(against) > 1
    return [] if enough else against


def _heavier(
    supporting: Sequence[Evidence], against: Sequence[Evidence], aggregation: Aggregation
) -> tuple[Label, str] | None:
    """Return the label of the side that counts, and why; None where both do, and the claim is conflicting.

    Pages count once each. Under "both", a side counts that has two pages more, or that alone is sure.
    """
    more = _sources(supporting) - _sources(against)
    sides: tuple[Label, Label] = ("supported", "contradicted")
    match aggregation:
        case "strictest":
            return "contradicted", "one contradiction is enough"
        case "any":
            return "supported", "one support is enough"
        case "most_frequent" if more:
            return sides[more < 0], "the more frequent counts"
        case "both" if abs(more) >= MORE:
            return sides[more < 0], "the side with more pages counts"
        case "both":
            sure = (
                max(e.probabilities.entailed for e in supporting) >= SURE,
                max(e.probabilities.contradicted for e in against) >= SURE,
            )
            if sure[0] != sure[1]:
                return sides[sure[1]], "the surer side counts"
            if not any(sure):
                best = max(
                    (*supporting, *against), key=lambda e: max(e.probabilities.entailed, e.probabilities.contradicted)
                )
                return sides[best.relation == "contradicted"], "the surer side counts"
    return None


def _sources(evidence: Sequence[Evidence]) -> int:
    return len({e.page_id for e in evidence})


def _of(pieces: Sequence[Evidence], passages: str, verb: str) -> str:
    """The share of passages that do so: "1 of 5 passages supports it"."""
    return f"{len(pieces)}{' of ' * bool(passages)}{passages} {verb}{'s' * (len(pieces) == 1)} it"


def recolour(report: Report, thresholds: Thresholds) -> Report:
    """The run relabelled with other thresholds, from its stored probabilities alone."""
    evidence = tuple(
        e.model_copy(update={"relation": counted(e.probabilities, e.reservation, thresholds)}) for e in report.evidence
    )
    by_claim: dict[str, list[Evidence]] = {c.id: [] for c in report.claims}
    for piece in evidence:
        by_claim[piece.claim_id].append(piece)
    claims = {c.id: c for c in report.claims}
    verdicts = tuple(
        v if v.label in ("missing", *UNCHECKED) else decide(claims[v.claim_id], by_claim[v.claim_id], thresholds)
        for v in report.verdicts
        if v.claim_id in claims
    )
    settings = {
        **report.settings,
        "threshold": thresholds.support,
        "contradiction_threshold": thresholds.contradiction,
    }
    return report.model_copy(update={"evidence": evidence, "verdicts": verdicts, "settings": settings})

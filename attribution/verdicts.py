"""Probabilities → relation, evidence → verdict. Pure: a new threshold recolours a finished run at once."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.types import Claim, Evidence, Failure, Label, Probabilities, Relation, Report, Verdict

NOT_CHECKED = {
    "opinion": "An opinion or recommendation: there is nothing to verify.",
    "not_a_claim": "A question, offer, heading or disclaimer: it states nothing about the world.",
    "other": "Not a statement that sources could confirm or deny.",
}
UNREACHED = "The run was stopped before this claim was checked."


def relation(probabilities: Probabilities, threshold: float) -> Relation:
    """The more probable of entailed and contradicted where it reaches the threshold, else no relation."""
    strongest: Relation = "entailed" if probabilities.entailed >= probabilities.contradicted else "contradicted"
    return strongest if getattr(probabilities, strongest) >= threshold else "no_relation"


def verdict(claim: Claim, evidence: Sequence[Evidence], failures: Sequence[Failure] = ()) -> Verdict:
    """The claim's verdict from its evidence, with the rule that made it; failures explain a missing one."""

    def made(label: Label, confidence: float, reason: str) -> Verdict:
        return Verdict(claim_id=claim.id, label=label, confidence=round(confidence, 4), reason=reason)

    if claim.worthiness in NOT_CHECKED:
        return made("not_checked", 0.0, claim.worthiness_reason or NOT_CHECKED[claim.worthiness])
    if not claim.coherent:
        return made("not_checked", 0.0, f"Its own sentence does not say this (entailed at {claim.coherence:.2f}).")
    if not evidence:
        why = "; ".join(dict.fromkeys(f.message for f in failures)) or "The sources hold no passage about it."
        return made("missing", 0.0, why)
    for_it = [e for e in evidence if e.relation == "entailed"]
    against = [e for e in evidence if e.relation == "contradicted"]
    best = max((e.probabilities.entailed for e in for_it), default=0.0)
    worst = max((e.probabilities.contradicted for e in against), default=0.0)
    passages = f"{len(evidence)} passage{'s' * (len(evidence) != 1)}"
    if for_it and against:
        return made(
            "conflicting", min(best, worst), f"{len(for_it)} of {passages} support it, {len(against)} contradict it."
        )
    if for_it:
        return made("supported", best, f"{len(for_it)} of {passages} support it, none contradicts it.")
    if against:
        return made("contradicted", worst, f"{len(against)} of {passages} contradict it, none supports it.")
    return made(
        "no_relation", max(e.probabilities.no_relation for e in evidence), f"Nothing related was found in {passages}."
    )


def recolour(report: Report, threshold: float) -> Report:
    """The same run judged with another threshold, from the stored probabilities alone."""
    evidence = tuple(e.model_copy(update={"relation": relation(e.probabilities, threshold)}) for e in report.evidence)
    by_claim: dict[str, list[Evidence]] = {c.id: [] for c in report.claims}
    for piece in evidence:
        by_claim[piece.claim_id].append(piece)
    known = {v.claim_id: v for v in report.verdicts}
    verdicts = tuple(
        known[c.id] if known[c.id].label in ("missing", "not_checked") else verdict(c, by_claim[c.id])
        for c in report.claims
        if c.id in known
    )
    settings = {**report.settings, "threshold": threshold}
    return report.model_copy(update={"evidence": evidence, "verdicts": verdicts, "settings": settings})

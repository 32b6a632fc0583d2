"""How sure the badge of a verdict is, by the calibration of the verifier that decided it."""

from __future__ import annotations

from attribution.types import Report, Verdict
from attribution.verifiers import calibration


def verifier_of(claim_id: str, report: Report) -> str:
    """Return the version of the verifier that decided this claim."""
    return report.versions.get(f"verifier:{claim_id}") or report.versions.get("verifier", "")


def is_weak(verdict: Verdict | None, report: Report) -> bool:
    """Return True for a badge that is shown with its weaker word and a paler tint."""
    if verdict is None:
        return False
    return calibration.strength(verifier_of(verdict.claim_id, report), verdict.label, verdict.confidence) == "weak"


def share(verdict: Verdict | None, report: Report) -> str:
    """Say how many badges like this were right: "9 in 10 like this were right"; empty where that is not known."""
    if verdict is None:
        return ""
    return calibration.share(verifier_of(verdict.claim_id, report), verdict.label, verdict.confidence)


def reliability(verdict: Verdict | None, report: Report) -> str:
    """Say the same with the counts, or why it is not known."""
    if verdict is None:
        return ""
    return calibration.reliability(verifier_of(verdict.claim_id, report), verdict.label, verdict.confidence)

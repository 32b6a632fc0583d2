"""Putting a changed report together: what belongs to a claim stays with it, everything in the order of the claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attribution.errors import BadInput
from attribution.types import Claim, Evidence, Failure, Report, SetAside, Span, Verdict
from attribution.verdicts import decide, thresholds_of

EXCLUDED = "You excluded every passage that was found."


def claim_of(report: Report, claim_id: str) -> Claim:
    """A claim of the report; BadInput where it has none of that id."""
    return named(report.claims, claim_id, "is not in this run: open the run it belongs to")


def named(claims: Sequence[Claim], claim_id: str, problem: str) -> Claim:
    """The claim of that id; BadInput with the problem where there is none."""
    found = next((c for c in claims if c.id == claim_id), None)
    if found is None:
        raise BadInput(f"claim {claim_id[:40]!r} {problem}")
    return found


def aside(report: Report) -> SetAside:
    """What was taken out of the run."""
    return report.set_aside or SetAside()


def with_aside(report: Report, **changes: tuple[Claim, ...] | tuple[Evidence, ...]) -> Report:
    """The report with other claims or passages set aside."""
    changed = aside(report).model_copy(update=changes)
    return report.model_copy(update={"set_aside": changed if changed.claims or changed.evidence else None})


def with_claims(report: Report, claims: Sequence[Claim]) -> Report:
    """The report with these claims; evidence and verdicts of those that it had stay, in the order of the claims."""
    evidence: dict[str, list[Evidence]] = {c.id: [] for c in claims}
    for piece in report.evidence:
        if piece.claim_id in evidence:
            evidence[piece.claim_id].append(piece)
    return replaced(report, claims, evidence, {v.claim_id: v for v in report.verdicts})


def replaced(
    report: Report,
    claims: Sequence[Claim],
    evidence: Mapping[str, Sequence[Evidence]],
    verdicts: Mapping[str, Verdict],
) -> Report:
    """The report with these claims, and of the others what is theirs."""
    return report.model_copy(
        update={
            "claims": tuple(claims),
            "evidence": tuple(e for c in claims for e in evidence.get(c.id, ())),
            "verdicts": tuple(verdicts[c.id] for c in claims if c.id in verdicts),
        }
    )


def inserted(claims: Sequence[Claim], claim: Claim) -> list[Claim]:
    """The claims with one more in its place: after the pinned ones, in the order of the answer."""

    def place(c: Claim) -> tuple[bool, float]:
        return not c.pinned, c.spans[0][0] if c.spans else float("inf")

    if claim.pinned:
        at = sum(c.pinned for c in claims)
    else:
        at = next((i for i, c in enumerate(claims) if not c.pinned and place(c) > place(claim)), len(claims))
    return [*claims[:at], claim, *claims[at:]]


def checked_spans(answer: str, spans: Sequence[Span]) -> tuple[Span, ...]:
    """The spans in order, without the space around them. BadInput for one that is empty or outside the answer."""
    found = []
    for start, end in sorted(set(spans)):
        if not 0 <= start < end <= len(answer) or not answer[start:end].strip():
            raise BadInput(
                f"characters {start} to {end} are no text of this answer, which has {len(answer)} characters"
            )
        text = answer[start:end]
        found.append((start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())))
    return tuple(found)


def renamed(report: Report, old: Claim, new: Claim) -> Report:
    """A claim whose text is the same under another id: its evidence and verdict are still true."""
    to = {"claim_id": new.id}

    def mine(pieces: Sequence[Evidence]) -> tuple[Evidence, ...]:
        return tuple(e.model_copy(update=to) if e.claim_id == old.id else e for e in pieces)

    renamed = report.model_copy(
        update={
            "claims": tuple(new if c.id == old.id else c for c in report.claims),
            "evidence": mine(report.evidence),
            "verdicts": tuple(v.model_copy(update=to) if v.claim_id == old.id else v for v in report.verdicts),
        }
    )
    return with_aside(renamed, evidence=mine(aside(report).evidence)) if aside(report).evidence else renamed


def place_of(piece: Evidence) -> tuple[str, str, int, int]:
    """What tells a passage of a claim from its others."""
    return piece.claim_id, piece.page_id, piece.start, piece.end


def with_verdict(report: Report, verdict: Verdict, evidence: Sequence[Evidence]) -> Report:
    """The report with another verdict on one claim, and the evidence behind it."""
    by_claim: dict[str, list[Evidence]] = {c.id: [] for c in report.claims}
    for piece in report.evidence:
        by_claim[piece.claim_id].append(piece)
    verdicts = {v.claim_id: v for v in report.verdicts} | {verdict.claim_id: verdict}
    return replaced(report, report.claims, by_claim | {verdict.claim_id: list(evidence)}, verdicts)


def decided(
    report: Report, claim: Claim, evidence: Sequence[Evidence], excluded: bool, failures: Sequence[Failure] = ()
) -> Report:
    """The report with the verdict that this evidence gives; `excluded` says that a person took passages out of it."""
    verdict = decide(claim, evidence, thresholds_of(report), failures)
    if excluded and verdict.label == "missing":
        verdict = verdict.model_copy(update={"reason": EXCLUDED})
    return with_verdict(report, verdict, evidence)


def with_found(
    report: Report,
    claim: Claim,
    origins: Sequence[str],
    evidence: Sequence[Evidence],
    failures: Sequence[Failure] = (),
) -> Report:
    """The report with what was found for a claim, without the passages that were excluded from it or its origins."""
    before = [e for e in aside(report).evidence if e.claim_id in {*origins, claim.id}]
    excluded = {place_of(e)[1:] for e in before}
    out = {place_of(e): e for e in before if e.claim_id == claim.id}
    out |= {place_of(e): e for e in evidence if place_of(e)[1:] in excluded}
    report = decided(report, claim, [e for e in evidence if place_of(e) not in out], bool(out), failures)
    others = [e for e in aside(report).evidence if e.claim_id != claim.id]
    return with_aside(report, evidence=(*others, *out.values()))


def tidied(report: Report) -> Report:
    """The report with nothing set aside that it has, or that belongs to no claim any more."""
    here = {c.id for c in report.claims}
    dropped = tuple(c for c in aside(report).claims if c.id not in here)
    known = here | {c.id for c in dropped}
    excluded = tuple(e for e in aside(report).evidence if e.claim_id in known)
    return with_aside(report, claims=dropped, evidence=excluded)

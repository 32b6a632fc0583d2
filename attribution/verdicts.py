"""Evidence → verdict. Pure functions: new thresholds relabel a finished run at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

from attribution.types import (
    HEARSAY,
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
    Verdict,
)

LOWEST_THRESHOLD = 0.34  # below it, another relation can be more probable
Decision = Literal["weighed", "plain"]  # plain: the most probable relation of each pair (V24 4.3)
SURE = 0.75  # least probability at which a side can make a claim conflicting
LEAD = 2  # more sources than the other side, with which a side counts alone


@dataclass(frozen=True)
class DecisionPolicy:
    """Everything that turns evidence into a verdict.

    Attributes:
        threshold: The lowest probability that counts as support.
        contradiction_threshold: The lowest probability that counts as a contradiction.
        skipped_steps: Names of steps that don't run; with the decision `plain`, none runs.
    """

    threshold: float = 0.5
    contradiction_threshold: float = 0.7
    decision: Decision = "weighed"
    skipped_steps: tuple[str, ...] = ()

    def has(self, step: str) -> bool:
        """Return True if a named step runs."""
        return self.decision != "plain" and step not in self.skipped_steps

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> DecisionPolicy:
        """Return the policy that the settings of a run or a report choose.

        Values of another type are ignored: a report may come from a stranger.
        """
        chosen: dict[str, Any] = {}
        for name, default in cls().as_settings().items():
            value = settings.get(name)
            if isinstance(value, type(default)):
                chosen[name] = value
        return cls(**chosen)

    def as_settings(self) -> dict[str, object]:
        """Return the settings that choose this policy."""
        return {name: value for name, value in vars(self).items() if name != "skipped_steps"}


NOT_CHECKED = {
    "opinion": "An opinion or recommendation: there is nothing to verify.",
    "not_a_claim": "A question, offer, heading or disclaimer: it states nothing about the world.",
    "other": "Not a statement that sources could confirm or deny.",
}
INCONCLUSIVE = "Passages discuss this; none settles it."
STOPPED = "The run was stopped before this claim was checked."
SIDES: dict[Relation, str] = {"entailed": "support", "contradicted": "contradiction"}


def relation(probabilities: Probabilities, policy: DecisionPolicy) -> Relation:
    """Return the more probable side if it reaches its threshold, else no relation.

    Without the step `thresholds`, return the most probable of the three.
    """
    if not policy.has("thresholds"):
        return leaning(probabilities)
    side = _stronger_side(probabilities)
    least = policy.threshold if side == "entailed" else policy.contradiction_threshold
    return side if getattr(probabilities, side) >= least else "no_relation"


def counted(piece: Evidence, policy: DecisionPolicy) -> Relation:
    """Return the relation that a piece counts for: none, where a reservation speaks against it."""
    side = relation(piece.probabilities, policy)
    if piece.reservation and side in piece.reservation.relations:
        return "no_relation"
    return side


def leaning(probabilities: Probabilities) -> Relation:
    """Return the most probable relation, whatever the threshold."""
    side = _stronger_side(probabilities)
    return side if getattr(probabilities, side) > probabilities.no_relation else "no_relation"


def _stronger_side(probabilities: Probabilities) -> Relation:
    is_entailed = probabilities.entailed >= probabilities.contradicted
    return "entailed" if is_entailed else "contradicted"


def strongest(piece: Evidence) -> float:
    """Return the probability of the more probable side."""
    return max(piece.probabilities.entailed, piece.probabilities.contradicted)


def agreeing(badge: Label | None) -> AnalystLabel | None:
    """Return the assessment that agrees with a badge; None for a claim that wasn't compared."""
    if badge in (None, *UNCHECKED):
        return None
    if badge == "supported" or badge == "contradicted" or badge == "conflicting":
        return badge
    return "unclear"


def not_reached(claim: Claim, reason: str = STOPPED) -> Verdict:
    """Return the verdict on a claim that a stopped run, or a failed step, did not reach."""
    return Verdict(claim_id=claim.id, label="not_reached", confidence=0.0, reason=reason)


def missing(claim: Claim, reason: str) -> Verdict:
    """Return the verdict on a claim that can be compared with nothing."""
    return Verdict(claim_id=claim.id, label="missing", confidence=0.0, reason=reason)


def beside(
    verdict: Verdict, other: Verdict | OtherVerdict | None, which: Reader = "first"
) -> Verdict:
    """Return the verdict of the verifier that decided, with that of the other one."""
    if other is None:
        return verdict
    if isinstance(other, Verdict):
        other = OtherVerdict(
            reader=which, label=other.label, confidence=other.confidence, reason=other.reason
        )
    if other.label == verdict.label:
        note = "Both verifiers agree."
    elif other.reader == "first":
        note = f"A second verifier decided; the first said: {other.label.replace('_', ' ')}."
    else:
        note = f"A second verifier said: {other.label.replace('_', ' ')}."
    return verdict.model_copy(update={"other": other, "reason": f"{verdict.reason} {note}"})


@dataclass(frozen=True)
class Case:
    """One claim with all that its verdict is made from."""

    claim: Claim
    evidence: Sequence[Evidence]
    policy: DecisionPolicy
    failures: Sequence[Failure] = ()

    def verdict(self, label: Label, confidence: float, reason: str) -> Verdict:
        confidence = round(confidence, 4)
        return Verdict(claim_id=self.claim.id, label=label, confidence=confidence, reason=reason)

    @cached_property
    def supporting(self) -> list[Evidence]:
        return [piece for piece in self.evidence if piece.relation == "entailed"]

    @cached_property
    def against(self) -> list[Evidence]:
        return [piece for piece in self.evidence if piece.relation == "contradicted"]

    @property
    def passages(self) -> str:
        return f"{len(self.evidence)} passage{'s' * (len(self.evidence) != 1)}"


def decide(
    claim: Claim,
    evidence: Sequence[Evidence],
    policy: DecisionPolicy,
    failures: Sequence[Failure] = (),
) -> Verdict:
    """Return the verdict of the first rule that applies; `docs/verdicts.md` lists them in order.

    Args:
        evidence: Its own relations count (see `counted`).
        failures: They explain why there is no evidence.
    """
    case = Case(claim, evidence, policy, failures)
    for rule in RULES:
        verdict = rule(case)
        if verdict is not None:
            return verdict
    return _unrelated(case)


def _not_worth_checking(case: Case) -> Verdict | None:
    worthiness = case.claim.worthiness
    if worthiness not in NOT_CHECKED:
        return None
    return case.verdict("not_checked", 0.0, case.claim.worthiness_reason or NOT_CHECKED[worthiness])


def _incoherent(case: Case) -> Verdict | None:
    if case.claim.coherent:
        return None
    reason = f"The answer's sentence doesn't say this (entailed at {case.claim.coherence:.2f})."
    return case.verdict("not_checked", 0.0, reason)


def _nothing_to_read(case: Case) -> Verdict | None:
    if case.evidence:
        return None
    reasons = "; ".join(dict.fromkeys(failure.message for failure in case.failures))
    if any(failure.kind == "verifier_failed" for failure in case.failures):
        return not_reached(case.claim, reasons)
    if case.failures and all(failure.stage == "fetch" for failure in case.failures):
        return missing(case.claim, "No source could be read.")
    return missing(case.claim, reasons or "No matching passage was found.")


def _both_sides(case: Case) -> Verdict | None:
    if not (case.supporting and case.against):
        return None
    supported = _share(case.supporting, case.passages, "support")
    counts = f"{supported}, {_share(case.against, '', 'contradict')}"
    support, contradiction = _surest(case.supporting), _surest(case.against)
    heavier = _heavier(case)
    if heavier is None:
        return case.verdict("conflicting", min(support, contradiction), f"{counts}.")
    confidence = support if heavier.label == "supported" else contradiction
    return case.verdict(heavier.label, confidence, f"{counts}; {heavier.reason}.")


class Heavier(NamedTuple):
    """The side that counts where passages disagree, and why."""

    label: Label
    reason: str


def _heavier(case: Case) -> Heavier | None:
    """Return the side that counts; None where both do, and the claim is conflicting.

    Sources count once each. A side counts that has two more, or that alone is sure.
    """
    if not case.policy.has("weighing"):
        return None
    more = sources(case.supporting) - sources(case.against)
    larger: Label = "supported" if more > 0 else "contradicted"
    if abs(more) >= LEAD:
        return Heavier(larger, "more independent sources win")
    support, contradiction = _surest(case.supporting), _surest(case.against)
    if min(support, contradiction) >= SURE:
        return None
    surer: Label = "supported" if support >= contradiction else "contradicted"
    return Heavier(surer, "the surer side counts")


def _only_support(case: Case) -> Verdict | None:
    if not case.supporting:
        return None
    counts = _share(case.supporting, case.passages, "support")
    genres = {piece.genre for piece in case.supporting}
    if case.policy.has("hearsay") and genres <= set(HEARSAY):
        reason = f"{counts}, but only {' and '.join(sorted(genres))} pages say so."
        return case.verdict("unclear", _surest(case.supporting), reason)
    return case.verdict("supported", _surest(case.supporting), f"{counts}, none contradicts it.")


def _only_contradiction(case: Case) -> Verdict | None:
    if not case.against:
        return None
    counts = _share(case.against, case.passages, "contradict")
    return case.verdict("contradicted", _surest(case.against), f"{counts}, none supports it.")


def _reserved(case: Case) -> Verdict | None:
    """Say what speaks against the passage that would decide."""
    reserved = [
        piece
        for piece in case.evidence
        if piece.reservation and leaning(piece.probabilities) in piece.reservation.relations
    ]
    if not reserved:
        return None
    nearest = max(reserved, key=strongest)
    note = nearest.reservation.note if nearest.reservation else ""
    return case.verdict("unclear", strongest(nearest), f"A passage looks decisive, but {note}.")


def _undecided(case: Case) -> Verdict | None:
    leaning_pieces = [e for e in case.evidence if leaning(e.probabilities) in SIDES]
    if leaning_pieces:
        surest = max(leaning_pieces, key=strongest)
        side = SIDES[leaning(surest.probabilities)]
        reason = f"{INCONCLUSIVE[:-1]}; the nearest leans towards {side}."
        return case.verdict("unclear", strongest(surest), reason)
    about = [piece for piece in case.evidence if piece.about]
    return case.verdict("unclear", _surest(about), INCONCLUSIVE) if about else None


def _unrelated(case: Case) -> Verdict:
    neutral = max(piece.probabilities.no_relation for piece in case.evidence)
    return case.verdict("no_relation", neutral, f"None of {case.passages} is about this.")


RULES: tuple[Callable[[Case], Verdict | None], ...] = (
    _not_worth_checking,
    _incoherent,
    _nothing_to_read,
    _both_sides,
    _only_support,
    _only_contradiction,
    _reserved,
    _undecided,
)


def _surest(pieces: Sequence[Evidence]) -> float:
    return max((strongest(piece) for piece in pieces), default=0.0)


def sources(evidence: Sequence[Evidence]) -> int:
    """Return the number of sources: copies of one text are one."""
    return len({piece.source for piece in evidence})


def _share(pieces: Sequence[Evidence], passages: str, verb: str) -> str:
    """Return the share of passages that do so: "3 of 5 passages support it (3 pages, 1 origin)"."""
    pages, origins = len({piece.page_id for piece in pieces}), sources(pieces)
    copies = ""
    if pages > origins:
        copies = f" ({pages} pages, {origins} origin{'s' * (origins != 1)})"
    of_all = f" of {passages}" if passages else ""
    return f"{len(pieces)}{of_all} {verb}{'s' * (len(pieces) == 1)} it{copies}"


def recolour(report: Report, policy: DecisionPolicy) -> Report:
    """Relabel a run under another policy, from its stored probabilities alone."""
    origins = {page.id: page.origin for page in report.pages}
    evidence = tuple(
        piece.model_copy(
            update={
                "relation": counted(piece, policy),
                "origin": origins.get(piece.page_id, piece.origin),
            }
        )
        for piece in report.evidence
    )
    by_claim: dict[str, list[Evidence]] = {claim.id: [] for claim in report.claims}
    for piece in evidence:
        by_claim[piece.claim_id].append(piece)
    claims = {claim.id: claim for claim in report.claims}
    verdicts: list[Verdict] = []
    for verdict in report.verdicts:
        claim = claims.get(verdict.claim_id)
        if claim is None:
            continue
        if verdict.label not in ("missing", *UNCHECKED):
            verdict = beside(decide(claim, by_claim[claim.id], policy), verdict.other)
        verdicts.append(verdict)
    settings = {**report.settings, **policy.as_settings()}
    return report.model_copy(
        update={"evidence": evidence, "verdicts": tuple(verdicts), "settings": settings}
    )


def deciding_first(piece: Evidence) -> tuple[bool, float]:
    """Return the place of a claim's passage among the others: those that decide first, the most
    probable first.
    """
    neutral = piece.relation == "no_relation"
    return neutral, -(piece.similarity if neutral else strongest(piece))


def deciding_evidence(evidence: Sequence[Evidence]) -> Evidence | None:
    """Return the most probable passage that supports or contradicts, if there is one."""
    decisive = [piece for piece in evidence if piece.relation != "no_relation"]
    return min(decisive, key=deciding_first, default=None)


def nearest_evidence(evidence: Sequence[Evidence], label: str) -> Evidence | None:
    """Return the passage that decides or, for an unclear claim, the one to read first."""
    if label == "contradicted":  # another part may be supported
        evidence = [piece for piece in evidence if piece.relation == "contradicted"]
    if label != "unclear":
        return deciding_evidence(evidence)

    def worth(piece: Evidence) -> tuple[bool, bool]:
        return leaning(piece.probabilities) != "no_relation", piece.about

    return max(sorted(evidence, key=deciding_first), key=worth, default=None)

"""Claims that are not supported → the smallest change that their evidence supports, as the run's verifier says."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from attribution.contrast.contrast import AHEAD, ENTAILED
from attribution.corrections import CORRECTORS, Corrector
from attribution.corrections.correction import Correction, changed_words
from attribution.corrections.placing import place
from attribution.errors import BadInput, StageFailure
from attribution.registry import build
from attribution.settings import Settings
from attribution.storage.store import Store
from attribution.text.lexical import shared_words
from attribution.text.prose import prose
from attribution.types import Claim, Evidence, Failure, Judgement, Label, Page, Report
from attribution.verdicts import Thresholds, relation
from attribution.verifiers import VERIFIERS
from attribution.verifiers.cached import CachedVerifier
from attribution.verifiers.pairs import Reads

CORRECTED: tuple[Label, ...] = ("contradicted", "conflicting", "unclear")  # verdicts that a correction is sought for
PASSAGES = 2  # of a claim whose wording is tried; all others may not contradict it
RANK = 0.03  # the probability that a candidate must have more than one that the corrector ranks before it


@dataclass(frozen=True)
class Premise:
    """A passage as the verifier reads it, and the title of its page."""

    text: str
    title: str = ""

    def pair(self, claim: str) -> tuple[str, str, str]:
        return claim, self.text, self.title


@dataclass(frozen=True)
class Supported:
    """A wording that a passage supports; `premise` is its place among those given."""

    text: str
    premise: int
    judgement: Judgement


@dataclass(frozen=True)
class Proposal:
    """What came of one claim: a correction, a failure, or neither, with the reason."""

    claim_id: str
    correction: Correction | None = None
    reason: str = ""
    failure: Failure | None = None


NONE = "No small change of its numbers, dates, units, names and negations is supported by its evidence."
NOT_WRITTEN = "A supported wording was found, but the answer itself does not hold the words that it changes."


def correctable(report: Report) -> tuple[Claim, ...]:
    """The claims that a correction is sought for. Supported claims never are among them."""
    labels = {v.claim_id: v.label for v in report.verdicts}
    return tuple(c for c in report.claims if labels.get(c.id) in CORRECTED and c.checked)


def propose(
    report: Report,
    claims: Sequence[Claim],
    settings: Settings,
    store: Store,
    corrector: str = "rule",
    stop: threading.Event | None = None,
) -> Iterator[Proposal]:
    """One proposal for each claim, in order; nothing is searched, and the run is not changed.

    UnknownName or Unavailable for a corrector or verifier that cannot be used; BadInput for a claim of another run.
    """
    if others := {c.id for c in claims} - {c.id for c in report.claims}:
        raise BadInput(f"claim {min(others)} is not in this run: open the run it belongs to")
    built: Corrector = build(CORRECTORS, corrector, settings, "corrector")
    verifier = CachedVerifier(build(VERIFIERS, settings.verifier, settings, "verifier"), store)
    pages = {page.id: page for page in report.pages}
    proses: dict[str, str] = {}  # by page
    labels = {v.claim_id: v.label for v in report.verdicts}
    for claim in claims:
        if stop is not None and stop.is_set():
            return
        pieces = deciding(claim, [e for e in report.evidence if e.claim_id == claim.id])
        premises = [_premise(piece, pages, proses) for piece in pieces]
        try:
            # where no passage surely contradicts the claim, what one of them says as the claim does is not wrong
            right = () if labels[claim.id] == "contradicted" else [p.text for p in premises]
            found = best(claim.statement, premises, built, verifier, settings.thresholds, right)
        except StageFailure as error:
            yield Proposal(claim.id, reason=str(error), failure=error.as_failure("correct", claim.text))
            continue
        if found is None:
            yield Proposal(claim.id, reason=NONE)
            continue
        edits = place(report.answer, claim, found.text)
        if not edits:
            yield Proposal(claim.id, reason=NOT_WRITTEN)
            continue
        piece, (first, last) = pieces[found.premise], found.judgement.sentence
        correction = Correction(
            claim_id=claim.id,
            before=claim.statement,
            after=found.text,
            edits=edits,
            page_id=piece.page_id,
            sentence=(piece.start + first, piece.start + last),
            quote=piece.text[first:last],
            probability=round(found.judgement.probabilities.entailed, 4),
            corrector=built.version,
            verifier=verifier.version,
        )
        yield Proposal(claim.id, correction)


def deciding(claim: Claim, evidence: Sequence[Evidence]) -> list[Evidence]:
    """The evidence of a claim, that which says most about it first: contradictions before all others."""

    def order(piece: Evidence) -> tuple[bool, float, float]:
        p, shared = piece.probabilities, shared_words(claim.statement, piece.text)
        return piece.relation != "contradicted", -max(p.contradicted, p.entailed), -shared

    return sorted(evidence, key=order)


def best(
    claim: str,
    premises: Sequence[Premise],
    corrector: Corrector,
    verifier: Reads,
    thresholds: Thresholds,
    right: Sequence[str] = (),
) -> Supported | None:
    """The wording with the fewest changed words that one of the first premises supports and none contradicts.

    It must be as sure, and as far ahead of the claim, as a variant that contradicts the claim (attribution/contrast).
    Of those that change as many words, the one that is supported most surely, less RANK for each likelier candidate.
    What a text in `right` says too is left as it is.
    """
    tried = [
        (n, *c)
        for n, p in enumerate(premises[:PASSAGES])
        for c in enumerate(corrector.candidates(claim, p.text, right))
    ]
    judgements = verifier.verify([premises[n].pair(text) for n, _, text in tried])
    own = [j.probabilities.entailed for j in verifier.verify([p.pair(claim) for p in premises[:PASSAGES]])]
    supported = [
        (changed_words(claim, text), RANK * rank - judgement.probabilities.entailed, Supported(text, n, judgement))
        for (n, rank, text), judgement in zip(tried, judgements, strict=True)
        if relation(judgement.probabilities, thresholds) == "entailed"
        and judgement.probabilities.entailed >= max(ENTAILED, own[n] + AHEAD)
    ]
    for _, _, found in sorted(supported, key=lambda s: s[:2]):
        others = verifier.verify([p.pair(found.text) for n, p in enumerate(premises) if n != found.premise])
        if all(relation(j.probabilities, thresholds) != "contradicted" for j in others):
            return found
    return None


def _premise(piece: Evidence, pages: dict[str, Page], proses: dict[str, str]) -> Premise:
    page = pages.get(piece.page_id)
    if page is None or page.text[piece.start : piece.end] != piece.text:
        return Premise(piece.text, page.title if page else "")
    if page.id not in proses:
        proses[page.id] = prose(page.text)
    return Premise(proses[page.id][piece.start : piece.end], page.title)

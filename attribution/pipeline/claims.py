"""Answer → annotated claims: segmentation, check-worthiness, independence, enrichment, coherence."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from attribution.claims import coherence, enrichment, independence, worthiness
from attribution.claims.conversation import as_text, standalone_question, transcript
from attribution.claims.llm_annotation import LlmAnnotator
from attribution.claims.rules import left_out
from attribution.registry import build
from attribution.segmenters import SEGMENTERS, Segmenter
from attribution.settings import Settings
from attribution.storage.store import Store
from attribution.types import Claim, Failure, Segmented, Turn
from attribution.verifiers import VERIFIERS
from attribution.verifiers.cached import CachedVerifier
from attribution.verifiers.pairs import verify_each

INSTEAD = {
    "segment": "the sentences as they are",
    "worthiness": "the rules",
    "independence": "the rules",
    "enrichment": "the rules",
    "queries": "the claims themselves",
}  # what a stage uses where the language model fails


def fallbacks(failures: Sequence[Failure]) -> list[Failure]:
    """A notice for each stage with prompts that failed: what could not be used, and what was used instead."""
    notices = []
    for stage in dict.fromkeys(f.stage for f in failures if f.kind == "llm_failed"):
        failed = [f for f in failures if f.kind == "llm_failed" and f.stage == stage]
        instead = INSTEAD.get(stage, "the rules")
        message = (
            f"The language model could not be used for {len(failed)} prompt{'s' * (len(failed) != 1)} "
            f"({stage}); used instead: {instead}. {failed[0].message}"
        )
        notices.append(
            Failure(stage=stage, subject="language model", kind="llm_fell_back", message=message, instead=instead)
        )
    return notices


def segment(question: str, answer: str, settings: Settings, stop: threading.Event | None = None) -> Segmented:
    """Segmentation alone; setting `stop` ends one that uses a language model."""
    segmenter: Segmenter = build(SEGMENTERS, settings.segmenter, settings, "segmenter")
    return segmenter.segment(question, answer, stop)


def annotate(
    question: str,
    answer: str,
    claims: Sequence[Claim],
    tasks: Sequence[str],
    annotator: LlmAnnotator | None,
    context: Sequence[Turn] = (),
    stop: threading.Event | None = None,
) -> tuple[list[Claim], list[Failure]]:
    """Which claims are worth checking, which can be understood alone, and what the others mean (V24, section 4).

    By rules, and for `tasks` by the language model. A claim that only the conversation before the question makes clear
    is not independent; its references are resolved into that conversation (explicatures: R23, section 3). Setting
    `stop` ends it between two claims; what the rules do not read of a very long answer is a failure.
    """
    shown = transcript(question, context)
    failures = left_out(claims)
    annotated = worthiness.classify(claims, answer, stop)
    if annotator and "worthiness" in tasks:
        annotated, refused = annotator.worthiness(shown, annotated)
        failures += refused
    annotated = independence.check_independence(annotated, "\n\n".join(said for _, said in context), stop)
    if annotator and "independence" in tasks:
        annotated, refused = annotator.independence(as_text(context), annotated)
        failures += refused
    if annotator and "enrichment" in tasks:
        annotated, refused = annotator.enrichment(shown, answer, annotated)
        return annotated, failures + refused
    annotated, unread = enrichment.enrich(standalone_question(question, context), answer, annotated, stop)
    return annotated, failures + unread


def check_coherence(
    answer: str, claims: Sequence[Claim], settings: Settings, store: Store, stop: threading.Event | None = None
) -> tuple[list[Claim], list[Failure]]:
    """Claims that their own sentence does not entail are marked incoherent (W24, section 4.3).

    Always by the small embedded verifier: what the answer says does not depend on who checks it.
    """
    verifier = CachedVerifier(build(VERIFIERS, "embedded-small", settings, "verifier"), store)

    def entailed(pairs: coherence.Pairs) -> list[float | None]:
        return [None if isinstance(j, str) else j.probabilities.entailed for j in verify_each(verifier, pairs)]

    return coherence.check_coherence(answer, claims, entailed, settings.coherence, stop)

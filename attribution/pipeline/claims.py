"""Turn an answer into annotated claims: segmentation, check-worthiness, independence, enrichment,
coherence.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

from attribution.claims import coherence, enrichment, worthiness
from attribution.claims.context import add_context, check_independence
from attribution.claims.enrichment import standalone_question
from attribution.claims.llm_annotation import LlmAnnotator
from attribution.conversation import as_text, transcript
from attribution.embedders import EMBEDDERS
from attribution.errors import Stopped
from attribution.models.engine import stoppable
from attribution.pipeline.judge import entailment
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.tables import LLM, Entry
from attribution.text.sentences import LANGUAGES, detect, is_english
from attribution.types import Claim, Failure, Page, Segmented, Turn
from attribution.verdicts import DecisionPolicy
from attribution.verifiers import VERIFIERS
from attribution.verifiers.reader import CachedVerifier

SAMPLE = 2000  # characters of a page for language detection


def segment(
    question: str, answer: str, settings: Settings, stop: threading.Event | None = None
) -> Segmented:
    """Segment an answer; setting `stop` ends a segmentation that uses a language model."""
    segmenter = SEGMENTERS.chosen(settings)
    return segmenter.segment(question, answer, stop)


def annotate(
    question: str,
    answer: str,
    claims: Sequence[Claim],
    annotator: LlmAnnotator | None = None,
    context: Sequence[Turn] = (),
    stop: threading.Event | None = None,
) -> tuple[list[Claim], list[Failure]]:
    """Annotate claims with check-worthiness and independence, and decontextualise dependent ones
    (V24 4.2, 5.1).

    A claim that needs the conversation before the question is not independent; its references are
    resolved from that conversation (explicatures: R23 3.3).

    Args:
        question: The question, which may be empty.
        answer: The answer that the claims are from.
        claims: Claims as the segmenter made them.
        annotator: The language model that does some of the stages; the others are done by rules.
        context: The conversation before the question.
        stop: Setting it ends the work before independence.

    Returns:
        The annotated claims, and the prompts that failed.
    """
    shown = transcript(question, context)
    tasks = annotator.tasks if annotator else ()
    failures: list[Failure] = []
    asked = standalone_question(question, context)
    annotated = worthiness.classify(add_context(claims, answer, asked), answer)
    if annotator and "worthiness" in tasks:
        annotated, refused = annotator.annotate("worthiness", shown, annotated)
        failures += refused
    if stop and stop.is_set():
        return annotated, failures
    annotated = check_independence(annotated)
    if annotator and "independence" in tasks:
        annotated, refused = annotator.annotate("independence", as_text(context), annotated)
        failures += refused
    if annotator and "enrichment" in tasks:
        annotated, refused = annotator.annotate("enrichment", shown, annotated, answer)
        return annotated, failures + refused
    return enrichment.enrich(asked, answer, annotated), failures


def check_coherence(
    answer: str,
    claims: Sequence[Claim],
    settings: Settings,
    store: Store,
    stop: threading.Event | None = None,
) -> list[Claim]:
    """Mark claims as incoherent if their own sentence does not say them, by the verifier (W24 8.2).

    No language model is asked about it, but the best embedded verifier in its place. Setting `stop`
    leaves the claims as they are.
    """
    name = settings.verifier
    if LLM in VERIFIERS[name].needs:
        name = "auto"
    verifier = CachedVerifier(VERIFIERS.build(name, settings), store)
    try:
        with stoppable(stop):
            policy = DecisionPolicy.of(dict(settings))
            return coherence.check_coherence(
                answer,
                claims,
                lambda pairs: entailment(pairs, verifier, policy),
                settings.coherence,
            )
    except Stopped:
        return list(claims)


def unsupported(answer: str, settings: Settings) -> Failure | None:
    """Return a failure that names each English-only part, for an answer in another language."""
    parts = [] if is_english(answer) else _english_only(settings)
    if not parts:
        return None
    language = LANGUAGES[detect(answer) or "en"]
    message = (
        f"The answer is in {language}. These parts work for English only, so verdicts may be "
        f"wrong: {', '.join(parts)}. A language model or a multilingual model can take their place."
    )
    return Failure(stage="segment", subject=language, kind="unsupported_language", message=message)


def unmatched(answer: str, settings: Settings, pages: Iterable[Page]) -> str:
    """Return why no page can be compared with the answer.

    That is so if it is in another language than the pages, and a model is English-only.

    Returns:
        The reason, as it is shown; empty if a comparison is possible.
    """
    models = (EMBEDDERS[settings.embedder], VERIFIERS[settings.verifier])
    if is_english(answer) or not any(_reads_english(model, settings) for model in models):
        return ""
    language = detect(answer)
    if any(detect(page.text[:SAMPLE]) == language for page in pages):
        return ""
    name = LANGUAGES[language or "en"]
    return f"The answer is in {name}, and no source is: add sources in that language."


def _english_only(settings: Settings) -> list[str]:
    entries = {
        "the segmenter": SEGMENTERS[settings.segmenter],
        "the embedding model": EMBEDDERS[settings.embedder],
        "the verifier": VERIFIERS[settings.verifier],
    }
    parts = [name for name, entry in entries.items() if _reads_english(entry, settings)]
    if "rules" in (settings.worthiness, settings.independence, settings.enrichment):
        parts.append("the rules for worthiness and context")
    return parts


def _reads_english(entry: Entry, settings: Settings) -> bool:
    """Return True for an English-only entry.

    A model that the user names may read other languages.
    """
    return entry.english and not (entry.model_setting and getattr(settings, entry.model_setting))

"""Turn an answer into annotated claims: segmentation, check-worthiness, independence, enrichment,
coherence.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence

from attribution.claims import coherence, enrichment, worthiness
from attribution.claims.context import add_context, check_independence
from attribution.claims.enrichment import as_text, standalone_question, transcript
from attribution.claims.llm_annotation import LlmAnnotator
from attribution.claims.rules import left_out
from attribution.embedders import EMBEDDERS
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.tables import LLM, Entry
from attribution.text.sentences import LANGUAGES, detect, is_english
from attribution.types import Claim, Failure, Judgement, Page, Segmented, Turn
from attribution.verifiers import VERIFIERS
from attribution.verifiers.pairs import CachedVerifier, Reads, verify_each

INSTEAD = {
    "segment": "the sentences as they are",
    "worthiness": "the rules",
    "independence": "the rules",
    "enrichment": "the rules",
    "queries": "the claims themselves",
}  # what a stage uses if the language model fails

EXCHANGED = "another role"
SURE = 0.975  # of 252 claims with a word in another role, five have as much, four of them rightly
SAME = 0.8  # least probability of a clause whose verb, roles and words are those of the sentence
HELD_AGAINST_PARSE = (
    "sentences",
    "spacy",
    "clauses",
    "predpatt",
)  # segmenters that make no claim of another form


def fallbacks(failures: Sequence[Failure]) -> list[Failure]:
    """Return a notice for each stage with failed prompts: what could not be used, and what was used
    instead.
    """
    notices = []
    for stage in dict.fromkeys(f.stage for f in failures if f.kind == "llm_failed"):
        failed = [f for f in failures if f.kind == "llm_failed" and f.stage == stage]
        instead = INSTEAD.get(stage, "the rules")
        message = (
            f"The language model could not be used for {len(failed)} prompt{'s' * (len(failed) != 1)} "
            f"({stage}); used instead: {instead}. {failed[0].message}"
        )
        notices.append(
            Failure(
                stage=stage,
                subject="language model",
                kind="llm_fell_back",
                message=message,
                instead=instead,
            )
        )
    return notices


def segment(
    question: str, answer: str, settings: Settings, stop: threading.Event | None = None
) -> Segmented:
    """Segment an answer; setting `stop` ends a segmentation that uses a language model."""
    segmenter = SEGMENTERS.build(settings.segmenter, settings)
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
    """Annotate claims with check-worthiness and independence, and decontextualise dependent ones
    (V24 4.2, 5.1).

    This is done by rules, and for `tasks` by the language model. A claim that needs the
    conversation before the
    question is not independent; its references are resolved from that conversation (explicatures:
    R23 3.3).
    Setting `stop` ends the work between two claims. The part of a very long answer that the rules
    do not read is
    reported as a failure.
    """
    shown = transcript(question, context)
    failures = left_out(claims)
    annotated = worthiness.classify(add_context(claims, answer), answer, stop)
    if annotator and "worthiness" in tasks:
        annotated, refused = annotator.worthiness(shown, annotated)
        failures += refused
    annotated = check_independence(annotated, "\n\n".join(text for _, text in context), stop)
    if annotator and "independence" in tasks:
        annotated, refused = annotator.independence(as_text(context), annotated)
        failures += refused
    if annotator and "enrichment" in tasks:
        annotated, refused = annotator.enrichment(shown, answer, annotated)
        return annotated, failures + refused
    annotated, unread = enrichment.enrich(
        standalone_question(question, context), answer, annotated, stop
    )
    return annotated, failures + unread


def check_coherence(
    answer: str,
    claims: Sequence[Claim],
    settings: Settings,
    store: Store,
    stop: threading.Event | None = None,
    *,
    published: bool = False,
) -> tuple[list[Claim], list[Failure]]:
    """Mark claims as incoherent if their own sentence does not say them (W24 8.2).

    The run's verifier judges, and the rules of `judge_coherence`, unless the segmenter has held its
    claims against the
    parse itself. A run asks no language model about it, but the best embedded verifier in its
    place; `published` does
    ask it, and judges all segmenters alike (W24 3.2).
    """
    name, parsed = settings.verifier, settings.segmenter in HELD_AGAINST_PARSE
    verifier = VERIFIERS.build(
        "auto" if LLM in VERIFIERS[name].needs and not published else name, settings
    )
    entailment = entailment_by(CachedVerifier(verifier, store))

    def score(pairs: coherence.Pairs) -> Sequence[float | None]:
        if parsed and not published:
            return entailment(pairs)
        return [found for found, _ in judge_coherence(pairs, entailment)]

    return coherence.check_coherence(answer, claims, score, settings.coherence, stop)


def entailment_by(verifier: Reads) -> coherence.Entailment:
    """Return a function from pairs to the probabilities that a verifier gives; None for one that it
    cannot read.
    """
    return lambda pairs: [
        j.probabilities.entailed if isinstance(j, Judgement) else None
        for j in verify_each(verifier, pairs)
    ]


def judge_coherence(
    pairs: coherence.Pairs, entailment: coherence.Entailment
) -> list[tuple[float | None, str]]:
    """Return for each (claim, sentence) the probability that the claim is said, and the fault that
    makes it 0.

    DecompScore's judge: the verifier reads the sentence as the premise. Rules for English find what
    it accepts too
    easily: a claim that is no sentence, gives a word another role, or leaves out an "or", a
    condition or a denial
    above it (W24 3.2 and 8.2). A word in another role counts unless the verifier is sure.
    """
    from attribution.segmenters.english.roles import fault
    from attribution.text.parse import MAX_PARSED
    from attribution.verifiers.roles import tells_the_same

    judged: list[tuple[float | None, str]] = []
    for (claim, sentence), score in zip(pairs, entailment(pairs), strict=True):
        read = len(claim) + len(sentence) <= MAX_PARSED and is_english(sentence)
        wrong = fault(sentence, claim) if read else ""
        moved = wrong.startswith(EXCHANGED)
        same = tells_the_same(claim, sentence) if read and (moved or not wrong) else None
        if same is False:
            wrong = wrong or EXCHANGED
        elif same and score is not None:
            score, wrong = max(score, SAME), ""
        elif moved and score is not None and score >= SURE:
            wrong = ""
        judged.append((0.0 if wrong and score is not None else score, wrong))
    return judged


_RULES = {
    "worthiness": "which claims are worth checking",
    "independence": "which claims need context",
    "enrichment": "what that context is",
}
SAMPLE = 2000  # characters of a page for language detection


def unsupported(answer: str, settings: Settings) -> Failure | None:
    """Return a failure that names each English-only part with an alternative; None if there is
    none.
    """
    parts = [] if is_english(answer) else list(_english_only(settings))
    if not parts:
        return None
    language = LANGUAGES[detect(answer) or "en"]
    message = (
        f"The answer is in {language}. These parts work for English only, so verdicts may be wrong: "
        + "; ".join(f"{part} (instead: {instead})" for part, instead in parts)
        + "."
    )
    return Failure(stage="segment", subject=language, kind="unsupported_language", message=message)


def unmatched(answer: str, settings: Settings, pages: Iterable[Page]) -> str:
    """Return why no page can be compared with the answer: it is in another language, and a model is
    English-only.

    Empty if a comparison is possible.
    """
    english_models = (
        EMBEDDERS[settings.embedder].english and not settings.embedding_model,
        VERIFIERS[settings.verifier].english and not settings.verifier_model,
    )
    if is_english(answer) or not any(english_models):
        return ""
    language = detect(answer)
    if any(detect(page.text[:SAMPLE]) == language for page in pages):
        return ""
    return f"The answer is in {LANGUAGES[language or 'en']}, and no source is: add sources in that language."


def _english_only(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield each English-only part with an alternative."""
    if _reads_english(SEGMENTERS[settings.segmenter], settings):
        yield (
            f"the segmenter {SEGMENTERS[settings.segmenter].label}",
            "Sentences, or one that asks a language model",
        )
    rules = [what for name, what in _RULES.items() if getattr(settings, name) == "rules"]
    if rules:
        yield f"the rules that decide {', '.join(rules)}", "a language model"
    if _reads_english(EMBEDDERS[settings.embedder], settings):
        yield (
            "the embedding model",
            "a multilingual one, such as intfloat/multilingual-e5-base from the hub",
        )
    if _reads_english(VERIFIERS[settings.verifier], settings):
        yield (
            "the verifier",
            "a language model, or a multilingual one, such as joeddav/xlm-roberta-large-xnli from the hub",
        )


def _reads_english(entry: Entry, settings: Settings) -> bool:
    """Return True for an English-only entry; a model that the user names may read other languages."""
    return entry.english and not (entry.model_setting and getattr(settings, entry.model_setting))

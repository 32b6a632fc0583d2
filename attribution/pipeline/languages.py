"""What of a run is made for English alone, where the answer is in another language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attribution.embedders import EMBEDDERS
from attribution.registry import Entry
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.text.language import LANGUAGES, detect, is_english
from attribution.types import Failure, Page
from attribution.verifiers import VERIFIERS

_RULES = {
    "worthiness": "which claims are worth checking",
    "independence": "which claims need context",
    "enrichment": "what that context is",
}
SAMPLE = 2000  # characters of a page whose language is detected


def unsupported(answer: str, settings: Settings) -> Failure | None:
    """A failure that names each part that reads English only and what serves instead; None where there is none."""
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
    """Why no page can be compared with the answer: its language is another, and a model reads English only.

    Empty where they can.
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
    """The parts, and what serves instead."""
    if _reads_english(SEGMENTERS[settings.segmenter], settings):
        yield f"the segmenter {SEGMENTERS[settings.segmenter].label}", "Sentences, or one that asks a language model"
    rules = [what for name, what in _RULES.items() if getattr(settings, name) == "rules"]
    if rules:
        yield f"the rules that decide {', '.join(rules)}", "a language model"
    if _reads_english(EMBEDDERS[settings.embedder], settings):
        yield "the embedding model", "a multilingual one, such as intfloat/multilingual-e5-base from the hub"
    if _reads_english(VERIFIERS[settings.verifier], settings):
        yield (
            "the verifier",
            "a language model, or a multilingual one, such as joeddav/xlm-roberta-large-xnli from the hub",
        )


def _reads_english(entry: Entry, settings: Settings) -> bool:
    """Whether that is all it reads; a model that the user names may read more."""
    return entry.english and not (entry.model_setting and getattr(settings, entry.model_setting))

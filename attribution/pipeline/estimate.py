"""Estimate a run before it starts: claims, pages, seconds, and prompts to a language model by
stage.
"""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attribution.claims import worthiness
from attribution.claims.context import check_independence
from attribution.claims.enrichment import as_text, transcript
from attribution.claims.llm_annotation import LlmAnnotator, llm_tasks
from attribution.errors import BadInput
from attribution.evidence.sources import existing
from attribution.files import PROBLEM, has_half_pair
from attribution.pipeline.claims import segment
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.store.runs import Rates
from attribution.store.store import Store
from attribution.types import Claim, Document, LlmUsage, Turn
from attribution.verifiers import VERIFIERS, estimate_cost


def check_input(question: str, answer: str, settings: Settings) -> None:
    """Raise BadInput for an answer that is empty, too long or not text."""
    if not answer.strip():
        raise BadInput("The answer is empty: paste the text whose claims should be checked.")
    for name, text in (("answer", answer), ("question", question)):
        if has_half_pair(text):
            raise BadInput(f"The {name} is not text: {PROBLEM}.")
        if len(text) > settings.answer_limit:
            raise BadInput(
                f"The {name} has {len(text):,} characters; at most {settings.answer_limit:,} can be analysed. "
                "Shorten it, or analyse it in parts."
            )
        controls = sum(
            unicodedata.category(c) == "Cc" and c not in "\n\r\t" for c in text
        ) + text.count("\ufffd")
        if controls > max(2, len(text) // 50):
            raise BadInput(
                f"The {name} contains {controls} control characters, so it is not text. Paste plain text or Markdown."
            )


SECONDS_PER_PAIR, SECONDS_PER_PAGE = (
    0.06,
    0.6,
)  # on two cores, until a run has been measured; of a page on the web


@dataclass(frozen=True)
class Estimate:
    """An upper bound on the cost of a run; claims are exact, unless a language model makes them."""

    claims: int  # sentences, if a model segments
    checked: int  # of these
    pages: int
    seconds: float  # including the language model only if an earlier run measured its pace
    llm: Mapping[str, LlmUsage]  # by stage; replies in the store cost nothing


def estimate(
    question: str,
    answer: str,
    settings: Settings,
    documents: Sequence[Document] = (),
    store: Store | None = None,
    segmenters: Sequence[str] = (),
    context: Sequence[Turn] = (),
) -> Estimate:
    """Estimate `run`, or `compare` with these segmenters, without searching or prompting a language
    model.

    `context` is the conversation before the question, which the language model reads as well.

    With a store, the pace is that of its last runs. Raises BadInput, UnknownName or Unavailable as
    a run does.
    """
    check_input(question, answer, settings)
    shown, before = transcript(question, context), as_text(context)
    claims, llm = _claims(shown, answer, settings, segmenters or [settings.segmenter])
    checked = sum(c.worthiness == "factual" for c in claims)
    if tasks := llm_tasks(settings):
        annotator = LlmAnnotator(settings, store, threading.Event())
        by_rules = check_independence(claims, "\n\n".join(text for _, text in context))
        for task in tasks:
            llm[task] = annotator.estimate(
                task, before if task == "independence" else shown, answer, by_rules
            )
    verifier = VERIFIERS.build(settings.verifier, settings)
    passage = "x" * settings.chunk_size
    factual = [claim for claim in claims if claim.worthiness == "factual"]
    pairs = [(claim.text, passage) for claim in factual for _ in range(settings.top_k)]
    if usage := estimate_cost(verifier, pairs):
        llm["verify"] = usage
    sources = [existing(text) for text in settings.sources]
    pages = len(documents) + sum(source.kind == "address" for source in sources)
    if any(source.kind != "documents" for source in sources):
        pages += checked * settings.pages_per_claim
    pair, page, prompt = store.runs.rates() if store else Rates()
    seconds = 1.0 + checked * settings.top_k * (SECONDS_PER_PAIR if pair is None else pair)
    if any(source.searches_web for source in sources):
        seconds += pages * (SECONDS_PER_PAGE if page is None else page)
    seconds += (
        sum(used.seconds or used.calls * (prompt or 0.0) for used in llm.values())
        / settings.llm_workers
    )
    return Estimate(len(claims), checked, pages, seconds, llm)


def _claims(
    question: str, answer: str, settings: Settings, names: Sequence[str]
) -> tuple[list[Claim], dict[str, LlmUsage]]:
    """Return the claims by rules, each once; for a segmenter with a model, the sentences that it
    would get.
    """
    claims: dict[tuple[str, str], Claim] = {}
    llm: dict[str, LlmUsage] = {}
    for name in dict.fromkeys(names):
        own = settings.model_copy(update={"segmenter": name})
        segmenter = SEGMENTERS.build(name, own)
        usage = segmenter.estimate(question, answer)
        by_model = usage is not None or bool(SEGMENTERS[name].needs)
        if usage is not None:
            llm["segment" if len(names) == 1 else f"segment by {name}"] = usage
        segmented = segment(
            question, answer, own.model_copy(update={"segmenter": "sentences"}) if by_model else own
        )
        claims |= {(name if by_model else "", claim.id): claim for claim in segmented.claims}
    return worthiness.classify(list(claims.values()), answer), llm

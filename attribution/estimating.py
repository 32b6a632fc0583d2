"""What a run would take, before it is started: claims, pages, seconds, and prompts to a language model by stage."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attribution import independence, worthiness
from attribution.asked import Asked, chosen
from attribution.pipeline import check_input, segment
from attribution.registry import build
from attribution.searchers import INSTANCE, LOCAL, SEARCHERS
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.store import Rates, Store
from attribution.types import Claim, Document, LlmUsage

SECONDS_PER_PAIR, SECONDS_PER_PAGE = 0.03, {"local": 0.15, "web": 0.6}  # two cores; until a run was measured


@dataclass(frozen=True)
class Estimate:
    """What a run will take: claims in all and to be checked, pages at most, seconds."""

    claims: int  # sentences, where a language model is to segment
    checked: int
    pages: int
    seconds: float  # with the language model's where its pace was measured in an earlier run
    llm: Mapping[str, LlmUsage]  # by stage, at most; what the store knows costs nothing


def estimate(
    question: str, answer: str, settings: Settings, documents: Sequence[Document] = (), store: Store | None = None
) -> Estimate:
    """What `run` would take, without searching or asking; with a store, at the pace of the last runs kept there."""
    check_input(question, answer, settings)
    claims, llm = _claims(question, answer, settings)
    checked = sum(c.worthiness == "factual" for c in claims)
    if tasks := chosen(settings):
        asked, by_rules = Asked(settings, store, threading.Event()), independence.judge(claims)
        llm |= {task: asked.estimate(task, question, answer, by_rules) for task in tasks}
    pages = _own(settings, documents)
    if set(settings.sources) - {"documents"}:
        pages += checked * settings.pages_per_claim
    pair, page, prompt = store.rates() if store else Rates()
    pace = (page or SECONDS_PER_PAGE["web"]) if _asks_the_web(settings) else SECONDS_PER_PAGE["local"]
    seconds = 1.0 + checked * settings.top_k * (SECONDS_PER_PAIR if pair is None else pair) + pages * pace
    seconds += sum(used.calls for used in llm.values()) * (prompt or 0.0) / settings.llm_workers
    return Estimate(len(claims), checked, pages, seconds, llm)


def _claims(question: str, answer: str, settings: Settings) -> tuple[list[Claim], dict[str, LlmUsage]]:
    """The claims by rules, with the sentences in their place where a language model is to cut them."""
    segmenter = build(SEGMENTERS, settings.segmenter, settings, "segmenter")
    llm: dict[str, LlmUsage] = {}
    if hasattr(segmenter, "estimate"):
        llm["segment"] = segmenter.estimate(question, answer)
        settings = settings.model_copy(update={"segmenter": "sentences"})
    return worthiness.judge(segment(question, answer, settings).claims), llm


def _own(settings: Settings, documents: Sequence[Document]) -> int:
    return len(documents) + sum("://" in s and not s.startswith(INSTANCE) for s in settings.sources)


def _asks_the_web(settings: Settings) -> bool:
    engines = (*(name for name in SEARCHERS if name not in LOCAL), "web")
    return any(s in engines or s.startswith(INSTANCE) for s in settings.sources)

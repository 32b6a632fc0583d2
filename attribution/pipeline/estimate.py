"""What a run would take, before it is started: claims, pages, seconds, and prompts to a language model by stage."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attribution.claims import independence, worthiness
from attribution.claims.llm_annotation import LlmAnnotator, llm_tasks
from attribution.pipeline.run import check_input, segment
from attribution.registry import build
from attribution.searchers import INSTANCE, LOCAL, SEARCHERS
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.storage.runs import Rates
from attribution.storage.store import Store
from attribution.types import Claim, Document, LlmUsage

SECONDS_PER_PAIR, SECONDS_PER_PAGE = 0.03, {"local": 0.15, "web": 0.6}  # two cores; until a run was measured


@dataclass(frozen=True)
class Estimate:
    """What a run will take: claims in all and to be checked, pages at most, seconds."""

    claims: int  # sentences, where a model is to segment
    checked: int
    pages: int
    seconds: float  # with the language model's where its pace was measured in an earlier run
    llm: Mapping[str, LlmUsage]  # by stage, at most; what the store knows costs nothing


def estimate(
    question: str,
    answer: str,
    settings: Settings,
    documents: Sequence[Document] = (),
    store: Store | None = None,
    segmenters: Sequence[str] = (),
) -> Estimate:
    """What `run` would take, or with segmenters `compare`, without searching or asking; with a store, at the pace of
    the last runs kept there."""
    check_input(question, answer, settings)
    claims, llm = _claims(question, answer, settings, segmenters or [settings.segmenter])
    checked = sum(c.worthiness == "factual" for c in claims)
    if tasks := llm_tasks(settings):
        asked, by_rules = LlmAnnotator(settings, store, threading.Event()), independence.check_independence(claims)
        llm |= {task: asked.estimate(task, question, answer, by_rules) for task in tasks}
    pages = _own(settings, documents)
    if set(settings.sources) - {"documents"}:
        pages += checked * settings.pages_per_claim
    pair, page, prompt = store.rates() if store else Rates()
    pace = (page or SECONDS_PER_PAGE["web"]) if _asks_the_web(settings) else SECONDS_PER_PAGE["local"]
    seconds = 1.0 + checked * settings.top_k * (SECONDS_PER_PAIR if pair is None else pair) + pages * pace
    seconds += sum(used.calls for used in llm.values()) * (prompt or 0.0) / settings.llm_workers
    return Estimate(len(claims), checked, pages, seconds, llm)


def _claims(
    question: str, answer: str, settings: Settings, names: Sequence[str]
) -> tuple[list[Claim], dict[str, LlmUsage]]:
    """The claims by rules, each once, with the sentences in their place where a model is to cut them."""
    found: dict[tuple[str, str], Claim] = {}
    llm: dict[str, LlmUsage] = {}
    for name in dict.fromkeys(names):
        own = settings.model_copy(update={"segmenter": name})
        segmenter = build(SEGMENTERS, name, own, "segmenter")
        asked = segmenter.estimate(question, answer) if hasattr(segmenter, "estimate") else None
        by_model = asked is not None or bool(SEGMENTERS[name].needs)
        if asked is not None:
            llm["segment" if len(names) == 1 else f"segment by {name}"] = asked
        cut = segment(question, answer, own.model_copy(update={"segmenter": "sentences"}) if by_model else own)
        found |= {(name if by_model else "", claim.id): claim for claim in cut.claims}
    return worthiness.classify(list(found.values())), llm


def _own(settings: Settings, documents: Sequence[Document]) -> int:
    return len(documents) + sum("://" in s and not s.startswith(INSTANCE) for s in settings.sources)


def _asks_the_web(settings: Settings) -> bool:
    engines = (*(name for name in SEARCHERS if name not in LOCAL), "web")
    return any(s in engines or s.startswith(INSTANCE) for s in settings.sources)

import time
from collections.abc import Sequence

import pytest

from attribution.pipeline import estimate as estimates
from attribution.pipeline.estimate import estimate, measure_pace, note_pace
from attribution.settings import Settings
from attribution.types import Judgement, Pair, Usage
from attribution.verifiers import VERIFIERS
from tests import make
from tests.llm_server import llm_server, llm_settings
from tests.servers import Answer

QUESTION = "What is the Nile?"
ANSWER = "The Nile is a river in Africa and flows north. It is long. I hope this helps!"


def by(settings: Settings, name: str) -> Settings:
    return settings.model_copy(update={"segmenter": name})


def test_language_models_are_counted_and_nothing_is_asked() -> None:
    with llm_server(lambda _: Answer(body=b"{}")) as served:
        chosen = llm_settings(served, segmenter="factscore", input_price=1.0, output_price=2.0)
        made = estimate(QUESTION, ANSWER, chosen)
        assert served.requests == []
    assert set(made.llm) == {"segment"}
    assert made.llm["segment"].cost
    assert made.claims == 3  # the sentences stand for what the model will make of them


def test_the_conversation_before_the_question_is_counted() -> None:
    turns = [("user", "Tell me about rivers. " * 40), ("system", "They flow. " * 40)]
    with llm_server(lambda _: Answer(body=b"{}")) as served:
        chosen = llm_settings(
            served, segmenter="factscore", enrichment="llm", independence="llm", worthiness="llm"
        )
        without = estimate(QUESTION, ANSWER, chosen)
        within = estimate(QUESTION, ANSWER, chosen, context=turns)
        assert served.requests == []
    assert set(within.llm) == {"segment", "enrichment", "independence", "worthiness"}
    longer = {
        task
        for task, used in within.llm.items()
        if used.prompt_tokens > without.llm[task].prompt_tokens
    }
    assert longer >= {"enrichment", "independence"}


def test_no_model_is_loaded_for_an_estimate_and_predpatt_without_one_costs_nothing(
    settings: Settings,
) -> None:
    hub = by(settings, "propsegment").model_copy(update={"segmenter_model": "/there/is/no/model"})
    assert estimate(QUESTION, ANSWER, hub).claims == 3
    assert estimate(QUESTION, ANSWER, by(settings, "predpatt")).llm == {}


def test_seconds_are_estimated_once_the_verifier_was_measured(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimates, "_pace", {})
    assert estimate(QUESTION, ANSWER, settings).seconds is None

    class Slow:
        version = VERIFIERS.build(settings.verifier, settings).version

        def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
            time.sleep(0.02 * len(pairs))
            return []

    measure_pace(Slow())
    measured = estimate(QUESTION, ANSWER, settings).seconds
    assert measured
    usage = Usage(pairs=120, cached_pairs=20)
    run = make.report(
        versions={"verifier": Slow.version},
        claims=(make.claim(),),
        evidence=(make.evidence(make.claim(), 0.9, 0.0, "entailed"),) * 5,
        usage=usage,
        timings={"verify": 5.0},
    )
    note_pace(run)
    slower = estimate(QUESTION, ANSWER, settings).seconds
    assert slower
    assert slower > 5 * measured

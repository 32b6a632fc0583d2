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


def test_language_models_are_counted_and_nothing_is_asked() -> None:
    turns = [("user", "Tell me about rivers. " * 40), ("system", "They flow. " * 40)]
    tasks = ("enrichment", "independence", "worthiness")
    with llm_server(lambda _: Answer(body=b"{}")) as served:
        chosen = llm_settings(served, segmenter="factscore", **dict.fromkeys(tasks, "llm"))
        without = estimate(QUESTION, ANSWER, chosen)
        within = estimate(QUESTION, ANSWER, chosen, context=turns)
        assert served.requests == []
    assert within.claims == 3  # the sentences stand for what the model will make of them
    assert set(within.llm) == {"segment", *tasks}
    assert within.llm["segment"].prompt_tokens
    for task in ("enrichment", "independence"):  # which are shown the conversation
        assert within.llm[task].prompt_tokens > without.llm[task].prompt_tokens


def test_no_model_is_loaded_for_an_estimate(settings: Settings) -> None:
    hub = {"segmenter": "propsegment", "segmenter_model": "/there/is/no/model"}
    assert estimate(QUESTION, ANSWER, settings.model_copy(update=hub)).claims == 3
    rules = settings.model_copy(update={"segmenter": "predpatt"})
    assert estimate(QUESTION, ANSWER, rules).llm == {}


def test_seconds_are_a_range_until_the_verifier_was_measured(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimates, "_pace", {})
    guessed = estimate(QUESTION, ANSWER, settings).seconds
    assert guessed
    assert guessed.least < guessed.most
    hub = settings.model_copy(update={"verifier": "deberta"})
    assert estimate(QUESTION, ANSWER, hub).seconds is None

    class Slow:
        version = VERIFIERS.chosen(settings).version

        def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
            time.sleep(0.02 * len(pairs))
            return []

    measure_pace(Slow())
    measured = estimate(QUESTION, ANSWER, settings).seconds
    assert measured
    assert measured.least == measured.most
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
    assert slower.least > 5 * measured.least

from typing import Any

import pytest

from attribution.segmenters.predpatt import PredPatt
from attribution.settings import Settings
from attribution.types import Segmented
from tests.llm_server import asked, completion, error, llm_server, llm_settings
from tests.servers import Answer

PREDICATES = {
    "Nash, a mathematician born in Bluefield, won the prize.": [
        "Nash is/are a mathematician",
        "a mathematician born in Bluefield",
        "Nash won the prize",
    ],
    "Ann and Ben sold the big house.": [
        "Ann sold the big house",
        "Ben sold the big house",
        "the house is/are big",
    ],
    "His sisters sold the house.": ["His poss sisters", "His sisters sold the house"],
    "The minister denied that he had taken money.": [
        "The minister denied he had taken money",
        "he had taken money",
    ],
    "Did Ann move to Rome?": ["Did Ann move to Rome"],
    "Yes.": ["Yes."],
    "Ada wurde in Rom geboren und starb dort.": ["Ada wurde in Rom geboren und starb dort."],
}


@pytest.mark.parametrize(("sentence", "expected"), PREDICATES.items())
def test_each_predicate_is_a_claim_in_predpatts_own_words(
    sentence: str, expected: list[str]
) -> None:
    made = PredPatt(Settings()).segment("", sentence)
    assert [claim.text for claim in made.claims] == expected


ANSWER = "**Curie**, a chemist, moved to Paris and discovered radium [1]. It glows."
RAW = ["Curie is/are a chemist", "Curie moved to Paris", "Curie discovered radium", "It glows"]


def run(script: Any) -> Segmented:
    with llm_server(script) as served:
        return PredPatt(llm_settings(served, llm_retries=1)).segment("", ANSWER)


def test_a_language_model_gets_every_utterance_raw_and_the_spans_stay() -> None:
    sent: list[str] = []

    def script(body: dict[str, Any]) -> str:
        sent.append(asked(body))
        return f"Output: Indeed, {asked(body)}."

    made = run(script)
    assert sorted(sent) == sorted(RAW)
    assert sorted(claim.text for claim in made.claims) == sorted(f"Indeed, {u}." for u in RAW)
    plain = PredPatt(Settings()).segment("", ANSWER)
    assert [claim.spans for claim in made.claims] == [claim.spans for claim in plain.claims]
    words = [[ANSWER[start:end] for start, end in claim.spans] for claim in made.claims]
    assert words[1] == ["Curie", "moved to Paris"]
    assert made.usage is not None
    assert made.usage.calls == len(RAW)


@pytest.mark.parametrize(
    "reply",
    [
        completion("I'm sorry, but I can't help with that."),
        completion("One.\nTwo."),
        completion(" "),
        error(500),
    ],
)
def test_a_reply_that_is_no_sentence_keeps_the_utterance(reply: Answer) -> None:
    made = run(lambda body: reply)
    assert sorted(claim.text for claim in made.claims) == sorted(RAW)
    assert {failure.kind for failure in made.failures} == {"llm_failed"}


def test_two_equal_wordings_are_one_claim_without_its_markup() -> None:
    made = run(lambda body: "<b>He is a chemist.</b>")
    assert [claim.text for claim in made.claims] == ["He is a chemist."]


def test_what_it_would_take_is_known_before_and_nothing_is_asked_without_a_model() -> None:
    with llm_server(lambda body: "") as served:
        estimate = PredPatt(llm_settings(served)).estimate("", ANSWER)
        assert estimate is not None
        assert estimate.calls == len(RAW)
        assert not served.requests
    assert PredPatt(Settings()).estimate("", ANSWER) is None

from typing import Any

import pytest

from attribution.segmenters.predpatt import PredPatt
from attribution.settings import Settings
from attribution.types import Segmented
from tests.llm_server import asked, claims, completion, error, llm_server, llm_settings
from tests.servers import Answer

PREDICATES = {
    "Nash, an American mathematician born in Bluefield, won the prize.": [
        "A mathematician born in Bluefield was American.",
        "Nash was an American mathematician.",
        "An American mathematician was born in Bluefield.",
        "Nash won the prize.",
    ],
    "Ann and Ben sold the big house.": [
        "Ann sold the big house.",
        "Ben sold the big house.",
        "The house was big.",
    ],
    "His sisters sold the house.": ["He had sisters.", "His sisters sold the house."],
    "The minister denied that he had taken money.": [
        "The minister denied he had taken money.",
        "He had taken money.",
    ],
    "In 1990, Ann moved to Rome.": ["In 1990, Ann moved to Rome."],
    "Yes.": ["Yes."],
}


@pytest.mark.parametrize(("sentence", "expected"), PREDICATES.items())
def test_each_predicate_is_a_claim_also_what_the_sentence_denies(
    sentence: str, expected: list[str]
) -> None:
    made = PredPatt(Settings()).segment("", sentence)
    assert [c.text for c in made.claims] == expected


ANSWER = "Curie, a chemist, moved to Paris and discovered radium. It glows."
PLAIN = PredPatt(Settings()).segment("", ANSWER).claims


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attribution.retry.FIRST_PAUSE", 0.01)


def run(script: Any) -> Segmented:
    with llm_server(script) as served:
        return PredPatt(llm_settings(served, llm_retries=1)).segment("", ANSWER)


def test_the_model_writes_each_predicate_and_the_spans_stay() -> None:
    asked_for: list[str] = []

    def script(body: dict[str, Any]) -> str:
        asked_for.append(asked(body))
        return claims(f"Indeed, {asked(body)}")

    made = run(script)
    assert sorted(asked_for) == [
        "Curie discovered radium",
        "Curie is/are a chemist",
        "Curie moved to Paris",
        "It glows",
    ]
    assert {c.text for c in made.claims} == {f"Indeed, {utterance}" for utterance in asked_for}
    assert [c.spans for c in made.claims] == [c.spans for c in PLAIN]
    assert made.failures == () and made.version.startswith("predpatt_fluent.v2/tiny@")
    assert made.usage is not None and made.usage.calls == len(PLAIN)


@pytest.mark.parametrize(
    "reply",
    [
        completion("I'm sorry, but I can't help with that."),
        completion(claims("One.", "Two.")),
        completion(claims(" ")),
        completion('{"claims": ["Curie was a chem', finish="length"),
        error(500),
    ],
)
def test_a_reply_that_does_not_fit_keeps_the_plain_claims(reply: Answer) -> None:
    made = run(lambda body: reply)
    assert made.claims == PLAIN
    assert {f.kind for f in made.failures} == {"llm_failed"}


def test_injected_text_goes_out_as_data_and_two_equal_wordings_are_one_claim() -> None:
    made = run(lambda body: claims("<b>He is a chemist.</b>"))
    assert [c.text for c in made.claims] == ["<b>He is a chemist.</b>"]


def test_what_it_would_take_is_known_before_and_nothing_is_asked_without_a_model() -> None:
    with llm_server(lambda body: claims()) as served:
        estimate = PredPatt(llm_settings(served)).estimate("", ANSWER)
        assert estimate is not None and estimate.calls == len(PLAIN) and not served.requests
    assert PredPatt(Settings()).estimate("", ANSWER) is None


def test_a_label_is_not_sent_and_stays_before_the_claim() -> None:
    asked_for: list[str] = []

    def script(body: dict[str, Any]) -> str:
        asked_for.append(asked(body))
        return claims("It was built in 1880.")

    with llm_server(script) as served:
        made = PredPatt(llm_settings(served)).segment("", "Cost: The mill was built in 1880.")
    assert asked_for == ["The mill was built in 1880"]
    assert [c.text for c in made.claims] == ["Cost: It was built in 1880."]

from typing import Any

import pytest

from attribution.segmenters.predpatt import PredPatt, PublishedPredPatt
from attribution.settings import Settings
from attribution.types import Segmented
from tests.llm_server import asked, claims, completion, error, llm_server, llm_settings
from tests.servers import Answer


@pytest.mark.parametrize(
    ("sentence", "claims"),
    [
        ("Gustave Eiffel himself designed the tower for the 1889 World's Fair in Paris.", ()),
        ("Halley's Comet returned in 1986.", ()),
        ("France's president spoke.", ()),
        ("Supplies that require approval include serum.", ()),
        ("The dam broke in May, flooding the valley.", ()),
        ("Alzheimer's disease is a burden.", ()),
        (
            "The clerk may require urgent care and genetic data.",
            ("The clerk may require urgent care.", "The clerk may require genetic data."),
        ),
        (
            "Learning refers to a craft, involving study and drills.",
            (
                "Learning refers to a craft, involving study.",
                "Learning refers to a craft, involving drills.",
            ),
        ),
        ("Bulk analysis gives a measurement of the sample, which can hide differences.", ()),
        ("To win the race, you ran.", ()),
        ("The town is like a giant fortress.", ()),
        ("Copper is more reactive than iron, so it can displace iron.", ()),
        ("C# is a modern, multi-paradigm language.", ()),
        ("A definitive diagnosis requires further tests.", ()),
        ("The exact impact of a new predator may depend on the soil.", ()),
        ("In such cases, a spouse who is a guardian might have a claim.", ()),
        ("The states that have not ratified it are Turkey and Iran.", ()),
        (
            "The level depends on the type of services, the risk of claims and the legal requirements.",
            (),
        ),
        (
            "Its use would cause damages to neighboring states, which could be interpreted as a crime.",
            (),
        ),
        ("She lost, but her hard work paid off.", ()),
        (
            "Were the lake to dry up, the fish would die and the birds would leave.",
            (
                "Were the lake to dry up, the fish would die.",
                "Were the lake to dry up, the birds would leave.",
            ),
        ),
        (
            "She would have won the race and set a record if she had not fallen.",
            (
                "She would have won the race if she had not fallen.",
                "She would have set a record if she had not fallen.",
            ),
        ),
        (
            "The volcano has erupted and destroyed the village.",
            ("The volcano has erupted.", "The volcano destroyed the village."),
        ),
        ("The reason is because the axis is tilted.", ()),
        ("Two are bridges built by Rossi.", ("Two are bridges.", "Two are built by Rossi.")),
        ("Solar farms need rules for solving disputes, keeping records, and obeying laws.", ()),
        ("The glider was first flown in Kent in 1931.", ()),
        ("Beavers eat plants and their seeds.", ()),
        ("The valve can cause damage to the pumps or leaks with the seals.", ()),
        ("Dress in white to stay cool and follow the path.", ()),
        ("She uses boats or boats with sails.", ()),
        ("The town is the one that built the dam and the mill.", ()),
        ("The water is tested until it can be drunk.", ()),
        (
            "Wind power raises fuel consumption and emissions of gas.",
            ("Wind power raises fuel consumption.", "Wind power raises emissions of gas."),
        ),
        (
            "They are boats that can be seen in Oslo.",
            ("They are boats.", "They can be seen in Oslo."),
        ),
        (
            "The club has hired two coaches and found a sponsor.",
            ("The club has hired two coaches.", "The club has found a sponsor."),
        ),
        (
            "The bridge is important because it joins two towns.",
            ("The bridge is important.", "It joins two towns."),
        ),
        (
            "The board runs the use of pumps, which are made in Lima.",
            ("The board runs the use of pumps.", "Pumps are made in Lima."),
        ),
        ("You can sue for the attack on an officer, which is a crime.", ()),
        ("Studies found no consistent link.", ()),
        ("The valve closed, as described in the report.", ()),
        ("The one method you could use is a test.", ()),
        ("The method depends on the properties of the salts to be separated and the outcome.", ()),
        (
            "The process depends on the specific context and nature of the task.",
            (
                "The process depends on the specific context of the task.",
                "The process depends on the specific nature of the task.",
            ),
        ),
        (
            "The officials praise and blame the plan.",
            ("The officials praise the plan.", "The officials blame the plan."),
        ),
        (
            "The theory, often referred to as the linear model, focuses on the exchange of information.",
            (),
        ),
    ],
)
def test_a_claim_says_what_its_sentence_asserts(sentence: str, claims: tuple[str, ...]) -> None:
    assert tuple(c.text for c in PredPatt(Settings()).segment("", sentence).claims) == (
        claims or (sentence,)
    )


ANSWER = "Curie, a chemist, moved to Paris and discovered radium. It glows."
PLAIN = PredPatt(Settings()).segment("", ANSWER).claims
CUT = [c for c in PLAIN if c.text != "It glows."]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attribution.retry.FIRST_PAUSE", 0.01)


def run(script: Any) -> Segmented:
    with llm_server(script) as served:
        return PredPatt(llm_settings(served, llm_retries=1)).segment("", ANSWER)


def test_the_wording_is_the_models_and_the_spans_are_the_rules() -> None:
    asked_for: list[str] = []

    def script(body: dict[str, Any]) -> str:
        asked_for.append(asked(body))
        return claims(f"Indeed, {asked(body)}")

    made = run(script)
    assert sorted(asked_for) == sorted(
        c.text for c in CUT
    )  # each by itself; a sentence that is one claim is not sent
    assert [c.text for c in made.claims] == [f"Indeed, {c.text}" for c in CUT] + ["It glows."]
    assert [c.spans for c in made.claims] == [c.spans for c in PLAIN]
    assert made.failures == () and made.version.startswith("predpatt_fluent.v2/tiny@")
    assert made.usage is not None and made.usage.calls == len(CUT)


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
def test_a_reply_that_does_not_fit_keeps_the_rules_claims(reply: Answer) -> None:
    made = run(lambda body: reply)
    assert made.claims == PLAIN
    assert {f.kind for f in made.failures} == {
        "llm_failed"
    } and "the wording of the rules" in made.failures[0].message


def test_injected_text_goes_out_as_data_and_two_equal_wordings_are_one_claim() -> None:
    made = run(lambda body: claims("<b>He is a chemist.</b>"))
    assert [c.text for c in made.claims] == ["<b>He is a chemist.</b>", "It glows."]


def test_what_it_would_take_is_known_before_and_nothing_is_asked_without_a_model() -> None:
    with llm_server(lambda body: claims()) as served:
        estimate = PredPatt(llm_settings(served)).estimate("", ANSWER)
        assert estimate is not None and estimate.calls == len(CUT) and not served.requests
    assert PredPatt(Settings()).estimate("", ANSWER) is None


def test_as_published_it_also_says_what_the_sentence_denies() -> None:
    denied = "The minister denied that he had taken money."
    assert [c.text for c in PredPatt(Settings()).segment("", denied).claims] == [denied]
    assert "He had taken money." in [
        c.text for c in PublishedPredPatt(Settings()).segment("", denied).claims
    ]

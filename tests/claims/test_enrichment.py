import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.claims.context import check_independence
from attribution.claims.enrichment import PRONOUNS, enrich
from attribution.claims.worthiness import classify
from attribution.segmenters.sentence_by_sentence import Sentences
from attribution.settings import Settings
from attribution.types import Claim
from tests.make import claim

DATA = Path(__file__).parents[1] / "data" / "enrichment.jsonl"
CASES = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
POINTERS = {*PRONOUNS, "the", "this", "that", "these", "those"}


@cache
def enriched_claims(question: str, answer: str) -> list[Claim]:
    claims = Sentences(Settings()).segment(question, answer).claims
    return enrich(question, answer, check_independence(classify(claims)))


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"[^\W_]+", text.casefold()))  # an underscore is emphasis


def sound(question: str, answer: str, found: Claim) -> None:
    """Nothing but pointing words is gone, nothing is there that question and answer do not say."""
    if found.enriched is None:
        return
    said = f"{question} {answer} {normalize('NFKC', answer)} s"
    assert set(words(found.text) - words(found.enriched)) <= POINTERS
    assert set(words(found.enriched)) <= set(words(said))


def test_hand_made_cases() -> None:
    """Expectations were written first. A wrong enrichment is worse than none."""
    outcomes: Counter[str] = Counter()
    for case in CASES:
        claims = enriched_claims(case["question"], case["answer"])
        found = next(claim for claim in claims if claim.text == case["claim"])
        sound(case["question"], case["answer"], found)
        if found.enriched is not None:
            outcomes["right" if found.enriched == case["expected"] else "wrong"] += 1
    expected = sum(case["expected"] is not None for case in CASES)
    assert outcomes["right"] / outcomes.total() >= 0.95
    assert outcomes["right"] / expected >= 0.85


def test_an_activity_that_heads_an_item_is_no_antecedent() -> None:
    answer = "- **Climbing the tower:** It opens on Wednesdays.\n- **The tower:** It opens daily."
    assert [c.enriched for c in enriched_claims("", answer)] == [None, "The tower opens daily."]


PIECES = st.sampled_from(
    [*dict.fromkeys(c["answer"] for c in CASES)][:30]
    + [
        "It is red.",
        "\n\n",
        "- **Look**: They fell.",
        "\n",
        "# Its title",
        "| a | b |",
        "She* said _so_.",
        "His;",
        "the it it's",
    ]
)


@settings(max_examples=25)
@given(
    st.lists(PIECES | st.text(max_size=20), max_size=4).map(" ".join),
    st.sampled_from([c["question"] for c in CASES]),
)
def test_any_answer_is_left_sound(answer: str, question: str) -> None:
    found = enriched_claims(question, answer)
    assert found == enrich(
        question, answer, [c.model_copy(update={"enriched": None}) for c in found]
    )
    for each in found:
        sound(question, answer, each)


def test_only_factual_claims_that_lean_on_others_are_touched() -> None:
    answer = "Marie Curie was a physicist. She was born in Warsaw. I think she was great."
    found = {c.text: c.enriched for c in enriched_claims("Who was Marie Curie?", answer)}
    assert found["She was born in Warsaw."] == "Marie Curie was born in Warsaw."
    assert found["Marie Curie was a physicist."] is None
    assert found["I think she was great."] is None


@pytest.mark.parametrize("question", ["", "What is Psycho?", "Who directed Psycho?"])
@pytest.mark.parametrize(
    ("beginning", "person", "thing"),
    [
        ("Psycho is a 1960 film by Hitchcock.", None, "Psycho"),
        ("The film was shot in 1959.", None, "The film"),
        ("Alfred Hitchcock directed Psycho in 1960.", "Alfred Hitchcock", "Psycho"),
    ],
)
def test_pronouns_agree_with_what_replaces_them(
    question: str, beginning: str, person: str | None, thing: str
) -> None:
    answer = f"{beginning} He was born in 1899. It won awards."
    _, born, won = enriched_claims(question, answer)
    assert born.enriched == (f"{person} was born in 1899." if person else None)
    assert won.enriched in (f"{thing} won awards.", None)


def test_a_person_is_not_it() -> None:
    answer = "Hitchcock directed Psycho in 1960. He was born in 1899. It was a success."
    enriched = [claim.enriched for claim in enriched_claims("Who was Hitchcock?", answer)]
    assert enriched[1:] == ["Hitchcock was born in 1899.", None]


def test_a_claim_without_a_place_in_the_answer_stays() -> None:
    before = claim("It is tall.", spans=(), independent=False)
    assert enrich("How tall is the tower?", "The tower is tall.", [before]) == [before]


def test_an_item_of_a_long_list_is_named_by_its_term() -> None:
    items = "\n".join(f"- **Item {i}**: It weighs {i} kg." for i in range(60))
    assert enriched_claims("What do they weigh?", items)[7].enriched == "Item 7 weighs 7 kg."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "Which laptop is best?",
            "The Acer Swift 3 (2020) is a laptop. It comes with a processor of 2020.",
        ),
        (
            "How is plasma frozen?",
            "The Standard Operating Procedure is below. This page outlines the procedure for "
            "freezing plasma.",
        ),
        (
            "How do I measure Cockney accent vowels?",
            "Cockney vowels are long, and RP vowels are short. To measure those vowels, Praat "
            "records the formants.",
        ),
    ],
)
def test_a_name_that_would_come_out_broken_is_not_put_in(question: str, answer: str) -> None:
    assert [claim.enriched for claim in enriched_claims(question, answer)] == [None, None]

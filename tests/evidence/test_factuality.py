"""Denials, hearsay, questions, plans and stories do not support a claim; cases beside those of
tests/verdicts.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.evidence.factuality import only_reported
from attribution.text.words import deciding_sentence


def reported(claim: str, passage: str, title: str = "") -> str:
    return only_reported(claim, passage, deciding_sentence(claim, passage), title)


@pytest.mark.parametrize(
    ("claim", "passage", "why"),
    [
        ("The moon is made of cheese.", "It is a myth that the moon is made of cheese.", "denies"),
        (
            "The moon is made of cheese.",
            "The story that the moon is made of cheese is false.",
            "denies",
        ),
        (
            "The mayor sold the park.",
            "The mayor sold the park, the post says. This is not true.",
            "denies",
        ),
        (
            "A limit has been approved.",
            "Mr Ede proposed, and Mr Fox seconded, that a limit be sought.",
            "plan",
        ),
        (
            "The city built a tunnel.",
            "- [x] The city built a bridge\n- [ ] The city built a tunnel",
            "plan",
        ),
        ("The mayor sold the park.", "Myth 3: The mayor sold the park.", "denies"),
        (
            "The mayor sold the park.",
            "A blogger claimed that the mayor sold the park.",
            "only reports",
        ),
        (
            "The mayor sold the park.",
            "According to a viral post, the mayor sold the park.",
            "only reports",
        ),
        ("The mayor sold the park.", "That the mayor sold the park is a lie.", "denies"),
        ("The mayor sold the park.", "Did the mayor sell the park?", "only asks"),
        ("The city built a tunnel.", "The city plans to build a tunnel.", "plan"),
        ("The king abdicated in 1950.", "In the novel, the king abdicated in 1950.", "story"),
        (
            "The guard found a chest of gold.",
            "The guard had a dream in which he found a chest of gold.",
            "story",
        ),
        (
            "The tanker Selma hit a ferry.",
            "In the exercise Northern Shield the tanker Selma hit a ferry.",
            "plan",
        ),
        (
            "Stains vanish in a week.",
            "“Stains vanish in a week!” So says the advertisement.",
            "only reports",
        ),
        ("The king abdicated in 1950.", "The novel tells how the king abdicated in 1950.", "story"),
    ],
)
def test_denials_hearsay_questions_plans_and_stories_are_only_reported(
    claim: str, passage: str, why: str
) -> None:
    assert why in reported(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The moon is made of rock.", "It is no myth that the moon is made of rock."),
        ("The mayor sold the park.", "The court found that the mayor sold the park."),
        (
            "The mayor sold the park.",
            "The mayor sold the park, the post says. The post is correct.",
        ),
        ("The city built a tunnel.", "The city built a tunnel and plans another one."),
        ("It is a myth that cats have nine lives.", "It is a myth that cats have nine lives."),
        ("The film was released in 1997.", "The film was released in 1997 by the studio."),
        ("Bremen is in Germany.", "Bremen lies on the river Weser in Germany."),
        (
            "The tunnel is 50 kilometres long.",
            "The tunnel is 50 kilometres long, of which 38 lie under the sea.",
        ),
        (
            "Where bats sleep is known.",
            "Where do bats sleep? It is known that they sleep in caves.",
        ),
    ],
)
def test_what_is_stated_counts(claim: str, passage: str) -> None:
    assert reported(claim, passage) == ""


@pytest.mark.parametrize(
    "after",
    [
        "It is likely to produce both false positives and false negatives.",
        "It rarely gives a false alarm.",
        "It was first tried at False Bay.",
        "It is untrue that it hurts the animal.",
        "The theory of bad air was disproved long ago.",
        "Small farms made up a third of the buyers.",
        "There is no evidence that the older test of the blood harms calves, milk or meat.",
    ],
)
def test_what_denies_something_else_denies_nothing_before_it(after: str) -> None:
    claim = "The swab test finds the parasite in cattle within an hour."
    assert reported(claim, f"{claim} {after} Farms use it before sales.") == ""


def test_a_page_that_checks_what_others_say_only_tells() -> None:
    passage = "The mayor sold the park to a friend."
    assert reported("The mayor sold the park.", passage, "Fact check: the park") and not reported(
        passage, passage, "City news"
    )


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_can_be_read(claim: str, passage: str) -> None:
    assert isinstance(only_reported(claim, passage, (0, len(passage))), str)

"""Passages that treat a claim as a rumour, and others with the same words that do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.evidence.doubts import ASKS, RUMOUR, doubt

SOLD = "The mayor sold the park to a friend."


@pytest.mark.parametrize(
    ("claim", "passage", "note"),
    [
        (SOLD, "Did the mayor sell the park to a friend?", ASKS),
        ("Swallowed gum stays in the stomach for seven years.", "does gum really stay in you for 7 years?", ASKS),
        (SOLD, "The park hosts no fair this year. Is it true that the mayor sold the park?", ASKS),
        (SOLD, "Debunked: what the mayor did with the park", RUMOUR),
        (SOLD, "Misattributed.", RUMOUR),
        (SOLD, "Rating: False.", RUMOUR),
        (SOLD, "The mayor's park: fact or fiction", RUMOUR),
        (SOLD, "Unverified posts say that the mayor sold the park.", RUMOUR),
        (SOLD, "The story of the mayor and the park is making the rounds again.", RUMOUR),
    ],
)
def test_questions_and_signs_show_doubt(claim: str, passage: str, note: str) -> None:
    assert doubt(claim, passage) == note


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (SOLD, "The mayor sold the park in 1990."),
        (SOLD, "Where is the park that the mayor sold?"),
        (SOLD, "Is the park open?"),
        (SOLD, "Did the mayor really sell the park to a friend? Yes, he did."),
        ("The song was released in 2019.", "The song went viral, and its video was shared on social media."),
        ("Athena is the daughter of Zeus.", "In the myth, Athena springs from the head of Zeus."),
        (SOLD, "The park was a swamp. That is an urban legend about another town."),
        (SOLD, "Is the park open on Sundays, and does the mayor walk his dog there?"),
        (SOLD, "This is no hoax: the mayor sold the park."),
        (SOLD, "It isn't a rumour any more that the mayor sold the park."),
        (SOLD, "Snopes was a family in three novels by Faulkner."),
        ("The letter of the mayor was a hoax.", "The letter of the mayor, a hoax, was printed in May."),
        ("The video shows a bear.", "The video shows a bear, says the zoo."),
    ],
)
def test_the_same_words_elsewhere_show_none(claim: str, passage: str) -> None:
    assert doubt(claim, passage) == ""


def test_a_page_that_checks_the_claim_doubts_it_by_its_title() -> None:
    assert doubt(SOLD, "The mayor owns no park.", "Fact check: did the mayor sell the park?") == RUMOUR


@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=60))
def test_any_text_can_be_read(claim: str, passage: str, title: str) -> None:
    assert doubt(claim, passage, title) in ("", ASKS, RUMOUR)

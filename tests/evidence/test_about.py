"""Is a passage about what a claim is about?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.evidence.about import is_about

SUEZ = "The Suez Canal was opened on 17 November 1869."


@pytest.mark.parametrize(
    ("claim", "passage", "title", "about"),
    [
        (
            SUEZ,
            "On the Origin of Species was published on 24 November 1859, and opened a debate.",
            "Darwin",
            False,
        ),
        (SUEZ, "The Panama Canal was opened on 15 August 1914.", "Panama Canal", False),
        (SUEZ, "It was opened in the autumn after ten years of work on the canal.", "Suez Canal", True),
        (SUEZ, "The opening of the Suez Canal drew thousands of guests.", "", True),
        ("Marie Curie won the Nobel Prize twice.", "Marie Smith won a prize at the fair.", "", False),
        ("Marie Curie won the Nobel Prize twice.", "Curie shared the Nobel Prize in 1903 with her husband.", "", True),
        ("Water boils at lower temperatures on mountains.", "On high mountains water boils sooner.", "", True),
        ("Water boils at lower temperatures on mountains.", "The choir sang on Sunday.", "", False),
        ("It was so.", "Anything.", "", True),  # there is nothing to tell by
    ],
)
def test_a_passage_is_about_a_claim_if_it_has_its_names_and_words(
    claim: str, passage: str, title: str, about: bool
) -> None:
    assert is_about(claim, passage, title) is about


@given(st.text(max_size=120))
def test_every_text_is_about_itself(text: str) -> None:
    assert is_about(text, text)

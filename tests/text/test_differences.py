"""What differs between a claim and a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.text.differences import difference, differing_spans
from attribution.types import Probabilities

AGAINST = Probabilities(entailed=0.1, contradicted=0.8, no_relation=0.1)
NEITHER = Probabilities(entailed=0.1, contradicted=0.1, no_relation=0.8)


def test_numbers_and_names_that_differ() -> None:
    left, right = "He met David Livingstone in 1864.", "In 1864 he met Richard Burton."
    assert [left[a:b] for a, b in differing_spans(left, right)] == ["David Livingstone"]
    assert [right[a:b] for a, b in differing_spans(right, left)] == ["Richard Burton"]
    assert differing_spans("It has 9,000 banks.", "9000 banks closed in 1933.") == []
    assert differing_spans("It died in 1975.", "It died in 1977.") == [(11, 15)]


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        ("It was built in 1975.", "It was built in 1977.", "the claim says “1975”, the source “1977”"),
        ("The debate was with David Livingstone.", "The debate was with Richard Burton.", "“David Livingstone”"),
        ("The committee did not approve it.", "The committee approved it.", "only the claim says “not”"),
        ("It approved the plan.", "It never approved the plan.", "only the source says “never”"),
        (
            "The patent made its holders rich men.",
            "They sold the patent for one dollar.",
            "“made its holders rich men”",
        ),
        ("Bloch adapted Stefano.", "Stefano adapted Bloch.", "both use the same words in another order"),
    ],
)
def test_what_differs_is_named(claim: str, sentence: str, expected: str) -> None:
    assert expected in difference(claim, sentence, AGAINST)
    assert difference(claim, sentence, NEITHER) == ""


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_can_be_set_against_each_other(claim: str, sentence: str) -> None:
    assert difference(claim, sentence, AGAINST)
    assert all(0 <= a < b <= len(claim) for a, b in differing_spans(claim, sentence))

from __future__ import annotations

import pytest

from attribution.text.sums import computed


@pytest.mark.parametrize(
    ("claim", "sentence", "found"),
    [
        (
            "The station has a capacity of 340 MW.",
            "It has four turbines of 85 MW each.",
            "“four × 85 MW”",
        ),
        (
            "In 2016 there were 92 species.",
            "In 2022 there were 83 species, 9 fewer than in 2016.",
            "“83 + 9”",
        ),
        (
            "The profit shrank by €1.2 million.",
            "The profit fell from €4.1 million to €2.9 million.",
            "“€4.1 million − €2.9 million”",
        ),
        (
            "The shaft has 13 metres to go.",
            "It is 28 metres deep, of 41 in the end.",
            "“41 − 28 metres”",
        ),
        ("95% of the pupils passed.", "Of the 120 pupils, 114 passed.", "“114 of 120”"),
        (
            "25,500 people came by train.",
            "30 % of the 85,000 visitors came by train.",
            "“30 % of 85,000”",
        ),
        ("The station has a capacity of 380 MW.", "It has four turbines of 85 MW each.", ""),
        (
            "There are 83 species.",
            "There were 83 species, 9 fewer than in 2016.",
            "",
        ),  # it has the value
    ],
)
def test_what_two_values_of_a_sentence_give(claim: str, sentence: str, found: str) -> None:
    assert computed(claim, sentence) == found

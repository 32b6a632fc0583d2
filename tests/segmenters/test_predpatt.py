"""PredPatt: what is a predication, and what is only part of a name."""

from __future__ import annotations

import pytest

from attribution.segmenters.predpatt import PredPatt
from attribution.settings import Settings


@pytest.mark.parametrize(
    ("sentence", "claims"),
    [
        (
            "Gustave Eiffel himself designed the tower for the 1889 World's Fair in Paris.",
            ["Gustave Eiffel himself designed the tower for the 1889 World's Fair in Paris."],
        ),
        (
            "The tower was the centrepiece of the 1889 World's Fair in Paris.",
            ["The tower was the centrepiece of the 1889 World's Fair in Paris."],
        ),
        ("The World's Fair of 1889 was in Paris.", ["The World's Fair of 1889 was in Paris."]),
        ("Halley's Comet returned in 1986.", ["Halley's Comet returned in 1986."]),
        ("France's president spoke.", ["France had president.", "France's president spoke."]),
        (
            "The city's mayor opened Hitchcock's film.",
            ["The city had mayor.", "The city's mayor opened Hitchcock's film.", "Hitchcock had film."],
        ),
    ],
)
def test_an_emphasis_and_a_possessive_within_a_name_are_no_predications(sentence: str, claims: list[str]) -> None:
    assert [c.text for c in PredPatt(Settings()).segment("", sentence).claims] == claims

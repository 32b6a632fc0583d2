"""Who does what to whom."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.verifiers.contrast import reversed_roles


@pytest.mark.parametrize(
    ("claim", "sentence", "said"),
    [
        ("Poland invaded Germany in 1939.", "Poland was invaded by Germany in 1939.", "“Poland” and “Germany”"),
        ("Nixon succeeded Gerald Ford.", "Nixon resigned in 1974 and was succeeded by Gerald Ford.",
         "“Nixon” and “Gerald Ford”"),
        ("The doctors paid the lawyer.", "The lawyer paid the doctors.", "“doctors” and “lawyer”"),
        ("Stefano wrote of Bloch, who influenced Hitchcock.", "Hitchcock influenced Bloch and others.",
         "“Bloch” and “Hitchcock”"),
        ("The novel inspired the film.", "The novel, inspired by the film, sold well.", "“novel” and “film”"),
        ("Rome defeated Carthage and Corinth.", "Rome was defeated by Corinth.", "“Rome” and “Corinth”"),
    ],
)  # fmt: skip
def test_roles_the_other_way_round(claim: str, sentence: str, said: str) -> None:
    assert reversed_roles(claim, sentence) == f"the source has {said} the other way round"


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Germany invaded Poland in 1939.", "Poland was invaded by Germany in September 1939."),
        ("Poland was invaded by Germany.", "Germany invaded Poland."),
        ("Germany invaded Poland.", "Germany invaded France, and Russia invaded Poland."),
        ("Ada married William King.", "William King married Ada in 1835."),  # both did
        ("Germany was not invaded by Poland.", "Germany invaded Poland."),
        ("Poland invaded Germany.", "Germany attacked Poland."),  # another verb: for the model
        ("Poland invaded it.", "It invaded Poland."),  # who "it" is, only the context says
        ("Rome fought Carthage, and Carthage harmed Rome.", "Rome harmed Carthage, and Carthage harmed Rome."),
        ("Poland was invaded.", "Poland was invaded by Germany."),
        ("", ""),
    ],
)
def test_nothing_is_reversed(claim: str, sentence: str) -> None:
    assert reversed_roles(claim, sentence) == ""


@given(st.text(st.sampled_from("ab was by AB. ,"), max_size=40), st.text(max_size=40))
def test_any_text_can_be_read(one: str, two: str) -> None:
    assert reversed_roles(one, one) == ""
    reversed_roles(one, two)

"""Exchanges keep the subject of a claim, and take from the passage what fits the place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.verifiers.variants import changes, exchanged, keeps_subject, replaced


def test_the_likeliest_name_is_of_the_same_type() -> None:
    claim, passage = (
        "The record fine was imposed on Amazon.",
        "In Berlin the record fine was imposed on Meta in May 2023.",
    )
    best = max(changes(claim, passage, [passage]), key=lambda change: change.likeness)
    assert replaced(claim, [best]) == "The record fine was imposed on Meta."


def test_two_names_change_places() -> None:
    claim = "It was built by Ada Roe for Max Poe."
    assert [*exchanged(claim, "Max Poe built it for Ada Roe.")] == ["It was built by Max Poe for Ada Roe."]


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("It opened in 1937.", "The bridge opened in 1937."),
        ("It was painted red.", "It was painted blue."),
        ("Paris is the largest city.", "London is the largest city."),  # what the claim is about
    ],
)
def test_nothing_to_exchange(claim: str, sentence: str) -> None:
    assert not [*changes(claim, sentence, [sentence])] and not [*exchanged(claim, sentence)]


WORDS = st.lists(
    st.sampled_from("In 1937 1939 30 72 hours days Ada Lovelace Paris and of not € % , . the bridge opened".split()),
    max_size=12,
).map(" ".join)


@given(WORDS, WORDS)
def test_any_exchange_makes_another_claim(claim: str, sentence: str) -> None:
    for change in changes(claim, sentence, [sentence]):
        assert replaced(claim, [change]) != claim


def test_another_subject_is_another_claim() -> None:
    assert keeps_subject("Paris is large.", "Paris is small.") and not keeps_subject(
        "Paris is large.", "Rome is large."
    )

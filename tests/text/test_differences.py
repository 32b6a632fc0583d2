"""What differs between a claim and a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.text.differences import contrasts, difference, differing_spans, values
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


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        ("It fell on 3 May 1975.", "It fell on 3 June 1980.", [("Date", "1975", "1980"), ("Date", "May", "June")]),
        ("It weighs 30 kg.", "It weighs 30 pounds.", [("Unit", "kg", "pounds")]),
        ("It has three rooms.", "It has 4 rooms.", [("Number", "three", "4")]),
        ("It has 9,000 banks and two halls.", "It has 9000 banks and 2 halls.", []),
        ("He met David Livingstone.", "He met Richard Burton.", [("Name", "David Livingstone", "Richard Burton")]),
        ("It is not red.", "It is red.", [("Negation", "not", "")]),
        ("The comet returns about every 96 years.", "The comet returns about every 76 years, or 74 to 79, it is said.",
         [("Number", "96", "76")]),
    ],
)  # fmt: skip
def test_values_are_set_against_each_other(claim: str, sentence: str, expected: list[tuple[str, str, str]]) -> None:
    assert [(c.kind, c.claim, c.source) for c in contrasts(claim, sentence)] == expected


@given(st.text(max_size=120), st.text(max_size=120))
def test_values_are_stretches_of_their_text(claim: str, sentence: str) -> None:
    found = values(claim)
    assert all(a.end <= b.start for a, b in zip(found, found[1:], strict=False))
    assert all(v.normal and 0 <= v.start < v.end <= len(claim) for v in found)
    assert all((c.claim or c.source) and c.claim in claim and c.source in sentence for c in contrasts(claim, sentence))

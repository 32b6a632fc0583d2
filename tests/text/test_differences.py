"""What differs between a claim and a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.text.differences import contrasts, difference, differing_spans, measures_other
from attribution.text.values import values
from attribution.types import Probabilities

AGAINST = Probabilities(entailed=0.1, contradicted=0.8, no_relation=0.1)
NEITHER = Probabilities(entailed=0.1, contradicted=0.1, no_relation=0.8)


def test_numbers_and_names_that_differ() -> None:
    left, right = "He met David Livingstone in 1864.", "In 1864 he met Richard Burton."
    own, its = differing_spans(left, right)
    assert [left[a:b] for a, b in own] == ["David Livingstone"]
    assert [right[a:b] for a, b in its] == ["Richard Burton"]
    assert differing_spans("It has 9,000 banks.", "9000 banks closed in 1933.") == ([], [])
    assert differing_spans("It died in 1975.", "It died in 1977.") == ([(11, 15)], [(11, 15)])


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        ("It was built in 1975.", "It was built in 1977.", "the claim says “1975”, the source “1977”"),
        ("The debate was with David Livingstone.", "The debate was with Richard Burton.", "“David Livingstone”"),
        ("The committee did not approve it.", "The committee approved it.", "only the claim says “not”"),
        ("The drug causes harm.", "The drug does not raise the risk of lasting harm.", "only the source says “not”"),
        ("Adults live for three years.", "Adults live for five to seven weeks.", "“three years”, the source “five”"),
        ("It approved the plan.", "It never approved the plan.", "only the source says “never”"),
        ("The tower is 330 metres tall.", "When first measured it stood 312 metres high.",
         "the claim says “330 metres”, the source “312 metres”"),
        ("It must be reported within 30 days.", "It must be reported within 72 hours.",
         "the claim says “30 days”, the source “72 hours”"),
        ("It opened on 3 May 1975.", "It opened on 3 June 1980.", "the claim says “May 1975”, the source “June 1980”"),
        ("They were paid one million dollars.", "They were paid one dollar each.",
         "the claim says “one million dollars”, the source “one dollar”"),
    ],
)  # fmt: skip
def test_what_differs_is_named(claim: str, sentence: str, expected: str) -> None:
    assert expected in difference(claim, sentence, AGAINST)
    assert difference(claim, sentence, NEITHER) == ""


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("The tower is 330 metres tall.", "The tower was the first to be lit at night."),
        ("The Suez Canal has twelve locks.", "There are two seas and their level is the same."),
        ("Little sunlight reaches the planet.", "Its winds blow at 2,000 kilometres an hour."),
        ("It was built in 1975.", "It was opened in 1990."),
        ("She won the race three times.", "She won it in 1962.[3]"),
        ("The bridge is 20 years old.", "The bridge is 300 metres long."),
        ("The lake is 400 metres deep.", "Its surface lies 120 metres above the sea."),
        ("The firm made a profit of £48 million.", "The firm had a revenue of £620 million."),
        ("The patent made its holders rich men.", "They sold the patent for a song."),
        ("Bloch adapted Stefano.", "Stefano adapted Bloch."),
        ("The canal was dug by hand.", "Nobody lives near the sea."),
    ],
)
def test_values_that_answer_different_questions_are_no_reason(claim: str, sentence: str) -> None:
    assert difference(claim, sentence, AGAINST) == ""
    assert differing_spans(claim, sentence) == ([], [])


@pytest.mark.parametrize(
    ("claim", "sentence", "other"),
    [
        ("The loop is 18 km long.", "The station is 18 km from the loop.", True),
        ("The loop is 18 km long.", "The loop has a length of 18 km.", False),
        ("The loop is 18 km long.", "The loop covers 18 km.", False),
        ("The tower is 90 m tall.", "The tower is 90 m high.", False),
        ("The loop is 18 km long.", "It is 18 km long and 18 km from the station.", False),
    ],
)
def test_a_number_of_both_texts_may_measure_two_things(claim: str, sentence: str, other: bool) -> None:
    assert measures_other(claim, sentence) is other


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_can_be_set_against_each_other(claim: str, sentence: str) -> None:
    difference(claim, sentence, AGAINST)
    own, its = differing_spans(claim, sentence)
    assert all(0 <= a < b <= len(claim) for a, b in own) and all(0 <= a < b <= len(sentence) for a, b in its)


@pytest.mark.parametrize(
    ("text", "normal"),
    [("1.2 million people", "1200000"), ("1,200,000 people", "1200000"), ("one million dollars", "1000000"),
     ("two hundred rooms", "200"), ("3.14159 thousand", "3141.59"), ("one of them", None),
     ("$16million", "16000000"), ("3.5bn people", "3500000000"), ("£4m", "4000000"), ("40k people", "40000"),
     ("20mg a day", "20"), ("1,500m deep", "1500"), ("a 5MB file", "5"), ("5G networks", None), ("10am", None),
     ("so it is [4]", None)],
)  # fmt: skip
def test_two_spellings_of_a_number_are_one_value(text: str, normal: str | None) -> None:
    assert next((v.normal for v in values(text) if v.kind == "number"), None) == normal


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        ("It fell on 3 May 1975.", "It fell on 3 June 1980.", [("Date", "1975", "1980"), ("Date", "May", "June")]),
        ("It weighs 30 kg.", "It weighs 30 pounds.", [("Unit", "kg", "pounds")]),
        ("It has three rooms.", "It has 4 rooms.", [("Number", "three", "4")]),
        ("It has 9,000 banks and two halls.", "It has 9000 banks and 2 halls.", []),
        ("He met David Livingstone.", "He met Richard Burton.", [("Name", "David Livingstone", "Richard Burton")]),
        ("It is not red.", "It is red.", [("Negation", "not", "")]),
        ("The dose is 20mg a day.", "The dose is 40 mg a day.", [("Number", "20", "40")]),
        ("He died at the age of 45.", "He was 35 years old when he died.", [("Number", "45", "35")]),
        ("The file has 5 GB.", "The file has 5 MB.", [("Unit", "GB", "MB")]),
        ("It cost $16 million.", "It cost $16million.", []),
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

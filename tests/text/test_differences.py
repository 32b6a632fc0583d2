import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.text.differences import (
    contrasts,
    difference,
    differing_spans,
    exchanged,
    measures_other,
    value_of_another,
)
from attribution.text.names import names, negations
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
        (
            "It was built in 1975.",
            "It was built in 1977.",
            "the claim says “1975”, the source “1977”",
        ),
        (
            "The debate was with David Livingstone.",
            "The debate was with Richard Burton.",
            "“David Livingstone”",
        ),
        (
            "The committee did not approve it.",
            "The committee approved it.",
            "only the claim says “not”",
        ),
        (
            "The drug causes harm.",
            "The drug does not raise the risk of lasting harm.",
            "only the source says “not”",
        ),
        (
            "Adults live for three years.",
            "Adults live for five to seven weeks.",
            "“five to seven weeks”",
        ),
        ("It approved the plan.", "It never approved the plan.", "only the source says “never”"),
        (
            "The tower is 330 metres tall.",
            "When first measured it stood 312 metres high.",
            "the claim says “330 metres”, the source “312 metres”",
        ),
        (
            "It must be reported within 30 days.",
            "It must be reported within 72 hours.",
            "the claim says “within 30 days”, the source “within 72 hours”",
        ),
        (
            "It opened on 3 May 1975.",
            "It opened on 3 June 1980.",
            "“3 May 1975”, the source “3 June 1980”",
        ),
        (
            "They were paid one million dollars.",
            "They were paid one dollar each.",
            "the claim says “one million dollars”, the source “one dollar”",
        ),
    ],
)
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
        ("It has a height of 90 m.", "It has a height of 90 m above the rock.", False),
        ("The loop is 18 km long.", "It is 18 km long and 18 km from the station.", False),
    ],
)
def test_a_number_of_both_texts_may_measure_two_things(
    claim: str, sentence: str, other: bool
) -> None:
    assert measures_other(claim, sentence) is other


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_can_be_set_against_each_other(claim: str, sentence: str) -> None:
    difference(claim, sentence, AGAINST)
    own, its = differing_spans(claim, sentence)
    assert all(0 <= a < b <= len(claim) for a, b in own) and all(
        0 <= a < b <= len(sentence) for a, b in its
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ada Lovelace met George W. Bush in May 1999.", ["ada lovelace", "george bush"]),
        ("The Second World War cost US$5 million on Monday.", ["world war"]),
        ("Anna's dog ran 5 MWh to Saint-Denis", ["anna", "saint-denis"]),
        ("Nobody in A saw it. Never.", []),
    ],
)
def test_names_are_words_with_capitals_that_are_no_values(text: str, found: list[str]) -> None:
    assert [name.normal for name in names(text)] == found


def test_negations() -> None:
    text = "It isn't so, nor can’t it; no one knows."
    assert [text[slice(*span)] for span in negations(text)] == ["isn't", "nor", "can’t", "no"]
    assert not negations("The road was not asphalted until 2004.")  # it was, then


def test_a_claim_denies_what_stands_after_its_negation() -> None:
    assert not contrasts("No one died in the fire.", "The fire burnt for nine days.")


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        (
            "It fell on 3 May 1975.",
            "It fell on 3 June 1980.",
            [("Date", "3 May 1975", "3 June 1980")],
        ),
        ("It weighs 30 kg.", "It weighs 30 pounds.", [("Number", "30 kg", "30 pounds")]),
        ("It has three rooms.", "It has 4 rooms.", [("Number", "three", "4")]),
        ("It has 9,000 banks and two halls.", "It has 9000 banks and 2 halls.", []),
        (
            "He met David Livingstone.",
            "He met Richard Burton.",
            [("Name", "David Livingstone", "Richard Burton")],
        ),
        ("It is not red.", "It is red.", [("Negation", "not", "")]),
        (
            "The dose is 20mg a day.",
            "The dose is 40 mg a day.",
            [("Number", "20mg a day", "40 mg a day")],
        ),
        (
            "He died at the age of 45.",
            "He was 35 years old when he died.",
            [("Number", "45", "35 years")],
        ),
        ("The file has 5 GB.", "The file has 5 MB.", [("Number", "5 GB", "5 MB")]),
        ("It cost $16 million.", "It cost $16million.", []),
        (
            "The comet returns about every 96 years.",
            "The comet returns about every 76 years, or 74 to 79, it is said.",
            [("Frequency", "about every 96 years", "about every 76 years")],
        ),
    ],
)
def test_values_are_set_against_each_other(
    claim: str, sentence: str, expected: list[tuple[str, str, str]]
) -> None:
    assert [(c.kind, c.claim, c.source) for c in contrasts(claim, sentence)] == expected


@given(st.text(max_size=120), st.text(max_size=120))
def test_values_are_stretches_of_their_text(claim: str, sentence: str) -> None:
    found = names(claim)
    assert all(a.end <= b.start for a, b in zip(found, found[1:], strict=False))
    assert all(v.normal and 0 <= v.start < v.end <= len(claim) for v in found)
    assert all(
        (c.claim or c.source) and c.claim in claim and c.source in sentence
        for c in contrasts(claim, sentence)
    )


SCORE = "The score of the symptoms fell by 46 % with Rinolex and by 19 % with salt water."
BLEEDS = (
    "Nosebleeds were frequent: 18 people in the Rinolex group had them, and 7 in the control group."
)
BEERS = "Its best-known beer, Moorgold, has 5.2 % alcohol by volume; the winter beer Nachtlicht has 7.8 %."
HOURS = "The centre opens daily at 8.30 a.m. and closes at 6 p.m., in winter at 4 p.m."
FERRY = "There are nine departures a day in summer and five in winter."
TO_SCHOOL = "61 % of the pupils come by bicycle or on foot, 22 % by bus, and the rest by car."


@pytest.mark.parametrize(
    ("claim", "sentence", "found"),
    [
        ("With Rinolex the score fell by 19%.", SCORE, ("19%", "46 %")),
        ("With Rinolex the score fell by 46%.", SCORE, None),
        ("The score fell by 19% with salt water.", SCORE, None),
        ("The score fell by 19% in the placebo group.", SCORE, None),
        ("18 people in the control group had nosebleeds.", BLEEDS, ("18", "7")),
        ("18 people in the Rinolex group had nosebleeds.", BLEEDS, None),
        ("22% of the pupils come by car.", TO_SCHOOL, ("22%", "and the rest by car")),
        ("22% of the pupils come by bus.", TO_SCHOOL, None),
        (
            "The limit at night is 55 decibels.",
            "The limit is 55 decibels by day and 45 decibels at night.",
            ("55 decibels", "45 decibels"),
        ),
        (
            "It has 45 pear trees.",
            "It has 310 apple trees, 120 pear trees and 45 plum trees.",
            ("45", "120"),
        ),
        (
            "Of the tunnel's 50 km, 38 km lie under the sea.",
            "It is 50 km long, of which 38 km lie under the sea.",
            None,
        ),
        (
            "Lentils have 9 g of protein per 100 g.",
            "Per 100 g: fat 0.4 g, fibre 7.9 g, protein 9 g.",
            None,
        ),
        ("Nachtlicht: contains 5.2% alcohol.", BEERS, ("5.2%", "7.8 %")),
        ("The alcohol of Moorgold is 5.2 %.", BEERS, None),
        ("In winter the centre closes at 6 p.m.", HOURS, ("6 p.m.", "4 p.m.")),
        ("The centre closes at 6 p.m. and in winter at 4 p.m.", HOURS, None),
        ("The centre opens at 8.30 a.m.", HOURS, None),
        ("In winter the ferry departs nine times a day.", FERRY, ("nine times a day", "five")),
        ("In winter the ferry departs five times a day.", FERRY, None),
        (
            "In the placebo group, 22 patients withdrew.",
            "Placebo: Patients 206; Withdrawals 22",
            None,
        ),
        (
            "Lawson is similar to 7-Eleven.",
            "Of the three big chains, 7-Eleven and Lawson are alike.",
            None,
        ),
    ],
)
def test_a_value_of_a_list_belongs_to_its_own_part(
    claim: str, sentence: str, found: tuple[str, str] | None
) -> None:
    assert value_of_another(claim, sentence) == found


@pytest.mark.parametrize(
    ("claim", "sentence", "found"),
    [
        (
            "On foot it closes 20 minutes before departure, for cars 10.",
            "It closes 20 minutes before departure for cars and 10 minutes before departure for those on foot.",
            ("20 minutes", "10 minutes"),
        ),
        (
            "It closes 10 minutes before departure on foot and 20 minutes before it for cars.",
            "It closes 20 minutes before departure for cars and 10 minutes before departure for those on foot.",
            None,
        ),
        ("Dora 2 costs €9.", "Dora 2: Length 22 m; Fare €9; Crew 4", None),
    ],
)
def test_two_values_may_be_the_other_way_round(
    claim: str, sentence: str, found: tuple[str, str] | None
) -> None:
    both = exchanged(claim, sentence)
    assert (both and (claim[slice(*both[0].span)], sentence[slice(*both[1].span)])) == found

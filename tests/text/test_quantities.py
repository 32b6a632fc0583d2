import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.text.quantities import clear_contrasts, computed, contrasts


def test_the_characters_of_values_that_differ() -> None:
    assert not clear_contrasts("It has 9,000 banks.", "9000 banks closed in 1933.")
    (found,) = clear_contrasts("It died in 1975.", "It died in 1977.")
    assert (found.claim_span, found.source_span) == ((11, 15), (11, 15))


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("The tower is 330 metres tall.", "The tower was the first to be lit at night."),
        ("The Suez Canal has twelve locks.", "There are two seas and their level is the same."),
        ("Little sunlight reaches the planet.", "Its winds blow at 2,000 kilometres an hour."),
        ("It was built in 1975.", "It was opened in 1990."),
        ("She won the race three times.", "She won it in 1962.[3]"),
        ("The bridge is 20 years old.", "The bridge is 300 metres long."),
        ("The patent made its holders rich men.", "They sold the patent for a song."),
        ("Bloch adapted Stefano.", "Stefano adapted Bloch."),
        ("The canal was dug by hand.", "Nobody lives near the sea."),
    ],
)
def test_values_that_answer_different_questions_are_no_reason(claim: str, sentence: str) -> None:
    assert not contrasts(claim, sentence)


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        ("It has 6 nurses.", "Beds 18; Occupied (mean) 12; Nurses 8", ("6", "8")),
        ("It costs 49 euros.", "Price (€) 39; Weight 1.1", ("", "")),
        ("The tower has 18 bells.", "The tower has 18 bells and 3 clocks.", ("", "")),
    ],
)
def test_what_differs_in_a_sentence_that_contradicts(
    claim: str, sentence: str, expected: tuple[str, str]
) -> None:
    found = contrasts(claim, sentence, is_denied=True)
    assert [(c.claim, c.source) for c in found if c.is_clear] == [expected][: any(expected)]


@given(st.text(max_size=200), st.text(max_size=200))
def test_values_are_stretches_of_their_text(claim: str, sentence: str) -> None:
    for contrast in contrasts(claim, sentence):
        assert contrast.claim == claim[slice(*contrast.claim_span)] != ""
        assert contrast.source == sentence[slice(*contrast.source_span)] != ""


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        (
            "It fell on 3 May 1975.",
            "It fell on 3 June 1980.",
            [("3 May 1975", "3 June 1980")],
        ),
        (
            "It closes on 5 September.",
            "It closes on 15 September.",
            [("5 September", "15 September")],
        ),
        ("It has three rooms.", "It has 4 rooms.", [("three", "4")]),
        ("It has 9,000 banks and two halls.", "It has 9000 banks and 2 halls.", []),
        ("It has 330 rooms.", "It has 328 rooms.", []),
        ("It has 331 rooms.", "It has 328 rooms.", [("331", "328")]),
        ("Turnout was 61 %.", "Turnout was 62 percent.", [("61 %", "62")]),
        (
            "The tower is 330 metres tall.",
            "When first measured it stood 312 metres high.",
            [("330", "312")],
        ),
        ("The dose is 20mg a day.", "The dose is 40 mg a day.", [("20", "40")]),
        ("It cost $16 million.", "It cost $16million.", []),
        ("It has 2.4 million books.", "It has more than two million books.", []),
        (
            "It has 2.4 million books.",
            "It has 1.6 million books.",
            [("2.4 million", "1.6 million")],
        ),
        (
            "It cost $16 million.",
            "It cost 18 million dollars.",
            [("$16 million", "18 million")],
        ),
        ("It opened in May 1975.", "It opened on 3 May 1975.", []),
        ("It grew by 6 % to 412,300.", "It was 398,000.", [("412,300", "398,000")]),
        ("It holds six people.", "It holds 5 to 7.", []),
        ("It cost $1.5bn.", "It cost $2 billion.", [("$1.5bn", "$2 billion")]),
        ("It sold 1.234.567 at 12:30.", "It sold 1.300.000 at 11:30.", []),
        (
            "It opened on May 4, 1975.",
            "It opened on 3 May 1975.",
            [("May 4, 1975", "3 May 1975")],
        ),
        (
            "The comet returns about every 96 years.",
            "The comet returns about every 76 years, or 74 to 79, it is said.",
            [("96", "76")],
        ),
    ],
)
def test_values_are_set_against_each_other(
    claim: str, sentence: str, expected: list[tuple[str, str]]
) -> None:
    assert [(c.claim, c.source) for c in contrasts(claim, sentence)] == expected


PROFIT = "Revenue rose from 389,000 to 412,300, and the profit fell from 31,500 to 27,900."


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        ("Revenue rose from 389,000 to 398,000.", PROFIT, [("398,000", "412,300")]),
        ("The profit fell by 3,600.", PROFIT, []),  # it follows from two of them
        ("The 21 turbines have 75.6 MW.", "The 21 turbines have 3.6 MW each.", []),
        ("By hand they pick 150 kg a day.", "By hand or not, they pick 600 kg a day.", []),
        ("They pay 489,600 in 2025.", "They pay 480,000, from 2025 on 2 per cent more.", []),
        ("The canal was dug in 1825.", "The canal was begun on 4 July 1817.", []),
        ("Abbe set up a fund in 1889.", "In 1888 Abbe sold, in 1889 set up a fund.", []),
    ],
)
def test_a_reader_is_told_of_values_that_can_be_meant_alone(
    claim: str, sentence: str, expected: list[tuple[str, str]]
) -> None:
    assert [(c.claim, c.source) for c in clear_contrasts(claim, sentence)] == expected


def test_a_number_that_follows_from_two_is_explained() -> None:
    assert computed("The profit fell by 3,600.", PROFIT) == "31,500 − 27,900 = 3,600"
    assert computed("They won 15 more.", "They won 34, the others 19.") == "34 − 19 = 15"
    assert computed("They won 34.", "They won 34, the others 19.") == ""

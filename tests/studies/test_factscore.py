import math

import pytest

from attribution.studies.factscore import Counts, Score, score


def test_a_worked_example() -> None:
    """Two answers of 20 and of 5 facts."""
    answers = [Counts(20, 15), Counts(5, 5)]
    made = score(answers)
    assert made.unpenalised == pytest.approx((0.75 + 1.0) / 2)
    assert made.factscore == pytest.approx((0.75 + math.exp(1 - 10 / 5)) / 2)
    assert made.answers == 2


def test_an_answer_without_facts_is_not_averaged() -> None:
    made = score([Counts(0, 0), Counts(10, 5)])
    assert (made.factscore, made.answers) == (0.5, 1)


def test_without_facts_there_is_no_score() -> None:
    for answers in ([], [Counts(0, 0)]):
        made = score(answers)
<<<<<<< HEAD
        assert made.factscore is None
        assert made.unpenalised is None
        assert made.answers == 0


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, but I could not find any information about Lanny Flaherty.",
        "I’m sorry, I don’t have information on that person. He may be a private individual.",
        "Unfortunately, I was not able to find any records of this event.",
        "I do not have access to real-time data.",
        "I am not familiar with a person called that.",
        "There is no information about this in the search results.",
        "There are no reliable records of this person.",
        "The provided passages do not mention when it was built.",
        "As an AI language model, I cannot access personal records.",
        "**I don't know** who that is.",
        "No information is available about this artist.",
        "I cannot verify this claim.",
    ],
)
def test_answers_that_decline(answer: str) -> None:
    assert abstains(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Lanny Flaherty is an American actor. I could not find his date of birth.",
        "I don't have the exact date, but it was finished in 1889.",
        "I'm sorry for your loss. The form to fill in is called IHT400.",
        "There is no evidence that the Great Wall is visible from the Moon.",
        "No records of the trial survive: they were burnt in 1666.",
        "The results do not support the theory.",
        "The sources of the Nile were not known before 1862.",
        "Sorry, We Missed You is a film by Ken Loach.",
        "I do not think therefore I am not is a common misquotation.",
        "He could not find work in Paris.",
    ],
)
def test_answers_that_say_something(answer: str) -> None:
    assert not abstains(answer)
=======
        assert made == Score(None, None, 0)
>>>>>>> 47afaf08 (Paper tables: one runner, documents as sources, figures; errors are evoked freely; comparisons count incoherent claims; the trained classifier needs its model)

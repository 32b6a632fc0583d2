import math

import pytest

from attribution.studies.subclaim_scores import Counts, Score, score


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
        assert made == Score(None, None, 0)

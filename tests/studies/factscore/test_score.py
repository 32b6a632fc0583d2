from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.studies.factscore.answer import Counts, penalty, score


def test_a_worked_example() -> None:
    """Two answers of 20 and of 5 facts, and one that abstains."""
    answers = [Counts(20, 15), Counts(5, 5), Counts(0, 0, responded=False)]
    made = score(answers, gamma=10)
    assert made.unpenalised == pytest.approx((0.75 + 1.0) / 2)
    assert made.factscore == pytest.approx((0.75 + math.exp(1 - 10 / 5)) / 2)
    assert made.answers == 2


def test_without_gamma_nothing_is_taken_off() -> None:
    made = score([Counts(1, 1)], gamma=0)
    assert made.factscore == made.unpenalised == 1.0


def test_an_answer_without_facts_is_not_averaged() -> None:
    made = score([Counts(0, 0), Counts(10, 5)])
    assert (made.factscore, made.answers) == (0.5, 1)


def test_without_facts_there_is_no_score() -> None:
    for answers in ([], [Counts(0, 0, responded=False), Counts(0, 0)]):
        made = score(answers)
        assert made.factscore is None and made.unpenalised is None and made.answers == 0


@given(st.integers(1, 200), st.floats(0, 100))
def test_the_penalty_grows_with_the_facts_up_to_gamma(facts: int, gamma: float) -> None:
    now, then = penalty(facts, gamma), penalty(facts + 1, gamma)
    assert 0 <= now <= then <= 1
    assert (now == 1.0) == (facts >= gamma or math.exp(1 - gamma / facts) == 1.0)

"""Decisions about corrections: taken back by a second click and by undo, kept with the run."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from attribution.errors import StageFailure
from attribution.review import corrections as desks
from attribution.review.corrections import Decisions, Proposal, Review
from attribution.store.store import Store
from tests.review.make import claim, correction, report

ANSWER = "The tower was finished in 1890. It is 330 m high."
FALSE, OTHER = claim(ANSWER, "The tower was finished in 1890."), claim(ANSWER, "It is 330 m high.")
REPORT = report(ANSWER, (FALSE, "contradicted"), (OTHER, "unclear"))
FOUND = Proposal(FALSE.id, correction(ANSWER, FALSE, "The tower was finished in 1889."))
FAILED = Proposal(OTHER.id, reason="no", failure=StageFailure("verifier_failed", "no").as_failure("correct", "It"))
SOME = st.lists(st.sampled_from(["a", "b", "c"]), unique=True)


@given(st.lists(st.tuples(SOME, SOME)))
def test_undo_takes_back_every_decision(decisions: list[tuple[list[str], list[str]]]) -> None:
    review, states = Review(), [Decisions()]
    for accept, reject in decisions:
        review = review.decide(accept, [i for i in reject if i not in accept])
        assert not set(review.now.accepted) & review.now.rejected
        states.append(review.now)
    for state in reversed(states[:-1]):
        review = review.undo()
        assert review.now == state
    assert review.undo() == review == Review()


def test_a_second_decision_takes_the_first_back() -> None:
    assert Review().decide(accept=["a"]).decide(accept=["a"]).now == Decisions()
    assert Review().decide(accept=["a"]).decide(reject=["a"]).now == Decisions(rejected=frozenset("a"))


def test_it_is_kept_with_the_run_and_goes_with_it(store: Store) -> None:
    store.runs.save(REPORT)
    review = Review().with_proposals([FOUND, FAILED]).decide(accept=[FALSE.id]).decide(reject=[OTHER.id])
    desks.save_review(store, REPORT.id, review)
    assert desks.load_review(store, REPORT.id) == review
    store.results.save(desks.KIND, "f" * 16, '{"written": "otherwise"}')
    assert desks.load_review(store, "f" * 16) == Review() == desks.load_review(store, "e" * 16)
    store.runs.delete(REPORT.id)
    assert desks.load_review(store, REPORT.id) == Review()


def test_a_correction_of_other_words_is_gone() -> None:
    review = Review().with_proposals([FOUND, FAILED])
    assert review.fitting(REPORT) == review
    reworded = report(ANSWER, (FALSE.model_copy(update={"text": "It opened in 1890."}), "contradicted"))
    assert review.fitting(reworded).proposals == {OTHER.id: FAILED}
    assert review.fitting(REPORT.model_copy(update={"answer": " " + ANSWER})).proposals == {OTHER.id: FAILED}

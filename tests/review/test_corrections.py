import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.errors import StageFailure
from attribution.review import corrections as desks
from attribution.review.corrections import Decisions, Proposal, Review, RuleCorrector
from attribution.settings import Settings
from attribution.store.store import Store
from tests.review.make import claim, correction, report


@pytest.mark.parametrize(
    ("claim", "passage", "first"),
    [
        (
            "The bridge opened in 1939.",
            "Work began in 1933. The bridge opened in 1937.",
            "The bridge opened in 1937.",
        ),
        ("The bridge weighs 30 kg.", "The bridge weighs 30 tons.", "The bridge weighs 30 tons."),
        (
            "Psycho was directed by John Ford.",
            "Psycho was directed by Alfred Hitchcock in 1960.",
            "Psycho was directed by Alfred Hitchcock.",
        ),
        ("The plan was not approved.", "The plan was approved.", "The plan was approved."),
        ("The plan was approved.", "The plan was never approved.", "The plan was not approved."),
        ("30 people died there.", "40 people died there.", "40 people died there."),
        ("He was born on 3 May 1899.", "He was born on 4 May 1899.", "He was born on 4 May 1899."),
        (
            "It was opened in 1890.",
            "It was opened on 31 March 1889.",
            "It was opened on 31 March 1889.",
        ),
        ("It was opened on 1 May 1890.", "It was opened in 1889.", "It was opened in 1889."),
        (
            "You have 30 days to answer.",
            "You have 72 hours to answer.",
            "You have 72 hours to answer.",
        ),
    ],
)
def test_the_likeliest_wording_comes_first(claim: str, passage: str, first: str) -> None:
    assert RuleCorrector(Settings()).candidates(claim, passage)[0] == first


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Paris is the largest city.", "London is the largest city."),
        ("The 1990 cup was won by them.", "The 1994 cup was won by them."),
        ("It has 9,000 banks.", "It has 9000 banks, and 30 halls."),
        ("It was red.", "It was blue."),
        ("It was not found until 1894.", "It was found in 1894."),
        ("They waited eight years.", "They were the first."),
    ],
)
def test_what_a_claim_is_about_and_what_the_passage_says_too_stays(
    claim: str, passage: str
) -> None:
    assert RuleCorrector(Settings()).candidates(claim, passage) == []


def test_what_another_passage_confirms_is_not_wrong() -> None:
    claim, passage = "It opened in 1937.", "It was planned in 1930."
    corrector = RuleCorrector(Settings())
    assert corrector.candidates(claim, passage) == ["It opened in 1930."]
    assert corrector.candidates(claim, passage, ["In 1937 the mayor came."]) == []


def test_values_change_one_at_a_time_unless_the_claim_is_surely_contradicted() -> None:
    claim, passage = "It opened in 1937 with 30 rooms.", "It opened in 1939 with 40 rooms."
    both, corrector = "It opened in 1939 with 40 rooms.", RuleCorrector(Settings())
    assert both in corrector.candidates(claim, passage)
    assert both not in corrector.candidates(claim, passage, [passage])


def test_two_names_change_places_unless_another_passage_may_be_right() -> None:
    claim = "Robert Bloch wrote the screenplay from a novel by Joseph Stefano."
    passage = "It opened in 1960. Joseph Stefano wrote the screenplay from a novel by Robert Bloch."
    swapped = "Joseph Stefano wrote the screenplay from a novel by Robert Bloch."
    corrector = RuleCorrector(Settings())
    assert swapped in corrector.candidates(claim, passage)
    assert corrector.candidates(claim, passage, [passage]) == []


ANSWER = "The tower was finished in 1890. It is 330 m high."
FALSE, OTHER = claim(ANSWER, "The tower was finished in 1890."), claim(ANSWER, "It is 330 m high.")
REPORT = report(ANSWER, (FALSE, "contradicted"), (OTHER, "unclear"))
FOUND = Proposal(FALSE.id, correction(ANSWER, FALSE, "The tower was finished in 1889."))
FAILED = Proposal(
    OTHER.id, reason="no", failure=StageFailure("verifier_failed", "no").as_failure("correct", "It")
)
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


def test_it_is_kept_with_the_run_and_goes_with_it(store: Store) -> None:
    store.runs.save(REPORT)
    review = (
        Review().with_proposals([FOUND, FAILED]).decide(accept=[FALSE.id]).decide(reject=[OTHER.id])
    )
    desks.save_review(store, REPORT.id, review)
    assert desks.load_review(store, REPORT.id) == review
    store.results.save(desks.KIND, "f" * 16, '{"written": "otherwise"}')
    assert desks.load_review(store, "f" * 16) == Review() == desks.load_review(store, "e" * 16)
    store.runs.delete(REPORT.id)
    assert desks.load_review(store, REPORT.id) == Review()


def test_a_correction_of_other_words_is_gone() -> None:
    review = Review().with_proposals([FOUND, FAILED])
    assert review.fitting(REPORT) == review
    reworded = report(
        ANSWER, (FALSE.model_copy(update={"text": "It opened in 1890."}), "contradicted")
    )
    assert review.fitting(reworded).proposals == {OTHER.id: FAILED}
    assert review.fitting(REPORT.model_copy(update={"answer": " " + ANSWER})).proposals == {
        OTHER.id: FAILED
    }

import threading

import pytest

from attribution.errors import BadInput
from attribution.review import corrections
from attribution.review.correction import apply
from attribution.review.corrections import (
    Proposal,
    Review,
    correctable,
    load_review,
    propose,
    safe_change,
    save_review,
)
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import AnalystVerdict, Claim, Evidence, Page, Report
from tests.make import page
from tests.review.make import claim, correction, report


@pytest.mark.parametrize(
    ("statement", "sentence", "after"),
    [
        ("The bridge opened in 1939.", "The bridge opened in 1937.", "1937"),
        ("30 people died there.", "40 people died there.", "40"),
        ("He was born on 3 May 1899.", "He was born on 4 May 1899.", "4 May 1899"),
        ("The tower is 330 m high.", "The old tower is 300 m high.", "300 m"),
        ("Nine kingdoms were founded.", "They say seven kingdoms were founded.", "Seven"),
        ("Sales came to $5 million there.", "Sales came to $7 million there.", "$7 million"),
    ],
)
def test_the_sentence_s_value_takes_the_place_of_the_claim_s(
    statement: str, sentence: str, after: str
) -> None:
    change = safe_change(statement, sentence, sentence)
    assert change is not None
    assert change.after == after


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        # another unit, or another precision
        ("The bridge weighs 30 kg.", "The bridge weighs 30 tons."),
        ("You have 30 days to answer.", "You have 72 hours to answer."),
        ("It was opened in 1890.", "It was opened on 31 March 1889."),
        # another role
        ("Sales rose by 4 % in spring.", "The effect was sure (95 % CI 2 to 6)."),
        ("Sales rose by 4 %.", "Sales rose (95 % confidence)."),
        ("Thirteen states joined the union.", "Four of the generals joined the union."),
        ("It opened in 1937.", "It was planned in 1930."),
        # two values that may be meant
        ("The bridge opened in 1939.", "The bridge opened in 1937, or in 1938."),
        ("They opened 43 shops.", "They shut 19 shops and opened 34."),
        # two values that are wrong
        ("It opened in 1937 with 30 rooms.", "It opened in 1939 with 40 rooms."),
        # a value that the claim may have computed
        ("The two plants made 300 t.", "The first plant made 100 t, the second plant made 200 t."),
        ("The cost rose by 9 million dollars.", "The cost was 64 million dollars."),
        ("In all 12 people died there.", "Of them 7 people died there, all others survived."),
        # no value at all
        ("Psycho was directed by John Ford.", "Psycho was directed by Alfred Hitchcock."),
        ("The plan was not approved.", "The plan was approved."),
        # a denial
        ("It was not found until 1894.", "It was found in 1893."),
    ],
)
def test_in_doubt_nothing_is_changed(statement: str, sentence: str) -> None:
    assert safe_change(statement, sentence, sentence) is None


ANSWER = "The tower was finished in 1890. It is 330 m high."
FALSE = claim(ANSWER, "The tower was finished in 1890.")
TRUE = claim(ANSWER, "It is 330 m high.")
REPORT = report(ANSWER, (FALSE, "contradicted"), (TRUE, "supported"))


def read_as(source: Page, piece: Evidence) -> Report:
    """The run, with this page and passage alone."""
    whole = {"page_id": source.id, "text": source.text, "end": len(source.text)}
    changed = piece.model_copy(update={**whole, "sentence": (0, len(source.text))})
    return REPORT.model_copy(update={"pages": (source,), "evidence": (changed,)})


def test_a_contradicted_claim_gets_the_value_of_its_evidence(
    settings: Settings, store: Store
) -> None:
    (proposal,) = propose(REPORT, correctable(REPORT), settings, store)
    correction = proposal.correction
    assert correction is not None
    assert correction.after == "The tower was finished in 1889."
    assert apply(ANSWER, correction.edits) == ANSWER.replace("1890", "1889")
    source = REPORT.pages[0]
    assert source.text[slice(*correction.sentence)] == correction.quote
    assert correction.quote == "The tower was finished in 1889."


def test_no_value_of_a_sentence_about_something_else(settings: Settings, store: Store) -> None:
    source = page("Nobody knows why 1889 was a good year for wine.")
    (proposal,) = propose(read_as(source, REPORT.evidence[0]), [FALSE], settings, store)
    assert proposal.correction is None
    assert proposal.reason == corrections.NONE


def test_no_correction_that_another_passage_contradicts(settings: Settings, store: Store) -> None:
    other = page("The tower was finished in 1875.", "https://other.example/")
    against = read_as(other, REPORT.evidence[0]).evidence[0]
    pages, evidence = (*REPORT.pages, other), (REPORT.evidence[0], against)
    made = REPORT.model_copy(update={"pages": pages, "evidence": evidence})
    (proposal,) = propose(made, [FALSE], settings, store)
    assert proposal.correction is None


@pytest.mark.parametrize("label", ["supported", "unclear", "conflicting", "no_relation"])
def test_only_contradicted_claims_are_correctable(label: str) -> None:
    assert correctable(report(ANSWER, (FALSE, label))) == ()  # type: ignore[arg-type]


def test_a_claim_that_the_analyst_sees_otherwise_is_not_correctable() -> None:
    own = AnalystVerdict(
        claim_id=FALSE.id, statement=FALSE.statement, label="supported", badge="contradicted", at=""
    )
    assert correctable(REPORT.model_copy(update={"judgements": (own,)})) == ()


def test_a_stop_leaves_the_other_claims(settings: Settings, store: Store) -> None:
    stop = threading.Event()
    stop.set()
    assert list(propose(REPORT, [FALSE], settings, store, stop)) == []


def test_a_claim_of_another_run_is_refused(settings: Settings, store: Store) -> None:
    other = Claim(id="x", text="Another.", spans=())
    with pytest.raises(BadInput, match="not in this run"):
        list(propose(REPORT, [other], settings, store))


PROPOSED = Proposal(FALSE.id, correction(ANSWER, FALSE, "1890", "1889"))
NONE = Proposal(TRUE.id, reason="no")


def test_accepting_twice_takes_the_correction_back() -> None:
    accepted = Review().with_proposals([PROPOSED]).accept(FALSE.id)
    assert accepted.accepted == (FALSE.id,)
    assert accepted.accept(FALSE.id).accepted == ()


def test_what_was_accepted_is_kept_with_the_run_and_goes_with_it(store: Store) -> None:
    store.runs.save(REPORT)
    review = Review().with_proposals([PROPOSED, NONE]).accept(FALSE.id)
    save_review(store, REPORT.id, review)
    assert load_review(store, REPORT.id) == review
    store.runs.delete(REPORT.id)
    assert load_review(store, REPORT.id) == Review()


def test_a_correction_of_other_words_is_gone() -> None:
    review = Review().with_proposals([PROPOSED, NONE])
    assert review.fitting(REPORT) == review
    reworded = FALSE.model_copy(update={"text": "It opened in 1890."})
    changed = report(ANSWER, (reworded, "contradicted"))
    assert review.fitting(changed).proposals == {TRUE.id: NONE}
    moved = REPORT.model_copy(update={"answer": " " + ANSWER})
    assert review.fitting(moved).proposals == {TRUE.id: NONE}

from streamlit.testing.v1 import AppTest

from attribution.review.corrections import Proposal, Review, load_review, save_review
from attribution.store.store import Store
from tests.pages.jobs import opened
from tests.review.make import claim, correction, report

ANSWER = "The tower was finished in 1890. It is <b>330 m</b> high."
FALSE = claim(ANSWER, "The tower was finished in 1890.")
UNCLEAR = claim(ANSWER, "It is <b>330 m</b> high.")
REPORT = report(ANSWER, (FALSE, "contradicted"), (UNCLEAR, "unclear"))
PROPOSED = Review().with_proposals([Proposal(FALSE.id, correction(ANSWER, FALSE, "1890", "1889"))])


def revised(at: AppTest) -> str:
    assert not at.exception
    return str(at.code[0].value)


def test_an_accepted_correction_is_in_the_revised_answer_of_whoever_reads_the_run(
    store: Store,
) -> None:
    own = Store(store.database, "owner")
    own.runs.save(REPORT)
    save_review(own, REPORT.id, PROPOSED)
    assert revised(opened("check", "owner", run=REPORT.id)) == ANSWER
    save_review(own, REPORT.id, PROPOSED.accept(FALSE.id))
    guest = opened("check", "guest", run=REPORT.id)
    assert revised(guest).startswith("The tower was finished in 1889.")
    guest.button(key="make_copy").click().run()
    copy = guest.query_params["run"]
    copied = load_review(Store(store.database, "guest"), copy)
    assert copied.accepted == (FALSE.id,)


def test_sentences_that_no_source_supports_can_be_marked(store: Store) -> None:
    Store(store.database, "owner").runs.save(REPORT)
    at = opened("check", "owner", run=REPORT.id)
    at.button_group(key="unsupported").set_value("mark").run()
    assert "*(not settled" in revised(at)

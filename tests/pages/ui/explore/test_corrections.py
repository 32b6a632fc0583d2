from streamlit.testing.v1 import AppTest

from attribution.review import corrections as desks
from attribution.review.corrections import Proposal, Review
from attribution.settings import Settings
from attribution.store.store import Store
from pages.ui.explore.corrections import other_verifier
from tests.pages.jobs import opened, until
from tests.review.make import claim, correction, report

ANSWER = "The tower was finished in 1890. It is <b>330 m</b> high."
FALSE = claim(ANSWER, "The tower was finished in 1890.")
REPORT = report(
    ANSWER, (FALSE, "contradicted"), (claim(ANSWER, "It is <b>330 m</b> high."), "unclear")
)


def pressed(at: AppTest, key: str) -> AppTest:
    return at.button(key=key).click().run()


def test_a_correction_is_proposed_accepted_and_taken_back(store: Store) -> None:
    made = REPORT.model_copy(update={"settings": {"verifier": "embedded-small"}})
    Store(store.database, "owner").runs.save(made)
    at = pressed(opened("explore", "owner", run=made.id), "propose")
    until(lambda: any(b.key == f"accept-{FALSE.id}" for b in at.run().button))
    pressed(at, f"accept-{FALSE.id}")
    assert not at.exception
    assert (
        "finished in 1889.[^1]" in at.code[0].value
        and at.button(key=f"accept-{FALSE.id}").label == "Accepted"
    )
    assert any("1 correction applied, 1 footnote." in h.body for h in at.get("html"))
    pressed(at, "undo_decision")
    assert at.code[0].value == ANSWER
    pressed(at, "accept_all")
    at.button_group(key="unsupported").set_value("mark").run()
    assert at.code[0].value.startswith(
        "The tower was finished in 1889.[^1] It is <b>330 m</b> high. *(not settled"
    )
    pressed(at, f"reject-{FALSE.id}")
    assert "1890" in at.code[0].value and not at.exception


def test_decisions_outlive_the_session_and_are_the_owners_alone(store: Store) -> None:
    store = Store(store.database, "owner")
    store.runs.save(REPORT)
    found = correction(ANSWER, FALSE, "The tower was finished in 1889.")
    desks.save_review(store, REPORT.id, Review().with_proposals([Proposal(FALSE.id, found)]))

    def visited(browser: str) -> AppTest:
        return opened("explore", browser, run=REPORT.id)

    key = f"accept-{FALSE.id}"
    assert visited("owner").button(key=key).label == "Accept"
    pressed(visited("owner"), key)
    assert visited("owner").button(key=key).label == "Accepted"
    guest = visited("guest")
    assert "1889" in guest.code[0].value and any(
        "Claim 1</strong> · accepted" in h.body for h in guest.get("html")
    )
    changing = {key, "propose", "accept_all", "undo_decision", "undo", "redo", f"reject-{FALSE.id}"}
    assert not changing & {button.key for button in guest.button}
    pressed(guest, "make_copy")
    copy = guest.query_params["run"]
    assert copy != REPORT.id and guest.button(key=key).label == "Accepted" and not guest.exception
    pressed(guest, key)
    assert (
        guest.button(key=key).label == "Accept"
        and visited("owner").button(key=key).label == "Accepted"
    )


def test_another_verifier_is_one_that_is_ready() -> None:
    assert other_verifier(Settings(verifier="embedded-base"))[0] == "embedded-small"
    name, _ = other_verifier(Settings(verifier="embedded-small"))
    assert name in ("", "embedded-base")

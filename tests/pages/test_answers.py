from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from attribution.pipeline.queued_runs import QueueWorker, Working
from attribution.store.history import HistoryQuery, HistoryRow
from attribution.store.store import Store
from pages.ui.answer_list import is_busy, row_data, source_words
from tests.make import assessment, report, save_run
from tests.pages.jobs import opened, text
from tests.reports.runs import run

MINE = "mine"


@pytest.fixture
def own(store: Store) -> Store:
    return Store(store.database, MINE)


def listed(own: Store) -> HistoryRow:
    (row,) = own.history.find(HistoryQuery()).rows
    return row


def acted(act: dict[str, Any], own: Store) -> AppTest:
    """The page after something was clicked in the list."""
    shown = opened("answers", MINE, {"_page_answers_act": act})
    assert not shown.exception
    return shown


def test_a_row_has_the_counts_of_the_groups_and_what_was_reviewed(own: Store) -> None:
    saved = run()
    wrong = assessment(saved.claims[0], "contradicted")
    save_run(own, saved.model_copy(update={"judgements": (wrong,)}))
    data: Any = row_data(listed(own), QueueWorker("sqlite://"))
    assert [group["name"] for group in data["groups"]] == ["wrong", "check", "none", "ok"]
    assert data["groups"][0]["count"] == 1
    assert data["done"] == 1
    assert sum(group["count"] for group in data["groups"]) == data["total"]
    assert data["state"] is None


def test_a_row_says_how_far_the_queue_is(own: Store) -> None:
    own.runs.start(report("Because.", id="a" * 16))
    worker = QueueWorker("sqlite://")
    own.queue.add("a" * 16)
    waiting = row_data(listed(own), worker)
    assert is_busy([waiting])
    assert waiting["state"]["action"] == "remove"
    worker.current = Working("a" * 16, done=2, total=5)
    working: Any = row_data(listed(own), worker)
    assert working["state"]["strong"] == "Claim 3 of 5"
    assert working["state"]["left"]
    worker.current = None
    own.queue.fail("a" * 16, "No model.")
    failed: Any = row_data(listed(own), worker)
    assert failed["state"]["words"] == "No model."
    own.queue.remove("a" * 16)
    interrupted: Any = row_data(listed(own), worker)
    assert interrupted["state"]["label"] == "Continue"
    assert not is_busy([failed, interrupted])


def test_sources_are_named_and_many_are_counted() -> None:
    assert source_words(["library"]) == "The built-in library"
    names = ["document:a.txt", "document:b.pdf", "library", "https://x.example"]
    assert source_words(names) == "a.txt, b.pdf, 2 more"


def test_answers_are_deleted_once_that_is_confirmed_and_by_nobody_else(own: Store) -> None:
    save_run(own, run())
    assert "No answers yet" in text(opened("answers", "a stranger"))
    act = {"kind": "delete", "ids": [listed(own).id]}
    opened("answers", "a stranger", {"_page_answers_act": act})
    shown = acted(act, own)
    assert listed(own)
    shown.button(key="delete").click().run()
    assert not own.history.find(HistoryQuery()).rows


@pytest.mark.parametrize("act", [{"kind": "open"}, {"kind": "delete", "ids": "all"}, {"ids": [1]}])
def test_a_click_that_names_no_answer_does_nothing(own: Store, act: dict[str, Any]) -> None:
    save_run(own, run())
    acted(act, own)
    assert listed(own)


@pytest.mark.parametrize("page", ["answers", "check", "compare"])
def test_results_are_drawn_without_a_search_for_data_frames_which_imports_pandas(
    own: Store, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    def refuse(value: object) -> bool:
        assert not isinstance(value, list | dict), "a dictionary is given to a component"
        return False

    serialization = "streamlit.components.v2.bidi_component.serialization"
    monkeypatch.setattr(f"{serialization}.is_dataframe_like", refuse)
    save_run(own, run())
    save_run(own, run().model_copy(update={"id": "b" * 16}))
    shown = opened(page, MINE, run=run().id, answers=f"{run().id}-{'b' * 16}")
    assert not shown.exception
    assert len(shown.get("bidi_component")) > 1


def test_an_answer_without_a_question_is_named_by_its_first_heading_as_read(own: Store) -> None:
    answer = "## The **Nile**\n\nIt flows north[1]."
    own.runs.start(report(answer, id="a" * 16, question=""))
    assert listed(own).name == "The Nile"

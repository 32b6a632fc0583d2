import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from attribution.pipeline.answer_files import NewAnswer
from attribution.pipeline.queued_runs import enqueue, queue_worker
from attribution.settings import Settings
from attribution.store.history import HistoryQuery, HistoryRow
from attribution.store.store import Store
from attribution.types import Document
from tests.serve import serving, until

NOTE = Document("note.txt", b"The tower is 324 metres tall. It was finished in 1889.", "text/plain")
ANSWERS = (
    NewAnswer("The tower is 324 metres tall.", "How tall is it?", tags=("pilot",)),
    NewAnswer("The tower was finished in 1889."),
)


@pytest.fixture
def own(settings: Settings, store: Store) -> Iterator[Store]:
    yield Store(store.database, "mine")
    for thread in threading.enumerate():
        if thread.name == "queue":
            thread.join(60)


@pytest.fixture
def with_note(settings: Settings) -> Settings:
    return settings.model_copy(update={"sources": ()})


def rows(store: Store) -> list[HistoryRow]:
    return list(reversed(store.history.find(HistoryQuery()).rows))


def work_off(store: Store, settings: Settings) -> None:
    queue_worker(settings.database_url).wake()
    until(lambda: store.queue.next() is None)


def test_answers_are_checked_one_after_another_and_belong_to_who_added_them(
    own: Store, with_note: Settings
) -> None:
    ids = enqueue(own, [answer.beside([NOTE]) for answer in ANSWERS], with_note)
    waiting = rows(own)
    assert [row.id for row in waiting] == ids
    assert all(row.queued for row in waiting)
    assert own.history.tags() == ["pilot"]
    assert [row.id for row in own.history.find(HistoryQuery(words="tall")).rows] == ids[:1]
    work_off(own, with_note)
    finished = rows(own)
    assert all(row.finished for row in finished)
    assert not any(row.queued for row in finished)
    assert {row.sources for row in finished} == {("document:note.txt",)}
    assert not Store(own.database, "other's").history.find(HistoryQuery()).rows


def test_an_answer_that_cannot_be_checked_keeps_its_problem_and_the_next_one_is_checked(
    own: Store, with_note: Settings
) -> None:
    secret = NewAnswer("The tower is tall.", sources=("/etc/passwd",))
    ids = enqueue(own, [secret, ANSWERS[1].beside([NOTE])], with_note)
    work_off(own, with_note)
    listed = {row.id: row for row in rows(own)}
    assert "cannot be read here" in listed[ids[0]].problem
    assert not listed[ids[0]].finished
    assert listed[ids[1]].finished


def test_a_run_that_ends_the_server_again_and_again_is_given_up(
    own: Store, with_note: Settings
) -> None:
    (run_id,) = enqueue(own, ANSWERS[:1], with_note)
    for _ in range(3):
        own.queue.begin(run_id)
    work_off(own, with_note)
    (row,) = rows(own)
    assert "3 times" in row.problem


@pytest.mark.slow
def test_thirty_answers_are_finished_unattended_although_the_server_is_killed(
    tmp_path: Path, settings: Settings
) -> None:
    settings = settings.model_copy(update={"sources": ()})
    answers = [NewAnswer(f"The tower is {300 + n} metres tall.").beside([NOTE]) for n in range(30)]
    folder = tmp_path / "data"
    folder.mkdir()
    store = Store(Store.open(f"sqlite:///{folder}/attribution.sqlite3").database, "mine")
    enqueue(store, answers, settings)

    def finished() -> int:
        return store.history.find(HistoryQuery(state="finished")).total

    with serving(tmp_path) as server:
        until(lambda: finished() >= 5, 300)
        server.end(9)
        assert finished() < 30
        server.start()
        until(lambda: finished() == 30, 300)
    assert [row.checked for row in rows(store)] == [1] * 30

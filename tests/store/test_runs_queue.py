import pytest

from attribution.errors import NotYours
from attribution.store.history import HistoryQuery
from attribution.store.store import Store
from attribution.types import Document
from tests.make import report


@pytest.fixture
def queued(store: Store) -> Store:
    """Two owners' runs in the queue."""
    for owner, run_id in (("mine", "first"), ("other's", "theirs"), ("mine", "second")):
        own = Store(store.database, owner)
        own.runs.start(report("Because.", id=run_id))
        own.queue.add(run_id)
    return Store(store.database, "mine")


def waiting(store: Store) -> str:
    queued = store.queue.next()
    return queued.run_id if queued else ""


def test_runs_of_all_owners_wait_in_order_and_leave_when_they_are_finished(queued: Store) -> None:
    assert waiting(queued) == "first"
    queued.runs.save_documents("first", [Document("a.txt", b"a", "text/plain")])
    queued.runs.finish(report("Because.", id="first"))
    assert waiting(queued) == "theirs"
    Store(queued.database, "other's").runs.delete("theirs")
    assert waiting(queued) == "second"
    queued.queue.remove("second")
    assert waiting(queued) == ""


def test_a_run_that_failed_waits_again_when_it_is_added_again(queued: Store) -> None:
    queued.queue.begin("first")
    queued.queue.fail("first", "No model.")
    assert waiting(queued) == "theirs"
    rows = {row.id: row for row in queued.history.find(HistoryQuery(state="unfinished")).rows}
    assert (rows["first"].queued, rows["first"].problem) == (True, "No model.")
    assert (rows["second"].queued, rows["second"].problem) == (True, "")
    queued.queue.add("first")
    queued.queue.remove("theirs")
    assert waiting(queued) == "second"
    queued.queue.remove("second")
    last = queued.queue.next()
    assert last is not None
    assert last.attempts == 0


def test_only_ones_own_run_can_be_added(queued: Store) -> None:
    with pytest.raises(NotYours):
        queued.queue.add("theirs")
    with pytest.raises(NotYours):
        queued.queue.add("unknown")

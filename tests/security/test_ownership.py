"""Who may change what is saved: its owner, whatever page or program asks. A link reads."""

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from attribution.edits import Reword
from attribution.errors import NotYours
from attribution.pipeline.editing import edit
from attribution.pipeline.run import run
from attribution.settings import Settings
from attribution.store import database as t
from attribution.store.store import Store
from attribution.types import Document
from tests.make import claim, finished, page, report, save_run, save_version

RUN, GOING, RESULT = "0" * 16, "1" * 16, "2" * 16
ANSWER = "The Nile is long."
REPORT = report(ANSWER, id=RUN, claims=(claim(ANSWER),), pages=(page("A page with a text."),))


def edited(store: Store, run_id: str = RUN) -> None:
    """Save an edit of the run or its copy."""
    save_version(store, REPORT.model_copy(update={"id": run_id}), REPORT.claims[0].id)


STRANGERS = ("stranger's", "")  # another browser or key, and the command line
CHANGES: dict[str, Callable[[Store], object]] = {
    "an edit": lambda store: edited(store),
    "undo": lambda store: store.runs.undo(RUN),
    "a new result": lambda store: save_run(store, REPORT),
    "a start under its id": lambda store: store.runs.start(REPORT),
    "what is known while it goes on": lambda store: store.runs.save_unfinished(
        REPORT.model_copy(update={"id": GOING})
    ),
    "documents": lambda store: store.runs.save_documents(
        GOING, [Document("a.txt", b"x", "text/plain")]
    ),
    "title, tags and note": lambda store: store.history.describe(RUN, "mine now", ["a"], "b"),
    "sharing": lambda store: store.runs.set_private(RUN),
    "deleting it for good": lambda store: store.runs.delete(RUN),
    "a comparison": lambda store: store.results.save("comparison", RESULT, "{}"),
    "a result of another kind under that id": lambda store: store.results.save(
        "grid", RESULT, "{}"
    ),
}


@pytest.fixture
def owner(store: Store) -> Store:
    """A run with an edit that was undone and one that was not, a run that goes on, and a
    comparison, of one browser.
    """
    mine = Store(store.database, "owner's")
    save_run(mine, REPORT)
    edited(mine)
    edited(mine)
    mine.runs.undo(RUN)
    mine.history.describe(RUN, "A title", ["tag"], "A note")
    mine.runs.start(REPORT.model_copy(update={"id": GOING}))
    mine.runs.save_documents(GOING, [Document("own.txt", b"own", "text/plain")])
    mine.results.save("comparison", RESULT, "[]")
    return mine


@pytest.fixture
def stranger(owner: Store) -> Store:
    """The same database for another browser."""
    return Store(owner.database, "stranger's")


def everything(store: Store) -> list[object]:
    """All rows of the database."""
    with store.database.engine.connect() as db:
        return [
            tuple(row) for table in t.metadata.sorted_tables for row in db.execute(sa.select(table))
        ]


@pytest.mark.parametrize("other", STRANGERS)
@pytest.mark.parametrize("change", CHANGES)
def test_nobody_but_its_owner_makes(change: str, other: str, owner: Store) -> None:
    before = everything(owner)
    with pytest.raises(NotYours, match="belongs to another browser: make a copy to change it"):
        CHANGES[change](Store(owner.database, other))
    assert everything(owner) == before
    CHANGES[change](owner)


def test_a_private_or_deleted_run_is_edited_by_its_owner_alone(
    owner: Store, stranger: Store, settings: Settings
) -> None:
    change = Reword(claim_id=REPORT.claims[0].id, text="Other words.")
    owner.runs.set_private(RUN)
    with pytest.raises(NotYours, match="is private to another browser"):
        list(edit(REPORT, change, settings, stranger))
    owner.runs.delete(RUN)
    with pytest.raises(NotYours, match="no longer in the database"):
        list(edit(REPORT, change, settings, owner))
    save_run(owner, REPORT)
    assert list(edit(REPORT, change, settings, owner))


def test_a_private_run_is_read_by_its_owner_and_by_the_command_line(
    owner: Store, stranger: Store
) -> None:
    owner.runs.set_private(RUN)
    owner.runs.set_private(GOING)
    owner.runs.save_unfinished(REPORT.model_copy(update={"id": GOING}))
    for store, may in ((owner, True), (Store(owner.database), True), (stranger, False)):
        assert bool(store.runs.load(RUN)) is may
        assert bool(store.runs.load(GOING, unfinished=True)) is may
    assert stranger.runs.documents(GOING) == ()
    assert owner.runs.documents(GOING)
    assert stranger.history.description(RUN).title == ""
    assert owner.history.description(RUN).title


def test_a_run_is_its_starters_from_the_first_moment(store: Store, settings: Settings) -> None:
    mine, stranger = Store(store.database, "owner's"), Store(store.database, "stranger's")
    going = run("", ANSWER, settings, mine, [Document("a.txt", b"The Nile is long.", "text/plain")])
    run_id = next(going).run_id
    assert mine.rights.access(run_id).own
    assert not stranger.rights.access(run_id).own
    going.close()  # it was interrupted
    with pytest.raises(NotYours):
        list(run("", ANSWER, settings, stranger, run_id=run_id))
    mine.runs.set_private(run_id)
    library = settings.model_copy(update={"sources": ("library",)})
    made = finished(run("", ANSWER, library, mine, run_id=run_id))
    assert mine.rights.access(run_id).private
    assert mine.runs.load(run_id) == made


def test_a_copy_is_the_readers_own_and_leaves_the_original_as_it_is(
    owner: Store, stranger: Store
) -> None:
    before = everything(owner)
    copy = stranger.runs.copy(RUN)
    assert set(before) <= set(everything(owner))
    shown, copied = owner.runs.load(RUN), stranger.runs.load(copy)
    assert shown
    assert copied
    assert copied == shown.model_copy(update={"id": copy})
    assert stranger.rights.access(copy).own
    assert not stranger.rights.access(copy).private
    assert not owner.rights.access(copy).own
    assert stranger.history.description(copy).title == ""
    edited(stranger, copy)
    assert stranger.runs.undo(copy) == copied
    assert owner.runs.load(RUN) == shown
    owner.runs.delete(RUN)
    assert stranger.runs.load(copy) == copied  # with the texts of its pages
    with pytest.raises(NotYours):
        edited(owner, copy)


def test_a_run_that_may_not_be_read_is_not_copied(owner: Store, stranger: Store) -> None:
    owner.runs.set_private(RUN)
    for store, run_id in ((stranger, RUN), (stranger, GOING), (stranger, "f" * 16)):
        with pytest.raises(NotYours, match="can no longer be read"):
            store.runs.copy(run_id)
    owner.runs.delete(RUN)
    with pytest.raises(NotYours):
        owner.runs.copy(RUN)

"""Any sequence of changes, some of which fail or are killed half-way, leaves whole runs."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import sqlalchemy as sa
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from attribution.errors import NotYours
from attribution.store import schema as t
from attribution.store.history import HistoryQuery
from attribution.store.store import Store
from attribution.types import Document, Report
from tests.make import claim, page, report, save_version

LONG_AGO = "2020-01-01T00:00:00+00:00"
OF_RUNS = (t.run_versions, t.run_summaries, t.unfinished_runs, t.run_documents)
OWNERS = st.sampled_from(["mine", "theirs"])


class Interrupted(Exception):
    """A statement failed, or the process was killed before it."""


@dataclass(frozen=True)
class Interruption:
    """What happens at a statement of a change, if it has so many."""

    statement: int
    is_kill: bool


INTERRUPTIONS = st.none() | st.builds(Interruption, st.integers(1, 14), st.booleans())


@dataclass
class Known:
    """What a run is expected to be."""

    owner: str
    texts: dict[int, str] = field(default_factory=dict)  # of the claim, by version
    parents: dict[int, int] = field(default_factory=dict)
    shown: int = 0
    is_deleted: bool = False
    is_private: bool = False

    @property
    def undone(self) -> int:
        later = [n for n, parent in self.parents.items() if parent == self.shown and n > 1]
        return max(later, default=0) if self.shown else 0


def with_text(run_id: str, text: str) -> Report:
    checked = claim("The Nile is long.").model_copy(update={"text": text})
    source = page(f"A page of {run_id}.", f"https://example.org/{run_id}")
    return report("An answer.", id=run_id, claims=(checked,), pages=(source,))


class RunsMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.files = count()
        self.numbers = count(1)
        self.path = self.new_path()
        self.runs: dict[str, Known] = {}

    def new_path(self) -> Path:
        return Path(self.folder.name, f"{next(self.files)}.sqlite3")

    def store(self, owner: str = "mine") -> Store:
        return Store.open(f"sqlite:///{self.path}", owner)

    def teardown(self) -> None:
        self.store().close()
        self.folder.cleanup()

    @contextmanager
    def interrupted(self, interruption: Interruption) -> Iterator[None]:
        """Interrupt what is done here; a kill leaves the files as they are at that moment."""
        engine = self.store().database.engine
        statements = count(1)
        left_behind = self.new_path()

        def look(*_: Any) -> None:
            if next(statements) != interruption.statement:
                return
            for end in ("", "-wal"):
                if Path(f"{self.path}{end}").exists():
                    shutil.copy(f"{self.path}{end}", f"{left_behind}{end}")
            raise Interrupted

        sa.event.listen(engine, "before_cursor_execute", look)
        try:
            yield
        finally:
            sa.event.remove(engine, "before_cursor_execute", look)
            if interruption.is_kill and left_behind.exists():
                engine.dispose()
                self.path = left_behind

    def happens(self, change: Callable[[], object], interruption: Interruption | None) -> bool:
        """Make a change; returns whether it was made."""
        if interruption is None:
            change()
            return True
        try:
            with self.interrupted(interruption):
                change()
        except Interrupted:
            return False
        return True

    def chosen(self, data: st.DataObject) -> tuple[str, Known]:
        run_id = data.draw(st.sampled_from(sorted(self.runs)))
        return run_id, self.runs[run_id]

    @rule(owner=OWNERS, interruption=INTERRUPTIONS)
    def start(self, owner: str, interruption: Interruption | None) -> None:
        run_id = f"{next(self.numbers):016}"
        store = self.store(owner)
        if self.happens(lambda: store.runs.start(run_id, "q", "a", {}), interruption):
            self.runs[run_id] = Known(owner)

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), interruption=INTERRUPTIONS)
    def keep_state(self, data: st.DataObject, interruption: Interruption | None) -> None:
        run_id, known = self.chosen(data)
        store, state = self.store(known.owner), with_text(run_id, "so far")
        self.happens(lambda: store.runs.save_unfinished(state, state.pages), interruption)

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), interruption=INTERRUPTIONS)
    def keep_documents(self, data: st.DataObject, interruption: Interruption | None) -> None:
        run_id, known = self.chosen(data)
        if known.shown:
            return
        store, document = self.store(known.owner), Document("a.txt", b"text", "text/plain")
        self.happens(lambda: store.runs.save_documents(run_id, [document]), interruption)

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), interruption=INTERRUPTIONS)
    def finish(self, data: st.DataObject, interruption: Interruption | None) -> None:
        run_id, known = self.chosen(data)
        if known.shown:
            return
        store = self.store(known.owner)
        finished = with_text(run_id, "version 1")
        if self.happens(lambda: store.runs.finish(finished), interruption):
            known.texts[1], known.parents[1], known.shown = "version 1", 0, 1

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), interruption=INTERRUPTIONS)
    def edit(self, data: st.DataObject, interruption: Interruption | None) -> None:
        run_id, known = self.chosen(data)
        if not known.shown or known.is_deleted:
            return
        store, number = self.store(known.owner), max(known.texts) + 1
        edited = with_text(run_id, f"version {number}")
        if self.happens(lambda: save_version(store, edited, edited.claims[0].id), interruption):
            known.texts[number], known.parents[number] = f"version {number}", known.shown
            known.shown = number

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), is_undo=st.booleans(), interruption=INTERRUPTIONS)
    def step(self, data: st.DataObject, is_undo: bool, interruption: Interruption | None) -> None:
        run_id, known = self.chosen(data)
        if known.is_deleted:
            return
        runs = self.store(known.owner).runs
        target = known.parents.get(known.shown, 0) if is_undo else known.undone
        change = runs.undo if is_undo else runs.redo
        self.happens(lambda: change(run_id), interruption)
        if self.store().runs.shown_version(run_id) != known.shown:
            assert self.store().runs.shown_version(run_id) == target
            known.shown = target

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), private=st.booleans(), interruption=INTERRUPTIONS)
    def hide(self, data: st.DataObject, private: bool, interruption: Interruption | None) -> None:
        run_id, known = self.chosen(data)
        if known.is_deleted:
            return
        store = self.store(known.owner)
        if self.happens(lambda: store.runs.set_private(run_id, private), interruption):
            known.is_private = private

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), is_back=st.booleans(), interruption=INTERRUPTIONS)
    def put_aside(
        self, data: st.DataObject, is_back: bool, interruption: Interruption | None
    ) -> None:
        run_id, known = self.chosen(data)
        history = self.store(known.owner).history
        change = history.restore if is_back else history.put_aside
        if self.happens(lambda: change([run_id]), interruption):
            known.is_deleted = not is_back

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), reader=OWNERS, interruption=INTERRUPTIONS)
    def copy(self, data: st.DataObject, reader: str, interruption: Interruption | None) -> None:
        run_id, known = self.chosen(data)
        is_readable = reader == known.owner or not known.is_private
        store, copies = self.store(reader), []
        if not known.shown or known.is_deleted or not is_readable:
            return
        if self.happens(lambda: copies.append(store.runs.copy(run_id)), interruption):
            text = known.texts[known.shown]
            self.runs[copies[0]] = Known(reader, {1: text}, {1: 0}, 1)

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), interruption=INTERRUPTIONS)
    def delete(self, data: st.DataObject, interruption: Interruption | None) -> None:
        run_id, known = self.chosen(data)
        store = self.store(known.owner)
        if self.happens(lambda: store.runs.delete(run_id), interruption):
            del self.runs[run_id]

    @precondition(lambda self: self.runs)
    @rule(interruption=INTERRUPTIONS)
    def purge(self, interruption: Interruption | None) -> None:
        with self.store().database.engine.begin() as db:
            is_deleted = t.runs.c.deleted_at != ""
            db.execute(t.runs.update().where(is_deleted).values(deleted_at=LONG_AGO))
        happened = self.happens(self.store().history.purge, interruption)
        left = set(self.ids(t.runs.c.id))
        gone = self.runs.keys() - left
        assert all(self.runs[run_id].is_deleted for run_id in gone)
        for run_id in gone:
            del self.runs[run_id]
        assert not happened or not any(known.is_deleted for known in self.runs.values())

    @precondition(lambda self: self.runs)
    @rule(data=st.data())
    def a_stranger_changes_nothing(self, data: st.DataObject) -> None:
        run_id, known = self.chosen(data)
        stranger = self.store("theirs" if known.owner == "mine" else "mine").runs
        for change in (stranger.delete, stranger.undo, stranger.redo, stranger.set_private):
            try:
                change(run_id)
            except NotYours:
                continue
            raise AssertionError(f"{change.__name__} of a stranger")

    def ids(self, column: sa.Column[Any]) -> list[str]:
        with self.store().database.engine.connect() as db:
            return list(db.execute(sa.select(column)).scalars())

    @invariant()
    def every_run_is_as_it_was_left(self) -> None:
        assert set(self.ids(t.runs.c.id)) == set(self.runs)
        for run_id, known in self.runs.items():
            runs = self.store(known.owner).runs
            loaded = runs.load(run_id)
            if known.is_deleted or not known.shown:
                assert loaded is None
                continue
            assert loaded is not None
            assert loaded.claims[0].text == known.texts[known.shown]
            assert loaded.pages[0].text
            assert runs.load_unfinished(run_id) is None
            assert runs.documents(run_id) == ()
            path = []
            number = known.shown
            while number:
                path.append(number)
                number = known.parents[number]
            assert [version.number for version in runs.versions(run_id)] == path
            assert (runs.steps(run_id).redo is not None) == bool(known.undone)

    @invariant()
    def nothing_is_left_of_what_is_gone(self) -> None:
        for table in OF_RUNS:
            assert set(self.ids(table.c.run_id)) <= set(self.runs)
        assert set(self.ids(t.uses.c.owner_id)) <= set(self.runs)
        assert set(self.ids(t.results.c.id)) <= set(self.runs)

    @invariant()
    def owners_list_their_runs(self) -> None:
        for owner in ("mine", "theirs"):
            listed = self.store(owner).history.find(HistoryQuery(limit=1000)).rows
            expected = [
                run_id
                for run_id, known in self.runs.items()
                if known.owner == owner and not known.is_deleted
            ]
            assert sorted(row.id for row in listed) == sorted(expected)


RunsMachine.TestCase.settings = settings(max_examples=12, stateful_step_count=25, deadline=None)
TestRuns = RunsMachine.TestCase

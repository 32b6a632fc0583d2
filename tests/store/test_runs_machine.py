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

from attribution.store import database as t
from attribution.store.history import HistoryQuery
from attribution.store.store import Store
from attribution.types import Document, Report
from tests.make import claim, page, report, save_version

DOCUMENT = Document("a.txt", b"text", "text/plain")
OF_RUNS = (t.run_versions, t.run_documents)
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
    texts: list[str] = field(default_factory=list)  # of the claim, by version


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

    @rule(owner=OWNERS, interruption=INTERRUPTIONS)
    def start(self, owner: str, interruption: Interruption | None) -> None:
        run_id = f"{next(self.numbers):016}"
        store = self.store(owner)
        if self.happens(lambda: store.runs.start(report("a", id=run_id)), interruption):
            self.runs[run_id] = Known(owner)

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), interruption=INTERRUPTIONS)
    def change(self, data: st.DataObject, interruption: Interruption | None) -> None:
        """Make a change that the state of a run allows."""
        run_id = data.draw(st.sampled_from(sorted(self.runs)))
        known = self.runs[run_id]
        names = ["delete", "unfinished"]
        names += ["edit", "undo"] if known.texts else ["documents", "finish"]
        name = data.draw(st.sampled_from(names))
        store = self.store(known.owner)
        text = f"version {next(self.numbers)}"
        report = with_text(run_id, text)
        changes: dict[str, Callable[[], object]] = {
            "delete": lambda: store.runs.delete(run_id),
            "unfinished": lambda: store.runs.save_unfinished(report, report.pages),
            "documents": lambda: store.runs.save_documents(run_id, [DOCUMENT]),
            "finish": lambda: store.runs.finish(report),
            "edit": lambda: save_version(store, report, report.claims[0].id),
            "undo": lambda: store.runs.undo(run_id),
        }
        if self.happens(changes[name], interruption):
            self.expect(name, run_id, text)
        elif name == "undo" and store.runs.shown_version(run_id) != len(known.texts):
            self.expect(name, run_id, text)  # it was read after the change was made

    def expect(self, name: str, run_id: str, text: str) -> None:
        """Note what a change has made of a run."""
        known = self.runs[run_id]
        if name == "delete":
            del self.runs[run_id]
        if name in ("finish", "edit"):
            known.texts.append(text)
        if name == "undo" and len(known.texts) > 1:
            known.texts.pop()

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), reader=OWNERS, interruption=INTERRUPTIONS)
    def copy(self, data: st.DataObject, reader: str, interruption: Interruption | None) -> None:
        run_id = data.draw(st.sampled_from(sorted(self.runs)))
        known = self.runs[run_id]
        if not known.texts:
            return
        store, copies = self.store(reader), []
        if self.happens(lambda: copies.append(store.runs.copy(run_id)), interruption):
            self.runs[copies[0]] = Known(reader, known.texts[-1:])

    def ids(self, column: sa.Column[Any]) -> list[str]:
        with self.store().database.engine.connect() as db:
            return list(db.execute(sa.select(column)).scalars())

    @invariant()
    def every_run_is_as_it_was_left(self) -> None:
        assert set(self.ids(t.runs.c.id)) == set(self.runs)
        for run_id, known in self.runs.items():
            runs = self.store(known.owner).runs
            loaded = runs.load(run_id)
            if not known.texts:
                assert loaded is None
                continue
            assert loaded is not None
            assert loaded.claims[0].text == known.texts[-1]
            assert loaded.pages[0].text
            assert runs.load(run_id, unfinished=True) is None
            assert runs.documents(run_id) == ()
            assert runs.shown_version(run_id) == len(known.texts)

    @invariant()
    def nothing_is_left_of_what_is_gone(self) -> None:
        for table in OF_RUNS:
            assert set(self.ids(table.c.run_id)) <= set(self.runs)
        assert set(self.ids(t.uses.c.owner_id)) <= set(self.runs)

    @invariant()
    def owners_list_their_runs(self) -> None:
        for owner in ("mine", "theirs"):
            listed = self.store(owner).history.find(HistoryQuery(limit=1000)).rows
            expected = [run_id for run_id, known in self.runs.items() if known.owner == owner]
            assert sorted(row.id for row in listed) == sorted(expected)


RunsMachine.TestCase.settings = settings(max_examples=12, stateful_step_count=25, deadline=None)
TestRuns = RunsMachine.TestCase

"""Edits of a run as versions of it: saving, undoing, redoing."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from attribution.provenance import Provenance
from attribution.storage import tables as t
from attribution.storage.results import Results
from attribution.types import Edit, Report


@dataclass(frozen=True)
class Steps:
    """What can be undone and redone; `can_undo` holds for versions that name no edit too."""

    undo: Edit | None = None
    redo: Edit | None = None
    can_undo: bool = False
    can_redo: bool = False


class Versions(Results):
    """A version names its parent. Redo leads to the newest version made of the shown one, as in a text editor."""

    def save_edit(self, report: Report, provenance: Provenance | None = None) -> None:
        """Save a run after the last of its edits, as a version made of the one that is shown."""
        edit = report.edits[-1]
        self._save(report, provenance, False, next(iter(edit.claims), ""), edit.model_dump_json())

    def redo(self, run_id: str) -> Report | None:
        """Show the version that was undone last, and return it; None if there is none."""
        with self.transaction() as db:
            self.changeable(db, run_id)
            number = self._next(db, run_id)
            if number is None:
                return None
            self._show(db, run_id, number)
        return self.load_run(run_id)

    def steps(self, run_id: str) -> Steps:
        """The edit that undo takes back, and the one that redo makes again."""
        shown, v, edit = self.versions(run_id), t.run_versions.c, ""
        with self.engine.connect() as db:
            following = self._next(db, run_id)
            if following is not None:
                query = sa.select(v.edit).where(v.run_id == run_id, v.number == following)
                edit = db.execute(query).scalar() or ""
        last = shown[0].edit if shown else ""
        return Steps(
            Edit.model_validate_json(last) if last else None,
            Edit.model_validate_json(edit) if edit else None,
            len(shown) > 1,
            following is not None,
        )

    def _next(self, db: sa.Connection, run_id: str) -> int | None:
        r, v = t.runs.c, t.run_versions.c
        query = sa.select(sa.func.max(v.number)).where(r.id == run_id, v.run_id == r.id, v.parent == r.version)
        return db.execute(query.where(r.version > 0)).scalar()

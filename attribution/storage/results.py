"""Saved results of other kinds than runs, such as comparisons: JSON by kind and id."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from attribution.storage import tables as t
from attribution.storage.database import now
from attribution.storage.rights import SHARED
from attribution.storage.runs import Runs, new_run_id
from attribution.types import Page


class Results(Runs):
    """Results by kind and id; ids are made by `new_run_id`. One that is saved under the id of a run goes with it."""

    def save_result(
        self, kind: str, result_id: str, body: str, pages: Sequence[Page] = (), shared: bool = False
    ) -> None:
        """Save a result, replacing an earlier state of it. `with_texts` finds the texts of its pages again.

        NotYours for the id of somebody else's run or result; one that is `shared` may be replaced by anybody.
        """
        self.use(page=[page.id for page in pages])
        owner = SHARED if shared else self.owner
        row = {"kind": kind, "id": result_id, "created_at": now(), "body": body, "owner": owner}
        with self.transaction() as db:
            self.check_result(db, result_id)
            self.insert(t.frozen_pages, [{"id": p.id, "body": p.model_dump_json()} for p in pages], db=db)
            self.record_uses(result_id, db)
            self.insert(t.results, [row], replace=True, db=db)

    def copy_result(self, result_id: str) -> str:
        """Copy all that is saved under the id of a result, as one's own; the copy's id."""
        new = new_run_id()
        with self.transaction() as db:
            self._copy_rows(db, result_id, new)
        return new

    def load_result(self, kind: str, result_id: str) -> str | None:
        """The body of a result; None for that of a run that may not be read."""
        r, s = t.runs.c, t.results.c
        hidden = sa.exists().where(r.id == s.id, sa.not_(self.readable()))
        with self.engine.connect() as db:
            body = db.execute(sa.select(s.body).where(s.kind == kind, s.id == result_id, ~hidden)).scalar()
        return None if body is None else str(body)

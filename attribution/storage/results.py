"""Saved results of other kinds than runs, such as comparisons: JSON by kind and id."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.storage import tables as t
from attribution.storage.database import now
from attribution.storage.runs import Runs
from attribution.types import Page


class Results(Runs):
    """Results by kind and id; ids are made by `new_run_id`."""

    def save_result(self, kind: str, result_id: str, body: str, pages: Sequence[Page] = ()) -> None:
        """Save a result, replacing an earlier state of it. `with_texts` finds the texts of its pages again."""
        self.insert(t.frozen_pages, [{"id": page.id, "body": page.model_dump_json()} for page in pages])
        self.use(page=[page.id for page in pages])
        self.record_uses(result_id)
        row = {"kind": kind, "id": result_id, "created_at": now(), "body": body}
        self.insert(t.results, [row], replace=True)

    def load_result(self, kind: str, result_id: str) -> str | None:
        """The body of a result."""
        query = t.results.select().where(t.results.c.kind == kind, t.results.c.id == result_id)
        with self.engine.connect() as db:
            row = db.execute(query).first()
        return None if row is None else str(row.body)

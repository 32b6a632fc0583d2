"""What is known of a run while it goes on, so that a killed process loses none of it and the run can be continued."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from attribution.storage import summaries
from attribution.storage import tables as t
from attribution.storage.database import now
from attribution.storage.runs import Runs
from attribution.types import Document, Page, Report


class UnfinishedRuns(Runs):
    """Finishing or deleting a run deletes what is kept here."""

    def save_unfinished(self, report: Report, pages: Sequence[Page] = ()) -> None:
        """Save the state of a run that goes on, in place of an earlier one; `pages` are those that are new.

        Nothing is saved for a run that is unknown, deleted or finished.
        """
        self.put_pages(pages)
        self.use(page=[page.id for page in pages])
        self.record_uses(report.id)
        u = t.unfinished_runs
        row = {"run_id": report.id, "saved_at": now(), "report": report.to_json()}
        with self.transaction() as db:
            version = db.execute(sa.select(t.runs.c.version).where(t.runs.c.id == report.id)).scalar()
            if version == 0:
                db.execute(u.delete().where(u.c.run_id == report.id))
                db.execute(u.insert().values(**row))
                summaries.write(db, report, 0)

    def load_unfinished(self, run_id: str) -> Report | None:
        """What is known of a run that is not finished, with its pages' texts; None for all others.

        Claims that were not compared with the sources yet have no verdict.
        """
        r, u = t.runs.c, t.unfinished_runs.c
        query = sa.select(u.report).where(r.id == run_id, u.run_id == r.id, r.version == 0, r.deleted_at == "")
        with self.engine.connect() as db:
            body = db.execute(query).scalar()
        return None if body is None else self.with_texts(Report.model_validate_json(body))

    def save_documents(self, run_id: str, documents: Sequence[Document]) -> None:
        """Keep the documents that a run is checked against until it is finished."""
        columns = ({"name": d.name, "media_type": d.media_type, "content": d.content} for d in documents)
        self.insert(t.run_documents, [{"run_id": run_id, "number": n, **row} for n, row in enumerate(columns)])

    def documents(self, run_id: str) -> tuple[Document, ...]:
        """The documents of a run that is not finished."""
        d = t.run_documents.c
        with self.engine.connect() as db:
            rows = db.execute(t.run_documents.select().where(d.run_id == run_id).order_by(d.number)).all()
        return tuple(Document(row.name, row.content, row.media_type) for row in rows)

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

        Nothing is saved for a run that is finished. NotYours for somebody else's, and for one that is gone.
        """
        self.use(page=[page.id for page in pages])
        u = t.unfinished_runs
        row = {"run_id": report.id, "saved_at": now(), "report": report.to_json()}
        with self.transaction() as db:
            if self.changeable(db, report.id, deleted=True).version > 0:
                return
            self.put_pages(pages, db)
            self.record_uses(report.id, db)
            db.execute(u.delete().where(u.c.run_id == report.id))
            db.execute(u.insert().values(**row))
            summaries.write(db, report, 0)

    def load_unfinished(self, run_id: str) -> Report | None:
        """What is known of a run that is not finished, with its pages' texts; None for all others.

        Claims that were not compared with the sources yet have no verdict.
        """
        r, u = t.runs.c, t.unfinished_runs.c
        query = sa.select(u.report).where(r.id == run_id, u.run_id == r.id, r.version == 0, self.readable())
        with self.engine.connect() as db:
            body = db.execute(query).scalar()
        return None if body is None else self.with_texts(Report.model_validate_json(body))

    def save_documents(self, run_id: str, documents: Sequence[Document]) -> None:
        """Keep the documents that a run is checked against until it is finished."""
        columns = ({"name": d.name, "media_type": d.media_type, "content": d.content} for d in documents)
        rows = [{"run_id": run_id, "number": n, **row} for n, row in enumerate(columns)]
        with self.transaction() as db:
            self.changeable(db, run_id, deleted=True)
            self.insert(t.run_documents, rows, db=db)

    def documents(self, run_id: str) -> tuple[Document, ...]:
        """The documents of a run of one's own that is not finished."""
        d = t.run_documents.c
        own = sa.exists().where(t.runs.c.id == d.run_id, t.runs.c.owner == self.owner)
        with self.engine.connect() as db:
            rows = db.execute(t.run_documents.select().where(d.run_id == run_id, own).order_by(d.number)).all()
        return tuple(Document(row.name, row.content, row.media_type) for row in rows)

"""Save runs: their inputs from the start, their state while they are in progress, and every version
of their report.

A run has an id, and so an address, as soon as it starts. Its result is version 1; each edit adds a
version.
"""

from __future__ import annotations

import json
import secrets
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

import sqlalchemy as sa

from attribution.edits import Edit
from attribution.errors import NotYours
from attribution.provenance import Provenance
from attribution.source import kinds, of_settings
from attribution.store import schema as t
from attribution.store.cache import Cache
from attribution.store.database import Database, now
from attribution.store.rights import SHARED, Rights
from attribution.types import BADGES, UNCHECKED, Document, Page, Report


class Rates(NamedTuple):
    """Seconds per unit; None where too few were measured."""

    pair: float | None = (
        # of a checked claim and one of its `top_k` passages, found and verified without the web
        None
    )
    page: float | None = None  # searched for and downloaded
    prompt: float | None = None  # answered by a language model


class RunInputs(NamedTuple):
    """The inputs a run was started with, apart from uploaded documents."""

    created_at: str
    question: str
    answer: str
    settings: dict[str, object]  # without secrets
    finished: bool  # it has a report


class RunVersion(NamedTuple):
    number: int  # 1: the result of the run
    parent: int  # the version that was edited; 0: none
    created_at: str
    claim_id: str  # the claim that was checked again; empty in version 1 and where none was
    edit: str = ""  # the Edit as JSON; empty in version 1


def new_run_id() -> str:
    """Return an id that cannot be guessed: whoever knows it can open the run."""
    return secrets.token_hex(8)


DOCUMENTS = (
    "documents"  # kind of result: "shared", "shown" to the owner alone, or "hidden" in a copy
)


class Steps(NamedTuple):
    """The edits that can be undone and redone."""

    undo: Edit | None
    redo: Edit | None


class Results:
    """Results by kind and id; ids are made by `new_run_id`. A result with the id of a run is
    deleted with it.
    """

    def __init__(self, database: Database, rights: Rights, cache: Cache) -> None:
        self._database, self._rights, self._cache = database, rights, cache

    def save(
        self, kind: str, result_id: str, body: str, pages: Sequence[Page] = (), shared: bool = False
    ) -> None:
        """Save a result, replacing an earlier state of it. `with_texts` restores the texts of its
        pages.

        Raises NotYours for the id of somebody else's run or result; a `shared` one may be replaced
        by anybody. BadInput
        for a new one if the owner's take too much of the disk.
        """
        if self.load(kind, result_id) is None:
            self._rights.check_room()
        self._cache.use(page=[page.id for page in pages])
        owner = SHARED if shared else self._rights.owner
        row = {"kind": kind, "id": result_id, "created_at": now(), "body": body, "owner": owner}
        with self._database.transaction() as db:
            self._rights.check_result(db, result_id)
            self._cache.freeze_pages(pages, db)
            self._cache.record_uses(result_id, db)
            self._database.insert(t.results, [row], replace=True, db=db)

    def copy(self, result_id: str) -> str:
        """Copy all that is saved under the id of a result, as the caller's own; returns the copy's
        id.
        """
        self._rights.check_room()
        new = new_run_id()
        with self._database.transaction() as db:
            self.copy_rows(db, result_id, new)
        return new

    def copy_rows(self, db: sa.Connection, old: str, new: str) -> None:
        """Copy the results saved under an id, and what the run or result of that id uses."""
        s, u = t.results.c, t.uses.c
        values = (s.kind, sa.literal(new), s.created_at, s.body, sa.literal(self._rights.owner))
        saved = sa.select(*values).where(s.id == old)
        db.execute(
            t.results.insert().from_select(["kind", "id", "created_at", "body", "owner"], saved)
        )
        used = sa.select(u.kind, u.key, sa.literal(new)).where(u.owner_id == old)
        db.execute(t.uses.insert().from_select(["kind", "key", "owner_id"], used))

    def load(self, kind: str, result_id: str) -> str | None:
        """Return the body of a result; None if it is unknown or of a run that may not be read."""
        r, s = t.runs.c, t.results.c
        hidden = sa.exists().where(r.id == s.id, sa.not_(self._rights.readable()))
        with self._database.engine.connect() as db:
            body = db.execute(
                sa.select(s.body).where(s.kind == kind, s.id == result_id, ~hidden)
            ).scalar()
        return None if body is None else str(body)


class Outdated(Exception):
    """Another version of the run is shown by now."""


class Runs:
    """Runs by id, their versions, and the state of unfinished ones, which goes when a run is
    finished or deleted.

    Versions name their parent. Redo leads to the newest one made from the shown one, as in a text
    editor.
    """

    def __init__(self, database: Database, rights: Rights, cache: Cache, results: Results) -> None:
        self._database, self._rights, self._cache, self._results = database, rights, cache, results

    # --- saving ---

    def start(
        self,
        run_id: str,
        question: str,
        answer: str,
        settings: Mapping[str, object],
        created_at: str = "",
    ) -> None:
        """Save the inputs of a run that starts, unless it is known already.

        Raises NotYours for somebody else's, and BadInput if the owner's runs take too much of the
        disk.
        """
        self._rights.check_room()
        question, answer = (
            text.replace("\0", "\ufffd") for text in (question, answer)
        )  # PostgreSQL has no NUL
        inputs = {"question": question, "answer": answer, "settings": json.dumps(settings)}
        state = {
            "created_at": created_at or now(),
            "version": 0,
            "owner": self._rights.owner,
            "private": False,
        }
        with self._database.transaction() as db:
            self._database.insert(t.runs, [{"id": run_id, **inputs, **state}], db=db)
            self._rights.changeable(db, run_id, deleted=True)

    def save(self, report: Report, provenance: Provenance | None = None) -> None:
        """Save a run with its result."""
        self.start(report.id, report.question, report.answer, report.settings, report.created_at)
        self.finish(report, provenance)

    def save_edit(
        self, report: Report, provenance: Provenance | None = None, shown: int | None = None
    ) -> None:
        """Save a run after the last of its edits, as a version made from the shown one.

        Raises Outdated, and saves nothing, if `shown` is given and another version is shown by now.
        """
        self._rights.check_room()
        self.finish(report, provenance, report.edits[-1], shown)

    def finish(
        self,
        report: Report,
        provenance: Provenance | None = None,
        edit: Edit | None = None,
        shown: int | None = None,
    ) -> None:
        """Save the result of a run that was started, or after `edit` a version made from the shown
        one.

        Raises NotYours if the run was deleted for good meanwhile, Outdated as in `save_edit`.
        """
        pages = [page.id for page in report.pages]
        already = self._database.rows(t.frozen_pages, pages)  # a version of a frozen run
        self._cache.use(page=pages)
        body = {
            "report": report.to_json(),
            "provenance": provenance.model_dump_json() if provenance else "",
        }
        claim_id, made_by = (
            (next(iter(edit.claims), ""), edit.model_dump_json()) if edit else ("", "")
        )
        v = t.run_versions.c
        with self._database.transaction() as db:
            run = self._rights.changeable(db, report.id, deleted=not edit)
            if shown is not None and run.version != shown:
                raise Outdated
            self._cache.put_pages([page for page in report.pages if page.id not in already], db)
            self._cache.record_uses(report.id, db)
            number, parent = 1, 0
            if edit:
                newest = (
                    db.execute(
                        sa.select(sa.func.max(v.number)).where(v.run_id == report.id)
                    ).scalar()
                    or 0
                )
                number, parent = newest + 1, run.version
            db.execute(t.run_versions.delete().where(v.run_id == report.id, v.number == number))
            row = {"run_id": report.id, "number": number, "parent": parent, "created_at": now()}
            db.execute(
                t.run_versions.insert().values(**row, **body, claim_id=claim_id, edit=made_by)
            )
            db.execute(t.runs.update().where(t.runs.c.id == report.id).values(version=number))
            write_summary(db, report, number)
            if not edit:
                forget_unfinished(db, report.id)

    def copy(self, run_id: str) -> str:
        """Copy the shown version of a readable run, with its later results; returns the copy's id.

        The copy belongs to the caller and is open by link, without the title, tags, note and
        earlier versions, and
        without the verdicts of another analyst.
        """
        self._rights.check_room()
        r, v, new = t.runs.c, t.run_versions.c, new_run_id()
        reads_documents = self._reads_documents(run_id)
        with self._database.transaction() as db:
            run = db.execute(
                sa.select(t.runs).where(r.id == run_id, r.version > 0, self._rights.readable())
            ).first()
            if run is None:
                raise NotYours("this run can no longer be read, so it cannot be copied")
            shown = db.execute(
                t.run_versions.select().where(v.run_id == run_id, v.number == run.version)
            ).one()
            others = {} if run.owner == self._rights.owner else {"judgements": ()}
            report = Report.model_validate_json(shown.report).model_copy(
                update={"id": new, **others}
            )
            inputs = {"question": run.question, "answer": run.answer, "settings": run.settings}
            state = {
                "created_at": now(),
                "version": 1,
                "owner": self._rights.owner,
                "private": False,
            }
            db.execute(t.runs.insert().values(id=new, **inputs, **state))
            row = {
                "run_id": new,
                "number": 1,
                "parent": 0,
                "created_at": now(),
                "claim_id": "",
                "edit": "",
            }
            db.execute(
                t.run_versions.insert().values(
                    **row, report=report.to_json(), provenance=shown.provenance
                )
            )
            write_summary(db, report, 1)
            self._results.copy_rows(db, run_id, new)
        self._results.save(DOCUMENTS, new, "shown" if reads_documents else "hidden")
        return new

    # --- loading ---

    def load(self, run_id: str) -> Report | None:
        """Return the shown version of a run with its pages' texts; None if it is unknown or has no
        report yet.
        """
        row = self._shown(run_id, t.run_versions.c.report)
        return None if row is None else self._with_texts(run_id, Report.model_validate_json(row))

    def share_documents(self, run_id: str, shared: bool) -> None:
        """Let those who have the link read the documents of a run, or its verdicts and quotes
        alone.
        """
        self._results.save(DOCUMENTS, run_id, "shared" if shared else "shown")

    def shares_documents(self, run_id: str) -> bool:
        """Return True if those who have the link read the documents of a run."""
        return self._results.load(DOCUMENTS, run_id) == "shared"

    def _reads_documents(self, run_id: str) -> bool:
        """Return True if the caller reads the documents of a run: its owner, the command line, or
        anybody if shared.

        A copy of a run whose documents were not shared has none.
        """
        state = self._results.load(DOCUMENTS, run_id)
        own = not self._rights.by or self._rights.access(run_id).own
        return state == "shared" or (own and state != "hidden")

    def _with_texts(self, run_id: str, report: Report) -> Report:
        report = self._cache.with_texts(report)
        if self._reads_documents(run_id):
            return report
        pages = (
            page.model_copy(update={"text": ""}) if page.kind == "document" else page
            for page in report.pages
        )
        return report.model_copy(update={"pages": tuple(pages)})

    def shown_version(self, run_id: str) -> int:
        """Return the number of the version that is shown; 0 for a run that is unknown or has none."""
        with self._database.engine.connect() as db:
            return (
                db.execute(sa.select(t.runs.c.version).where(t.runs.c.id == run_id)).scalar() or 0
            )

    def provenance(self, run_id: str) -> Provenance | None:
        """Return how a saved run obtained its evidence; None for runs of early versions."""
        row = self._shown(run_id, t.run_versions.c.provenance)
        return Provenance.model_validate_json(row) if row else None

    def _shown(self, run_id: str, column: sa.ColumnElement[str]) -> str | None:
        r, v = t.runs.c, t.run_versions.c
        shown = (v.run_id == r.id, v.number == r.version, self._rights.readable())
        query = sa.select(column).where(r.id == run_id, *shown)
        with self._database.engine.connect() as db:
            return db.execute(query).scalar()

    def inputs(self, run_id: str) -> RunInputs | None:
        """Return the inputs of a run, finished or not."""
        with self._database.engine.connect() as db:
            row = db.execute(
                sa.select(t.runs).where(t.runs.c.id == run_id, self._rights.readable())
            ).first()
        if row is None:
            return None
        return RunInputs(
            row.created_at,
            row.question,
            row.answer,
            json.loads(row.settings or "{}"),
            row.version > 0,
        )

    # --- versions ---

    def versions(self, run_id: str) -> list[RunVersion]:
        """Return the shown version and those it was made from, newest first; the last is the result
        of the run.
        """
        v = t.run_versions.c
        with self._database.engine.connect() as db:
            columns = (v.number, v.parent, v.created_at, v.claim_id, v.edit)
            rows = db.execute(sa.select(*columns).where(v.run_id == run_id)).all()
        number = self.shown_version(run_id)
        by_number = {row.number: RunVersion(*row) for row in rows}
        path = []
        while number in by_number:
            path.append(by_number[number])
            number = by_number[number].parent
        return path

    def undo(self, run_id: str) -> Report | None:
        """Show the version that the shown one was made from, and return it; None if there is none."""
        r, v = t.runs.c, t.run_versions.c
        return self._show(
            run_id,
            sa.select(v.parent).where(r.id == run_id, v.run_id == r.id, v.number == r.version),
        )

    def redo(self, run_id: str) -> Report | None:
        """Show the version that was undone last, and return it; None if there is none."""
        return self._show(run_id, _undone(run_id))

    def _show(self, run_id: str, version: sa.Select[tuple[int]]) -> Report | None:
        with self._database.transaction() as db:
            self._rights.changeable(db, run_id)
            number = db.execute(version).scalar()
            if not number:
                return None
            db.execute(t.runs.update().where(t.runs.c.id == run_id).values(version=number))
        return self.load(run_id)

    def steps(self, run_id: str) -> Steps:
        """Return the edit that undo takes back, and the one that redo makes again."""
        shown, v = self.versions(run_id), t.run_versions.c
        undone = _undone(run_id).correlate(None).scalar_subquery()
        query = sa.select(v.edit).where(v.run_id == run_id, v.number == undone)
        with self._database.engine.connect() as db:
            redo = db.execute(query).scalar()
        return Steps(
            *(
                Edit.model_validate_json(edit) if edit else None
                for edit in (shown and shown[0].edit, redo)
            )
        )

    # --- the state of unfinished runs ---

    def save_unfinished(self, report: Report, pages: Sequence[Page] = ()) -> None:
        """Save the state of a run in progress, replacing an earlier state; `pages` are the new
        ones.

        Nothing is saved for a finished run. Raises NotYours for somebody else's run, and for one
        that is gone.
        """
        self._cache.use(page=[page.id for page in pages])
        u = t.unfinished_runs
        row = {"run_id": report.id, "saved_at": now(), "report": report.to_json()}
        with self._database.transaction() as db:
            if self._rights.changeable(db, report.id, deleted=True).version > 0:
                return
            self._cache.put_pages(pages, db)
            self._cache.record_uses(report.id, db)
            db.execute(u.delete().where(u.c.run_id == report.id))
            db.execute(u.insert().values(**row))
            write_summary(db, report, 0)

    def load_unfinished(self, run_id: str) -> Report | None:
        """Return the state of an unfinished run with its pages' texts; None for all other runs.

        Claims not yet compared with the sources have no verdict.
        """
        r, u = t.runs.c, t.unfinished_runs.c
        query = sa.select(u.report).where(
            r.id == run_id, u.run_id == r.id, r.version == 0, self._rights.readable()
        )
        with self._database.engine.connect() as db:
            body = db.execute(query).scalar()
        return None if body is None else self._with_texts(run_id, Report.model_validate_json(body))

    def save_documents(self, run_id: str, documents: Sequence[Document]) -> None:
        """Keep the documents that a run is checked against until it is finished."""
        columns = (
            {"name": d.name, "media_type": d.media_type, "content": d.content} for d in documents
        )
        rows = [{"run_id": run_id, "number": n, **row} for n, row in enumerate(columns)]
        with self._database.transaction() as db:
            self._rights.changeable(db, run_id, deleted=True)
            self._database.insert(t.run_documents, rows, db=db)

    def documents(self, run_id: str) -> tuple[Document, ...]:
        """Return the documents of an unfinished run, if it belongs to the caller."""
        d = t.run_documents.c
        own = sa.exists().where(t.runs.c.id == d.run_id, t.runs.c.owner == self._rights.owner)
        with self._database.engine.connect() as db:
            rows = db.execute(
                t.run_documents.select().where(d.run_id == run_id, own).order_by(d.number)
            ).all()
        return tuple(Document(row.name, row.content, row.media_type) for row in rows)

    # --- owners ---

    def set_private(self, run_id: str, private: bool = True) -> None:
        """Hide a run from everybody else, or show it again. Raises NotYours for somebody else's
        run.
        """
        with self._database.transaction() as db:
            self._rights.changeable(db, run_id)
            db.execute(t.runs.update().where(t.runs.c.id == run_id).values(private=private))

    def delete(self, run_id: str) -> None:
        """Delete a run, its versions, and what it alone uses of pages and caches.

        Raises NotYours for somebody else's run.
        """
        with self._database.transaction() as db:
            self._rights.changeable(db, run_id, deleted=True)
            self.remove(db, run_id)

    def remove(self, db: sa.Connection, run_id: str) -> None:
        """Delete a run in this transaction, whoever it belongs to."""
        self._cache.delete_uses(db, run_id)
        forget_summaries(db, run_id)
        db.execute(t.run_versions.delete().where(t.run_versions.c.run_id == run_id))
        db.execute(t.runs.delete().where(t.runs.c.id == run_id))
        db.execute(t.results.delete().where(t.results.c.id == run_id))  # its later results

    # --- figures ---

    def rates(self) -> Rates:
        """Return how fast the last five runs were: medians over those with enough to measure."""
        r, v = t.runs.c, t.run_versions.c
        query = (
            sa.select(v.report)
            .where(v.run_id == r.id, v.number == 1)
            .order_by(r.created_at.desc())
            .limit(5)
        )
        with self._database.engine.connect() as db:
            reports = [json.loads(body) for body in db.execute(query).scalars()]
        pairs, pages, prompts = [], [], []
        for report in reports:
            timings, usage = report.get("timings", {}), report.get("usage", {})
            gathered, cached = timings.get("gather", 0.0), usage.get("cached_pairs", 0)
            checked = sum(v["label"] not in UNCHECKED for v in report.get("verdicts", ()))
            if usage.get("pairs", 0) - cached >= max(20, cached):
                own = timings.get("verify", 0.0) + (0.0 if usage.get("downloads") else gathered)
                pairs.append(own / max(1, checked * int(report["settings"].get("top_k", 1))))
            if usage.get("downloads", 0) >= 5:
                pages.append(gathered / usage["downloads"])
            llm = list(usage.get("llm", {}).values())
            if (calls := sum(stage["calls"] for stage in llm)) >= 3:
                prompts.append(sum(stage["seconds"] for stage in llm) / calls)
        return Rates(*(median(seconds) if seconds else None for seconds in (pairs, pages, prompts)))


def _undone(run_id: str) -> sa.Select[tuple[int]]:
    """Select the newest version made from the shown one, which is the one that was undone last."""
    r, v = t.runs.c, t.run_versions.c
    made = (r.id == run_id, v.run_id == r.id, v.parent == r.version, r.version > 0)
    return sa.select(sa.func.max(v.number)).where(*made)


# --- summaries, kept beside the reports so that listing and searching runs parses none ---


def searchable(*texts: str) -> str:
    """Normalise texts for comparison: case, width and white space do not matter."""
    return " ".join(unicodedata.normalize("NFKC", "\n".join(texts)).casefold().split())


def write_summary(db: sa.Connection, report: Report, number: int) -> None:
    """Write the summary of one version of a run, replacing an earlier one; 0 is the state of an
    unfinished run.
    """
    counts = Counter(v.badge for v in report.verdicts)
    claims = [text for c in report.claims for text in (c.text, c.enriched) if text]
    row = {
        "run_id": report.id,
        "number": number,
        "claims": len(report.claims),
        "verdicts": json.dumps({badge: counts[badge] for badge in BADGES if counts[badge]}),
        "sources": json.dumps(kinds(of_settings(report.settings.get("sources", ())))),
        "search_text": searchable(report.question, report.answer, *claims),
    }
    s = t.run_summaries.c
    db.execute(t.run_summaries.delete().where(s.run_id == report.id, s.number == number))
    db.execute(t.run_summaries.insert().values(**row))


def forget_unfinished(db: sa.Connection, run_id: str) -> None:
    """Delete what was kept of a run while it was in progress."""
    for table in (t.unfinished_runs, t.run_documents):
        db.execute(table.delete().where(table.c.run_id == run_id))
    s = t.run_summaries.c
    db.execute(t.run_summaries.delete().where(s.run_id == run_id, s.number == 0))


def forget_summaries(db: sa.Connection, run_id: str) -> None:
    """Delete all summaries of a run, and what was kept while it was in progress."""
    forget_unfinished(db, run_id)
    db.execute(t.run_summaries.delete().where(t.run_summaries.c.run_id == run_id))

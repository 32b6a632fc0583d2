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
from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from attribution.errors import NotYours
from attribution.store import database as t
from attribution.store.cache import Cache
from attribution.store.database import Database, now
from attribution.store.rights import Rights, set_columns
from attribution.tables import DOCUMENT
from attribution.types import UNCHECKED, Document, Page, Provenance, Report

RUN = t.runs.c
VERSION = t.run_versions.c
RESULT = t.results.c
USE = t.uses.c
UNKNOWN = Provenance()
NUL = "\0"  # PostgreSQL has none in a text


class Outdated(Exception):
    """Another version of the run is shown by now."""


def new_run_id() -> str:
    """Return an id that cannot be guessed: whoever knows it can open the run."""
    return secrets.token_hex(8)


class _Saved:
    """Rows that belong to somebody, with what they use of the cache."""

    def __init__(self, database: Database, rights: Rights, cache: Cache) -> None:
        self._database = database
        self._rights = rights
        self._cache = cache


class Results(_Saved):
    """Results of studies by kind and id; ids are made by `new_run_id`."""

    def save(self, kind: str, result_id: str, body: str, pages: Sequence[Page] = ()) -> None:
        """Save a result, replacing an earlier state of it.

        Args:
            kind: What the result is, such as a comparison.
            result_id: Its id.
            body: Its JSON.
            pages: Its pages, whose texts `Cache.with_texts` restores.

        Raises:
            NotYours: The id is that of somebody else's result.
            BadInput: The result is new, and the owner's take too much of the disk.
        """
        owner = self._database.scalar(sa.select(RESULT.owner).where(RESULT.id == result_id))
        if owner is None:
            self._rights.check_room()
        elif owner != self._rights.owner:
            raise NotYours("this result belongs to another browser: make a copy to change it")
        row = {
            "kind": kind,
            "id": result_id,
            "body": body,
            "owner": self._rights.owner,
            "size": len(body) + sum(len(page.text) for page in pages),
        }
        with self._database.transaction() as db:
            self._cache.put_pages(pages, db)
            self._cache.record_uses(result_id, db)
            self._database.insert(t.results, [row], replace=True, db=db)

    def load(self, kind: str, result_id: str) -> str | None:
        """Return the body of a result; None if it is unknown."""
        query = sa.select(RESULT.body)
        query = query.where(RESULT.kind == kind, RESULT.id == result_id)
        return self._database.scalar(query)


class Runs(_Saved):
    """Runs by id, their versions, and the state of unfinished ones, which is version 0.

    The newest version is shown; undoing deletes it.
    """

    # --- saving ---

    def start(self, report: Report) -> None:
        """Save a run that starts, unless it is known already.

        Its report so far, which has the inputs, is its first state.

        Raises:
            NotYours: The run is somebody else's.
            BadInput: The owner's runs take too much of the disk.
        """
        self._rights.check_room()
        with self._database.transaction() as db:
            query = sa.select(RUN.id).where(RUN.id == report.id)
            is_new = db.execute(query).first() is None
            if is_new:
                self._database.insert(t.runs, [self._new_row(report)], db=db)
            self._rights.changeable(db, report.id)
            if is_new:
                self._save_version(db, report, 0)

    def _new_row(self, report: Report) -> dict[str, object]:
        return {
            "id": report.id,
            "created_at": report.created_at,
            "question": report.question.replace(NUL, "\ufffd"),
            "answer": report.answer.replace(NUL, "\ufffd"),
            "size": len(report.question) + len(report.answer),
            "owner": self._rights.owner,
        }

    def save_unfinished(self, report: Report, pages: Sequence[Page] = ()) -> None:
        """Save the state of a run in progress, replacing an earlier state.

        Args:
            report: The state; for a finished run, it is not saved.
            pages: The pages that are new in it.

        Raises:
            NotYours: The run is somebody else's, or gone.
        """
        with self._database.transaction() as db:
            run = self._rights.changeable(db, report.id)
            if run.version == 0:
                self._save_version(db, report, 0, pages)

    def finish(self, report: Report, provenance: Provenance = UNKNOWN) -> None:
        """Save the result of a run that was started, in place of its state and its documents.

        A run that another process finished, and that was edited since, stays as it is.

        Raises:
            NotYours: The run was deleted meanwhile.
        """
        with self._database.transaction() as db:
            run = self._rights.changeable(db, report.id)
            if run.version > 1:
                return
            _delete_parts(db, report.id)
            set_columns(db, report.id, size=0, queued=0)
            self._save_version(db, report, 1, report.pages, provenance)

    def save_edit(self, report: Report, provenance: Provenance, shown: int) -> None:
        """Save a run after the last of its edits, as a version made from the shown one.

        Args:
            report: The edited run.
            provenance: How it obtained its evidence.
            shown: The version that was edited.

        Raises:
            Outdated: Another version than `shown` is shown by now; nothing is saved.
            NotYours: The run is somebody else's, or was deleted.
        """
        self._rights.check_room()
        with self._database.transaction() as db:
            run = self._rights.changeable(db, report.id)
            if run.version != shown:
                raise Outdated
            self._save_version(db, report, shown + 1, report.pages, provenance)

    def _save_version(
        self,
        db: sa.Connection,
        report: Report,
        number: int,
        pages: Sequence[Page] = (),
        provenance: Provenance = UNKNOWN,
    ) -> None:
        """Save a version with these of its pages, and show it."""
        self._cache.put_pages(pages, db)
        self._cache.record_uses(report.id, db)
        body = report.to_json()
        trace = provenance.model_dump_json()
        row = {
            "run_id": report.id,
            "number": number,
            "report": body,
            "provenance": trace,
        }
        self._database.insert(t.run_versions, [row], replace=True, db=db)
        size = len(body) + len(trace) + sum(len(page.text) for page in pages)
        set_columns(db, report.id, version=number, **summary(report))
        if number:
            set_columns(db, report.id, size=RUN.size + size)

    def undo(self, run_id: str) -> Report | None:
        """Delete the last edit's version.

        Returns:
            The version before, with its pages' texts; None if there was no edit.

        Raises:
            NotYours: The run is somebody else's, or gone.
        """
        with self._database.transaction() as db:
            run = self._rights.changeable(db, run_id)
            before = run.version - 1
            if before < 1:
                return None
            is_version = VERSION.run_id == run_id
            db.execute(t.run_versions.delete().where(is_version, VERSION.number > before))
            query = sa.select(VERSION.report).where(is_version, VERSION.number == before)
            report = Report.read(db.execute(query).scalar_one())
            set_columns(db, run_id, version=before, **summary(report))
        return self._with_texts(report)

    def copy(self, run_id: str) -> str:
        """Copy the shown version of a readable run.

        The copy belongs to the caller and is open by link, without the title, tags, note and
        earlier versions, and without the verdicts of another analyst. The documents of a run that
        the caller could not read stay hidden.

        Returns:
            The id of the copy.

        Raises:
            NotYours: The run cannot be read, or isn't finished.
            BadInput: The owner's runs take too much of the disk.
        """
        self._rights.check_room()
        body = self._shown(run_id, VERSION.report, RUN.version > 0)
        if body is None:
            raise NotYours("this run can no longer be read, so it cannot be copied")
        access = self._rights.access(run_id)
        changes: dict[str, object] = {"id": new_run_id()}
        if not access.own:
            changes["judgements"] = ()
        report = Report.read(body).model_copy(update=changes)
        row = self._new_row(report)
        row["created_at"] = now()
        row["documents"] = "" if access.reads_documents else "hidden"
        provenance = self.provenance(run_id)
        used = sa.select(USE.kind, USE.key).where(USE.owner_id == run_id)
        with self._database.transaction() as db:
            db.execute(t.runs.insert().values(row))
            self._save_version(db, report, 1, provenance=provenance)
            uses = db.execute(used)
            rows = [{"kind": kind, "key": key, "owner_id": report.id} for kind, key in uses]
            self._database.insert(t.uses, rows, db=db)
        return report.id

    # --- loading ---

    def load(self, run_id: str, unfinished: bool = False) -> Report | None:
        """Return the shown version of a run with its pages' texts.

        Args:
            run_id: The run.
            unfinished: Return the state of a run without a result, whose claims may have no
                verdict yet, in place of a result.

        Returns:
            None if there is none, or it may not be read.
        """
        is_wanted = RUN.version == 0 if unfinished else RUN.version > 0
        body = self._shown(run_id, VERSION.report, is_wanted)
        return self._with_texts(Report.read(body)) if body else None

    def provenance(self, run_id: str) -> Provenance:
        """Return how a saved run obtained its evidence.

        It is empty for an unknown run, and for one that may not be read.
        """
        body = self._shown(run_id, VERSION.provenance)
        return Provenance.model_validate_json(body) if body else UNKNOWN

    def _shown(self, run_id: str, column: sa.Column[Any], *conditions: Any) -> Any:
        """Return a column of the version that is shown."""
        query = sa.select(column)
        query = query.where(VERSION.run_id == RUN.id, VERSION.number == RUN.version)
        query = query.where(RUN.id == run_id, self._rights.readable(), *conditions)
        return self._database.scalar(query)

    def shown_version(self, run_id: str) -> int:
        """Return the number of the version that is shown; 0 without one."""
        query = sa.select(RUN.version).where(RUN.id == run_id)
        return self._database.scalar(query) or 0

    def _with_texts(self, report: Report) -> Report:
        report = self._cache.with_texts(report)
        if self._rights.access(report.id).reads_documents:
            return report
        pages = []
        for page in report.pages:
            is_hidden = page.kind == "document"
            pages.append(page.model_copy(update={"text": ""}) if is_hidden else page)
        return report.model_copy(update={"pages": tuple(pages)})

    # --- documents of unfinished runs ---

    def save_documents(self, run_id: str, documents: Sequence[Document]) -> None:
        """Keep the documents that a run is checked against until it is finished.

        Raises:
            NotYours: The run is somebody else's, or gone.
        """
        rows = []
        for number, document in enumerate(documents):
            rows.append({"run_id": run_id, "number": number, **vars(document)})
        size = sum(len(document.content) for document in documents)
        with self._database.transaction() as db:
            self._rights.changeable(db, run_id)
            self._database.insert(t.run_documents, rows, db=db)
            set_columns(db, run_id, size=RUN.size + size)

    def documents(self, run_id: str) -> tuple[Document, ...]:
        """Return the documents of an unfinished run, if it belongs to the caller."""
        column = t.run_documents.c
        query = sa.select(column.name, column.content, column.media_type)
        query = query.where(column.run_id == run_id).order_by(column.number)
        if not self._rights.access(run_id).own:
            return ()
        return tuple(Document(*row) for row in self._database.all(query))

    # --- owners ---

    def set_private(self, run_id: str, private: bool = True) -> None:
        """Hide a run from everybody else, or show it again.

        Raises:
            NotYours: The run is somebody else's.
        """
        self._rights.change(run_id, private=private)

    def share_documents(self, run_id: str, shared: bool) -> None:
        """Let those who have the link read the documents of a run, or its verdicts and quotes
        alone.

        Raises:
            NotYours: The run is somebody else's.
        """
        readers = sa.case((RUN.documents == "hidden", "hidden"), else_="shared" if shared else "")
        self._rights.change(run_id, documents=readers)

    def delete(self, run_id: str) -> None:
        """Delete a run, its versions, and what it alone uses of pages and caches.

        Raises:
            NotYours: The run is somebody else's.
        """
        with self._database.transaction() as db:
            self._rights.changeable(db, run_id)
            self._cache.delete_uses(db, run_id)
            _delete_parts(db, run_id)
            db.execute(t.runs.delete().where(RUN.id == run_id))


def _delete_parts(db: sa.Connection, run_id: str) -> None:
    """Delete the versions and documents of a run."""
    for table in (t.run_versions, t.run_documents):
        db.execute(table.delete().where(table.c.run_id == run_id))


# --- what lists show of a run, so that listing and searching parses no report ---


def searchable(*texts: str) -> str:
    """Normalise texts for comparison: case, width and white space do not matter."""
    text = "\n".join(texts).replace(NUL, " ")
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def summary(report: Report) -> dict[str, object]:
    """Return what a list shows of a report.

    Args:
        report: The version that is shown.

    Returns:
        Columns of its run: the number of claims, of those compared with the sources and of those
        assessed, the badges, the sources, and the text in which searches look.
    """
    badges = {verdict.claim_id: verdict.badge for verdict in report.verdicts}
    badges |= {own.claim_id: own.label for own in report.judgements if own.label}
    statements = [claim.statement for claim in report.claims]
    listed = {
        "claims": len(report.claims),
        "verdicts": Counter(badges.values()),
        "sources": source_names(report),
    }
    return {
        "listed": json.dumps(listed, ensure_ascii=False),
        "checked": sum(badge not in UNCHECKED for badge in badges.values()),
        "reviewed": sum(judgement.label is not None for judgement in report.judgements),
        "claims_text": searchable(report.question, report.answer, *statements),
    }


def source_names(report: Report) -> list[str]:
    """Return the sources of a run.

    Those of its settings, in which the documents that were read stand in place of "documents".
    """
    documents = [page.url for page in report.pages if page.url.startswith(DOCUMENT)]
    names: list[str] = []
    sources: Any = report.settings.get("sources", ())
    for source in sources:
        names += documents if source == "documents" and documents else [str(source)]
    return names


# --- the queue of waiting runs ---


class QueuedRun(NamedTuple):
    """A run that waits, and the owner it belongs to."""

    run_id: str
    owner: str  # as stored in the database
    attempts: int  # how often it was begun before


class Queue(_Saved):
    """Runs of all owners in the order in which they were added, for the next server process too.

    A run leaves the queue in the transaction that saves its result, or with the run itself.
    """

    def add(self, run_id: str) -> None:
        """Put a run at the end of the queue, also one that failed there before.

        Raises:
            NotYours: The run is somebody else's or gone.
        """
        last = sa.select(sa.func.max(t.runs.alias().c.queued)).scalar_subquery()
        self._rights.change(run_id, queued=last + 1, attempts=0, problem="")

    def next(self) -> QueuedRun | None:
        """Return the run whose turn it is, whoever owns it; None if no run waits."""
        query = sa.select(RUN.id, RUN.owner, RUN.attempts)
        query = query.where(RUN.queued > 0, RUN.problem == "")
        query = query.order_by(RUN.queued).limit(1)
        rows = self._database.all(query)
        return QueuedRun(*rows[0]) if rows else None

    def begin(self, run_id: str) -> None:
        """Count an attempt to finish a run, before it can end the process."""
        self._update(run_id, attempts=RUN.attempts + 1)

    def fail(self, run_id: str, problem: str) -> None:
        """Keep why a run could not be finished.

        It waits no longer, but stays among those of the queue until it is added again.
        """
        self._update(run_id, problem=problem)

    def remove(self, run_id: str) -> None:
        """Take a run out of the queue; what is known of it stays."""
        self._update(run_id, queued=0, problem="")

    def _update(self, run_id: str, **values: object) -> None:
        with self._database.transaction() as db:
            set_columns(db, run_id, **values)

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
from typing import Any, NamedTuple

import sqlalchemy as sa

from attribution.edits import Edit
from attribution.errors import NotYours
from attribution.provenance import Provenance
from attribution.source import DOCUMENT
from attribution.store import schema as t
from attribution.store.cache import Cache
from attribution.store.database import Database, now
from attribution.store.rights import Rights
from attribution.types import BADGES, UNCHECKED, Document, Page, Report

DOCUMENTS = "documents"  # kind of result that says who reads a run's documents, see `Runs.copy`
MEASURED_RUNS = 5
LEAST_PAIRS = 20  # new ones, of a run that is measured
RUN, VERSION, SUMMARY, RESULT = t.runs.c, t.run_versions.c, t.run_summaries.c, t.results.c


class Outdated(Exception):
    """Another version of the run is shown by now."""


class RunInputs(NamedTuple):
    """The inputs a run was started with, apart from uploaded documents."""

    created_at: str
    question: str
    answer: str
    settings: dict[str, object]  # without secrets
    finished: bool  # it has a report


class RunVersion(NamedTuple):
    """A version of a run."""

    number: int  # 1: the result of the run
    parent: int  # the version that was edited; 0: none
    created_at: str
    claim_id: str  # the claim that was checked again; empty in version 1 and where none was
    edit: str = ""  # the Edit as JSON; empty in version 1


class Steps(NamedTuple):
    """The edits that can be undone and redone."""

    undo: Edit | None
    redo: Edit | None


def new_run_id() -> str:
    """Return an id that cannot be guessed: whoever knows it can open the run."""
    return secrets.token_hex(8)


class Results:
    """Results by kind and id; ids are made by `new_run_id`. A result with the id of a run is
    deleted with it.
    """

    def __init__(self, database: Database, rights: Rights, cache: Cache) -> None:
        self._database, self._rights, self._cache = database, rights, cache

    def save(self, kind: str, result_id: str, body: str, pages: Sequence[Page] = ()) -> None:
        """Save a result, replacing an earlier state of it.

        Args:
            kind: What the result is, such as a comparison.
            result_id: Its id, or that of the run it belongs to.
            body: Its JSON.
            pages: Its pages, whose texts `Cache.with_texts` restores.

        Raises:
            NotYours: The id is that of somebody else's run or result.
            BadInput: The result is new, and the owner's take too much of the disk.
        """
        if self.load(kind, result_id) is None:
            self._rights.check_room()
        with self._database.transaction() as db:
            self._rights.check_result(db, result_id)
            self.write(db, kind, result_id, body, pages)

    def write(
        self, db: sa.Connection, kind: str, result_id: str, body: str, pages: Sequence[Page] = ()
    ) -> None:
        """Save a result in a transaction that has checked the rights to do so."""
        self._cache.use("page", [page.id for page in pages])
        self._cache.freeze_pages(pages, db)
        self._cache.record_uses(result_id, db)
        row = {
            "kind": kind,
            "id": result_id,
            "created_at": now(),
            "body": body,
            "owner": self._rights.owner,
            "size": len(body) + _characters(pages),
        }
        self._database.insert(t.results, [row], replace=True, db=db)

    def load(self, kind: str, result_id: str) -> str | None:
        """Return the body of a result; None if it is unknown or of a run that may not be read."""
        is_hidden = sa.exists().where(RUN.id == RESULT.id, sa.not_(self._rights.readable()))
        query = sa.select(RESULT.body).where(RESULT.kind == kind, RESULT.id == result_id)
        body: str | None = self._database.scalar(query.where(~is_hidden))
        return body

    def copy(self, result_id: str) -> str:
        """Copy all that is saved under the id of a result, as the caller's own.

        Returns:
            The id of the copy.
        """
        self._rights.check_room()
        copy_id = new_run_id()
        with self._database.transaction() as db:
            self.copy_rows(db, result_id, copy_id)
        return copy_id

    def copy_rows(self, db: sa.Connection, old_id: str, new_id: str) -> None:
        """Copy the results saved under an id, and what the run or result of that id uses."""
        copied_id, owner = sa.literal(new_id), sa.literal(self._rights.owner)
        columns = (RESULT.kind, copied_id, RESULT.created_at, RESULT.body, owner, RESULT.size)
        results = sa.select(*columns)
        names = ["kind", "id", "created_at", "body", "owner", "size"]
        db.execute(t.results.insert().from_select(names, results.where(RESULT.id == old_id)))
        use = t.uses.c
        uses = sa.select(use.kind, use.key, copied_id).where(use.owner_id == old_id)
        db.execute(t.uses.insert().from_select(["kind", "key", "owner_id"], uses))


class Runs:
    """Runs by id, their versions, and the state of unfinished ones.

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

        Raises:
            NotYours: The run is somebody else's.
            BadInput: The owner's runs take too much of the disk.
        """
        self._rights.check_room()
        row = {
            "id": run_id,
            "created_at": created_at or now(),
            "question": question.replace("\0", "\ufffd"),  # PostgreSQL has no NUL
            "answer": answer.replace("\0", "\ufffd"),
            "settings": json.dumps(settings),
            "version": 0,
            "owner": self._rights.owner,
            "private": False,
        }
        with self._database.transaction() as db:
            self._database.insert(t.runs, [row], db=db)
            self._rights.changeable(db, run_id, deleted=True)

    def save(self, report: Report, provenance: Provenance | None = None) -> None:
        """Save a run with its result."""
        self.start(report.id, report.question, report.answer, report.settings, report.created_at)
        self.finish(report, provenance)

    def finish(self, report: Report, provenance: Provenance | None = None) -> None:
        """Save the result of a run that was started.

        Raises:
            NotYours: The run was deleted for good meanwhile.
        """
        with self._database.transaction() as db:
            self._rights.changeable(db, report.id, deleted=True)
            self._save_version(db, report, 1, provenance)
            forget_unfinished(db, report.id)

    def save_edit(
        self, report: Report, provenance: Provenance | None = None, shown: int | None = None
    ) -> None:
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
            if shown is not None and run.version != shown:
                raise Outdated
            newest = sa.select(sa.func.max(VERSION.number)).where(VERSION.run_id == report.id)
            number = (db.execute(newest).scalar() or 0) + 1
            self._save_version(db, report, number, provenance, run.version, report.edits[-1])

    def _save_version(
        self,
        db: sa.Connection,
        report: Report,
        number: int,
        provenance: Provenance | None,
        parent: int = 0,
        edit: Edit | None = None,
    ) -> None:
        """Save a version with its pages, and show it."""
        page_ids = [page.id for page in report.pages]
        self._cache.put_pages(report.pages, db)
        self._cache.use("page", page_ids)
        self._cache.record_uses(report.id, db)
        report_json = report.to_json()
        provenance_json = provenance.model_dump_json() if provenance else ""
        row = {
            "run_id": report.id,
            "number": number,
            "parent": parent,
            "created_at": now(),
            "claim_id": edit.claims[0] if edit and edit.claims else "",
            "report": report_json,
            "provenance": provenance_json,
            "edit": edit.model_dump_json() if edit else "",
        }
        self._database.insert(t.run_versions, [row], replace=True, db=db)
        size = len(report_json) + len(provenance_json) + _characters(report.pages)
        saved = RUN.size + size if number > 1 else size
        db.execute(t.runs.update().where(RUN.id == report.id).values(version=number, size=saved))
        write_summary(db, report, number)

    def copy(self, run_id: str) -> str:
        """Copy the shown version of a readable run, with its later results.

        The copy belongs to the caller and is open by link, without the title, tags, note and
        earlier versions, and without the verdicts of another analyst. The documents of a run that
        the caller could not read stay hidden.

        Returns:
            The id of the copy.
        """
        self._rights.check_room()
        copy_id = new_run_id()
        reads_documents = self._reads_documents(run_id)
        readable = sa.select(t.runs).where(
            RUN.id == run_id, RUN.version > 0, self._rights.readable()
        )
        with self._database.transaction() as db:
            run = db.execute(readable).first()
            if run is None:
                raise NotYours("this run can no longer be read, so it cannot be copied")
            is_shown = (VERSION.run_id == run_id, VERSION.number == run.version)
            version = db.execute(t.run_versions.select().where(*is_shown)).one()
            report = Report.model_validate_json(version.report)
            if run.owner != self._rights.owner:
                report = report.model_copy(update={"judgements": ()})
            report = report.model_copy(update={"id": copy_id})
            made = {"created_at": now(), "owner": self._rights.owner, "private": False}
            described = {"title": "", "tags": "[]", "note": "", "search_text": ""}
            copied_run = run._asdict() | made | described | {"id": copy_id, "version": 1}
            own = {"run_id": copy_id, "report": report.to_json(), "created_at": now()}
            first = {"number": 1, "parent": 0, "claim_id": "", "edit": ""}
            copied_version = version._asdict() | own | first
            db.execute(t.runs.insert().values(**copied_run))
            db.execute(t.run_versions.insert().values(**copied_version))
            write_summary(db, report, 1)
            self._results.copy_rows(db, run_id, copy_id)
            state = "shown" if reads_documents else "hidden"
            self._results.write(db, DOCUMENTS, copy_id, state)
        return copy_id

    # --- loading ---

    def load(self, run_id: str) -> Report | None:
        """Return the shown version of a run with its pages' texts; None if it is unknown or has no
        report yet.
        """
        body = self._shown(run_id, VERSION.report)
        return self._with_texts(Report.model_validate_json(body)) if body else None

    def provenance(self, run_id: str) -> Provenance | None:
        """Return how a saved run obtained its evidence; None if that is unknown."""
        body = self._shown(run_id, VERSION.provenance)
        return Provenance.model_validate_json(body) if body else None

    def _shown(self, run_id: str, column: sa.Column[Any]) -> str | None:
        is_shown = (VERSION.run_id == RUN.id, VERSION.number == RUN.version)
        query = sa.select(column).where(RUN.id == run_id, *is_shown, self._rights.readable())
        return self._database.scalar(query)

    def shown_version(self, run_id: str) -> int:
        """Return the number of the version that is shown; 0 without one."""
        return self._database.scalar(sa.select(RUN.version).where(RUN.id == run_id)) or 0

    def inputs(self, run_id: str) -> RunInputs | None:
        """Return the inputs of a run, finished or not."""
        columns = (RUN.created_at, RUN.question, RUN.answer, RUN.settings, RUN.version)
        query = sa.select(*columns).where(RUN.id == run_id, self._rights.readable())
        for created_at, question, answer, settings, version in self._database.all(query):
            fields = json.loads(settings or "{}")
            return RunInputs(created_at, question, answer, fields, version > 0)
        return None

    # --- documents ---

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
        """
        state = self._results.load(DOCUMENTS, run_id)
        if state in ("shared", "hidden"):
            return state == "shared"
        return not self._rights.owner or self._rights.access(run_id).own

    def _with_texts(self, report: Report) -> Report:
        report = self._cache.with_texts(report)
        if self._reads_documents(report.id):
            return report
        pages = []
        for page in report.pages:
            is_hidden = page.kind == "document"
            pages.append(page.model_copy(update={"text": ""}) if is_hidden else page)
        return report.model_copy(update={"pages": tuple(pages)})

    # --- versions ---

    def versions(self, run_id: str) -> list[RunVersion]:
        """Return the shown version and those it was made from, newest first; the last is the result
        of the run.
        """
        columns = [t.run_versions.c[name] for name in RunVersion._fields]
        rows = self._database.all(sa.select(*columns).where(VERSION.run_id == run_id))
        by_number = {row.number: RunVersion(*row) for row in rows}
        number = self.shown_version(run_id)
        path = []
        while number in by_number:
            path.append(by_number[number])
            number = by_number[number].parent
        return path

    def undo(self, run_id: str) -> Report | None:
        """Show and return the version that the shown one was made from; None without one."""
        is_shown = (VERSION.run_id == RUN.id, VERSION.number == RUN.version)
        return self._show(run_id, sa.select(VERSION.parent).where(RUN.id == run_id, *is_shown))

    def redo(self, run_id: str) -> Report | None:
        """Show the version that was undone last, and return it; None if there is none."""
        return self._show(run_id, _undone(run_id))

    def _show(self, run_id: str, version: sa.Select[int]) -> Report | None:
        with self._database.transaction() as db:
            self._rights.changeable(db, run_id)
            number = db.execute(version).scalar()
            if not number:
                return None
            db.execute(t.runs.update().where(RUN.id == run_id).values(version=number))
        return self.load(run_id)

    def steps(self, run_id: str) -> Steps:
        """Return the edit that undo takes back, and the one that redo makes again."""
        versions = self.versions(run_id)
        undone = _undone(run_id).correlate(None).scalar_subquery()
        query = sa.select(VERSION.edit).where(VERSION.run_id == run_id, VERSION.number == undone)
        made = versions[0].edit if versions else ""
        return Steps(_edit(made), _edit(self._database.scalar(query)))

    # --- the state of unfinished runs ---

    def save_unfinished(self, report: Report, pages: Sequence[Page] = ()) -> None:
        """Save the state of a run in progress, replacing an earlier state; `pages` are the new
        ones. Nothing is saved for a finished run.

        Raises:
            NotYours: The run is somebody else's, or gone.
        """
        self._cache.use("page", [page.id for page in pages])
        row = {"run_id": report.id, "saved_at": now(), "report": report.to_json()}
        with self._database.transaction() as db:
            run = self._rights.changeable(db, report.id, deleted=True)
            if run.version > 0:
                return
            self._cache.put_pages(pages, db)
            self._cache.record_uses(report.id, db)
            self._database.insert(t.unfinished_runs, [row], replace=True, db=db)
            write_summary(db, report, 0)

    def load_unfinished(self, run_id: str) -> Report | None:
        """Return the state of an unfinished run with its pages' texts; None for all other runs.

        Claims not yet compared with the sources have no verdict.
        """
        unfinished = t.unfinished_runs.c
        query = sa.select(unfinished.report).where(
            RUN.id == run_id,
            RUN.version == 0,
            unfinished.run_id == RUN.id,
            self._rights.readable(),
        )
        body = self._database.scalar(query)
        return self._with_texts(Report.model_validate_json(body)) if body else None

    def save_documents(self, run_id: str, documents: Sequence[Document]) -> None:
        """Keep the documents that a run is checked against until it is finished."""
        rows = []
        for number, document in enumerate(documents):
            rows.append({"run_id": run_id, "number": number, **vars(document)})
        with self._database.transaction() as db:
            self._rights.changeable(db, run_id, deleted=True)
            self._database.insert(t.run_documents, rows, db=db)
            size = sum(len(document.content) for document in documents)
            db.execute(t.runs.update().where(RUN.id == run_id).values(size=RUN.size + size))

    def documents(self, run_id: str) -> tuple[Document, ...]:
        """Return the documents of an unfinished run, if it belongs to the caller."""
        column = t.run_documents.c
        is_own = sa.exists().where(RUN.id == column.run_id, RUN.owner == self._rights.owner)
        query = sa.select(column.name, column.content, column.media_type)
        query = query.where(column.run_id == run_id, is_own).order_by(column.number)
        return tuple(Document(*row) for row in self._database.all(query))

    # --- owners ---

    def set_private(self, run_id: str, private: bool = True) -> None:
        """Hide a run from everybody else, or show it again. Raises NotYours for somebody else's
        run.
        """
        with self._database.transaction() as db:
            self._rights.changeable(db, run_id)
            db.execute(t.runs.update().where(RUN.id == run_id).values(private=private))

    def delete(self, run_id: str) -> None:
        """Delete a run, its versions, and what it alone uses of pages and caches. Raises NotYours
        for somebody else's run.
        """
        with self._database.transaction() as db:
            self._rights.changeable(db, run_id, deleted=True)
            self.remove(db, run_id)

    def remove(self, db: sa.Connection, run_id: str) -> None:
        """Delete a run in this transaction, whoever it belongs to."""
        self._cache.delete_uses(db, run_id)
        forget_unfinished(db, run_id)
        db.execute(t.run_summaries.delete().where(SUMMARY.run_id == run_id))
        db.execute(t.run_versions.delete().where(VERSION.run_id == run_id))
        db.execute(t.runs.delete().where(RUN.id == run_id))
        db.execute(t.results.delete().where(RESULT.id == run_id))  # its later results

    # --- figures ---

    def seconds_per_pair(self) -> float | None:
        """Return the time that the last runs took for each of a claim's `top_k` passages.

        Returns:
            The median over the runs that made and verified enough pairs; None without any.
        """
        query = sa.select(VERSION.report).where(VERSION.run_id == RUN.id, VERSION.number == 1)
        query = query.order_by(RUN.created_at.desc()).limit(MEASURED_RUNS)
        measured = []
        for row in self._database.all(query):
            report = Report.model_validate_json(row.report)
            new = report.usage.pairs - report.usage.cached_pairs
            if new >= max(LEAST_PAIRS, report.usage.cached_pairs):
                seconds = report.timings.get("verify", 0.0)
                if not report.usage.downloads:
                    seconds += report.timings.get("gather", 0.0)
                checked = sum(verdict.label not in UNCHECKED for verdict in report.verdicts)
                passages = int(str(report.settings.get("top_k", 1)))
                measured.append(seconds / max(1, checked * passages))
        return median(measured) if measured else None


def _characters(pages: Sequence[Page]) -> int:
    return sum(len(page.text) for page in pages)


def _undone(run_id: str) -> sa.Select[int]:
    """Select the newest version made from the shown one, which is the one that was undone last."""
    return sa.select(sa.func.max(VERSION.number)).where(
        RUN.id == run_id,
        RUN.version > 0,
        VERSION.run_id == RUN.id,
        VERSION.parent == RUN.version,
    )


def _edit(body: str | None) -> Edit | None:
    return Edit.model_validate_json(body) if body else None


# --- summaries, kept beside the reports so that listing and searching runs parses none ---


def searchable(*texts: str) -> str:
    """Normalise texts for comparison: case, width and white space do not matter."""
    return " ".join(unicodedata.normalize("NFKC", "\n".join(texts)).casefold().split())


def write_summary(db: sa.Connection, report: Report, number: int) -> None:
    """Write the summary of one version of a run, replacing an earlier one; 0 is the state of an
    unfinished run.
    """
    badges = {verdict.claim_id: verdict.badge for verdict in report.verdicts}
    badges |= {own.claim_id: own.label for own in report.judgements if own.label}
    counts = Counter(badges.values())
    texts = [report.question, report.answer]
    for claim in report.claims:
        texts += [claim.text, claim.enriched or ""]
    row = {
        "run_id": report.id,
        "number": number,
        "claims": len(report.claims),
        "verdicts": json.dumps({badge: counts[badge] for badge in BADGES if counts[badge]}),
        "checked": sum(badge not in UNCHECKED for badge in badges.values()),
        "reviewed": len(report.judgements),
        "sources": json.dumps(_source_names(report), ensure_ascii=False),
        "search_text": searchable(*texts),
    }
    is_same = (SUMMARY.run_id == report.id, SUMMARY.number == number)
    db.execute(t.run_summaries.delete().where(*is_same))
    db.execute(t.run_summaries.insert().values(**row))


def _source_names(report: Report) -> list[str]:
    """Return the sources of the settings; the documents are named, as far as they were read."""
    documents = [page.url for page in report.pages if page.url.startswith(DOCUMENT)]
    names: list[str] = []
    sources = report.settings.get("sources", ())
    for source in sources if isinstance(sources, list | tuple) else (sources,):
        names += documents if source == "documents" and documents else [str(source)]
    return names


def forget_unfinished(db: sa.Connection, run_id: str) -> None:
    """Delete what was kept of a run while it was in progress."""
    for table in (t.unfinished_runs, t.run_documents, t.queue):
        db.execute(table.delete().where(table.c.run_id == run_id))
    db.execute(t.run_summaries.delete().where(SUMMARY.run_id == run_id, SUMMARY.number == 0))

"""Export and import all runs of an owner as one file, with their versions, titles, tags and notes.

Vectors and judgements are left out: they are recomputed when needed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa
from pydantic import Field, ValidationError, field_validator

from attribution.errors import BadInput
from attribution.evidence.permissions import as_record
from attribution.pipeline.snapshot import Format, Unpacked, check, invalid, pack, read_pages, unpack
from attribution.provenance import Provenance
from attribution.settings import Settings
from attribution.store import runs
from attribution.store import schema as t
from attribution.store.history import described
from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.types import Frozen, Page, Report

MEMBERS = ("runs.jsonl", "pages.jsonl")
HISTORY = Format("attribution-history", 1, MEMBERS, "history", "export it again on the History page")
OWN = {"run_id", "number", "parent", "created_at", "claim_id", "report", "provenance"}  # columns with a field below
MORE = [column.name for column in t.run_versions.c if column.name not in OWN]


class ArchivedVersion(Frozen):
    number: int = Field(ge=1, le=100_000)
    parent: int = Field(ge=0)
    created_at: str = Field(max_length=32)
    claim_id: str
    report: Report
    provenance: Provenance | None
    more: dict[str, str] = {}  # other columns of the table


class ArchivedRun(Frozen):
    id: str = Field(pattern="^[0-9a-f]{16}$")
    created_at: str = Field(max_length=32)
    question: str
    answer: str
    settings: dict[str, object]
    private: bool
    title: str
    tags: tuple[str, ...]
    note: str
    shown: int  # the number of a version
    versions: tuple[ArchivedVersion, ...] = Field(min_length=1)

    @field_validator("created_at")
    @classmethod
    def _is_time(cls, text: str) -> str:
        datetime.fromisoformat(text)
        return text


class Imported(NamedTuple):
    """The result of an import."""

    ids: tuple[str, ...]  # of the new runs
    known: int  # number of runs that were there already


def export_history(store: Store, run_ids: Sequence[str] | None = None) -> bytes:
    """Export all runs of the owner that are not deleted, or those with the given ids.

    An unfinished run is exported as a stopped one. Runs of early versions, whose pages' texts are missing, are left
    out. Raises BadInput if the file would be too large to import.
    """
    r = t.runs.c
    query = t.runs.select().where(r.owner == store.rights.owner, r.deleted_at == "")
    with store.database.engine.connect() as db:
        rows = db.execute(query.order_by(r.created_at, r.id)).all()
    pages: dict[str, Page] = {}
    runs = []
    for row in rows:
        if (run_ids is None or row.id in run_ids) and (run := _archived(store, row, pages)):
            runs.append(run)
    used = {page.id for run in runs for version in run.versions for page in version.report.pages}
    return pack(
        HISTORY, {"runs.jsonl": _lines(map(_bare, runs)), "pages.jsonl": _lines(pages[i] for i in sorted(used))}
    )


def _archived(store: Store, row: sa.Row[*tuple[object, ...]], pages: dict[str, Page]) -> ArchivedRun | None:
    v = t.run_versions.c
    with store.database.engine.connect() as db:
        saved = db.execute(t.run_versions.select().where(v.run_id == row.id).order_by(v.number)).all()
    versions = [
        ArchivedVersion(
            number=one.number,
            parent=one.parent,
            created_at=one.created_at,
            claim_id=one.claim_id,
            report=store.cache.with_texts(Report.model_validate_json(one.report)),
            provenance=Provenance.model_validate_json(one.provenance) if one.provenance else None,
            more={name: str(getattr(one, name)) for name in MORE},
        )
        for one in saved
    ]
    if not versions and (known := store.runs.load_unfinished(row.id)):
        stopped = known.model_copy(update={"stopped": True})
        first = {"number": 1, "parent": 0, "created_at": row.created_at, "claim_id": "", "provenance": None}
        versions.append(ArchivedVersion(**first, report=stopped))
    own = [page for version in versions for page in version.report.pages]
    if not versions or not all(page.text for page in own):
        return None
    pages.update({page.id: page for page in own})
    return ArchivedRun(
        id=row.id, created_at=row.created_at, question=row.question, answer=row.answer,
        settings=json.loads(row.settings or "{}"), private=row.private, title=row.title,
        tags=tuple(json.loads(row.tags)), note=row.note, shown=max(row.version, 1), versions=tuple(versions),
    )  # fmt: skip


def _bare(run: ArchivedRun) -> ArchivedRun:
    """Remove the pages' texts, which are written once for all runs."""

    def bare(report: Report) -> Report:
        return report.model_copy(update={"pages": tuple(p.model_copy(update={"text": ""}) for p in report.pages)})

    versions = tuple(v.model_copy(update={"report": bare(v.report)}) for v in run.versions)
    return run.model_copy(update={"versions": versions})


def _lines(rows: Iterable[Frozen]) -> bytes:
    return "".join(row.model_dump_json() + "\n" for row in rows).encode("utf-8")


def import_history(store: Store, data: bytes) -> Imported:
    """Save the runs of a file as the owner's. Raises BadInput, and saves nothing, if something is wrong with the file.

    A run that the owner has already stays as it is, and is restored if it was deleted. A run whose id belongs to
    another run gets a new id. Settings that a file may not choose, such as folders of this machine, are dropped.
    """
    file = unpack(HISTORY, data)
    pages = _pages(file)
    known: list[str] = []
    new: dict[str, str] = {}  # old id → new id
    used: dict[str, Page] = {}
    for run in _runs(file, pages):  # check all runs before saving any, without keeping them in memory
        if run.id in known or run.id in new:
            raise HISTORY.bad("a run occurs twice")
        if _is_saved(store, run):
            known.append(run.id)
        else:
            new[run.id] = new_run_id() if store.runs.is_known(run.id) else run.id
            used |= {page.id: page for version in run.versions for page in version.report.pages}
    with store.database.transaction() as db:
        for page in used.values():
            store.cache.freeze_pages([page], db)
        for run in _runs(file, pages):
            if run.id in new:
                _save(store, db, _with_id(run, new[run.id]))
    store.history.restore(known)
    return Imported(tuple(new.values()), len(known))


def _pages(file: Unpacked) -> dict[str, Page]:
    try:
        return {page.id: page for page in read_pages(HISTORY, file)}
    except ValueError as error:
        raise _unreadable(error) from None


def _runs(file: Unpacked, pages: dict[str, Page]) -> Iterator[ArchivedRun]:
    """Yield the runs of a file with their pages' texts, one at a time. Raises BadInput for an inconsistent run."""
    for document in file.documents("runs.jsonl"):
        try:
            run = ArchivedRun.model_validate_json(document)
        except (ValueError, RecursionError) as error:
            raise _unreadable(error) from None
        yield _harmless(_checked(run, pages))


def _unreadable(error: Exception) -> BadInput:
    if isinstance(error, ValidationError):
        return invalid(HISTORY, error)
    return HISTORY.bad(f"{type(error).__name__}: {str(error)[:120]}")


def _checked(run: ArchivedRun, pages: dict[str, Page]) -> ArchivedRun:
    """Return the run with its pages' texts, after checking that it is consistent."""
    numbers = [version.number for version in run.versions]
    if sorted(set(numbers)) != numbers or run.shown not in numbers:
        raise HISTORY.bad(f"the versions of run {run.id} are not numbered in order")
    if any(v.parent >= v.number or v.parent not in (0, *numbers) for v in run.versions):
        raise HISTORY.bad(f"a version of run {run.id} was made from one that is not there")
    described(run.title, run.tags, run.note)
    versions = []
    for version in run.versions:
        if not version.more.keys() <= set(MORE):
            raise HISTORY.bad(f"run {run.id} has fields of another version of the explorer: update it")
        for page in version.report.pages:
            if page.id not in pages or page.sha256 != pages[page.id].sha256:
                raise HISTORY.bad(f"the text of page {page.id[:16]} does not match its hash")
        whole = tuple(p.model_copy(update={"text": pages[p.id].text}) for p in version.report.pages)
        report = version.report.model_copy(update={"id": run.id, "pages": whole})
        check(report, version.provenance or Provenance(), HISTORY.bad)
        versions.append(version.model_copy(update={"report": report}))
    return run.model_copy(update={"versions": tuple(versions)})


def _harmless(run: ArchivedRun) -> ArchivedRun:
    """Return the run with only the settings that a stranger may choose."""
    own = Settings.from_environment()

    def harmless(version: ArchivedVersion) -> ArchivedVersion:
        report = version.report.model_copy(update={"settings": as_record(version.report.settings, own)})
        return version.model_copy(update={"report": report})

    versions = tuple(map(harmless, run.versions))
    return run.model_copy(update={"versions": versions, "settings": as_record(run.settings, own)})


def _is_saved(store: Store, run: ArchivedRun) -> bool:
    """Return True if the owner has this run, deleted or not; its title, tags and note may differ."""
    if not store.rights.access(run.id).own:
        return False
    saved = _archived(store, store.database.rows(t.runs, [run.id])[run.id], {})
    return saved is not None and [v.report for v in _harmless(saved).versions] == [v.report for v in run.versions]


def _with_id(run: ArchivedRun, run_id: str) -> ArchivedRun:
    if run_id == run.id:
        return run
    versions = (v.model_copy(update={"report": v.report.model_copy(update={"id": run_id})}) for v in run.versions)
    return run.model_copy(update={"id": run_id, "versions": tuple(versions)})


def _save(store: Store, db: sa.Connection, run: ArchivedRun) -> None:
    inputs = {"question": run.question, "answer": run.answer, "settings": json.dumps(run.settings)}
    about = described(run.title, run.tags, run.note)
    state = {"created_at": run.created_at, "version": run.shown, "owner": store.rights.owner, "private": run.private}
    db.execute(t.runs.insert().values(id=run.id, **inputs, **state, **about))
    for version in run.versions:
        row = {"run_id": run.id, "number": version.number, "parent": version.parent, "claim_id": version.claim_id}
        row |= {"created_at": version.created_at, "report": version.report.to_json()}
        row |= {"provenance": version.provenance.model_dump_json() if version.provenance else ""}
        row |= {name: version.more.get(name, "") for name in MORE}
        db.execute(t.run_versions.insert().values(**row))
        runs.write_summary(db, version.report, version.number)
    pages = {page.id for version in run.versions for page in version.report.pages}
    store.database.insert(t.uses, [{"kind": "page", "key": key, "owner_id": run.id} for key in sorted(pages)], db=db)

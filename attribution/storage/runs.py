"""Saved runs: their inputs from the start, then every version of their report with its provenance.

A run has an id, and so an address, as soon as it starts. Its result is version 1; each claim that is checked again adds
a version.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from statistics import median
from typing import Any, NamedTuple

import sqlalchemy as sa

from attribution.errors import BadInput
from attribution.provenance import Provenance
from attribution.storage import summaries
from attribution.storage import tables as t
from attribution.storage.cache import Cache
from attribution.storage.database import now
from attribution.types import Page, Report


class Rates(NamedTuple):
    """Seconds per unit; None where too few were measured."""

    pair: float | None = None  # verified
    page: float | None = None  # searched for and downloaded
    prompt: float | None = None  # answered by a language model


class RunInputs(NamedTuple):
    """What a run was started with, apart from uploaded documents."""

    created_at: str
    question: str
    answer: str
    settings: dict[str, Any]  # without secrets
    finished: bool  # it has a report


class RunVersion(NamedTuple):
    number: int  # 1: the result of the run
    parent: int  # the version that was edited; 0: none
    created_at: str
    claim_id: str  # the claim that was checked again; empty in version 1 and where none was
    edit: str = ""  # the Edit as JSON; empty in version 1, and in versions made before edits were kept


class Access(NamedTuple):
    """What the holder of a token may do with a run."""

    private: bool  # only its owner may see it
    own: bool  # may delete it and make it private


def new_run_id() -> str:
    """An id that cannot be guessed: whoever knows it can open the run."""
    return secrets.token_hex(8)


class Runs(Cache):
    """Runs by id. Those who check tokens are the callers that serve others: `access` says what they may show."""

    # --- saving ---

    def start_run(
        self, run_id: str, question: str, answer: str, settings: Mapping[str, object], created_at: str = ""
    ) -> None:
        """Save the inputs of a run that starts, unless it is known already."""
        question, answer = (text.replace("\0", "\ufffd") for text in (question, answer))  # PostgreSQL has no NUL
        inputs = {"question": question, "answer": answer, "settings": json.dumps(settings)}
        state = {"created_at": created_at or now(), "version": 0, "owner": "", "private": False}
        self.insert(t.runs, [{"id": run_id, **inputs, **state}])

    def save_run(self, report: Report, provenance: Provenance | None = None, frozen: bool = False) -> None:
        """Save the result of a run. `frozen` says that its pages come from a snapshot and must not serve other runs."""
        self.start_run(report.id, report.question, report.answer, report.settings, report.created_at)
        self._save(report, provenance, frozen)

    def _save(
        self, report: Report, provenance: Provenance | None, frozen: bool, claim_id: str = "", edit: str = ""
    ) -> None:
        pages = [page.id for page in report.pages]
        if frozen:
            self.insert(t.frozen_pages, [{"id": p.id, "body": p.model_dump_json()} for p in report.pages])
        else:
            already = self.rows(t.frozen_pages, pages)  # a version of a frozen run
            self.put_pages([page for page in report.pages if page.id not in already])
        self.use(page=pages)
        self.record_uses(report.id)
        body = {"report": report.to_json(), "provenance": provenance.model_dump_json() if provenance else ""}
        r, v = t.runs.c, t.run_versions.c
        with self.transaction() as db:
            db.execute(sa.select(r.id).where(r.id == report.id).with_for_update())  # PostgreSQL: one writer a run
            number, parent = 1, 0
            if claim_id or edit:
                newest = db.execute(sa.select(sa.func.max(v.number)).where(v.run_id == report.id)).scalar() or 0
                number, parent = newest + 1, db.execute(sa.select(r.version).where(r.id == report.id)).scalar_one()
            db.execute(t.run_versions.delete().where(v.run_id == report.id, v.number == number))
            row = {"run_id": report.id, "number": number, "parent": parent, "created_at": now()}
            db.execute(t.run_versions.insert().values(**row, **body, claim_id=claim_id, edit=edit))
            db.execute(t.runs.update().where(r.id == report.id).values(version=number))
            summaries.saved(db, report, number)

    # --- loading ---

    def load_run(self, run_id: str) -> Report | None:
        """The shown version of a run with its pages' texts; None for an unknown run and one without a report yet."""
        row = self._shown(run_id, t.run_versions.c.report)
        return None if row is None else self.with_texts(Report.model_validate_json(row))

    def provenance(self, run_id: str) -> Provenance | None:
        """How a saved run came by its evidence; None for runs of early versions."""
        row = self._shown(run_id, t.run_versions.c.provenance)
        return Provenance.model_validate_json(row) if row else None

    def _shown(self, run_id: str, column: sa.ColumnElement[str]) -> str | None:
        r, v = t.runs.c, t.run_versions.c
        shown = (v.run_id == r.id, v.number == r.version, r.deleted_at == "")
        query = sa.select(column).where(r.id == run_id, *shown)
        with self.engine.connect() as db:
            return db.execute(query).scalar()

    def with_texts(self, report: Report) -> Report:
        """The report with the texts of its pages, as far as they are stored."""
        ids = [page.id for page in report.pages]
        bodies = {i: row.body for table in (t.frozen_pages, t.pages) for i, row in self.rows(table, ids).items()}
        texts = {i: Page.model_validate_json(body).text for i, body in bodies.items()}
        pages = tuple(p.model_copy(update={"text": texts.get(p.id, "")}) for p in report.pages)
        return report.model_copy(update={"pages": pages})

    def run_inputs(self, run_id: str) -> RunInputs | None:
        """The inputs of a run, finished or not."""
        row = self.rows(t.runs, [run_id]).get(run_id)
        if row is None or row.deleted_at:
            return None
        return RunInputs(row.created_at, row.question, row.answer, json.loads(row.settings or "{}"), row.version > 0)

    # --- versions ---

    def versions(self, run_id: str) -> list[RunVersion]:
        """The shown version and those it was made from, newest first: the last one is the result of the run."""
        v = t.run_versions.c
        with self.engine.connect() as db:
            columns = (v.number, v.parent, v.created_at, v.claim_id, v.edit)
            rows = db.execute(sa.select(*columns).where(v.run_id == run_id)).all()
            number = db.execute(sa.select(t.runs.c.version).where(t.runs.c.id == run_id)).scalar() or 0
        by_number = {row.number: RunVersion(*row) for row in rows}
        path = []
        while number in by_number:
            path.append(by_number[number])
            number = by_number[number].parent
        return path

    def show_version(self, run_id: str, number: int) -> None:
        """Show this version of a run from now on."""
        with self.engine.begin() as db:
            db.execute(t.runs.update().where(t.runs.c.id == run_id).values(version=number))

    def undo(self, run_id: str) -> Report | None:
        """Show the version that the shown one was made from, and return it; None if there is none."""
        versions = self.versions(run_id)
        if len(versions) < 2:
            return None
        self.show_version(run_id, versions[1].number)
        return self.load_run(run_id)

    # --- who may do what ---

    def set_owner(self, run_id: str, token: str) -> None:
        """Make the holder of the token the owner of a run that has none."""
        with self.engine.begin() as db:
            of_no_one = (t.runs.c.id == run_id, t.runs.c.owner == "")
            db.execute(t.runs.update().where(*of_no_one).values(owner=owner_of(token)))

    def access(self, run_id: str, token: str) -> Access:
        """What the holder of the token may do. Nobody owns an unknown run or one that has no owner."""
        row = self.rows(t.runs, [run_id]).get(run_id)
        if row is None:
            return Access(False, False)
        return Access(row.private, bool(token) and row.owner == owner_of(token))

    def set_private(self, run_id: str, token: str, private: bool = True) -> None:
        """Hide a run from all others, or show it again. BadInput for a run of somebody else."""
        self._check_owner(run_id, token)
        with self.engine.begin() as db:
            db.execute(t.runs.update().where(t.runs.c.id == run_id).values(private=private))

    def delete_run(self, run_id: str, token: str) -> None:
        """Delete a run, its versions, and what it alone uses of pages and caches. BadInput for somebody else's run."""
        self._check_owner(run_id, token)
        self._remove(run_id)

    def _remove(self, run_id: str) -> None:
        with self.transaction() as db:
            self.delete_uses(db, run_id)
            summaries.forget(db, run_id)
            db.execute(t.run_versions.delete().where(t.run_versions.c.run_id == run_id))
            db.execute(t.runs.delete().where(t.runs.c.id == run_id))
            db.execute(t.results.delete().where(t.results.c.id == run_id))  # what was found out about it later

    def _check_owner(self, run_id: str, token: str) -> None:
        if not self.access(run_id, token).own:
            raise BadInput("this run cannot be changed here: only the browser that started it can")

    # --- figures ---

    def rates(self, runs: int = 5) -> Rates:
        """How fast the last runs were: medians over those with enough to measure."""
        r, v = t.runs.c, t.run_versions.c
        query = sa.select(v.report).where(v.run_id == r.id, v.number == 1).order_by(r.created_at.desc()).limit(runs)
        with self.engine.connect() as db:
            reports = [json.loads(body) for body in db.execute(query).scalars()]
        pairs, pages, prompts = [], [], []
        for report in reports:
            timings, usage = report.get("timings", {}), report.get("usage", {})
            if (verified := usage.get("pairs", 0) - usage.get("cached_pairs", 0)) >= 20:
                pairs.append(timings.get("verify", 0.0) / verified)
            if usage.get("downloads", 0) >= 5:
                pages.append(timings.get("gather", 0.0) / usage["downloads"])
            llm = list(usage.get("llm", {}).values())
            if (calls := sum(stage["calls"] for stage in llm)) >= 3:
                prompts.append(sum(stage["seconds"] for stage in llm) / calls)
        return Rates(*(median(seconds) if seconds else None for seconds in (pairs, pages, prompts)))


def owner_of(token: str) -> str:
    """What the database holds of a token: its SHA-256; empty for none."""
    return hashlib.sha256(token.encode()).hexdigest() if token else ""

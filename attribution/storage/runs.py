"""Saved runs: their reports, with the pages' texts and the provenance of the evidence."""

from __future__ import annotations

import json
from statistics import median
from typing import NamedTuple

import sqlalchemy as sa

from attribution.provenance import Provenance
from attribution.storage import tables as t
from attribution.storage.cache import Cache
from attribution.types import Page, Report


class Rates(NamedTuple):
    """Seconds per unit; None where too few were measured."""

    pair: float | None = None  # verified
    page: float | None = None  # searched for and downloaded
    prompt: float | None = None  # answered by a language model


class Runs(Cache):
    """Reports by id."""

    def save_run(self, report: Report, provenance: Provenance | None = None, frozen: bool = False) -> None:
        """Save a run. `frozen` says that its pages come from a snapshot and must not serve other runs."""
        if frozen:
            self.insert(t.frozen_pages, [{"id": p.id, "body": p.model_dump_json()} for p in report.pages])
        else:
            self.put_pages(report.pages)
        if provenance is not None:
            self.insert(t.provenance, [{"run_id": report.id, "body": provenance.model_dump_json()}], replace=True)
        row = {
            "id": report.id,
            "created_at": report.created_at,
            "question": report.question,
            "report": report.to_json(),
        }
        self.insert(t.runs, [row], replace=True)

    def load_run(self, run_id: str) -> Report | None:
        """A saved run with its pages' texts."""
        row = self.rows(t.runs, [run_id]).get(run_id)
        if row is None:
            return None
        report = Report.model_validate_json(row.report)
        ids = [page.id for page in report.pages]
        bodies = {i: row.body for table in (t.frozen_pages, t.pages) for i, row in self.rows(table, ids).items()}
        texts = {i: Page.model_validate_json(body).text for i, body in bodies.items()}
        pages = tuple(p.model_copy(update={"text": texts.get(p.id, "")}) for p in report.pages)
        return report.model_copy(update={"pages": pages})

    def provenance(self, run_id: str) -> Provenance | None:
        """How a saved run came by its evidence; None for runs of early versions."""
        row = self.rows(t.provenance, [run_id]).get(run_id)
        return None if row is None else Provenance.model_validate_json(row.body)

    def rates(self, runs: int = 5) -> Rates:
        """How fast the last runs were: medians over those with enough to measure."""
        query = sa.select(t.runs.c.report).order_by(t.runs.c.created_at.desc()).limit(runs)
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

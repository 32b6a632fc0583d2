"""Summaries of runs, kept beside their reports so that listing and searching runs parses no report."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from attribution.settings import COLLECTION
from attribution.store import schema as t
from attribution.types import LABELS, Report

SOURCES = ("library", "web", "collection", "documents")  # kinds of sources


def searchable(*texts: str) -> str:
    """Normalise texts for comparison: case, width and white space do not matter."""
    return " ".join(unicodedata.normalize("NFKC", "\n".join(texts)).casefold().split())


def source_kinds(sources: Iterable[str]) -> list[str]:
    """Return the kinds of the entries of `settings.sources`, each once, in the order of SOURCES."""
    kinds = {_kind(source) for source in sources}
    return [kind for kind in SOURCES if kind in kinds]


def _kind(source: str) -> str:
    if source == "library":
        return "library"
    if source.startswith(COLLECTION):
        return "collection"
    path = "://" not in source and ({"/", "\\"} & set(source) or source.startswith(("~", ".")))
    return "documents" if path or source == "documents" else "web"


def write(db: sa.Connection, report: Report, number: int) -> None:
    """Write the summary of one version of a run, replacing an earlier one; 0 is the state of an unfinished run."""
    counts = Counter(v.label for v in report.verdicts)
    claims = [text for c in report.claims for text in (c.text, c.enriched) if text]
    sources = report.settings.get("sources", ())
    row = {
        "run_id": report.id,
        "number": number,
        "claims": len(report.claims),
        "verdicts": json.dumps({label: counts[label] for label in LABELS if counts[label]}),
        "sources": json.dumps(source_kinds(map(str, sources) if isinstance(sources, Sequence) else ())),
        "search_text": searchable(report.question, report.answer, *claims),
    }
    s = t.run_summaries.c
    db.execute(t.run_summaries.delete().where(s.run_id == report.id, s.number == number))
    db.execute(t.run_summaries.insert().values(**row))


def forget_unfinished(db: sa.Connection, run_id: str) -> None:
    """Delete what was kept of a run while it went on."""
    for table in (t.unfinished_runs, t.run_documents):
        db.execute(table.delete().where(table.c.run_id == run_id))
    s = t.run_summaries.c
    db.execute(t.run_summaries.delete().where(s.run_id == run_id, s.number == 0))


def forget(db: sa.Connection, run_id: str) -> None:
    """Delete all summaries of a run, and what was kept while it went on."""
    forget_unfinished(db, run_id)
    db.execute(t.run_summaries.delete().where(t.run_summaries.c.run_id == run_id))

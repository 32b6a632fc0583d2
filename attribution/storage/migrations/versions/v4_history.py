"""Runs get a title, tags and a note, can be deleted with a way back, and are kept while they go on."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from typing import Any

import sqlalchemy as sa
from alembic import op

revision, down_revision = "4", "3"

SUMMARIES = sa.table(
    "run_summaries", *(sa.column(n) for n in ("run_id", "number", "claims", "verdicts", "sources", "search_text"))
)


def upgrade() -> None:
    def text(name: str, default: str = "", length: int | None = None) -> sa.Column[str]:
        kind = sa.String(length) if length else sa.Text()
        return sa.Column(name, kind, nullable=False, server_default=default)

    def key(name: str, kind: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
        return sa.Column(name, kind, primary_key=True)

    run_id, number = sa.String(16), sa.Integer()
    for column in (text("title"), text("tags", "[]"), text("note"), text("search_text"), text("deleted_at", "", 32)):
        op.add_column("runs", column)
    op.create_index("runs_of_owner", "runs", ["owner", "created_at"])
    op.create_table(
        "run_summaries",
        key("run_id", run_id),
        key("number", number),
        sa.Column("claims", sa.Integer(), nullable=False),
        text("verdicts"),
        text("sources"),
        text("search_text"),
    )
    op.create_table("unfinished_runs", key("run_id", run_id), text("saved_at", "", 32), text("report"))
    op.create_table(
        "run_documents",
        key("run_id", run_id),
        key("number", number),
        text("name"),
        text("media_type"),
        sa.Column("content", sa.LargeBinary(), nullable=False),
    )
    _fill()


def _fill() -> None:
    """The summaries of the runs that are there."""
    db = op.get_bind()
    for run_id, question, answer, settings in db.execute(
        sa.text("SELECT id, question, answer, settings FROM runs WHERE version = 0")
    ).all():
        inputs = {"question": question, "answer": answer, "settings": json.loads(settings or "{}")}
        db.execute(SUMMARIES.insert(), [_summary(run_id, 0, inputs)])
    for run_id, number, body in db.execute(sa.text("SELECT run_id, number, report FROM run_versions")):
        db.execute(SUMMARIES.insert(), [_summary(run_id, number, json.loads(body))])


def _summary(run_id: str, number: int, report: dict[str, Any]) -> dict[str, Any]:
    claims = report.get("claims", [])
    words = [report["question"], report["answer"]]
    words += [words for c in claims for words in (c["text"], c.get("enriched")) if words]
    return {
        "run_id": run_id,
        "number": number,
        "claims": len(claims),
        "verdicts": json.dumps(Counter(v["label"] for v in report.get("verdicts", []))),
        "sources": json.dumps(sorted({_kind(s) for s in report.get("settings", {}).get("sources", [])})),
        "search_text": " ".join(unicodedata.normalize("NFKC", "\n".join(words)).casefold().split()),
    }


def _kind(source: str) -> str:
    if source == "library":
        return "library"
    if source.startswith("collection:"):
        return "collection"
    if source == "documents" or ("://" not in source and ({"/", "\\"} & set(source) or source[:1] in ("~", "."))):
        return "documents"
    return "web"

"""Runs keep every version of their report, belong to someone, and record what they use of the other tables."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision, down_revision = "3", "2"

USES = sa.table("uses", sa.column("kind"), sa.column("key"), sa.column("owner_id"))


def upgrade() -> None:
    def text(name: str, length: int | None = None) -> sa.Column[str]:
        return sa.Column(name, sa.String(length) if length else sa.Text(), nullable=False, server_default="")

    def number(name: str, primary_key: bool = False) -> sa.Column[int]:
        return sa.Column(name, sa.Integer(), primary_key=primary_key, nullable=False, server_default="0")

    def key(name: str, kind: sa.types.TypeEngine[str]) -> sa.Column[str]:
        return sa.Column(name, kind, primary_key=True)

    short = sa.String(16)
    op.create_table(
        "run_versions",
        key("run_id", short),
        number("number", primary_key=True),
        number("parent"),
        text("created_at", 32),
        text("claim_id"),
        text("report"),
        text("provenance"),
    )
    op.create_table("results", key("kind", short), key("id", short), text("created_at", 32), text("body"))
    op.create_table("uses", key("kind", short), key("key", sa.Text()), key("owner_id", short))
    op.create_index("ix_uses_owner_id", "uses", ["owner_id"])
    op.execute(
        "INSERT INTO run_versions (run_id, number, parent, created_at, claim_id, report, provenance) "
        "SELECT id, 1, 0, created_at, '', report, coalesce(body, '') FROM runs LEFT JOIN provenance ON run_id = id"
    )
    with op.batch_alter_table("runs") as runs:
        runs.drop_column("report")
        for column in (text("answer"), text("settings"), number("version"), text("owner", 64)):
            runs.add_column(column)
        runs.add_column(sa.Column("private", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.drop_table("provenance")
    _fill()


def _fill() -> None:
    """The inputs and the uses of the runs that are there."""
    db = op.get_bind()
    for run_id, body, trail in db.execute(sa.text("SELECT run_id, report, provenance FROM run_versions")).all():
        report, provenance = json.loads(body), json.loads(trail or "{}")
        inputs = {"answer": report["answer"], "settings": json.dumps(report["settings"]), "id": run_id}
        db.execute(
            sa.text("UPDATE runs SET answer = :answer, settings = :settings, version = 1 WHERE id = :id"), inputs
        )
        used = {("page", page["id"]) for page in report["pages"]}
        used |= {("vector", vector) for vector in provenance.get("vectors", ())}
        used |= {("judgement", judgement) for judgement in provenance.get("judgements", ())}
        if used:
            db.execute(USES.insert(), [{"kind": kind, "key": key, "owner_id": run_id} for kind, key in used])

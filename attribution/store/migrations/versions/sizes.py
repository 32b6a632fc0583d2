"""Sizes of rows, and when those of caches were last used."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from attribution.store.schema import metadata

revision, down_revision = "sizes", "initial"

CACHES = ("pages", "searches", "vectors", "judgements", "replies")


def upgrade() -> None:
    db = op.get_bind()
    for name in ("runs", "results", *CACHES):
        present = {column["name"] for column in sa.inspect(db).get_columns(name)}
        if "size" in present:  # a new database
            return
        op.add_column(name, sa.Column("size", sa.Integer, nullable=False, server_default="0"))
    for name in CACHES:
        used_on = sa.Column("used_on", sa.String(10), nullable=False, server_default="")
        op.add_column(name, used_on)
        for index in metadata.tables[name].indexes:
            index.create(db, checkfirst=True)
    versions = sa.table("run_versions", sa.column("run_id"), sa.column("report"))
    saved = sa.select(sa.func.sum(sa.func.length(versions.c.report)))
    runs, results = metadata.tables["runs"], metadata.tables["results"]
    of_run = saved.where(versions.c.run_id == runs.c.id).scalar_subquery()
    db.execute(runs.update().values(size=sa.func.coalesce(of_run, 0)))
    db.execute(results.update().values(size=sa.func.length(results.c.body)))

"""Sizes of runs and results, days on which caches were used, and other new columns."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from attribution.store.schema import metadata, results, run_versions, runs

revision, down_revision = "sizes", "initial"


def upgrade() -> None:
    db = op.get_bind()
    if "size" in _columns(db, "runs"):  # a new database
        return
    for cache in ("searches", "vectors"):  # have other columns now, and are made again
        op.drop_table(cache)
    metadata.create_all(db)
    for table in metadata.sorted_tables:
        present = _columns(db, table.name)
        for column in table.columns:
            if column.name not in present:
                start = "0" if isinstance(column.type, sa.Integer) else ""
                added = sa.Column(column.name, column.type, nullable=False, server_default=start)
                op.add_column(table.name, added)
        for index in table.indexes:
            index.create(db, checkfirst=True)
    saved = sa.select(sa.func.sum(sa.func.length(run_versions.c.report)))
    of_run = saved.where(run_versions.c.run_id == runs.c.id).scalar_subquery()
    db.execute(runs.update().values(size=sa.func.coalesce(of_run, 0)))
    db.execute(results.update().values(size=sa.func.length(results.c.body)))


def _columns(db: sa.Connection, table: str) -> set[str]:
    return {str(column["name"]) for column in sa.inspect(db).get_columns(table)}

"""Sizes of runs and results, days on which caches were used, and what else the tables have since."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from attribution.store.schema import metadata

revision, down_revision = "sizes", "initial"


def upgrade() -> None:
    db = op.get_bind()
    metadata.create_all(db)
    is_new = True
    for table in metadata.sorted_tables:
        present = {column["name"] for column in sa.inspect(db).get_columns(table.name)}
        for column in table.columns:
            if column.name in present:
                continue
            is_new = False
            start = "0" if isinstance(column.type, sa.Integer) else ""
            added = sa.Column(column.name, column.type, nullable=False, server_default=start)
            op.add_column(table.name, added)
        for index in table.indexes:
            index.create(db, checkfirst=True)
    if not is_new:
        _measure(db)


def _measure(db: sa.Connection) -> None:
    versions, runs, results = (metadata.tables[n] for n in ("run_versions", "runs", "results"))
    saved = sa.select(sa.func.sum(sa.func.length(versions.c.report)))
    of_run = saved.where(versions.c.run_id == runs.c.id).scalar_subquery()
    db.execute(runs.update().values(size=sa.func.coalesce(of_run, 0)))
    db.execute(results.update().values(size=sa.func.length(results.c.body)))

"""Make the tables of a database, or bring those of the version before this one to the schema."""

from __future__ import annotations

from contextlib import suppress

import sqlalchemy as sa
from pydantic import ValidationError

from attribution.errors import StoreError
from attribution.store import schema as t
from attribution.store.cache import cached_row
from attribution.store.database import Database
from attribution.store.runs import summary
from attribution.types import Report

REVISION = "one_row"  # of the tables of `schema`
UPGRADED = ("initial", "sizes")  # revisions that are upgraded
GONE = (  # tables whose rows stand elsewhere now, or are made again
    "pages",
    "frozen_pages",
    "replies",
    "searches",
    "vectors",
    "judgements",
    "run_summaries",
    "unfinished_runs",
    "queue",
)


def prepare(database: Database) -> None:
    """Make the tables of a new database, or upgrade older ones.

    Raises:
        StoreError: It was made by another version.
    """
    with database.engine.connect() as db:
        if _revision(db) == REVISION:
            return
    with database.transaction() as db:
        revision = _revision(db)
        if revision == REVISION:  # another process did it
            return
        if revision in UPGRADED:
            _upgrade(db)
        elif revision is None and not sa.inspect(db).has_table("runs"):
            t.metadata.create_all(db)
        else:
            raise StoreError(
                f"the database has schema {revision or 'none'}, this version reads {REVISION}: set "
                "ATTRIBUTION_DATABASE_URL to another database, or use the version of the explorer "
                "that made this one"
            )
        db.execute(t.revision.delete())
        db.execute(t.revision.insert().values(version_num=REVISION))


def _revision(db: sa.Connection) -> str | None:
    """Return the revision of the tables; None in a new database."""
    if not sa.inspect(db).has_table(t.revision.name):
        return None
    return db.execute(sa.select(t.revision.c.version_num)).scalar()


def _upgrade(db: sa.Connection) -> None:
    """Keep runs, results and their pages, and replies of language models."""
    t.metadata.create_all(db)
    for table in (t.runs, t.results):
        _add_columns(db, table)
    for name in ("claim_id", "edit"):
        db.exec_driver_sql(f"ALTER TABLE run_versions DROP COLUMN {name}")
    db.exec_driver_sql(
        "INSERT INTO run_versions (run_id, number, parent, created_at, report, provenance) "
        "SELECT run_id, 0, 0, saved_at, report, '' FROM unfinished_runs"
    )
    db.exec_driver_sql("UPDATE results SET size = length(body)")
    _move_cache(db)
    _summarise(db)
    _move_documents(db)
    for name in GONE:
        db.exec_driver_sql(f"DROP TABLE IF EXISTS {name}")


def _add_columns(db: sa.Connection, table: sa.Table) -> None:
    present = {column["name"] for column in sa.inspect(db).get_columns(table.name)}
    for column in table.columns:
        if column.name not in present:
            definition = sa.schema.CreateColumn(column).compile(dialect=db.dialect)
            db.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {definition}")


def _move_cache(db: sa.Connection) -> None:
    """Move pages, and replies of language models."""
    rows = db.exec_driver_sql(
        "SELECT 'page' AS kind, id AS key, url, fetched_at, body FROM pages UNION ALL "
        "SELECT 'page', id, '', '', body FROM frozen_pages "
        "WHERE id NOT IN (SELECT id FROM pages) UNION ALL "
        "SELECT 'reply', key, '', '', body FROM replies"
    )
    for row in rows:
        moved = cached_row(row.kind, row.key, row.body.encode(), row.url, row.fetched_at)
        db.execute(t.cached.insert().values(moved))


def _summarise(db: sa.Connection) -> None:
    """Note what lists show of each run, and its size."""
    run, version = t.runs.c, t.run_versions.c
    is_shown = (version.run_id == run.id, version.number == run.version)
    for row in db.execute(sa.select(run.id, version.report).where(*is_shown)).all():
        values: dict[str, object] = {"size": len(row.report)}
        with suppress(ValidationError):  # it can't be opened either
            values |= summary(Report.model_validate_json(row.report))
        db.execute(t.runs.update().where(run.id == row.id).values(values))


def _move_documents(db: sa.Connection) -> None:
    is_of_run = t.results.c.kind == "documents"
    for row in db.execute(t.results.select().where(is_of_run)).all():
        if row.body in ("shared", "hidden"):
            values = {"documents": row.body}
            db.execute(t.runs.update().where(t.runs.c.id == row.id).values(values))
    db.execute(t.results.delete().where(is_of_run))

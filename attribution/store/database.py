"""The tables of one SQL database, and how it is opened and filled. Safe to use from several threads
and processes.

A change to the tables needs another `REVISION`.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Self, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError

from attribution.errors import BadInput, StoreError
from attribution.server_settings import server_number

REVISION = "one_column_for_lists"

metadata = sa.MetaData()


def _of(name: str, data_type: type = sa.Text, **options: Any) -> sa.Column[Any]:
    """Return a column that is never null."""
    return sa.Column(name, data_type, nullable=False, **options)


def _key(name: str, data_type: type = sa.Text, **options: Any) -> sa.Column[Any]:
    """Return a column of the primary key."""
    return _of(name, data_type, primary_key=True, **options)


def _number(name: str) -> sa.Column[Any]:
    """Return a column of a number that is 0 at first."""
    return _of(name, sa.Integer, default=0)


def _text(name: str) -> sa.Column[Any]:
    """Return a column of a text that is empty at first."""
    return _of(name, default="")


def _table(name: str, *columns: sa.schema.SchemaItem, **options: Any) -> sa.Table:
    return sa.Table(name, metadata, *columns, **options)


revision = _table("alembic_version", _key("version_num"))
cached = _table(  # pages, searches, and outputs of models; what was used longest ago is deleted
    "cached",
    _key("kind"),
    _key("key"),
    _of("address", index=True),  # of a page: canonical; empty: never used as a download
    _of("made_at"),
    _of("body", sa.LargeBinary),  # JSON or text in UTF-8, or a vector of float32
    _of("used_on"),  # the day
    _of("size", sa.Integer),  # bytes
    sa.Index("last_uses", "kind", "used_on", "size"),
)
uses = _table(  # what a run or result needs of the cache, so that it can be deleted with it
    "uses",
    _key("kind"),
    _key("key"),
    _key("owner_id", index=True),
)
runs = _table(
    "runs",
    _key("id"),
    _of("created_at"),
    _of("question"),
    _of("answer"),
    _number("version"),  # the one that is shown; 0: it isn't finished
    _of("owner"),  # SHA-256 of a token; empty: no one
    _of("private", sa.Boolean, default=False),
    _text("documents"),  # who else reads them: empty: nobody; shared; hidden: the owner neither
    _text("title"),  # given by its owner
    _of("tags", default="[]"),  # JSON, a sorted list
    _text("note"),
    _text("search_text"),  # title, tags and note, see runs.searchable
    _number("size"),  # characters, with its pages
    # What a list shows of the version, so that no report has to be parsed for it.
    _number("checked"),  # claims compared with the sources
    _number("reviewed"),  # claims assessed by the analyst
    _of("listed", default="{}"),  # JSON: claims, verdicts and sources, see runs.summary
    _text("claims_text"),  # question, answer and claims, see runs.searchable
    # The queue of waiting runs.
    _number("queued"),  # its place in the order; 0: it doesn't wait
    _number("attempts"),  # how often it was begun
    _text("problem"),  # why the run could not be finished; empty: it waits
    sa.Index("runs_of_owner", "owner", "created_at"),
)
run_versions = _table(
    "run_versions",
    _key("run_id"),
    _key("number", sa.Integer),  # 0: the state of a run that is in progress or was interrupted
    _of("report"),
    _of("provenance"),
)
run_documents = _table(  # the user's own, until the run is finished
    "run_documents",
    _key("run_id"),
    _key("number", sa.Integer),
    _of("name"),
    _of("media_type"),
    _of("content", sa.LargeBinary),
)
owners = _table(  # the address that each last saved from, both as SHA-256
    "owners",
    _key("owner"),
    _of("address", index=True),
)
results = _table(  # comparisons and the like, as JSON
    "results",
    _key("kind"),
    _key("id"),
    _of("body"),
    _of("owner"),  # as of runs; of what is saved under a run's id, the run's
    _number("size"),
)
collections = _table(  # each has an FTS5 table, see attribution/library/collection_store.py
    "collections",
    _key("id", sa.Integer),
    _of("name", unique=True),
    _of("created_at"),
    sqlite_autoincrement=True,
)
documents = _table(
    "documents",
    _key("id", sa.Integer),
    _of("collection_id", sa.Integer),
    _of("name"),
    _of("origin"),  # path, address or upload: adding it again replaces the document
    _of("sha256"),  # of the text
    _of("source_sha256"),  # of the bytes; empty for a web page
    _of("characters", sa.Integer),
    _of("added_at"),
    _of("about"),  # the Page as JSON, without its text
    _of("title"),
    _of("text"),
    sa.UniqueConstraint("collection_id", "name"),
    sa.UniqueConstraint("collection_id", "sha256"),
    sa.UniqueConstraint("collection_id", "origin"),
    sa.Index("documents_facts", "collection_id", "characters"),
    sqlite_autoincrement=True,  # the id of a removed document is never given to another
)
annotation_projects = _table(
    "annotation_projects",
    _key("id"),
    _of("body"),  # the Project as JSON
)
annotation_events = _table(  # who takes part and which stage was begun; rows are only ever added
    "annotation_events",
    _key("project_id"),
    _key("id"),
    _of("body"),  # the Member or StageChange as JSON
)
annotation_tasks = _table(
    "annotation_tasks",
    _key("id"),
    _of("project_id", index=True),
    _of("body"),  # the Task as JSON, without its source
    _of("source"),
)
annotation_judgements = _table(  # people's judgements; rows are only ever added
    "annotation_judgements",
    _key("id"),
    _of("project_id", index=True),
    _of("task_id"),
    _of("annotator"),
    _of("role"),
    _of("revision", sa.Integer),
    _of("made_at"),
    _of("answer"),  # to both questions; empty: not finished
    _of("body"),  # the Judgement as JSON
    sa.UniqueConstraint("task_id", "annotator", "role", "revision"),
)


LEAST_BYTES = 1_000_000  # what even an empty collection or annotation project counts for
LOCK_TIMEOUT = 30  # seconds that SQLite waits for another process's lock
BATCH = 500  # keys in one query: SQLite limits the number of parameters

T = TypeVar("T")
Row = sa.Row[*tuple[Any, ...]]


def least_size(table: sa.Table) -> sa.Select[Any]:
    """Return a query for what the rows of a table count for at least, see `check_space`."""
    return sa.select(sa.func.count() * LEAST_BYTES).select_from(table)


def now() -> str:
    """Return the time as stored in the database: ISO 8601, UTC, in seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Database:
    """A database. It is cheap to open: connections are shared within the process."""

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine

    @classmethod
    def open(cls, url: str) -> Self:
        """Open the database, and make its tables if it is new.

        Raises:
            StoreError: That is not possible, or another version made the database. Later uses
                raise it too: database errors reach callers in no other form.
        """
        try:
            parsed = sa.make_url(url)
            if parsed.get_backend_name() == "sqlite":
                with suppress(OSError):  # the first use says that the file cannot be made
                    Path(str(parsed.database)).parent.mkdir(parents=True, exist_ok=True)
            database = cls(_engine(url))
        except (ArgumentError, ImportError, TypeError) as error:
            raise StoreError(
                "ATTRIBUTION_DATABASE_URL cannot be used: expected sqlite:///FILE or the address "
                'of a PostgreSQL database, for which `pip install "psycopg[binary]"` is needed',
                error,
            ) from None
        database._prepare()
        return database

    def _prepare(self) -> None:
        """Make the tables of a new database. Raises StoreError if another version made it."""
        with self.engine.connect() as db:
            if _revision(db) == REVISION:
                return
        with self.transaction() as db:
            found = _revision(db)
            if found is None and not sa.inspect(db).has_table("runs"):
                metadata.create_all(db)
                db.execute(revision.insert().values(version_num=REVISION))
            elif found != REVISION:
                raise StoreError(
                    f"the database has schema {found or 'none'}, this version reads {REVISION}: "
                    "set ATTRIBUTION_DATABASE_URL to another database, or use the version of the "
                    "explorer that made this one"
                )

    def all(self, query: sa.Select[*tuple[Any, ...]]) -> Sequence[Row]:
        """Return the rows of a query."""
        with self.engine.connect() as db:
            return db.execute(query).all()

    def scalar(self, query: sa.Select[T]) -> T | None:
        """Return the first column of a query's first row; None if there is no row."""
        with self.engine.connect() as db:
            return db.execute(query).scalar()

    @contextmanager
    def transaction(self) -> Iterator[sa.Connection]:
        """Begin a transaction with SQLite's write lock: one that reads first may be refused when it
        writes.
        """
        with self.engine.begin() as db:
            if db.dialect.name == "sqlite":
                db.exec_driver_sql("BEGIN IMMEDIATE")
            yield db

    def check_disk(self) -> None:
        """Raise StoreError if hardly any space is left on the disk of a SQLite database."""
        if self.engine.dialect.name != "sqlite":
            return
        folder = Path(str(self.engine.url.database)).parent
        free = shutil.disk_usage(folder).free // 1_000_000
        least = server_number("ATTRIBUTION_FREE_MB")
        if free < least:
            raise StoreError(
                f"the disk has {free:,} MB left, and {least:,} (ATTRIBUTION_FREE_MB) are kept "
                "free: free some space"
            )

    def check_space(self, whose: str, variable: str, *sizes: sa.Select[Any]) -> None:
        """Check how much of the disk something takes.

        Args:
            whose: What takes it, such as "collections".
            variable: The environment variable with the most megabytes that it may take.
            sizes: Queries for the characters or bytes of its parts.

        Raises:
            BadInput: It takes as much as it may.
            StoreError: The disk is nearly full.
        """
        self.check_disk()
        total = sum(int(self.scalar(size) or 0) for size in sizes)
        taken = total // 1_000_000
        limit = server_number(variable)
        if taken >= limit:
            raise BadInput(
                f"{whose} take {taken:,} MB of this server's disk, and may take {limit:,}: "
                f"delete some, or ask its operator for more ({variable})"
            )

    def insert(
        self,
        table: sa.Table,
        rows: Sequence[Mapping[str, object]],
        replace: bool = False,
        db: sa.Connection | None = None,
    ) -> None:
        """Insert rows. Writers of one key never clash.

        Args:
            table: The table.
            rows: Values by column.
            replace: Replace rows with the same key; by default they stay as they are.
            db: The transaction to insert them in; by default one of their own.
        """
        if not rows:
            return
        dialect = sqlite if self.engine.dialect.name == "sqlite" else postgresql
        insert = dialect.insert(table)
        if replace:
            others = {c.name: insert.excluded[c.name] for c in table.c if not c.primary_key}
            insert = insert.on_conflict_do_update(
                index_elements=list(table.primary_key), set_=others
            )
        else:
            insert = insert.on_conflict_do_nothing()
        with nullcontext(db) if db else self.engine.begin() as connection:
            connection.execute(insert, list(rows))

    def rows(
        self, column: sa.Column[str], keys: Sequence[str], *conditions: sa.ColumnElement[bool]
    ) -> dict[str, Row]:
        """Return the rows of a table by the value of a column; unknown values are left out."""
        rows: dict[str, Row] = {}
        for start in range(0, len(keys), BATCH):
            is_wanted = column.in_(keys[start : start + BATCH])
            query = sa.select(column.table).where(is_wanted, *conditions)
            rows |= {getattr(row, column.name): row for row in self.all(query)}
        return rows


def _revision(db: sa.Connection) -> str | None:
    """Return the revision of the tables; None in a new database."""
    if not sa.inspect(db).has_table(revision.name):
        return None
    return db.execute(sa.select(revision.c.version_num)).scalar()


@cache
def _engine(url: str) -> sa.Engine:
    engine = sa.create_engine(url, max_overflow=-1)  # no thread waits for a connection

    @sa.event.listens_for(engine, "handle_error")
    def translate(context: sa.ExceptionContext) -> StoreError | None:
        return store_error(context.original_exception, engine)

    if engine.dialect.name == "sqlite":

        @sa.event.listens_for(engine, "connect")
        def configure(connection: sqlite3.Connection, _record: object) -> None:
            connection.execute(f"PRAGMA busy_timeout={1000 * LOCK_TIMEOUT}")
            with suppress(sqlite3.OperationalError):  # another process is setting it
                connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("PRAGMA secure_delete=ON")  # deleted text leaves the file

    return engine


def store_error(error: BaseException, engine: sa.Engine) -> StoreError | None:
    """Explain a database error with its remedy; None for an error of the statement, such as a
    constraint.
    """
    driver = engine.dialect.loaded_dbapi
    is_of_server = isinstance(error, driver.OperationalError | driver.InternalError)
    if not is_of_server and type(error) is not driver.DatabaseError:
        return None
    place = engine.url.set(password=None).render_as_string()
    reason = str(error).partition("\n")[0][:200]
    message = (
        f"the database {place} cannot be used ({reason}): check its disk, its rights and, for "
        "PostgreSQL, its server, or set ATTRIBUTION_DATABASE_URL to another database"
    )
    return StoreError(message, error, f" {place}", f" ({reason})")

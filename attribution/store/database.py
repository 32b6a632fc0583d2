"""Open and fill one SQL database. Safe to use from several threads and processes."""

from __future__ import annotations

import shutil
import sqlite3
import time
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

LOCK_TIMEOUT = 30  # seconds that SQLite waits for another process's lock
MEMORY = (None, "", ":memory:")  # names of SQLite databases without a file
BATCH = 500  # keys in one query: SQLite limits the number of parameters

OTHER = "or set ATTRIBUTION_DATABASE_URL to another database"
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
PROBLEMS = {  # by SQLite's primary result code: what is wrong with the database, and what to do
    sqlite3.SQLITE_FULL: "has no space left: free some on its disk, {other}",
    **dict.fromkeys(
        LOCKED, f"was locked by another process for {LOCK_TIMEOUT} s: wait for that one or end it"
    ),
    **dict.fromkeys(DAMAGED, "is damaged or no SQLite database: move it away, {other}"),
}
UNUSABLE = "cannot be used ({reason}): check that it and its folder are writable, {other}"

T = TypeVar("T")
Row = sa.Row[*tuple[Any, ...]]


def now() -> str:
    """Return the time as stored in the database: ISO 8601, UTC, in seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Database:
    """A database. It is cheap to open: connections are shared within the process."""

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine

    @classmethod
    def open(cls, url: str) -> Self:
        """Open the database; `Store.open` makes its tables.

        Raises:
            StoreError: That is not possible. Later uses raise it too: database errors reach callers
                in no other form.
        """
        try:
            parsed = sa.make_url(url)
            if parsed.get_backend_name() == "sqlite" and parsed.database not in MEMORY:
                with suppress(OSError):  # the first use says that the file cannot be made
                    Path(str(parsed.database)).parent.mkdir(parents=True, exist_ok=True)
            return cls(_engine(url))
        except (ArgumentError, ImportError) as error:
            raise StoreError(
                "ATTRIBUTION_DATABASE_URL cannot be used: expected sqlite:///FILE or the address "
                'of a PostgreSQL database, for which `pip install "psycopg[binary]"` is needed',
                error,
            ) from None

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
        path = self.engine.url.database
        if self.engine.dialect.name != "sqlite" or path in MEMORY:
            return
        free = shutil.disk_usage(Path(str(path)).parent).free // 1_000_000
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

    def rows(self, table: sa.Table, keys: Sequence[str]) -> dict[str, Row]:
        """Return the rows of a table with one key column, by key; unknown keys are left out."""
        (key,) = table.primary_key
        rows: dict[str, Row] = {}
        for some in in_batches(keys):
            query = sa.select(table).where(key.in_(some))
            rows |= {getattr(row, key.name): row for row in self.all(query)}
        return rows


def in_batches(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield as many keys at a time as one query may have."""
    for start in range(0, len(keys), BATCH):
        yield keys[start : start + BATCH]


@cache
def _engine(url: str) -> sa.Engine:
    in_file = sa.make_url(url).database not in MEMORY
    options = {"max_overflow": -1} if in_file else {}  # no thread waits for a connection
    engine = sa.create_engine(url, **options)

    @sa.event.listens_for(engine, "handle_error")
    def translate(context: sa.ExceptionContext) -> StoreError | None:
        return store_error(context.original_exception, engine)

    if engine.dialect.name == "sqlite":

        @sa.event.listens_for(engine, "connect")
        def configure(connection: sqlite3.Connection, _record: object) -> None:
            connection.execute(f"PRAGMA busy_timeout={1000 * LOCK_TIMEOUT}")
            use_write_ahead_log(connection)
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
    reason = str(error).partition("\n")[0][:200]
    if engine.dialect.name == "sqlite":
        problem = PROBLEMS.get(_primary_code(error), UNUSABLE)
        place = engine.url.database
    else:
        problem = "cannot be used ({reason}): check that its server runs and has space, {other}"
        place = engine.url.set(password=None).render_as_string()
    message = f"the database {place} {problem.format(reason=reason, other=OTHER)}"
    return StoreError(message, error, f" {place}", f" ({reason})")


def _primary_code(error: BaseException) -> int:
    """Return SQLite's primary result code, without its extension; 0 if there is none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Set the journal mode. If two processes do so at once on a new file, SQLite refuses one
    without waiting.
    """
    deadline = time.monotonic() + LOCK_TIMEOUT
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if _primary_code(error) not in LOCKED or time.monotonic() > deadline:
                raise
            time.sleep(0.02)

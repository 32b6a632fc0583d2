"""Pages, searches, vectors, judgements and runs, in SQLite or another SQL database.

Everything but runs is a cache keyed by content, model and version. Safe to use from several threads and processes.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from attribution.errors import StoreError
from attribution.provenance import Provenance
from attribution.text.urls import canonical
from attribution.types import Judgement, Page, Probabilities, Report, SearchHit

EVER = 36_500.0  # days
PATIENCE = 10  # seconds to wait for another process's lock
SCHEMA = 1  # raised with every change of a table; MIGRATIONS[n] leads from n to n + 1
MIGRATIONS: dict[int, tuple[str, ...]] = {}

_tables = sa.MetaData()
_meta = sa.Table("meta", _tables, sa.Column("schema_version", sa.Integer, nullable=False))
_pages = sa.Table(
    "pages",
    _tables,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("url", sa.Text, nullable=False, index=True),  # canonical; older rows: as the page was asked for
    sa.Column("fetched_at", sa.String(32), nullable=False),
    sa.Column("body", sa.Text, nullable=False),  # the Page as JSON
)
_searches = sa.Table(
    "searches",
    _tables,
    sa.Column("searcher", sa.String(64), primary_key=True),
    sa.Column("query", sa.String(1024), primary_key=True),
    sa.Column("k", sa.Integer, primary_key=True),
    sa.Column("made_at", sa.String(32), nullable=False),
    sa.Column("hits", sa.Text, nullable=False),
)
_vectors = sa.Table(
    "vectors",
    _tables,
    sa.Column("key", sa.String(16), primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),
)
_judgements = sa.Table(
    "judgements", _tables, sa.Column("key", sa.String(16), primary_key=True), sa.Column("body", sa.Text, nullable=False)
)
_replies = sa.Table(  # of language models
    "replies", _tables, sa.Column("key", sa.String(16), primary_key=True), sa.Column("body", sa.Text, nullable=False)
)
_runs = sa.Table(
    "runs",
    _tables,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("created_at", sa.String(32), nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("report", sa.Text, nullable=False),
)

_trails = sa.Table(
    "trails", _tables, sa.Column("run_id", sa.String(16), primary_key=True), sa.Column("body", sa.Text, nullable=False)
)
# pages of imported and replayed runs: shown with their run, never taken for a page that was fetched here
_frozen_pages = sa.Table(
    "frozen_pages",
    _tables,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("body", sa.Text, nullable=False),
)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _since(days: float) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")


@cache
def _engine(url: str) -> sa.Engine:
    engine = sa.create_engine(url)
    if engine.dialect.name == "sqlite":

        @sa.event.listens_for(engine, "connect")
        def _pragmas(connection: Any, _record: Any) -> None:
            connection.execute(f"PRAGMA busy_timeout={1000 * PATIENCE}")
            _write_ahead(connection)
            connection.execute("PRAGMA synchronous=NORMAL")

    return engine


def _write_ahead(connection: Any) -> None:
    """Two processes that change a new file's mode at once: SQLite refuses one of them without waiting."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


class Rates(NamedTuple):
    """Seconds that one of each takes; None where too little was measured."""

    pair: float | None = None  # judged
    page: float | None = None  # searched for and downloaded
    prompt: float | None = None  # answered by a language model


def create(engine: sa.Engine, tables: sa.MetaData) -> None:
    """Make the tables that are not there yet; two processes that start at once do not clash."""
    if set(tables.tables) <= set(sa.inspect(engine).get_table_names()):
        return
    with engine.begin() as db:
        lock(db)
        tables.create_all(db)


def lock(db: sa.Connection) -> None:
    """Wait for the only writer there is in SQLite: a transaction that reads first may be refused when it writes."""
    if db.dialect.name == "sqlite":
        db.exec_driver_sql("BEGIN IMMEDIATE")


class Store:
    """One database. Cheap to open: engines are shared within the process."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    @classmethod
    def open(cls, url: str) -> Store:
        """Open, make or migrate the database; StoreError says what stands in the way."""
        try:
            parsed = sa.make_url(url)
            if parsed.get_backend_name() == "sqlite" and parsed.database not in (None, "", ":memory:"):
                Path(str(parsed.database)).parent.mkdir(parents=True, exist_ok=True)
            store = cls(_engine(url))
            store._migrate()
        except (SQLAlchemyError, OSError, ImportError) as error:
            raise StoreError(
                f"the database cannot be opened ({type(error).__name__}): "
                "check ATTRIBUTION_DATABASE_URL and that its folder is writable"
            ) from error
        return store

    def close(self) -> None:
        """Give connections back; the store opens new ones when it is used again."""
        self._engine.dispose()

    @property
    def engine(self) -> sa.Engine:
        """For the tables of document_store.py, which lie in the same database."""
        return self._engine

    def _migrate(self) -> None:
        create(self._engine, _tables)
        with self._engine.connect() as db:
            if db.execute(sa.select(_meta.c.schema_version)).scalar() == SCHEMA:
                return
        with self._engine.begin() as db:
            lock(db)  # of all threads and processes that open it now, one comes first
            version = db.execute(sa.select(_meta.c.schema_version)).scalar()
            if version is None:
                db.execute(_meta.insert().values(schema_version=SCHEMA))
                return
            if version > SCHEMA:
                raise StoreError(f"the database has schema {version}, this version knows {SCHEMA}: update the explorer")
            for step in range(version, SCHEMA):
                for statement in MIGRATIONS[step]:
                    db.execute(sa.text(statement))
            db.execute(_meta.update().values(schema_version=SCHEMA))

    def put(self, table: sa.Table, rows: Sequence[Mapping[str, Any]], replace: bool = False) -> None:
        """Insert; a row that is there already is kept, or replaced. Two writers of one key never clash."""
        if not rows:
            return
        import sqlalchemy.dialects.postgresql as postgresql
        import sqlalchemy.dialects.sqlite as sqlite

        insert: Any = (postgresql if self._engine.dialect.name == "postgresql" else sqlite).insert(table)
        if replace:
            others = {c.name: insert.excluded[c.name] for c in table.c if not c.primary_key}
            insert = insert.on_conflict_do_update(index_elements=list(table.primary_key), set_=others)
        else:
            insert = insert.on_conflict_do_nothing()
        with self._engine.begin() as db:
            db.execute(insert, list(rows))

    def _by_key(self, table: sa.Table, keys: Sequence[str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        with self._engine.connect() as db:
            for start in range(0, len(keys), 500):
                query = sa.select(table).where(table.c.key.in_(keys[start : start + 500]))
                found |= {row[0]: row[1] for row in db.execute(query)}
        return found

    # --- pages and searches ---

    def page(self, url: str, days: float) -> Page | None:
        """The newest copy of an address, however it was spelt, that is not older than so many days."""
        query = (
            sa.select(_pages.c.body)
            .where(_pages.c.url.in_({url, canonical(url)}), _pages.c.fetched_at >= _since(days))
            .order_by(_pages.c.fetched_at.desc())
        )
        with self._engine.connect() as db:
            body = db.execute(query.limit(1)).scalar()
        return Page.model_validate_json(body) if body else None

    def put_pages(self, pages: Sequence[Page]) -> None:
        rows = [
            {"id": p.id, "url": canonical(p.url), "fetched_at": p.fetched_at, "body": p.model_dump_json()}
            for p in pages
        ]
        self.put(_pages, rows, replace=True)

    def search(self, searcher: str, query: str, k: int, days: float) -> list[SearchHit] | None:
        """The hits of an earlier search of the web, or None."""
        chosen = sa.select(_searches.c.hits).where(
            _searches.c.searcher == searcher,
            _searches.c.query == query[:1024],
            _searches.c.k == k,
            _searches.c.made_at >= _since(days),
        )
        with self._engine.connect() as db:
            hits = db.execute(chosen).scalar()
        return None if hits is None else [SearchHit(**hit) for hit in json.loads(hits)]

    def put_search(self, searcher: str, query: str, k: int, hits: Sequence[SearchHit]) -> None:
        body = [
            {
                "url": h.url,
                "title": h.title,
                "rank": h.rank,
                "searcher": h.searcher,
                "query": h.query,
                "snippet": h.snippet,
            }
            for h in hits
        ]
        row = {"searcher": searcher, "query": query[:1024], "k": k, "made_at": now(), "hits": json.dumps(body)}
        self.put(_searches, [row], replace=True)

    # --- vectors and judgements ---

    def vectors(self, keys: Sequence[str]) -> dict[str, bytes]:
        """float32 bytes of the vectors that are known."""
        return self._by_key(_vectors, keys)

    def put_vectors(self, vectors: Mapping[str, bytes]) -> None:
        self.put(_vectors, [{"key": key, "data": data} for key, data in vectors.items()])

    def judgements(self, keys: Sequence[str]) -> dict[str, Judgement]:
        return {key: _judgement(json.loads(body)) for key, body in self._by_key(_judgements, keys).items()}

    def put_judgements(self, judgements: Mapping[str, Judgement]) -> None:
        def body(j: Judgement) -> str:
            return json.dumps({"p": j.probabilities.model_dump(), "sentence": j.sentence, "signals": j.signals})

        self.put(_judgements, [{"key": key, "body": body(j)} for key, j in judgements.items()])

    # --- replies of language models ---

    def reply(self, key: str) -> str | None:
        found: str | None = self._by_key(_replies, [key]).get(key)
        return found

    def put_reply(self, key: str, body: str) -> None:
        self.put(_replies, [{"key": key, "body": body}], replace=True)

    # --- runs ---

    def save_run(self, report: Report, provenance: Provenance | None = None, frozen: bool = False) -> None:
        """Keep a run; `frozen`: its pages come from a snapshot and must not serve other runs."""
        if frozen:
            self.put(_frozen_pages, [{"id": p.id, "body": p.model_dump_json()} for p in report.pages])
        else:
            self.put_pages(report.pages)
        if provenance is not None:
            self.put(_trails, [{"run_id": report.id, "body": provenance.model_dump_json()}], replace=True)
        row = {
            "id": report.id,
            "created_at": report.created_at,
            "question": report.question,
            "report": report.to_json(),
        }
        self.put(_runs, [row], replace=True)

    def rates(self, runs: int = 5) -> Rates:
        """What the last runs took, medians."""
        query = sa.select(_runs.c.report).order_by(_runs.c.created_at.desc()).limit(runs)
        with self._engine.connect() as db:
            made = [json.loads(body) for body in db.execute(query).scalars()]
        pairs, pages, prompts = [], [], []
        for report in made:
            times, usage = report.get("timings", {}), report.get("usage", {})
            if (judged := usage.get("pairs", 0) - usage.get("cached_pairs", 0)) >= 20:
                pairs.append(times.get("verify", 0.0) / judged)
            if usage.get("downloads", 0) >= 5:
                pages.append(times.get("gather", 0.0) / usage["downloads"])
            asked = list(usage.get("llm", {}).values())
            if (calls := sum(used["calls"] for used in asked)) >= 3:
                prompts.append(sum(used["seconds"] for used in asked) / calls)
        return Rates(*(median(measured) if measured else None for measured in (pairs, pages, prompts)))

    def load_run(self, run_id: str) -> Report | None:
        """A saved run with its pages' texts."""
        with self._engine.connect() as db:
            body = db.execute(sa.select(_runs.c.report).where(_runs.c.id == run_id)).scalar()
            if body is None:
                return None
            report = Report.model_validate_json(body)
            ids = [p.id for p in report.pages]
            texts = {
                i: Page.model_validate_json(b).text
                for table in (_frozen_pages, _pages)
                for i, b in db.execute(sa.select(table.c.id, table.c.body).where(table.c.id.in_(ids)))
            }
        pages = tuple(p.model_copy(update={"text": texts.get(p.id, "")}) for p in report.pages)
        return report.model_copy(update={"pages": pages})

    def provenance(self, run_id: str) -> Provenance | None:
        """How a saved run came by its evidence."""
        with self._engine.connect() as db:
            body = db.execute(sa.select(_trails.c.body).where(_trails.c.run_id == run_id)).scalar()
        return None if body is None else Provenance.model_validate_json(body)


def _judgement(body: Mapping[str, Any]) -> Judgement:
    start, end = body["sentence"]
    return Judgement(Probabilities(**body["p"]), (start, end), body["signals"])

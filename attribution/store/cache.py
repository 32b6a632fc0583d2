"""Cache pages, searches, vectors, judgements and replies of language models.

All but pages and searches are keyed by content, model and version. What a run or another saved
result uses of it is recorded, so that deleting one deletes what no other needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, Literal

import sqlalchemy as sa
from pydantic import TypeAdapter

from attribution.errors import StoreError
from attribution.server_settings import server_number
from attribution.store import database as t
from attribution.store.database import Database, Row, now
from attribution.text.urls import canonical
from attribution.types import Judgement, Page, Report, SearchHit

Kind = Literal["page", "search", "vector", "judgement", "reply"]
# What is stored as JSON. Pages have methods of their own, vectors are stored as they are.
JSON: dict[Kind, TypeAdapter[Any]] = {
    "search": TypeAdapter(list[SearchHit]),  # with their pages, where the engine gave the text
    "judgement": TypeAdapter(Judgement),
    "reply": TypeAdapter(str),
}
CACHED = t.cached.c
USE = t.uses.c
INSERTIONS = 1_000  # of this process, after which room is made
_insertions = count(1)


class Cache:
    """Lookups return what is stored and leave out the rest.

    Whatever is looked up or stored through one object counts as used by the run or result that is
    saved through it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._used: set[tuple[str, str]] = set()  # kinds and keys

    # --- pages ---

    def page(self, url: str, days: float) -> Page | None:
        """Return the newest copy of a page.

        Args:
            url: Its address, in any spelling.
            days: The greatest age.

        Returns:
            The page with its text; None if there is no such copy.
        """
        row = self._newest("page", CACHED.address == canonical(url), days)
        return Page.model_validate_json(row.body) if row else None

    def put_pages(self, pages: Sequence[Page], db: sa.Connection | None = None) -> None:
        """Store pages by their ids.

        Args:
            pages: Those without a text are left out: they are known by their ids alone.
            db: The transaction to store them in; by default one of their own.
        """
        self.use("page", [page.id for page in pages])
        rows = []
        for page in pages:
            if not page.text:
                continue
            row = _row("page", page.id, page.model_dump_json().encode())
            row["address"] = canonical(page.url)
            row["made_at"] = page.fetched_at
            rows.append(row)
        self._insert(rows, db)

    def with_texts(self, report: Report) -> Report:
        """Return the report with the texts of its pages, as far as they are stored."""
        ids = [page.id for page in report.pages]
        rows = self._database.rows(CACHED.key, ids, CACHED.kind == "page")
        pages = []
        for page in report.pages:
            row = rows.get(page.id)
            text = Page.model_validate_json(row.body).text if row else ""
            pages.append(page.model_copy(update={"text": text}))
        return report.model_copy(update={"pages": tuple(pages)})

    # --- searches ---

    def search(self, key: str, days: float) -> list[SearchHit] | None:
        """Return the hits of an earlier search.

        Args:
            key: A hash of the engine, the query and the number of hits.
            days: The greatest age.

        Returns:
            The hits; None if there was no such search.
        """
        self.use("search", [key])
        row = self._newest("search", CACHED.key == key, days)
        return _value(row) if row else None

    # --- values of all kinds but pages ---

    def values(self, kind: Kind, keys: Sequence[str]) -> dict[str, Any]:
        """Return stored values by key.

        Args:
            kind: What they are.
            keys: Hashes of all that the values depend on.

        Returns:
            Values of the types in JSON, or bytes of vectors; unknown keys are left out.
        """
        self.use(kind, keys)
        rows = self._database.rows(CACHED.key, keys, CACHED.kind == kind)
        self._note_use(list(rows.values()))
        return {key: _value(row) for key, row in rows.items()}

    def put(self, kind: Kind, values: Mapping[str, Any]) -> None:
        """Store values by key, in place of earlier ones."""
        self.use(kind, values)
        rows = []
        for key, value in values.items():
            body = JSON[kind].dump_json(value) if kind in JSON else value
            rows.append(_row(kind, key, body))
        self._insert(rows)

    def _newest(self, kind: Kind, is_wanted: sa.ColumnElement[bool], days: float) -> Row | None:
        """Return the newest row of at most so many days.

        One from the future, made while the clock was wrong, doesn't count.
        """
        oldest = datetime.now(UTC) - timedelta(days=days)
        is_recent = CACHED.made_at.between(oldest.isoformat(timespec="seconds"), now())
        query = sa.select(t.cached).where(CACHED.kind == kind, is_wanted, is_recent)
        query = query.order_by(CACHED.made_at.desc()).limit(1)
        rows = self._database.all(query)
        if not rows:
            return None
        self._note_use(rows)
        return rows[0]

    def _note_use(self, rows: Sequence[Row]) -> None:
        """Note that rows of one kind are used today.

        What was used longest ago is evicted first.
        """
        today = _today()
        old = [{"old": row.key} for row in rows if row.used_on != today]
        if old:
            is_old = sa.and_(CACHED.kind == rows[0].kind, CACHED.key == sa.bindparam("old"))
            with self._database.transaction() as db:
                db.execute(t.cached.update().where(is_old).values(used_on=today), old)

    def _insert(
        self, rows: Sequence[Mapping[str, object]], db: sa.Connection | None = None
    ) -> None:
        """Store rows, and make room once in a while; nothing on a full disk, except for a run."""
        if db is None:
            try:
                self._database.check_disk()
            except StoreError:
                return
        self._database.insert(t.cached, rows, replace=True, db=db)
        if db is None and next(_insertions) % INSERTIONS == 0:
            self.evict()

    def evict(self) -> None:
        """Delete what was used longest ago of each kind that takes more than ATTRIBUTION_SHARED_MB.

        What saved runs and results use stays.
        """
        most = server_number("ATTRIBUTION_SHARED_MB") * 1_000_000
        days = sa.select(CACHED.kind, CACHED.used_on, sa.func.sum(CACHED.size))
        days = days.group_by(CACHED.kind, CACHED.used_on).order_by(CACHED.used_on.desc())
        is_needed = sa.exists().where(USE.kind == CACHED.kind, USE.key == CACHED.key)
        sizes: Counter[str] = Counter()
        for kind, day, size in self._database.all(days):
            sizes[kind] += size
            if sizes[kind] > most:
                is_old = sa.and_(CACHED.kind == kind, CACHED.used_on == day)
                with self._database.transaction() as db:
                    db.execute(t.cached.delete().where(is_old, ~is_needed))

    # --- uses ---

    def use(self, kind: Kind, keys: Iterable[str]) -> None:
        """Note that what is done through this object uses these keys."""
        self._used.update((kind, key) for key in keys)

    def record_uses(self, owner_id: str, db: sa.Connection) -> None:
        """Record all that was noted for a run or result, in its transaction."""
        rows = []
        for kind, key in self._used.copy():
            rows.append({"kind": kind, "key": key, "owner_id": owner_id})
        self._database.insert(t.uses, rows, db=db)

    def delete_uses(self, db: sa.Connection, owner_id: str) -> None:
        """Delete what this run or result alone uses."""
        other = t.uses.alias().c
        is_same = sa.and_(other.kind == USE.kind, other.key == USE.key)
        is_shared = sa.exists().where(is_same, other.owner_id != owner_id)
        is_own = USE.owner_id == owner_id
        unshared = sa.select(USE.kind, USE.key).where(is_own, ~is_shared)
        db.execute(t.cached.delete().where(sa.tuple_(CACHED.kind, CACHED.key).in_(unshared)))
        db.execute(t.uses.delete().where(is_own))


def _row(kind: Kind, key: str, body: bytes) -> dict[str, object]:
    """Return a row of the cache that is made and used today."""
    return {
        "kind": kind,
        "key": key,
        "address": "",
        "made_at": now(),
        "body": body,
        "used_on": _today(),
        "size": len(body),
    }


def _value(row: Row) -> Any:
    return JSON[row.kind].validate_json(row.body) if row.kind in JSON else row.body


def _today() -> str:
    return now()[:10]

"""Cache pages, searches, vectors, judgements, model replies and the responses of servers.

All but pages and searches are keyed by content, model and version. What a run or another saved
result uses of it is recorded, so that deleting one deletes what no other needs.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter, ValidationError

from attribution.settings import server_number
from attribution.store import schema as t
from attribution.store.database import BATCH, Database, now
from attribution.text.urls import canonical
from attribution.types import Judgement, Page, Report, SearchHit

HITS = TypeAdapter(list[SearchHit])  # with their pages, where the engine gave the text
JUDGEMENT = TypeAdapter(Judgement)
USED = {  # by kind of use, where it is stored
    "page": (t.pages.c.id, t.frozen_pages.c.id),
    "vector": (t.vectors.c.key,),
    "judgement": (t.judgements.c.key,),
    "reply": (t.replies.c.key,),
}
USE, SEARCH = t.uses.c, t.searches.c
CACHES = {  # with the kind of their uses; old searches are needed by nothing
    t.pages: "page",
    t.searches: "",
    t.vectors: "vector",
    t.judgements: "judgement",
    t.replies: "reply",
}
CONTENT = ("body", "data", "hits")  # names of the column that takes the space
EVICTION_SECONDS = 600
_evicted: dict[str, float] = {}  # when, by address of the database


class Cache:
    """Lookups return what is stored and leave out the rest."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._used: set[tuple[str, str]] = set()  # what was looked up or stored through this object

    # --- pages ---

    def page(self, url: str, days: float | None = None) -> Page | None:
        """Return the newest copy of a page by its address, at most `days` old; None: of any age."""
        query = sa.select(t.pages.c.body).where(t.pages.c.url == canonical(url))
        if days is not None:
            query = query.where(t.pages.c.fetched_at >= _days_ago(days))
        body = self._database.scalar(query.order_by(t.pages.c.fetched_at.desc()).limit(1))
        if body is None:
            return None
        page = Page.model_validate_json(body)
        self._note_use(t.pages, t.pages.c.id.in_([page.id]))
        return page

    def put_pages(self, pages: Sequence[Page], db: sa.Connection | None = None) -> None:
        """Store downloaded pages."""
        rows = []
        for page in pages:
            place = {"id": page.id, "url": canonical(page.url), "fetched_at": page.fetched_at}
            rows.append(place | {"body": page.model_dump_json()})
        self._put(t.pages, rows, db)

    def freeze_pages(self, pages: Sequence[Page], db: sa.Connection | None = None) -> None:
        """Store pages of a result, which never serve as downloads."""
        rows = [{"id": page.id, "body": page.model_dump_json()} for page in pages]
        self._database.insert(t.frozen_pages, rows, db=db)

    def with_texts(self, report: Report) -> Report:
        """Return the report with the texts of its pages, as far as they are stored."""
        ids = [page.id for page in report.pages]
        rows = self._database.rows(t.frozen_pages, ids) | self._database.rows(t.pages, ids)
        pages = []
        for page in report.pages:
            row = rows.get(page.id)
            text = Page.model_validate_json(row.body).text if row else ""
            pages.append(page.model_copy(update={"text": text}))
        return report.model_copy(update={"pages": tuple(pages)})

    # --- searches ---

    def search(self, searcher: str, query: str, k: int, days: float) -> list[SearchHit] | None:
        """Return the hits of an earlier search of the web.

        Args:
            searcher: All that the hits depend on beside query and number.
            query: The query.
            k: The number of hits that were asked for.
            days: The greatest age.

        Returns:
            The hits; None if there was no such search.
        """
        key = _search_key(searcher, query, k)
        self.use("search", [json.dumps(list(key.values()))])
        is_new = SEARCH.made_at >= _days_ago(days)
        found = sa.select(SEARCH.hits).filter_by(**key).where(is_new)
        hits = self._database.scalar(found)
        if hits is None:
            return None
        self._note_use(t.searches, SEARCH.query == key["query"])
        return HITS.validate_json(hits)

    def put_search(self, searcher: str, query: str, k: int, hits: Sequence[SearchHit]) -> None:
        """Store the hits of a search."""
        body = HITS.dump_json(list(hits)).decode()
        self._put(t.searches, [_search_key(searcher, query, k) | {"made_at": now(), "hits": body}])

    # --- outputs of models ---

    def vectors(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return vectors as float32 bytes."""
        self.use("vector", keys)
        return {key: row.data for key, row in self._rows(t.vectors, keys).items()}

    def put_vectors(self, vectors: Mapping[str, bytes]) -> None:
        """Store vectors."""
        self.use("vector", vectors)
        rows = [{"key": key, "data": data} for key, data in vectors.items()]
        self._put(t.vectors, rows)

    def judgements(self, keys: Sequence[str]) -> dict[str, Judgement]:
        """Return the judgements of verifiers."""
        self.use("judgement", keys)
        judgements = {}
        for key, row in self._rows(t.judgements, keys).items():
            with suppress(ValidationError):  # written by another version: it is made again
                judgements[key] = JUDGEMENT.validate_json(row.body)
        return judgements

    def put_judgements(self, judgements: Mapping[str, Judgement]) -> None:
        """Store judgements."""
        rows = []
        for key, judgement in judgements.items():
            rows.append({"key": key, "body": JUDGEMENT.dump_json(judgement).decode()})
        self._put(t.judgements, rows)

    def reply(self, key: str) -> str | None:
        """Return the stored reply of a language model."""
        self.use("reply", [key])
        row = self._rows(t.replies, [key]).get(key)
        return row.body if row else None

    def put_reply(self, key: str, body: str) -> None:
        """Store the reply of a language model."""
        self._put(t.replies, [{"key": key, "body": body}])

    # --- space ---

    def _put(
        self, table: sa.Table, rows: Sequence[dict[str, Any]], db: sa.Connection | None = None
    ) -> None:
        """Store rows with their size and day, and make room once in a while."""
        for row in rows:
            content = next(row[name] for name in CONTENT if name in row)
            row |= {"used_on": _today(), "size": len(content)}
        self._database.insert(table, rows, replace=True, db=db)
        url = str(self._database.engine.url)
        if db is None and time.monotonic() > _evicted.get(url, 0.0) + EVICTION_SECONDS:
            _evicted[url] = time.monotonic()
            self.evict()

    def _rows(self, table: sa.Table, keys: Sequence[str]) -> dict[str, sa.Row[*tuple[Any, ...]]]:
        rows = self._database.rows(table, keys)
        old = [key for key, row in rows.items() if row.used_on != _today()]
        for start in range(0, len(old), BATCH):
            self._note_use(table, table.c.key.in_(old[start : start + BATCH]))
        return rows

    def _note_use(self, table: sa.Table, condition: sa.ColumnElement[bool]) -> None:
        """Note that rows are used today, if that is not noted yet."""
        is_old = table.c.used_on != _today()
        if self._database.scalar(sa.select(sa.literal(1)).where(condition, is_old).limit(1)):
            with self._database.transaction() as db:
                db.execute(table.update().where(condition, is_old).values(used_on=_today()))

    def evict(self) -> None:
        """Delete what was used longest ago where a cache takes more than ATTRIBUTION_SHARED_MB.

        What saved runs and results use stays.
        """
        most = server_number("ATTRIBUTION_SHARED_MB") * 1_000_000
        for table, kind in CACHES.items():
            column = table.c
            days = sa.select(column.used_on, sa.func.sum(column.size)).group_by(column.used_on)
            total = 0
            for day, size in self._database.all(days.order_by(column.used_on.desc())):
                total += size
                if total <= most:
                    continue
                unused = column.used_on <= day
                if kind:
                    key = next(iter(table.primary_key))
                    is_needed = sa.exists().where(USE.kind == kind, USE.key == key)
                    unused = sa.and_(unused, ~is_needed)
                with self._database.transaction() as db:
                    db.execute(table.delete().where(unused))
                break

    # --- uses ---

    def use(self, kind: str, keys: Iterable[str]) -> None:
        """Note that what is done through this object uses these keys."""
        self._used.update((kind, key) for key in keys)

    def record_uses(self, owner_id: str, db: sa.Connection) -> None:
        """Record all that was noted for a run or result."""
        rows = [{"kind": kind, "key": key, "owner_id": owner_id} for kind, key in self._used.copy()]
        self._database.insert(t.uses, rows, db=db)

    def delete_uses(self, db: sa.Connection, owner_id: str) -> None:
        """Delete what this run or result alone uses."""
        other = t.uses.alias()
        is_same = (other.c.kind == USE.kind, other.c.key == USE.key)
        is_shared = sa.exists().where(*is_same, other.c.owner_id != owner_id)
        own = sa.select(USE.key).where(USE.owner_id == owner_id, ~is_shared)
        for kind, columns in USED.items():
            for column in columns:
                db.execute(column.table.delete().where(column.in_(own.where(USE.kind == kind))))
        for key in db.execute(own.where(USE.kind == "search")).scalars().all():
            searcher, query, k = json.loads(key)
            db.execute(t.searches.delete().filter_by(searcher=searcher, query=query, k=k))
        db.execute(t.uses.delete().where(USE.owner_id == owner_id))


def _search_key(searcher: str, query: str, k: int) -> dict[str, str | int]:
    return {"searcher": _hashed(searcher), "query": _hashed(query), "k": k}


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _today() -> str:
    return now()[:10]


def _days_ago(days: float) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")

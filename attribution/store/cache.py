"""Cache pages, searches, vectors, judgements and replies of language models.

All but pages and searches are keyed by content, model and version. What a run or another saved
result uses of it is recorded, so that deleting one deletes what no other needs.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

import sqlalchemy as sa
from pydantic import TypeAdapter, ValidationError

from attribution.server_settings import server_number
from attribution.store import schema as t
from attribution.store.database import BATCH, Database, now
from attribution.text.urls import canonical
from attribution.types import Judgement, Page, Report, SearchHit

Kind = Literal["page", "search", "vector", "judgement", "reply"]
HITS = TypeAdapter(list[SearchHit])  # with their pages, where the engine gave the text
JUDGEMENT = TypeAdapter(Judgement)
CACHED, USE = t.cached.c, t.uses.c
EVICTION_SECONDS = 600
_evicted: dict[str, float] = {}  # when, by address of the database
Row = sa.Row[*tuple[Any, ...]]


class Cache:
    """Lookups return what is stored and leave out the rest."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._used: set[tuple[str, str]] = set()  # what was looked up or stored through this object

    # --- pages ---

    def page(self, url: str, days: float | None = None) -> Page | None:
        """Return the newest copy of a page by its address, at most `days` old; None: of any age."""
        query = sa.select(t.cached).where(CACHED.kind == "page", CACHED.address == canonical(url))
        if days is not None:
            # not what was dated by a clock that was wrong
            query = query.where(CACHED.made_at.between(_days_ago(days), _days_ago(-1)))
        rows = self._database.all(query.order_by(CACHED.made_at.desc()).limit(1))
        self._note_use("page", rows)
        return Page.model_validate_json(rows[0].body) if rows else None

    def put_pages(self, pages: Sequence[Page], db: sa.Connection | None = None) -> None:
        """Store downloaded pages; one without a text is known by its id alone."""
        self._put([page_row(page, canonical(page.url)) for page in pages if page.text], db)

    def freeze_pages(self, pages: Sequence[Page], db: sa.Connection) -> None:
        """Store pages of a result, which never serve as downloads."""
        self._database.insert(t.cached, [page_row(page, "") for page in pages], db=db)

    def with_texts(self, report: Report) -> Report:
        """Return the report with the texts of its pages, as far as they are stored."""
        rows = self._stored("page", [page.id for page in report.pages])
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
        row = self._rows("search", [key]).get(key)
        if row is None or not _days_ago(days) <= row.made_at <= _days_ago(-1):
            return None
        return HITS.validate_json(row.body)

    def put_search(self, searcher: str, query: str, k: int, hits: Sequence[SearchHit]) -> None:
        """Store the hits of a search."""
        key = _search_key(searcher, query, k)
        self._put([cached_row("search", key, HITS.dump_json(list(hits)))])

    # --- outputs of models ---

    def vectors(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return vectors as float32 bytes."""
        return {key: row.body for key, row in self._rows("vector", keys).items()}

    def put_vectors(self, vectors: Mapping[str, bytes]) -> None:
        """Store vectors."""
        self.use("vector", vectors)
        self._put([cached_row("vector", key, body) for key, body in vectors.items()])

    def judgements(self, keys: Sequence[str]) -> dict[str, Judgement]:
        """Return the judgements of verifiers."""
        judgements = {}
        for key, row in self._rows("judgement", keys).items():
            with suppress(ValidationError):  # written by another version: it is made again
                judgements[key] = JUDGEMENT.validate_json(row.body)
        return judgements

    def put_judgements(self, judgements: Mapping[str, Judgement]) -> None:
        """Store judgements."""
        rows = []
        for key, judgement in judgements.items():
            rows.append(cached_row("judgement", key, JUDGEMENT.dump_json(judgement)))
        self._put(rows)

    def reply(self, key: str) -> str | None:
        """Return the stored reply of a language model."""
        row = self._rows("reply", [key]).get(key)
        return row.body.decode() if row else None

    def put_reply(self, key: str, body: str) -> None:
        """Store the reply of a language model."""
        self._put([cached_row("reply", key, body.encode("utf-8", "replace"))])

    # --- rows of all kinds ---

    def _rows(self, kind: Kind, keys: Sequence[str]) -> dict[str, Row]:
        self.use(kind, keys)
        rows = self._stored(kind, keys)
        self._note_use(kind, list(rows.values()))
        return rows

    def _stored(self, kind: Kind, keys: Sequence[str]) -> dict[str, Row]:
        rows: dict[str, Row] = {}
        for start in range(0, len(keys), BATCH):
            query = sa.select(t.cached).where(_of(kind, keys[start : start + BATCH]))
            rows |= {row.key: row for row in self._database.all(query)}
        return rows

    def _note_use(self, kind: Kind, rows: Sequence[Row]) -> None:
        """Note that rows are used today."""
        old = [row.key for row in rows if row.used_on != _today()]
        if not old:
            return
        with self._database.transaction() as db:
            for start in range(0, len(old), BATCH):
                is_used = _of(kind, old[start : start + BATCH])
                db.execute(t.cached.update().where(is_used).values(used_on=_today()))

    def _put(self, rows: Sequence[Mapping[str, object]], db: sa.Connection | None = None) -> None:
        """Store rows, and make room once in a while."""
        self._database.insert(t.cached, rows, replace=True, db=db)
        url = str(self._database.engine.url)
        if db is None and time.monotonic() > _evicted.get(url, 0.0) + EVICTION_SECONDS:
            _evicted[url] = time.monotonic()
            self.evict()

    def evict(self) -> None:
        """Delete what was used longest ago of each kind that takes more than ATTRIBUTION_SHARED_MB.

        What saved runs and results use stays.
        """
        most = server_number("ATTRIBUTION_SHARED_MB") * 1_000_000
        day = CACHED.used_on
        is_needed = sa.exists().where(USE.kind == CACHED.kind, USE.key == CACHED.key)
        for kind in get_args(Kind):
            sizes = sa.select(day, sa.func.sum(CACHED.size)).where(CACHED.kind == kind)
            total = 0
            for used_on, size in self._database.all(sizes.group_by(day).order_by(day.desc())):
                total += size
                if total > most:
                    is_old = (CACHED.kind == kind, day <= used_on)
                    with self._database.transaction() as db:
                        db.execute(t.cached.delete().where(*is_old, ~is_needed))
                    break

    # --- uses ---

    def use(self, kind: Kind, keys: Iterable[str]) -> None:
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
        own = sa.select(USE.kind, USE.key).where(USE.owner_id == owner_id, ~is_shared)
        db.execute(t.cached.delete().where(sa.tuple_(CACHED.kind, CACHED.key).in_(own)))
        db.execute(t.uses.delete().where(USE.owner_id == owner_id))


def cached_row(
    kind: Kind, key: str, body: bytes, address: str = "", made_at: str = ""
) -> dict[str, object]:
    """Return a row of the cache that is used today."""
    return {
        "kind": kind,
        "key": key,
        "address": address,
        "made_at": made_at or now(),
        "body": body,
        "used_on": _today(),
        "size": len(body),
    }


def page_row(page: Page, address: str) -> dict[str, object]:
    """Return the row of a page, which serves as a download of this address."""
    body = page.model_dump_json().encode()
    return cached_row("page", page.id, body, address, page.fetched_at)


def _of(kind: Kind, keys: Sequence[str]) -> sa.ColumnElement[bool]:
    return sa.and_(CACHED.kind == kind, CACHED.key.in_(keys))


def _search_key(searcher: str, query: str, k: int) -> str:
    return hashlib.sha256(repr((searcher, query, k)).encode()).hexdigest()


def _today() -> str:
    return now()[:10]


def _days_ago(days: float) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")

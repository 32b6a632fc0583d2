"""Cache pages, searches, vectors, judgements, model replies and the responses of servers.

All but pages and searches are keyed by content, model and version. What a run or another saved
result uses of it is
recorded, so that deleting one deletes what no other needs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from pydantic import TypeAdapter

from attribution.store import schema as t
from attribution.store.database import Database, now
from attribution.text.urls import canonical
from attribution.types import Judgement, Page, Probabilities, Report, SearchHit

_HIT = TypeAdapter(SearchHit)  # with its page, where the engine gave the text
USED = {  # by kind of use, where it is stored
    "page": (t.pages.c.id, t.frozen_pages.c.id),
    "vector": (t.vectors.c.key,),
    "judgement": (t.judgements.c.key,),
    "reply": (t.replies.c.key,),
}


class Cache:
    """Lookups return what is stored and leave out the rest."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._used: set[tuple[str, str]] = set()  # what was looked up or stored through this object

    def page(self, url: str, days: float | None = None) -> Page | None:
        """The newest copy of a page by its canonical address, at most `days` old; None: of any age."""
        query = (
            sa.select(t.pages.c.body)
            .where(t.pages.c.url.in_({url, canonical(url)}))
            .order_by(t.pages.c.fetched_at.desc())
            .limit(1)
        )
        if days is not None:
            query = query.where(t.pages.c.fetched_at >= _days_ago(days))
        with self._database.engine.connect() as db:
            body = db.execute(query).scalar()
        return Page.model_validate_json(body) if body else None

    def put_pages(self, pages: Sequence[Page], db: sa.Connection | None = None) -> None:
        rows = [
            {
                "id": p.id,
                "url": canonical(p.url),
                "fetched_at": p.fetched_at,
                "body": p.model_dump_json(),
            }
            for p in pages
        ]
        self._database.insert(t.pages, rows, replace=True, db=db)

    def freeze_pages(self, pages: Sequence[Page], db: sa.Connection | None = None) -> None:
        """Store pages of a snapshot or result, which never serve as downloads."""
        self._database.insert(
            t.frozen_pages, [{"id": p.id, "body": p.model_dump_json()} for p in pages], db=db
        )

    def with_texts(self, report: Report) -> Report:
        """Return the report with the texts of its pages, as far as they are stored."""
        ids = [page.id for page in report.pages]
        rows = self._database.rows(t.frozen_pages, ids) | self._database.rows(t.pages, ids)
        texts = {i: Page.model_validate_json(row.body).text for i, row in rows.items()}
        pages = tuple(p.model_copy(update={"text": texts.get(p.id, "")}) for p in report.pages)
        return report.model_copy(update={"pages": pages})

    def search(self, searcher: str, query: str, k: int, days: float) -> list[SearchHit] | None:
        """The hits of an earlier search of the web; None where there was none within so many days.

        `searcher` names all that they depend on beside query and number.
        """
        searcher, query = _hashed(searcher), _hashed(query)
        self.use(search=[json.dumps([searcher, query, k])])
        c = t.searches.c
        same = (c.searcher == searcher, c.query == query, c.k == k, c.made_at >= _days_ago(days))
        with self._database.engine.connect() as db:
            hits = db.execute(sa.select(c.hits).where(*same)).scalar()
        return None if hits is None else [_HIT.validate_python(hit) for hit in json.loads(hits)]

    def put_search(self, searcher: str, query: str, k: int, hits: Sequence[SearchHit]) -> None:
        body = json.dumps([_HIT.dump_python(hit, mode="json") for hit in hits])
        row = {
            "searcher": _hashed(searcher),
            "query": _hashed(query),
            "k": k,
            "made_at": now(),
            "hits": body,
        }
        self._database.insert(t.searches, [row], replace=True)

    def vectors(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Vectors as float32 bytes."""
        self.use(vector=keys)
        return {key: row.data for key, row in self._database.rows(t.vectors, keys).items()}

    def put_vectors(self, vectors: Mapping[str, bytes]) -> None:
        self.use(vector=vectors)
        self._database.insert(
            t.vectors, [{"key": key, "data": data} for key, data in vectors.items()]
        )

    def judgements(self, keys: Sequence[str]) -> dict[str, Judgement]:
        self.use(judgement=keys)
        judgements = {}
        for key, row in self._database.rows(t.judgements, keys).items():
            body = json.loads(row.body)
            start, end = body["sentence"]
            judgements[key] = Judgement(
                Probabilities(**body["p"]), (start, end), body["signals"], body["against"]
            )
        return judgements

    def put_judgements(self, judgements: Mapping[str, Judgement]) -> None:
        def body(j: Judgement) -> str:
            return json.dumps(
                {
                    "p": j.probabilities.model_dump(),
                    "sentence": j.sentence,
                    "signals": j.signals,
                    "against": j.against,
                }
            )

        self._database.insert(
            t.judgements, [{"key": key, "body": body(j)} for key, j in judgements.items()]
        )

    def reply(self, key: str) -> str | None:
        """The stored reply of a language model."""
        self.use(reply=[key])
        row = self._database.rows(t.replies, [key]).get(key)
        return None if row is None else str(row.body)

    def put_reply(self, key: str, body: str) -> None:
        self._database.insert(t.replies, [{"key": key, "body": body}], replace=True)

    # --- uses ---

    def use(self, **keys: Iterable[str]) -> None:
        """Note that what is done through this object uses these keys, by kind."""
        self._used.update((kind, key) for kind, some in keys.items() for key in some)

    def record_uses(self, owner_id: str, db: sa.Connection) -> None:
        """Record all that was noted for a run or result."""
        rows = [{"kind": kind, "key": key, "owner_id": owner_id} for kind, key in self._used.copy()]
        self._database.insert(t.uses, rows, db=db)

    def delete_uses(self, db: sa.Connection, owner_id: str) -> None:
        """Delete what this run or result alone uses."""
        others = t.uses.alias()
        shared = sa.exists().where(
            others.c.kind == t.uses.c.kind,
            others.c.key == t.uses.c.key,
            others.c.owner_id != owner_id,
        )
        for kind, columns in USED.items():
            only = sa.select(t.uses.c.key).where(
                t.uses.c.owner_id == owner_id, t.uses.c.kind == kind, ~shared
            )
            for column in columns:
                db.execute(column.table.delete().where(column.in_(only)))
        only = sa.select(t.uses.c.key).where(
            t.uses.c.owner_id == owner_id, t.uses.c.kind == "search", ~shared
        )
        c = t.searches.c
        for searcher, query, k in map(json.loads, db.execute(only).scalars().all()):
            db.execute(
                t.searches.delete().where(c.searcher == searcher, c.query == query, c.k == k)
            )
        db.execute(t.uses.delete().where(t.uses.c.owner_id == owner_id))


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _days_ago(days: float) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")

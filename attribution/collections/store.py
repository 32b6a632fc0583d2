"""Named collections of documents, each with its full-text index (SQLite's FTS5) and vectors, in the store's database.

A document, its index entry and the removal of what it replaces are one transaction: whoever kills the process keeps
every finished document and no half one. A document is its text: the same text twice in a collection is one document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from attribution.collections import tables as t
from attribution.collections.tables import NewDocument, State, check_name, key_of
from attribution.errors import BadInput, StoreError
from attribution.storage.store import Store, create, lock
from attribution.types import Page

__all__ = ["DocumentStore", "Kept", "NewDocument", "check_name"]


@dataclass(frozen=True)
class Kept:
    """A collection as it stands. `embedded` of its documents have vectors."""

    name: str
    documents: int
    characters: int
    embedded: int
    created_at: str
    changed_at: str


class DocumentStore:
    """The collections of one store. Safe to use from several threads and processes."""

    def __init__(self, store: Store) -> None:
        """StoreError where the database has no full-text index."""
        self._engine = store.engine
        if self._engine.dialect.name != "sqlite":
            raise StoreError("collections need SQLite (FTS5): leave ATTRIBUTION_DATABASE_URL unset to use them")
        create(self._engine, t.tables)

    # --- what there is ---

    def collections(self, model: str = "") -> list[Kept]:
        """All collections by name; `model` is the one whose vectors are counted."""
        c, d = t.collections.c, t.documents.c
        size, changed = sa.func.coalesce(sa.func.sum(d.characters), 0), sa.func.max(d.added_at)
        embedded = sa.func.count().filter(d.embedded == model, d.embedded != "")
        facts = sa.select(sa.func.count(), size, embedded, changed)
        found = []
        with self._engine.connect() as db:
            for key, name, created in db.execute(sa.select(c.id, c.name, c.created_at).order_by(c.name)).all():
                count, characters, made, last = db.execute(facts.where(d.collection_id == key)).one()
                found.append(Kept(name, count, characters, made, created, last or created))
        return found

    def documents(self, collection: str, containing: str = "", limit: int = -1) -> list[dict[str, Any]]:
        """name, title, characters, sha256 and added_at of documents whose name or title contains a text, by name."""
        d = t.documents.c
        with self._engine.connect() as db:
            chosen = sa.select(d.name, d.title, d.characters, d.sha256, d.added_at).where(
                d.collection_id == key_of(db, collection)
            )
            if containing:
                chosen = chosen.where(
                    d.name.contains(containing, autoescape=True) | d.title.contains(containing, autoescape=True)
                )
            return [dict(row) for row in db.execute(chosen.order_by(d.name).limit(limit)).mappings()]

    def sources(self, collection: str) -> set[str]:
        """The hashes of the bytes that its documents were read from; empty for one that is not there."""
        with self._engine.connect() as db:
            chosen = sa.select(t.documents.c.source_sha256).join(
                t.collections, t.collections.c.id == t.documents.c.collection_id
            )
            return set(db.execute(chosen.where(t.collections.c.name == collection)).scalars())

    def page(self, collection: str, name: str) -> Page | None:
        """A document with its text."""
        with self._engine.connect() as db:
            key = key_of(db, collection)
            chosen = sa.select(t.documents.c.id).where(t.documents.c.collection_id == key, t.documents.c.name == name)
            found = db.execute(chosen).scalar()
        return self.pages([found])[found] if found is not None else None

    def pages(self, ids: Sequence[int]) -> dict[int, Page]:
        """Documents by id; those removed meanwhile are left out."""
        d = t.documents.c
        with self._engine.connect() as db:
            rows = db.execute(sa.select(d.id, d.about, d.text).where(d.id.in_(ids))).all()
        return {key: Page.model_validate_json(about).model_copy(update={"text": text}) for key, about, text in rows}

    @contextmanager
    def full_text(self, collection: str) -> Iterator[tuple[Any, str, int]]:
        """A sqlite3 connection, the name of the FTS5 table (title, text) and its number of documents."""
        with self._engine.connect() as db:
            key = key_of(db, collection)
            count = db.execute(sa.select(sa.func.count()).where(t.documents.c.collection_id == key)).scalar_one()
            yield db.connection.dbapi_connection, t.index_of(key), count

    # --- adding and removing ---

    def make(self, collection: str) -> None:
        """An empty collection, if there is none of that name. BadInput for a name that cannot be one."""
        check_name(collection)
        with self._writing() as db:
            t.made(db, collection)

    def put(self, collection: str, new: Sequence[NewDocument]) -> list[State]:
        """Keep documents, all in one transaction, in a collection that is made where needed; what came of each."""
        check_name(collection)
        with self._writing() as db:
            key = t.made(db, collection)
            return [t.put(db, key, collection, document) for document in new]

    def remove(self, collection: str, name: str | None = None) -> int:
        """Remove a document, or without a name the whole collection; the number of documents removed."""
        d = t.documents.c
        with self._writing() as db:
            key = key_of(db, collection)
            if name is not None:
                found = db.execute(sa.select(d.id).where(d.collection_id == key, d.name == name)).scalar()
                if found is None:
                    raise BadInput(f"collection {collection!r} has no document {name[:200]!r}: see library list")
                t.forget(db, key, found)
                return 1
            db.exec_driver_sql(f"DROP TABLE {t.index_of(key)}")
            db.execute(t.vectors.delete().where(t.vectors.c.collection_id == key))
            db.execute(t.collections.delete().where(t.collections.c.id == key))
            return db.execute(t.documents.delete().where(d.collection_id == key)).rowcount

    # --- vectors ---

    def unembedded(self, collection: str, model: str, characters: int, limit: int) -> dict[int, tuple[str, str]]:
        """The title and the first characters of documents that have no vectors of that model."""
        d = t.documents.c
        with self._engine.connect() as db:
            key = key_of(db, collection)
            chosen = sa.select(d.id, d.title, sa.func.substr(d.text, 1, characters))
            rows = db.execute(chosen.where(d.collection_id == key, d.embedded != model).limit(limit)).all()
        return {document: (title, text) for document, title, text in rows}

    def put_vectors(self, collection: str, model: str, vectors: Mapping[int, Sequence[bytes]]) -> None:
        """Keep all vectors of documents, float32, one a passage; of documents that were removed meanwhile none."""
        d, v = t.documents.c, t.vectors.c
        with self._writing() as db:
            key = key_of(db, collection)
            here = d.collection_id == key, d.id.in_(list(vectors))
            rows = [
                {"collection_id": key, "document_id": document, "passage": number, "data": data}
                for document in db.execute(sa.select(d.id).where(*here)).scalars().all()
                for number, data in enumerate(vectors[document])
            ]
            db.execute(t.vectors.delete().where(v.collection_id == key, v.document_id.in_(list(vectors))))
            db.execute(t.documents.update().where(*here).values(embedded=model))
            if rows:
                db.execute(t.vectors.insert(), rows)

    def vectors(self, collection: str, model: str) -> tuple[list[int], list[bytes]]:
        """The documents of that model's vectors, and the vectors, side by side."""
        d, v = t.documents.c, t.vectors.c
        with self._engine.connect() as db:
            key = key_of(db, collection)
            made = set(db.execute(sa.select(d.id).where(d.collection_id == key, d.embedded == model)).scalars())
            found = db.execute(sa.select(v.document_id, v.data).where(v.collection_id == key)).all()
        rows = [row for row in found if row[0] in made]
        return [row[0] for row in rows], [row[1] for row in rows]

    # --- inside ---

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        try:
            with self._engine.begin() as db:
                lock(db)
                yield db
        except SQLAlchemyError as error:
            reason = str(getattr(error, "orig", error)).partition("\n")[0][:200]
            raise StoreError(
                f"the collections cannot be written ({reason}): what was added before is kept; check the space on the "
                "disk and that no other program holds the database, and add again"
            ) from error

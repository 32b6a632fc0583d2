"""Store named collections of documents, each with a full-text index (SQLite's FTS5) and vectors.

A document, its index entry and the removal of what it replaces are one transaction, so that a
killed process leaves
every finished document and no half one. The same text twice in a collection is one document.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa

from attribution.errors import BadInput, StoreError
from attribution.retrieval.bm25 import FullText
from attribution.settings import COLLECTION
from attribution.store import schema as t
from attribution.store.database import Database, now, store_error
from attribution.types import Page, content_id

State = Literal["added", "changed", "unchanged"]


@dataclass(frozen=True)
class NewDocument:
    """A document to store. Its page gets its URL and id when it is stored."""

    name: str
    origin: str
    source_sha256: str
    page: Page


@dataclass(frozen=True)
class CollectionSummary:
    """The size of a collection. `embedded` of its documents have vectors."""

    name: str
    documents: int
    characters: int
    embedded: int
    created_at: str
    changed_at: str


class DocumentStore:
    """The collections of one database. Safe to use from several threads and processes."""

    def __init__(self, database: Database) -> None:
        """StoreError if the database has no full-text index."""
        self._database, self._engine = database, database.engine
        if self._engine.dialect.name != "sqlite":
            raise StoreError(
                "collections need SQLite (FTS5): leave ATTRIBUTION_DATABASE_URL unset to use them"
            )

    # --- reading ---

    def collections(self, model: str = "") -> list[CollectionSummary]:
        """All collections by name; `model` is the version whose vectors are counted."""
        c, d = t.collections.c, t.documents.c
        characters, last_added = (
            sa.func.coalesce(sa.func.sum(d.characters), 0),
            sa.func.max(d.added_at),
        )
        embedded = sa.func.count().filter(d.embedded == model, d.embedded != "")
        figures = sa.select(sa.func.count(), characters, embedded, last_added)
        summaries = []
        with self._engine.connect() as db:
            for key, name, created in db.execute(
                sa.select(c.id, c.name, c.created_at).order_by(c.name)
            ).all():
                count, size, with_vectors, changed = db.execute(
                    figures.where(d.collection_id == key)
                ).one()
                summaries.append(
                    CollectionSummary(name, count, size, with_vectors, created, changed or created)
                )
        return summaries

    def documents(
        self, collection: str, containing: str = "", limit: int = -1
    ) -> list[dict[str, str | int]]:
        """name, title, characters, sha256 and added_at of documents whose name or title contains a
        text, by name.
        """
        d = t.documents.c
        with self._engine.connect() as db:
            query = sa.select(d.name, d.title, d.characters, d.sha256, d.added_at).where(
                d.collection_id == collection_id(db, collection)
            )
            if containing:
                query = query.where(
                    d.name.contains(containing, autoescape=True)
                    | d.title.contains(containing, autoescape=True)
                )
            return [dict(row) for row in db.execute(query.order_by(d.name).limit(limit)).mappings()]

    def source_hashes(self, collection: str) -> set[str]:
        """The SHA-256 of the files that its documents were read from; empty if there is no such
        collection.
        """
        c, d = t.collections.c, t.documents.c
        query = (
            sa.select(d.source_sha256)
            .join(t.collections, c.id == d.collection_id)
            .where(c.name == collection)
        )
        with self._engine.connect() as db:
            return set(db.execute(query).scalars())

    def page(self, collection: str, name: str) -> Page | None:
        """A document with its text."""
        d = t.documents.c
        with self._engine.connect() as db:
            key = collection_id(db, collection)
            document = db.execute(
                sa.select(d.id).where(d.collection_id == key, d.name == name)
            ).scalar()
        return None if document is None else self.pages([document]).get(document)

    def pages(self, ids: Sequence[int]) -> dict[int, Page]:
        """Documents by id; those removed meanwhile are left out."""
        d = t.documents.c
        with self._engine.connect() as db:
            rows = db.execute(sa.select(d.id, d.about, d.text).where(d.id.in_(ids))).all()
        return {
            key: Page.model_validate_json(about).model_copy(update={"text": text})
            for key, about, text in rows
        }

    @contextmanager
    def full_text(self, collection: str) -> Iterator[FullText]:
        """The full-text index, for one thread and while the context lasts."""
        with self._engine.connect() as db:
            key = collection_id(db, collection)
            count = db.execute(
                sa.select(sa.func.count()).where(t.documents.c.collection_id == key)
            ).scalar_one()
            connection: object = db.connection.dbapi_connection
            assert isinstance(connection, sqlite3.Connection)
            try:
                yield FullText(connection, fts_table(key), count)
            except sqlite3.Error as error:  # searches go past SQLAlchemy
                raise store_error(error, self._engine) or error from error

    # --- adding and removing ---

    def create(self, collection: str) -> None:
        """Create an empty collection if there is none of that name. BadInput if the name is not
        valid.
        """
        check_name(collection)
        with self._database.transaction() as db:
            get_or_create(db, collection)

    def put(self, collection: str, new: Sequence[NewDocument]) -> list[State]:
        """Add documents in one transaction, creating the collection where needed; what happened to
        each.
        """
        check_name(collection)
        with self._database.transaction() as db:
            key = get_or_create(db, collection)
            return [put_document(db, key, collection, document) for document in new]

    def remove(self, collection: str, name: str | None = None) -> int:
        """Remove a document, or without a name the whole collection; the number of documents
        removed.
        """
        d = t.documents.c
        with self._database.transaction() as db:
            key = collection_id(db, collection)
            if name is not None:
                document = db.execute(
                    sa.select(d.id).where(d.collection_id == key, d.name == name)
                ).scalar()
                if document is None:
                    raise BadInput(
                        f"collection {collection!r} has no document {name[:200]!r}: see `collections list`"
                    )
                delete_document(db, key, document)
                return 1
            db.exec_driver_sql(f"DROP TABLE {fts_table(key)}")
            db.execute(t.document_vectors.delete().where(t.document_vectors.c.collection_id == key))
            db.execute(t.collections.delete().where(t.collections.c.id == key))
            return db.execute(t.documents.delete().where(d.collection_id == key)).rowcount

    # --- vectors ---

    def unembedded(
        self, collection: str, model: str, characters: int, limit: int
    ) -> dict[int, tuple[str, str]]:
        """Title and first characters of documents without vectors of that model, by id."""
        d = t.documents.c
        with self._engine.connect() as db:
            key = collection_id(db, collection)
            query = sa.select(d.id, d.title, sa.func.substr(d.text, 1, characters))
            rows = db.execute(
                query.where(d.collection_id == key, d.embedded != model).limit(limit)
            ).all()
        return {document: (title, text) for document, title, text in rows}

    def put_vectors(
        self, collection: str, model: str, vectors: Mapping[int, Sequence[bytes]]
    ) -> None:
        """Replace the vectors of documents, float32, one per passage; documents removed meanwhile
        are skipped.
        """
        d, v = t.documents.c, t.document_vectors.c
        with self._database.transaction() as db:
            key = collection_id(db, collection)
            here = d.collection_id == key, d.id.in_(list(vectors))
            rows = [
                {"collection_id": key, "document_id": document, "passage": number, "data": data}
                for document in db.execute(sa.select(d.id).where(*here)).scalars().all()
                for number, data in enumerate(vectors[document])
            ]
            db.execute(
                t.document_vectors.delete().where(
                    v.collection_id == key, v.document_id.in_(list(vectors))
                )
            )
            db.execute(t.documents.update().where(*here).values(embedded=model))
            if rows:
                db.execute(t.document_vectors.insert(), rows)

    def vectors(self, collection: str, model: str) -> tuple[list[int], list[bytes]]:
        """The vectors of that model, and beside each the id of its document."""
        d, v = t.documents.c, t.document_vectors.c
        with self._engine.connect() as db:
            key = collection_id(db, collection)
            query = sa.select(v.document_id, v.data).where(
                v.collection_id == key, d.embedded == model
            )
            rows = db.execute(
                query.join(t.documents, d.id == v.document_id).order_by(v.document_id, v.passage)
            ).all()
        return [row[0] for row in rows], [row[1] for row in rows]


# --- documents and their index entries, within a transaction ---


def check_name(collection: str) -> None:
    """BadInput for a name that cannot follow `collection:` or stand on one line."""
    too_long = len(collection) > t.MAX_COLLECTION_NAME
    if not collection.strip() or too_long or not collection.isprintable() or "/" in collection:
        raise BadInput(
            f"collection {collection[:40]!r}: expected 1 to {t.MAX_COLLECTION_NAME} printable characters without /"
        )


def collection_id(db: sa.Connection, collection: str) -> int:
    """The id of a collection. BadInput with the names of the others if there is none of that name."""
    c = t.collections.c
    if (key := _find(db, collection)) is not None:
        return key
    names = ", ".join(db.execute(sa.select(c.name).order_by(c.name).limit(20)).scalars())
    raise BadInput(
        f"there is no collection {collection[: t.MAX_COLLECTION_NAME]!r}; collections: {names or 'none yet'}. "
        "Create one with `collections add`"
    )


def get_or_create(db: sa.Connection, collection: str) -> int:
    """The id of a collection, which is created if it does not exist."""
    if (key := _find(db, collection)) is not None:
        return key
    (key,) = db.execute(
        t.collections.insert().values(name=collection, created_at=now())
    ).inserted_primary_key or (0,)
    db.exec_driver_sql(
        f"CREATE VIRTUAL TABLE {fts_table(key)} USING fts5("
        "title, text, content='documents', content_rowid='id', tokenize='porter unicode61')"
    )
    return int(key)


def _find(db: sa.Connection, collection: str) -> int | None:
    key: int | None = db.execute(
        sa.select(t.collections.c.id).where(t.collections.c.name == collection)
    ).scalar()
    return key


def fts_table(key: int) -> str:
    """The FTS5 table of a collection: named by its id, so never by foreign text."""
    return f"documents_text_{key}"


def put_document(db: sa.Connection, key: int, collection: str, new: NewDocument) -> State:
    """Store a document and index it. It replaces the earlier document of the same origin."""
    d, page = t.documents.c, new.page
    here = sa.select(d.id, d.name).where(d.collection_id == key)
    same_text = db.execute(here.where(d.sha256 == page.sha256)).first()
    earlier = db.execute(here.where(d.origin == new.origin)).first()
    if same_text and earlier in (None, same_text):
        return "unchanged"
    if earlier:
        delete_document(db, key, earlier.id)
    if same_text:  # this origin now has the text of another one
        return "changed"
    name, number = earlier.name if earlier else new.name, 2
    while db.execute(here.where(d.name == name)).first():
        name, number = f"{new.name} ({number})", number + 1
    url = f"{COLLECTION}{collection}/{name}"
    page = page.model_copy(
        update={"url": url, "id": content_id(url, page.sha256), "site": page.site or collection}
    )
    row = {
        "collection_id": key,
        "name": name,
        "origin": new.origin,
        "source_sha256": new.source_sha256,
    }
    row |= {
        "sha256": page.sha256,
        "characters": len(page.text),
        "added_at": now(),
        "title": page.title,
    }
    row |= {"about": page.model_dump_json(exclude={"text"}), "text": page.text, "embedded": ""}
    document = db.execute(t.documents.insert().values(**row)).lastrowid
    db.exec_driver_sql(
        f"INSERT INTO {fts_table(key)}(rowid, title, text) VALUES (?, ?, ?)",
        (document, page.title, page.text),
    )
    return "changed" if earlier else "added"


def delete_document(db: sa.Connection, key: int, document: int) -> None:
    """Delete a document, its vectors and its index entry, which FTS5 finds by the text alone."""
    d, v, table = t.documents.c, t.document_vectors.c, fts_table(key)
    title, text = db.execute(sa.select(d.title, d.text).where(d.id == document)).one()
    db.exec_driver_sql(
        f"INSERT INTO {table}({table}, rowid, title, text) VALUES ('delete', ?, ?, ?)",
        (document, title, text),
    )
    db.execute(t.document_vectors.delete().where(v.collection_id == key, v.document_id == document))
    db.execute(t.documents.delete().where(d.id == document))

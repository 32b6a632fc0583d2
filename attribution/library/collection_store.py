"""Store named collections of documents, each with a full-text index (SQLite's FTS5).

A document, its index entry and the removal of what it replaces are one transaction, so that a
killed process leaves every finished document and no half one. The same text twice in a collection
is one document.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa

from attribution.errors import BadInput, StoreError
from attribution.retrieval.bm25 import FullText
from attribution.settings import COLLECTION
from attribution.store import database as t
from attribution.store.database import Database, least_size, now, store_error
from attribution.types import Page, content_id

State = Literal["added", "changed", "unchanged"]
MAX_NAME = 80  # characters of a collection's name
REWRITTEN = (
    50_000_000  # characters of a collection whose index forgets the words of what is removed
)


@dataclass(frozen=True)
class NewDocument:
    """A document to store. Its page gets its URL and id when it is stored."""

    name: str
    origin: str
    source_sha256: str
    page: Page


@dataclass(frozen=True)
class CollectionSummary:
    """The size of a collection."""

    name: str
    documents: int
    characters: int
    created_at: str


class DocumentStore:
    """The collections of one database. Safe to use from several threads and processes."""

    def __init__(self, database: Database) -> None:
        """Open the collections.

        Raises:
            StoreError: The database has no full-text index.
        """
        self._database = database
        self._engine = database.engine
        if self._engine.dialect.name != "sqlite":
            raise StoreError(
                "collections need SQLite (FTS5): leave ATTRIBUTION_DATABASE_URL unset to use them"
            )

    # --- reading ---

    def collections(self) -> list[CollectionSummary]:
        """Return all collections by name."""
        c, d = t.collections.c, t.documents.c
        query = (
            sa.select(
                c.name,
                sa.func.count(d.id),
                sa.func.coalesce(sa.func.sum(d.characters), 0),
                c.created_at,
            )
            .select_from(t.collections.outerjoin(t.documents, c.id == d.collection_id))
            .group_by(c.id)
            .order_by(c.name)
        )
        return [CollectionSummary(*row) for row in self._database.all(query)]

    def documents(
        self, collection: str, containing: str = "", limit: int = -1
    ) -> list[dict[str, str | int]]:
        """Return documents by name.

        Args:
            collection: The name of the collection.
            containing: A text that must occur in the name or title.
            limit: The greatest number; negative: all.

        Returns:
            The name, title, characters, sha256 and added_at of each.

        Raises:
            BadInput: There is no such collection.
        """
        d = t.documents.c
        query = sa.select(d.name, d.title, d.characters, d.sha256, d.added_at)
        query = query.order_by(d.name).limit(limit)
        if containing:
            in_name = d.name.contains(containing, autoescape=True)
            query = query.where(in_name | d.title.contains(containing, autoescape=True))
        return [row._asdict() for row in self._of(collection, query)]

    def _of(self, collection: str, query: sa.Select[Any]) -> Sequence[sa.Row[Any]]:
        """Return the rows of a query about the documents of one collection."""
        with self._engine.connect() as db:
            key = collection_id(db, collection)
            return db.execute(query.where(t.documents.c.collection_id == key)).all()

    def sources(self, collection: str) -> set[tuple[str, str]]:
        """Return origin and SHA-256 of the files its documents were read from."""
        d = t.documents.c
        with self._engine.connect() as db:
            query = sa.select(d.origin, d.source_sha256)
            query = query.where(d.collection_id == _find(db, collection))
            return {(origin, digest) for origin, digest in db.execute(query)}

    def page(self, collection: str, name: str) -> Page | None:
        """Return a document with its text; None if the collection has none of that name.

        Raises:
            BadInput: There is no such collection.
        """
        d = t.documents.c
        found = self._of(collection, sa.select(d.id).where(d.name == name))
        return self.pages([found[0].id]).get(found[0].id) if found else None

    def pages(self, ids: Sequence[int]) -> dict[int, Page]:
        """Return documents by id; those removed meanwhile are left out."""
        d = t.documents.c
        pages = {}
        query = sa.select(d.id, d.about, d.text).where(d.id.in_(ids))
        for row in self._database.all(query):
            page = Page.model_validate_json(row.about)
            pages[row.id] = page.model_copy(update={"text": row.text})
        return pages

    @contextmanager
    def full_text(self, collection: str) -> Iterator[FullText]:
        """Open the full-text index, for one thread and while the context lasts.

        Raises:
            BadInput: There is no such collection.
            StoreError: The index cannot be read.
        """
        count = sa.select(sa.func.count())
        with self._engine.connect() as db:
            key = collection_id(db, collection)
            query = count.where(t.documents.c.collection_id == key)
            documents = db.execute(query).scalar_one()
            connection: object = db.connection.dbapi_connection
            assert isinstance(connection, sqlite3.Connection)
            try:
                yield FullText(connection, fts_table(key), documents)
            except sqlite3.Error as error:  # searches go past SQLAlchemy
                raise store_error(error, self._engine) or error from error

    # --- adding and removing ---

    def put(self, collection: str, new: Sequence[NewDocument]) -> list[State]:
        """Add documents in one transaction. The collection is created where needed.

        Returns:
            What happened to each document.

        Raises:
            BadInput: The name is not valid, or all collections take too much of the disk.
        """
        check_name(collection)
        sizes = (sa.select(sa.func.sum(t.documents.c.characters)), least_size(t.collections))
        self._database.check_space("collections", "ATTRIBUTION_SHARED_MB", *sizes)
        with self._database.transaction() as db:
            key = get_or_create(db, collection)
            return [put_document(db, key, collection, document) for document in new]

    def remove(self, collection: str, name: str | None = None) -> int:
        """Remove a document, or without a name the whole collection.

        Returns:
            The number of documents removed.

        Raises:
            BadInput: There is no such collection or document.
        """
        c, d = t.collections.c, t.documents.c
        with self._database.transaction() as db:
            key = collection_id(db, collection)
            if name is None:
                db.exec_driver_sql(f"DROP TABLE {fts_table(key)}")
                db.execute(t.collections.delete().where(c.id == key))
                return db.execute(t.documents.delete().where(d.collection_id == key)).rowcount
            query = sa.select(d.id).where(d.collection_id == key, d.name == name)
            document = db.execute(query).scalar()
            if document is None:
                raise BadInput(
                    f"collection {collection!r} has no document {name[:200]!r}: "
                    "see `collections list`"
                )
            delete_document(db, key, document)
            size = sa.select(sa.func.sum(d.characters)).where(d.collection_id == key)
            if (db.execute(size).scalar() or 0) < REWRITTEN:
                table = fts_table(key)
                db.exec_driver_sql(f"INSERT INTO {table}({table}) VALUES ('optimize')")
            return 1


# --- documents and their index entries, within a transaction ---


def check_name(collection: str) -> None:
    """Check a collection's name.

    Raises:
        BadInput: It cannot follow `collection:` or stand on one line.
    """
    is_short = len(collection) <= MAX_NAME
    is_plain = collection.isprintable() and "/" not in collection
    if not (collection.strip() and is_short and is_plain):
        raise BadInput(
            f"collection {collection[:40]!r}: expected 1 to {MAX_NAME} printable "
            "characters without /"
        )


def collection_id(db: sa.Connection, collection: str) -> int:
    """Return the id of a collection.

    Raises:
        BadInput: There is none of that name; the message names others.
    """
    key = _find(db, collection)
    if key is not None:
        return key
    c = t.collections.c
    names = ", ".join(db.execute(sa.select(c.name).order_by(c.name).limit(20)).scalars())
    raise BadInput(
        f"there is no collection {collection[:MAX_NAME]!r}; collections: "
        f"{names or 'none yet'}. Create one with `collections add`"
    )


def get_or_create(db: sa.Connection, collection: str) -> int:
    """Return the id of a collection, which is created if it does not exist."""
    key = _find(db, collection)
    if key is not None:
        return key
    created = t.collections.insert().values(name=collection, created_at=now())
    key = int(db.execute(created).lastrowid)
    db.exec_driver_sql(
        f"CREATE VIRTUAL TABLE {fts_table(key)} USING fts5("
        "title, text, content='documents', content_rowid='id', tokenize='porter unicode61')"
    )
    return key


def _find(db: sa.Connection, collection: str) -> int | None:
    c = t.collections.c
    key: int | None = db.execute(sa.select(c.id).where(c.name == collection)).scalar()
    return key


def fts_table(key: int) -> str:
    """Return the FTS5 table of a collection: named by its id, so never by foreign text."""
    return f"documents_text_{key}"


def put_document(db: sa.Connection, key: int, collection: str, new: NewDocument) -> State:
    """Store a document and index it. It replaces the earlier document of the same origin.

    Args:
        db: The transaction.
        key: The id of the collection.
        collection: Its name, which is part of the document's address.
        new: The document.

    Returns:
        What became of it: a text that the collection already has is not stored again.
    """
    d, page = t.documents.c, new.page
    documents = sa.select(d.id, d.name).where(d.collection_id == key)
    same_text = db.execute(documents.where(d.sha256 == page.sha256)).first()
    earlier = db.execute(documents.where(d.origin == new.origin)).first()
    if same_text and earlier in (None, same_text):
        return "unchanged"
    if earlier:
        delete_document(db, key, earlier.id)
    if same_text:  # this origin now has the text of another one
        return "changed"
    name = earlier.name if earlier else new.name
    number = 2
    while db.execute(documents.where(d.name == name)).first():
        name = f"{new.name} ({number})"
        number += 1
    url = f"{COLLECTION}{collection}/{name}"
    page_id = content_id(url, page.sha256)
    page = page.model_copy(update={"url": url, "id": page_id, "site": page.site or collection})
    insertion = t.documents.insert().values(
        collection_id=key,
        name=name,
        origin=new.origin,
        source_sha256=new.source_sha256,
        sha256=page.sha256,
        characters=len(page.text),
        added_at=now(),
        title=page.title,
        about=page.model_dump_json(exclude={"text"}),
        text=page.text,
    )
    document = db.execute(insertion).lastrowid
    db.exec_driver_sql(
        f"INSERT INTO {fts_table(key)}(rowid, title, text) VALUES (?, ?, ?)",
        (document, page.title, page.text),
    )
    return "changed" if earlier else "added"


def delete_document(db: sa.Connection, key: int, document: int) -> None:
    """Delete a document and its index entry, which FTS5 finds by the text alone.

    Args:
        db: The transaction.
        key: The id of the collection.
        document: The id of the document.
    """
    d, table = t.documents.c, fts_table(key)
    row = db.execute(sa.select(d.title, d.text).where(d.id == document)).one()
    db.exec_driver_sql(
        f"INSERT INTO {table}({table}, rowid, title, text) VALUES ('delete', ?, ?, ?)",
        (document, row.title, row.text),
    )
    db.execute(t.documents.delete().where(d.id == document))

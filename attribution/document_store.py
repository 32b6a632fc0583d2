"""Named collections of documents, each with its full-text index (SQLite's FTS5) and vectors, in the store's database.

A document, its index entry and the removal of what it replaces are one transaction: whoever kills the process keeps
every finished document and no half one. A document is its text: the same text twice in a collection is one document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from attribution.errors import BadInput, StoreError
from attribution.settings import COLLECTION
from attribution.store import Store, create, lock, now
from attribution.types import Page, content_id

MAX_NAME = 80
State = Literal["added", "changed", "unchanged"]

_tables = sa.MetaData()
_collections = sa.Table(
    "collections",
    _tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(MAX_NAME), nullable=False, unique=True),
    sa.Column("created_at", sa.String(32), nullable=False),
    sqlite_autoincrement=True,
)
_documents = sa.Table(
    "documents",
    _tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("collection_id", sa.Integer, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("origin", sa.Text, nullable=False),  # path, address or upload: the same again replaces the document
    sa.Column("sha256", sa.String(64), nullable=False),  # of the text
    sa.Column("source_sha256", sa.String(64), nullable=False),  # of the bytes; empty for a web page
    sa.Column("characters", sa.Integer, nullable=False),
    sa.Column("added_at", sa.String(32), nullable=False),
    sa.Column("embedded", sa.String(64), nullable=False),  # the model of its vectors; empty: it has none yet
    sa.Column("about", sa.Text, nullable=False),  # the Page as JSON, without its text
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.UniqueConstraint("collection_id", "name"),
    sa.UniqueConstraint("collection_id", "sha256"),
    sa.UniqueConstraint("collection_id", "origin"),
    sa.Index("documents_facts", "collection_id", "embedded", "characters", "added_at"),
    sqlite_autoincrement=True,  # an id that was removed never means another document
)
_vectors = sa.Table(
    "document_vectors",
    _tables,
    sa.Column("collection_id", sa.Integer, primary_key=True),
    sa.Column("document_id", sa.Integer, primary_key=True),
    sa.Column("passage", sa.Integer, primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),  # float32
    sqlite_with_rowid=False,
)


@dataclass(frozen=True)
class Kept:
    """A collection as it stands. `embedded` of its documents have vectors."""

    name: str
    documents: int
    characters: int
    embedded: int
    created_at: str
    changed_at: str


@dataclass(frozen=True)
class NewDocument:
    """A document that was read; its page gets its address when it is stored."""

    name: str
    origin: str
    source_sha256: str
    page: Page


class DocumentStore:
    """The collections of one store. Safe to use from several threads and processes."""

    def __init__(self, store: Store) -> None:
        """StoreError where the database has no full-text index."""
        self._engine = store.engine
        if self._engine.dialect.name != "sqlite":
            raise StoreError("collections need SQLite (FTS5): leave ATTRIBUTION_DATABASE_URL unset to use them")
        create(self._engine, _tables)

    # --- what there is ---

    def collections(self, model: str = "") -> list[Kept]:
        """All collections by name; `model` is the one whose vectors are counted."""
        c, d = _collections.c, _documents.c
        size, changed = sa.func.coalesce(sa.func.sum(d.characters), 0), sa.func.max(d.added_at)
        embedded = sa.func.count().filter(d.embedded == model, d.embedded != "")
        facts = sa.select(sa.func.count(), size, embedded, changed)
        found = []
        with self._engine.connect() as db:
            for key, name, created in db.execute(sa.select(c.id, c.name, c.created_at).order_by(c.name)).all():
                *counts, last = db.execute(facts.where(d.collection_id == key)).one()
                found.append(Kept(name, *counts, created, last or created))
        return found

    def documents(self, collection: str, containing: str = "", limit: int = -1) -> list[dict[str, Any]]:
        """name, title, characters, sha256 and added_at of documents whose name or title contains a text, by name."""
        d = _documents.c
        with self._engine.connect() as db:
            chosen = sa.select(d.name, d.title, d.characters, d.sha256, d.added_at).where(
                d.collection_id == self._key(db, collection)
            )
            if containing:
                chosen = chosen.where(
                    d.name.contains(containing, autoescape=True) | d.title.contains(containing, autoescape=True)
                )
            return [dict(row) for row in db.execute(chosen.order_by(d.name).limit(limit)).mappings()]

    def sources(self, collection: str) -> set[str]:
        """The hashes of the bytes that its documents were read from; empty for one that is not there."""
        with self._engine.connect() as db:
            chosen = sa.select(_documents.c.source_sha256).join(
                _collections, _collections.c.id == _documents.c.collection_id
            )
            return set(db.execute(chosen.where(_collections.c.name == collection)).scalars())

    def page(self, collection: str, name: str) -> Page | None:
        """A document with its text."""
        with self._engine.connect() as db:
            key = self._key(db, collection)
            chosen = sa.select(_documents.c.id).where(_documents.c.collection_id == key, _documents.c.name == name)
            found = db.execute(chosen).scalar()
        return self.pages([found])[found] if found is not None else None

    def pages(self, ids: Sequence[int]) -> dict[int, Page]:
        """Documents by id; those removed meanwhile are left out."""
        d = _documents.c
        with self._engine.connect() as db:
            rows = db.execute(sa.select(d.id, d.about, d.text).where(d.id.in_(ids))).all()
        return {key: Page.model_validate_json(about).model_copy(update={"text": text}) for key, about, text in rows}

    @contextmanager
    def full_text(self, collection: str) -> Iterator[tuple[Any, str, int]]:
        """A sqlite3 connection, the name of the FTS5 table (title, text) and its number of documents."""
        with self._engine.connect() as db:
            key = self._key(db, collection)
            count = db.execute(sa.select(sa.func.count()).where(_documents.c.collection_id == key)).scalar_one()
            yield db.connection.dbapi_connection, _index(key), count

    # --- adding and removing ---

    def make(self, collection: str) -> None:
        """An empty collection, if there is none of that name. BadInput for a name that cannot be one."""
        check_name(collection)
        with self._writing() as db:
            self._made(db, collection)

    def put(self, collection: str, new: Sequence[NewDocument]) -> list[State]:
        """Keep documents, all in one transaction, in a collection that is made where needed; what came of each."""
        check_name(collection)
        with self._writing() as db:
            key = self._made(db, collection)
            return [_put(db, key, collection, document) for document in new]

    def remove(self, collection: str, name: str | None = None) -> int:
        """Remove a document, or without a name the whole collection; the number of documents removed."""
        d = _documents.c
        with self._writing() as db:
            key = self._key(db, collection)
            if name is not None:
                found = db.execute(sa.select(d.id).where(d.collection_id == key, d.name == name)).scalar()
                if found is None:
                    raise BadInput(f"collection {collection!r} has no document {name[:200]!r}: see library list")
                _forget(db, key, found)
                return 1
            db.exec_driver_sql(f"DROP TABLE {_index(key)}")
            db.execute(_vectors.delete().where(_vectors.c.collection_id == key))
            db.execute(_collections.delete().where(_collections.c.id == key))
            return db.execute(_documents.delete().where(d.collection_id == key)).rowcount

    # --- vectors ---

    def unembedded(self, collection: str, model: str, characters: int, limit: int) -> dict[int, tuple[str, str]]:
        """The title and the first characters of documents that have no vectors of that model."""
        d = _documents.c
        with self._engine.connect() as db:
            key = self._key(db, collection)
            chosen = sa.select(d.id, d.title, sa.func.substr(d.text, 1, characters))
            rows = db.execute(chosen.where(d.collection_id == key, d.embedded != model).limit(limit)).all()
        return {document: (title, text) for document, title, text in rows}

    def put_vectors(self, collection: str, model: str, vectors: Mapping[int, Sequence[bytes]]) -> None:
        """Keep all vectors of documents, float32, one a passage; of documents that were removed meanwhile none."""
        d, v = _documents.c, _vectors.c
        with self._writing() as db:
            key = self._key(db, collection)
            here = d.collection_id == key, d.id.in_(list(vectors))
            rows = [
                {"collection_id": key, "document_id": document, "passage": number, "data": data}
                for document in db.execute(sa.select(d.id).where(*here)).scalars().all()
                for number, data in enumerate(vectors[document])
            ]
            db.execute(_vectors.delete().where(v.collection_id == key, v.document_id.in_(list(vectors))))
            db.execute(_documents.update().where(*here).values(embedded=model))
            if rows:
                db.execute(_vectors.insert(), rows)

    def vectors(self, collection: str, model: str) -> tuple[list[int], list[bytes]]:
        """The documents of that model's vectors, and the vectors, side by side."""
        d, v = _documents.c, _vectors.c
        with self._engine.connect() as db:
            key = self._key(db, collection)
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

    def _key(self, db: sa.Connection, collection: str) -> int:
        c = _collections.c
        key: int | None = db.execute(sa.select(c.id).where(c.name == collection)).scalar()
        if key is None:
            known = ", ".join(db.execute(sa.select(c.name).order_by(c.name).limit(20)).scalars())
            raise BadInput(
                f"collection {collection[:MAX_NAME]!r}: expected one of those there are ({known or 'none yet'}); "
                "`library add` makes one"
            )
        return key

    def _made(self, db: sa.Connection, collection: str) -> int:
        c = _collections.c
        found: int | None = db.execute(sa.select(c.id).where(c.name == collection)).scalar()
        if found is not None:
            return found
        row = db.execute(_collections.insert().values(name=collection, created_at=now()))
        key = int(row.inserted_primary_key[0])
        db.exec_driver_sql(
            f"CREATE VIRTUAL TABLE {_index(key)} USING fts5("
            "title, text, content='documents', content_rowid='id', tokenize='porter unicode61')"
        )
        return key


def check_name(collection: str) -> None:
    """BadInput for a name that cannot stand after `collection:` or on one line."""
    if not collection.strip() or len(collection) > MAX_NAME or not collection.isprintable() or "/" in collection:
        raise BadInput(f"collection {collection[:40]!r}: expected 1 to {MAX_NAME} printable characters without /")


def _index(key: int) -> str:
    return f"documents_text_{key}"


def _put(db: sa.Connection, key: int, collection: str, new: NewDocument) -> State:
    d, page = _documents.c, new.page
    here = sa.select(d.id, d.name).where(d.collection_id == key)
    same = db.execute(here.where(d.sha256 == page.sha256)).first()
    old = db.execute(here.where(d.origin == new.origin)).first()
    if same and old in (None, same):
        return "unchanged"
    if old:
        _forget(db, key, old.id)
    if same:  # what came from here is now what came from elsewhere already
        return "changed"
    name, number = old.name if old else new.name, 2
    while db.execute(here.where(d.name == name)).first():
        name, number = f"{new.name} ({number})", number + 1
    url = f"{COLLECTION}{collection}/{name}"
    page = page.model_copy(update={"url": url, "id": content_id(url, page.sha256), "site": page.site or collection})
    row = {"collection_id": key, "name": name, "origin": new.origin, "source_sha256": new.source_sha256}
    row |= {"sha256": page.sha256, "characters": len(page.text), "added_at": now(), "title": page.title}
    row["embedded"] = ""
    row |= {"about": page.model_dump_json(exclude={"text"}), "text": page.text}
    made = db.execute(_documents.insert().values(**row)).inserted_primary_key
    db.exec_driver_sql(
        f"INSERT INTO {_index(key)}(rowid, title, text) VALUES (?, ?, ?)", (made[0], page.title, page.text)
    )
    return "changed" if old else "added"


def _forget(db: sa.Connection, key: int, document: int) -> None:
    """Without its document's text an index entry cannot be found: it goes first."""
    d, v, table = _documents.c, _vectors.c, _index(key)
    title, text = db.execute(sa.select(d.title, d.text).where(d.id == document)).one()
    db.exec_driver_sql(
        f"INSERT INTO {table}({table}, rowid, title, text) VALUES ('delete', ?, ?, ?)", (document, title, text)
    )
    db.execute(_vectors.delete().where(v.collection_id == key, v.document_id == document))
    db.execute(_documents.delete().where(d.id == document))

"""The tables of document_store.py, and what happens to them within one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa

from attribution.errors import BadInput
from attribution.settings import COLLECTION
from attribution.storage.store import now
from attribution.types import Page, content_id

MAX_NAME = 80
State = Literal["added", "changed", "unchanged"]

tables = sa.MetaData()
collections = sa.Table(
    "collections",
    tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(MAX_NAME), nullable=False, unique=True),
    sa.Column("created_at", sa.String(32), nullable=False),
    sqlite_autoincrement=True,
)
documents = sa.Table(
    "documents",
    tables,
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
vectors = sa.Table(
    "document_vectors",
    tables,
    sa.Column("collection_id", sa.Integer, primary_key=True),
    sa.Column("document_id", sa.Integer, primary_key=True),
    sa.Column("passage", sa.Integer, primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),  # float32
    sqlite_with_rowid=False,
)


@dataclass(frozen=True)
class NewDocument:
    """A document that was read; its page gets its address when it is stored."""

    name: str
    origin: str
    source_sha256: str
    page: Page


def check_name(collection: str) -> None:
    """BadInput for a name that cannot stand after `collection:` or on one line."""
    if not collection.strip() or len(collection) > MAX_NAME or not collection.isprintable() or "/" in collection:
        raise BadInput(f"collection {collection[:40]!r}: expected 1 to {MAX_NAME} printable characters without /")


def key_of(db: sa.Connection, collection: str) -> int:
    """The number of a collection; BadInput names those there are where it is none of them."""
    c = collections.c
    key: int | None = db.execute(sa.select(c.id).where(c.name == collection)).scalar()
    if key is None:
        known = ", ".join(db.execute(sa.select(c.name).order_by(c.name).limit(20)).scalars())
        raise BadInput(
            f"collection {collection[:MAX_NAME]!r}: expected one of those there are ({known or 'none yet'}); "
            "`library add` makes one"
        )
    return key


def made(db: sa.Connection, collection: str) -> int:
    """The number of a collection, which is made where it is missing."""
    c = collections.c
    found: int | None = db.execute(sa.select(c.id).where(c.name == collection)).scalar()
    if found is not None:
        return found
    key = db.execute(collections.insert().values(name=collection, created_at=now())).lastrowid
    db.exec_driver_sql(
        f"CREATE VIRTUAL TABLE {index_of(key)} USING fts5("
        "title, text, content='documents', content_rowid='id', tokenize='porter unicode61')"
    )
    return key


def index_of(key: int) -> str:
    """The FTS5 table of a collection: made of a number, so never foreign text."""
    return f"documents_text_{key}"


def put(db: sa.Connection, key: int, collection: str, new: NewDocument) -> State:
    """Keep a document with its index entry, in place of what its origin brought before; what came of it."""
    d, page = documents.c, new.page
    here = sa.select(d.id, d.name).where(d.collection_id == key)
    same = db.execute(here.where(d.sha256 == page.sha256)).first()
    old = db.execute(here.where(d.origin == new.origin)).first()
    if same and old in (None, same):
        return "unchanged"
    if old:
        forget(db, key, old.id)
    if same:  # what came from here is now what came from elsewhere already
        return "changed"
    name, number = old.name if old else new.name, 2
    while db.execute(here.where(d.name == name)).first():
        name, number = f"{new.name} ({number})", number + 1
    url = f"{COLLECTION}{collection}/{name}"
    page = page.model_copy(update={"url": url, "id": content_id(url, page.sha256), "site": page.site or collection})
    row = {"collection_id": key, "name": name, "origin": new.origin, "source_sha256": new.source_sha256}
    row |= {"sha256": page.sha256, "characters": len(page.text), "added_at": now(), "title": page.title}
    row |= {"about": page.model_dump_json(exclude={"text"}), "text": page.text, "embedded": ""}
    document = db.execute(documents.insert().values(**row)).lastrowid
    db.exec_driver_sql(
        f"INSERT INTO {index_of(key)}(rowid, title, text) VALUES (?, ?, ?)", (document, page.title, page.text)
    )
    return "changed" if old else "added"


def forget(db: sa.Connection, key: int, document: int) -> None:
    """Remove a document: its index entry, which cannot be found without the text, its vectors, itself."""
    d, v, table = documents.c, vectors.c, index_of(key)
    title, text = db.execute(sa.select(d.title, d.text).where(d.id == document)).one()
    db.exec_driver_sql(
        f"INSERT INTO {table}({table}, rowid, title, text) VALUES ('delete', ?, ?, ?)", (document, title, text)
    )
    db.execute(vectors.delete().where(v.collection_id == key, v.document_id == document))
    db.execute(documents.delete().where(d.id == document))

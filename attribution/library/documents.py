"""Documents of collections: adding, replacing and deleting them and their index entries within a transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa

from attribution.errors import BadInput
from attribution.settings import COLLECTION
from attribution.store.database import now
from attribution.store.schema import MAX_COLLECTION_NAME, collections, document_vectors, documents
from attribution.types import Page, content_id

State = Literal["added", "changed", "unchanged"]


@dataclass(frozen=True)
class NewDocument:
    """A document to store. Its page gets its URL and id when it is stored."""

    name: str
    origin: str
    source_sha256: str
    page: Page


def check_name(collection: str) -> None:
    """BadInput for a name that cannot follow `collection:` or stand on one line."""
    too_long = len(collection) > MAX_COLLECTION_NAME
    if not collection.strip() or too_long or not collection.isprintable() or "/" in collection:
        raise BadInput(
            f"collection {collection[:40]!r}: expected 1 to {MAX_COLLECTION_NAME} printable characters without /"
        )


def collection_id(db: sa.Connection, collection: str) -> int:
    """The id of a collection. BadInput with the names of the others if there is none of that name."""
    c = collections.c
    if (key := _find(db, collection)) is not None:
        return key
    names = ", ".join(db.execute(sa.select(c.name).order_by(c.name).limit(20)).scalars())
    raise BadInput(
        f"there is no collection {collection[:MAX_COLLECTION_NAME]!r}; collections: {names or 'none yet'}. "
        "Create one with `collections add`"
    )


def get_or_create(db: sa.Connection, collection: str) -> int:
    """The id of a collection, which is created if it does not exist."""
    if (key := _find(db, collection)) is not None:
        return key
    (key,) = db.execute(collections.insert().values(name=collection, created_at=now())).inserted_primary_key or (0,)
    db.exec_driver_sql(
        f"CREATE VIRTUAL TABLE {fts_table(key)} USING fts5("
        "title, text, content='documents', content_rowid='id', tokenize='porter unicode61')"
    )
    return int(key)


def _find(db: sa.Connection, collection: str) -> int | None:
    key: int | None = db.execute(sa.select(collections.c.id).where(collections.c.name == collection)).scalar()
    return key


def fts_table(key: int) -> str:
    """The FTS5 table of a collection: named by its id, so never by foreign text."""
    return f"documents_text_{key}"


def put_document(db: sa.Connection, key: int, collection: str, new: NewDocument) -> State:
    """Store a document and index it. It replaces the earlier document of the same origin."""
    d, page = documents.c, new.page
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
    page = page.model_copy(update={"url": url, "id": content_id(url, page.sha256), "site": page.site or collection})
    row = {"collection_id": key, "name": name, "origin": new.origin, "source_sha256": new.source_sha256}
    row |= {"sha256": page.sha256, "characters": len(page.text), "added_at": now(), "title": page.title}
    row |= {"about": page.model_dump_json(exclude={"text"}), "text": page.text, "embedded": ""}
    document = db.execute(documents.insert().values(**row)).lastrowid
    db.exec_driver_sql(
        f"INSERT INTO {fts_table(key)}(rowid, title, text) VALUES (?, ?, ?)", (document, page.title, page.text)
    )
    return "changed" if earlier else "added"


def delete_document(db: sa.Connection, key: int, document: int) -> None:
    """Delete a document, its vectors and its index entry, which FTS5 finds by the text alone."""
    d, v, table = documents.c, document_vectors.c, fts_table(key)
    title, text = db.execute(sa.select(d.title, d.text).where(d.id == document)).one()
    db.exec_driver_sql(
        f"INSERT INTO {table}({table}, rowid, title, text) VALUES ('delete', ?, ?, ?)", (document, title, text)
    )
    db.execute(document_vectors.delete().where(v.collection_id == key, v.document_id == document))
    db.execute(documents.delete().where(d.id == document))

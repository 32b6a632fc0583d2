"""The tables of databases from before the migrations; those that a database already has are left as they are."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.schema import SchemaItem

revision, down_revision = "1", None

KEY, TIME, NAME, TEXT = sa.String(16), sa.String(32), sa.String(64), sa.Text()
NUMBER, BYTES = sa.Integer(), sa.LargeBinary()


def upgrade() -> None:
    tables = sa.MetaData()

    def create(name: str, keys: dict[str, Any], columns: dict[str, Any], *more: SchemaItem, **options: Any) -> None:
        primary = [sa.Column(key, kind, primary_key=True) for key, kind in keys.items()]
        others = [sa.Column(column, kind, nullable=False) for column, kind in columns.items()]
        sa.Table(name, tables, *primary, *others, *more, **options)

    create("meta", {}, {"schema_version": NUMBER})
    create("pages", {"id": KEY}, {"url": TEXT, "fetched_at": TIME, "body": TEXT}, sa.Index("ix_pages_url", "url"))
    create("searches", {"searcher": NAME, "query": sa.String(1024), "k": NUMBER}, {"made_at": TIME, "hits": TEXT})
    create("vectors", {"key": KEY}, {"data": BYTES})
    create("judgements", {"key": KEY}, {"body": TEXT})
    create("replies", {"key": KEY}, {"body": TEXT})
    response = {"url": TEXT, "received_at": TIME, "status": NUMBER, "headers": TEXT, "body": BYTES}
    create("responses", {"page_id": KEY}, response)
    create("runs", {"id": KEY}, {"created_at": TIME, "question": TEXT, "report": TEXT})
    create("trails", {"run_id": KEY}, {"body": TEXT})
    create("frozen_pages", {"id": KEY}, {"body": TEXT})
    create(
        "collections",
        {"id": NUMBER},
        {"name": sa.String(80), "created_at": TIME},
        sa.UniqueConstraint("name"),
        sqlite_autoincrement=True,
    )
    document = {"collection_id": NUMBER, "name": TEXT, "origin": TEXT, "sha256": NAME, "source_sha256": NAME}
    document |= {"characters": NUMBER, "added_at": TIME, "embedded": NAME, "about": TEXT, "title": TEXT, "text": TEXT}
    create(
        "documents",
        {"id": NUMBER},
        document,
        sa.UniqueConstraint("collection_id", "name"),
        sa.UniqueConstraint("collection_id", "sha256"),
        sa.UniqueConstraint("collection_id", "origin"),
        sa.Index("documents_facts", "collection_id", "embedded", "characters", "added_at"),
        sqlite_autoincrement=True,
    )
    keys = {"collection_id": NUMBER, "document_id": NUMBER, "passage": NUMBER}
    create("document_vectors", keys, {"data": BYTES}, sqlite_with_rowid=False)
    tables.create_all(op.get_bind())

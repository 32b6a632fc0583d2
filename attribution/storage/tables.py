"""The tables as the newest migration leaves them. Each change here needs a migration in `migrations/versions`."""

from __future__ import annotations

import sqlalchemy as sa

MAX_COLLECTION_NAME = 80  # characters

metadata = sa.MetaData()

pages = sa.Table(
    "pages",
    metadata,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("url", sa.Text, nullable=False, index=True),  # canonical; in older rows as it was requested
    sa.Column("fetched_at", sa.String(32), nullable=False),
    sa.Column("body", sa.Text, nullable=False),  # the Page as JSON
)
searches = sa.Table(
    "searches",
    metadata,
    sa.Column("searcher", sa.String(64), primary_key=True),
    sa.Column("query", sa.String(1024), primary_key=True),
    sa.Column("k", sa.Integer, primary_key=True),
    sa.Column("made_at", sa.String(32), nullable=False),
    sa.Column("hits", sa.Text, nullable=False),
)
vectors = sa.Table(
    "vectors",
    metadata,
    sa.Column("key", sa.String(16), primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),  # float32
)
judgements = sa.Table(
    "judgements",
    metadata,
    sa.Column("key", sa.String(16), primary_key=True),
    sa.Column("body", sa.Text, nullable=False),
)
replies = sa.Table(  # of language models
    "replies", metadata, sa.Column("key", sa.String(16), primary_key=True), sa.Column("body", sa.Text, nullable=False)
)
responses = sa.Table(
    "responses",
    metadata,
    sa.Column("page_id", sa.String(16), primary_key=True),
    sa.Column("url", sa.Text, nullable=False),  # the one that answered, after redirects
    sa.Column("received_at", sa.String(32), nullable=False),
    sa.Column("status", sa.Integer, nullable=False),
    sa.Column("headers", sa.Text, nullable=False),  # JSON, a list of pairs
    sa.Column("body", sa.LargeBinary, nullable=False),  # zlib
)
runs = sa.Table(
    "runs",
    metadata,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("created_at", sa.String(32), nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("report", sa.Text, nullable=False),
)
provenance = sa.Table(
    "provenance",
    metadata,
    sa.Column("run_id", sa.String(16), primary_key=True),
    sa.Column("body", sa.Text, nullable=False),
)
frozen_pages = sa.Table(  # of imported and replayed runs; never used as downloads
    "frozen_pages",
    metadata,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("body", sa.Text, nullable=False),
)
collections = sa.Table(  # each has an FTS5 table of its own, see attribution/collections/documents.py
    "collections",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(MAX_COLLECTION_NAME), nullable=False, unique=True),
    sa.Column("created_at", sa.String(32), nullable=False),
    sqlite_autoincrement=True,
)
documents = sa.Table(
    "documents",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("collection_id", sa.Integer, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("origin", sa.Text, nullable=False),  # path, address or upload: adding it again replaces the document
    sa.Column("sha256", sa.String(64), nullable=False),  # of the text
    sa.Column("source_sha256", sa.String(64), nullable=False),  # of the bytes; empty for a web page
    sa.Column("characters", sa.Integer, nullable=False),
    sa.Column("added_at", sa.String(32), nullable=False),
    sa.Column("embedded", sa.String(64), nullable=False),  # version of the model of its vectors; empty: no vectors yet
    sa.Column("about", sa.Text, nullable=False),  # the Page as JSON, without its text
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.UniqueConstraint("collection_id", "name"),
    sa.UniqueConstraint("collection_id", "sha256"),
    sa.UniqueConstraint("collection_id", "origin"),
    sa.Index("documents_facts", "collection_id", "embedded", "characters", "added_at"),
    sqlite_autoincrement=True,  # the id of a removed document is never given to another
)
document_vectors = sa.Table(
    "document_vectors",
    metadata,
    sa.Column("collection_id", sa.Integer, primary_key=True),
    sa.Column("document_id", sa.Integer, primary_key=True),
    sa.Column("passage", sa.Integer, primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),  # float32
    sqlite_with_rowid=False,
)

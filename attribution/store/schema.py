"""The tables as the newest migration leaves them.

A new database takes them from here; each change needs a migration in `migrations/versions`.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

MAX_COLLECTION_NAME = 80  # characters

metadata = sa.MetaData()


def _key(name: str, kind: int | type = 16) -> sa.Column[Any]:
    """Return a column of the primary key: text of so many characters, or of another kind."""
    return sa.Column(name, sa.String(kind) if isinstance(kind, int) else kind, primary_key=True)


def _of(name: str, kind: int | type = sa.Text, **options: Any) -> sa.Column[Any]:
    """Return a column that is never null."""
    return sa.Column(
        name, sa.String(kind) if isinstance(kind, int) else kind, nullable=False, **options
    )


def _size() -> sa.Column[Any]:
    """Return a column with the characters or bytes that a row takes, with its pages."""
    return _of("size", sa.Integer, default=0)


def _cached(name: str, *columns: sa.schema.SchemaItem) -> sa.Table:
    """Return the table of a cache, of which what was used longest ago is deleted."""
    used_on = _of("used_on", 10, default="")  # the day
    last_uses = sa.Index(f"last_uses_of_{name}", "used_on", "size")
    return _table(name, *columns, used_on, _size(), last_uses)


def _table(name: str, *columns: sa.schema.SchemaItem, **options: Any) -> sa.Table:
    return sa.Table(name, metadata, *columns, **options)


pages = _cached(
    "pages",
    _key("id"),
    _of("url", index=True),  # canonical; in older rows as it was requested
    _of("fetched_at", 32),
    _of("body"),  # the Page as JSON
)
searches = _cached(
    "searches",
    _key("key", 64),
    _of("made_at", 32),
    _of("body"),  # the hits as JSON
)
vectors = _cached(
    "vectors",
    _key("key"),
    _of("body", sa.LargeBinary),  # float32
)
judgements = _cached(
    "judgements",
    _key("key"),
    _of("body"),
)
replies = _cached(  # of language models
    "replies",
    _key("key"),
    _of("body"),
)
runs = _table(
    "runs",
    _key("id"),
    _of("created_at", 32),
    _of("question"),
    _of("answer"),
    _of("settings"),  # JSON, without secrets
    _of("version", sa.Integer),  # the one that is shown; 0: none yet
    _of("owner", 64),  # SHA-256 of a token; empty: no one
    _of("private", sa.Boolean),
    _of("title", default=""),  # given by its owner
    _of("tags", default="[]"),  # JSON, a sorted list
    _of("note", default=""),
    _of("search_text", default=""),  # title, tags and note, see runs.searchable
    _of("deleted_at", 32, default=""),  # empty: not deleted
    _size(),
    sa.Index("runs_of_owner", "owner", "created_at"),
)
run_versions = _table(
    "run_versions",
    _key("run_id"),
    _key("number", sa.Integer),
    _of("parent", sa.Integer),  # the version that was edited; 0: none
    _of("created_at", 32),
    _of("claim_id"),  # the claim that was checked again; empty in the first
    _of("report"),
    _of("provenance"),  # empty: unknown
    _of("edit"),  # what made it of its parent, as JSON; empty in the first
)
run_summaries = (
    _table(  # what a list of runs shows of each version, so that no report has to be parsed for it
        "run_summaries",
        _key("run_id"),
        _key("number", sa.Integer),  # of the version; 0: of a run that is not finished
        _of("claims", sa.Integer),
        _of("checked", sa.Integer),  # of these: compared with the sources
        _of("reviewed", sa.Integer),  # of these: assessed by the analyst
        _of("verdicts"),  # JSON, claims by badge, without zeros
        _of("sources"),  # JSON, a list of kinds
        _of("search_text"),  # question, answer and claims
    )
)
unfinished_runs = _table(  # what is known of a run that is in progress or was interrupted
    "unfinished_runs",
    _key("run_id"),
    _of("saved_at", 32),
    _of("report"),
)
run_documents = _table(  # the user's own, until the run is finished
    "run_documents",
    _key("run_id"),
    _key("number", sa.Integer),
    _of("name"),
    _of("media_type"),
    _of("content", sa.LargeBinary),
)
queue = _table(  # runs that wait for their turn; a finished run has no row
    "queue",
    _key("number", sa.Integer),  # the order
    _of("run_id", 16, unique=True),
    _of("attempts", sa.Integer, default=0),  # how often it was begun
    _of("problem", default=""),  # why the run could not be finished; empty: it waits
    sqlite_autoincrement=True,
)
results = _table(  # comparisons and the like, as JSON
    "results",
    _key("kind"),
    _key("id"),
    _of("created_at", 32),
    _of("body"),
    _of("owner", 64),  # as of runs; of what is saved under a run's id, the run's
    _size(),
)
uses = _table(  # what a run or result needs of the other tables, so that it can be deleted with it
    "uses",
    _key("kind"),
    _key("key", sa.Text),
    sa.Column("owner_id", sa.String(16), primary_key=True, index=True),
)
frozen_pages = _table(  # of imported and replayed runs and of results; never used as downloads
    "frozen_pages",
    _key("id"),
    _of("body"),
)
collections = _table(  # each has an FTS5 table of its own, see attribution/library/store.py
    "collections",
    _key("id", sa.Integer),
    _of("name", MAX_COLLECTION_NAME, unique=True),
    _of("created_at", 32),
    sqlite_autoincrement=True,
)
documents = _table(
    "documents",
    _key("id", sa.Integer),
    _of("collection_id", sa.Integer),
    _of("name"),
    _of("origin"),  # path, address or upload: adding it again replaces the document
    _of("sha256", 64),  # of the text
    _of("source_sha256", 64),  # of the bytes; empty for a web page
    _of("characters", sa.Integer),
    _of("added_at", 32),
    _of("embedded", 64),  # version of the model of its vectors; empty: no vectors yet
    _of("about"),  # the Page as JSON, without its text
    _of("title"),
    _of("text"),
    sa.UniqueConstraint("collection_id", "name"),
    sa.UniqueConstraint("collection_id", "sha256"),
    sa.UniqueConstraint("collection_id", "origin"),
    sa.Index("documents_facts", "collection_id", "embedded", "characters", "added_at"),
    sqlite_autoincrement=True,  # the id of a removed document is never given to another
)
document_vectors = _table(
    "document_vectors",
    _key("collection_id", sa.Integer),
    _key("document_id", sa.Integer),
    _key("passage", sa.Integer),
    _of("data", sa.LargeBinary),  # float32
    sqlite_with_rowid=False,
)
annotation_projects = _table(
    "annotation_projects",
    _key("id"),
    _of("origin", 16),  # of the judgements made in this database; not exported
    _of("body"),  # the Project as JSON
)
annotation_events = _table(  # who takes part and which stage was begun; rows are only ever added
    "annotation_events",
    _key("project_id"),
    _key("id"),
    _of("body"),  # the Member or StageChange as JSON
)
annotation_tasks = _table(
    "annotation_tasks",
    _key("id"),
    _of("project_id", 16, index=True),
    _of("body"),  # the Task as JSON, without its source
    _of("source"),
)
annotation_judgements = _table(  # people's judgements; rows are only ever added
    "annotation_judgements",
    _key("id"),
    _of("project_id", 16, index=True),
    _of("task_id", 16),
    _of("annotator", 80),
    _of("role", 16),
    _of("revision", sa.Integer),
    _of("origin", 16),
    _of("made_at", 32),
    _of("answer", 16),  # to both questions; empty: not finished
    _of("body"),  # the Judgement as JSON
    sa.UniqueConstraint("task_id", "annotator", "role", "revision", "origin"),
)

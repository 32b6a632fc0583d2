"""The tables. A change to them needs another `REVISION`."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

REVISION = "addresses_without_times"
MAX_COLLECTION_NAME = 80  # characters

metadata = sa.MetaData()


def _of(name: str, kind: int | type = sa.Text, **options: Any) -> sa.Column[Any]:
    """Return a column that is never null: text of so many characters, or of another type."""
    data_type = sa.String(kind) if isinstance(kind, int) else kind
    return sa.Column(name, data_type, nullable=False, **options)


def _key(name: str, kind: int | type = 16, **options: Any) -> sa.Column[Any]:
    """Return a column of the primary key."""
    return _of(name, kind, primary_key=True, **options)


def _number(name: str) -> sa.Column[Any]:
    """Return a column of a number that is 0 at first."""
    return _of(name, sa.Integer, default=0)


def _text(name: str, kind: int | type = sa.Text) -> sa.Column[Any]:
    """Return a column of a text that is empty at first."""
    return _of(name, kind, default="")


def _table(name: str, *columns: sa.schema.SchemaItem, **options: Any) -> sa.Table:
    return sa.Table(name, metadata, *columns, **options)


revision = _table("alembic_version", _key("version_num", 32))
cached = _table(  # pages, searches, and outputs of models; what was used longest ago is deleted
    "cached",
    _key("kind"),
    _key("key", sa.Text),
    _of("address", index=True),  # of a page: canonical; empty: never used as a download
    _of("made_at", 32),
    _of("body", sa.LargeBinary),  # JSON or text in UTF-8, or a vector of float32
    _of("used_on", 10),  # the day
    _of("size", sa.Integer),  # bytes
    sa.Index("last_uses", "kind", "used_on", "size"),
)
uses = _table(  # what a run or result needs of the cache, so that it can be deleted with it
    "uses",
    _key("kind"),
    _key("key", sa.Text),
    _key("owner_id", index=True),
)
runs = _table(
    "runs",
    _key("id"),
    _of("created_at", 32),
    _of("question"),
    _of("answer"),
    _number("version"),  # the one that is shown; 0: it isn't finished
    _of("owner", 64),  # SHA-256 of a token; empty: no one
    _of("private", sa.Boolean, default=False),
    _text("documents", 8),  # who else reads them: empty: nobody; shared; hidden: the owner neither
    _text("title"),  # given by its owner
    _of("tags", default="[]"),  # JSON, a sorted list
    _text("note"),
    _text("search_text"),  # title, tags and note, see runs.searchable
    _number("size"),  # characters, with its pages
    # What a list shows of the version, so that no report has to be parsed for it.
    _number("claims"),
    _number("checked"),  # claims compared with the sources
    _number("reviewed"),  # claims assessed by the analyst
    _of("verdicts", default="{}"),  # JSON, claims by badge, without zeros
    _of("sources", default="[]"),  # JSON, a list of kinds
    _text("claims_text"),  # question, answer and claims, see runs.searchable
    # The queue of waiting runs.
    _number("queued"),  # its place in the order; 0: it doesn't wait
    _number("attempts"),  # how often it was begun
    _text("problem"),  # why the run could not be finished; empty: it waits
    sa.Index("runs_of_owner", "owner", "created_at"),
)
run_versions = _table(
    "run_versions",
    _key("run_id"),
    _key("number", sa.Integer),  # 0: the state of a run that is in progress or was interrupted
    _of("report"),
    _of("provenance"),
)
run_documents = _table(  # the user's own, until the run is finished
    "run_documents",
    _key("run_id"),
    _key("number", sa.Integer),
    _of("name"),
    _of("media_type"),
    _of("content", sa.LargeBinary),
)
owners = _table(  # the address that each last saved from, both as SHA-256
    "owners",
    _key("owner", 64),
    _of("address", 64, index=True),
)
results = _table(  # comparisons and the like, as JSON
    "results",
    _key("kind"),
    _key("id"),
    _of("body"),
    _of("owner", 64),  # as of runs; of what is saved under a run's id, the run's
    _number("size"),
)
collections = _table(  # each has an FTS5 table, see attribution/library/collection_store.py
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
    _of("about"),  # the Page as JSON, without its text
    _of("title"),
    _of("text"),
    sa.UniqueConstraint("collection_id", "name"),
    sa.UniqueConstraint("collection_id", "sha256"),
    sa.UniqueConstraint("collection_id", "origin"),
    sa.Index("documents_facts", "collection_id", "characters"),
    sqlite_autoincrement=True,  # the id of a removed document is never given to another
)
annotation_projects = _table(
    "annotation_projects",
    _key("id"),
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
    _of("made_at", 32),
    _of("answer", 16),  # to both questions; empty: not finished
    _of("body"),  # the Judgement as JSON
    sa.UniqueConstraint("task_id", "annotator", "role", "revision"),
)

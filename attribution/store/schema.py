"""The tables as the newest migration leaves them. Until the first release the initial one takes them from here; after
it, each change needs a migration in `migrations/versions`."""

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
runs = sa.Table(
    "runs",
    metadata,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("created_at", sa.String(32), nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("answer", sa.Text, nullable=False),
    sa.Column("settings", sa.Text, nullable=False),  # JSON, without secrets
    sa.Column("version", sa.Integer, nullable=False),  # the one that is shown; 0: none yet
    sa.Column("owner", sa.String(64), nullable=False),  # SHA-256 of a token; empty: no one
    sa.Column("private", sa.Boolean, nullable=False),
    sa.Column("title", sa.Text, nullable=False, default=""),  # given by its owner
    sa.Column("tags", sa.Text, nullable=False, default="[]"),  # JSON, a sorted list
    sa.Column("note", sa.Text, nullable=False, default=""),
    sa.Column("search_text", sa.Text, nullable=False, default=""),  # title, tags and note, see summaries.py
    sa.Column("deleted_at", sa.String(32), nullable=False, default=""),  # empty: not deleted
    sa.Index("runs_of_owner", "owner", "created_at"),
)
run_versions = sa.Table(
    "run_versions",
    metadata,
    sa.Column("run_id", sa.String(16), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("parent", sa.Integer, nullable=False),  # the version that was edited; 0: none
    sa.Column("created_at", sa.String(32), nullable=False),
    sa.Column("claim_id", sa.Text, nullable=False),  # the claim that was checked again; empty in the first
    sa.Column("report", sa.Text, nullable=False),
    sa.Column("provenance", sa.Text, nullable=False),  # empty: unknown
    sa.Column("edit", sa.Text, nullable=False),  # what made it of its parent, as JSON; empty in the first
)
run_summaries = sa.Table(  # what a list of runs shows of each version, so that no report has to be parsed for it
    "run_summaries",
    metadata,
    sa.Column("run_id", sa.String(16), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),  # of the version; 0: of a run that is not finished
    sa.Column("claims", sa.Integer, nullable=False),
    sa.Column("verdicts", sa.Text, nullable=False),  # JSON, claims by badge, without zeros
    sa.Column("sources", sa.Text, nullable=False),  # JSON, a list of kinds
    sa.Column("search_text", sa.Text, nullable=False),  # question, answer and claims
)
unfinished_runs = sa.Table(  # what is known of a run that goes on or was interrupted
    "unfinished_runs",
    metadata,
    sa.Column("run_id", sa.String(16), primary_key=True),
    sa.Column("saved_at", sa.String(32), nullable=False),
    sa.Column("report", sa.Text, nullable=False),
)
run_documents = sa.Table(  # the user's own, until the run is finished
    "run_documents",
    metadata,
    sa.Column("run_id", sa.String(16), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("media_type", sa.Text, nullable=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
)
results = sa.Table(  # comparisons and the like, as JSON
    "results",
    metadata,
    sa.Column("kind", sa.String(16), primary_key=True),
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("created_at", sa.String(32), nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("owner", sa.String(64), nullable=False),  # as of runs; of what is saved under a run's id, the run's
)
uses = sa.Table(  # what a run or result needs of the other tables, so that it can be deleted with it
    "uses",
    metadata,
    sa.Column("kind", sa.String(16), primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("owner_id", sa.String(16), primary_key=True, index=True),
)
frozen_pages = sa.Table(  # of imported and replayed runs and of results; never used as downloads
    "frozen_pages",
    metadata,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("body", sa.Text, nullable=False),
)
collections = sa.Table(  # each has an FTS5 table of its own, see attribution/library/store.py
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
annotation_projects = sa.Table(
    "annotation_projects",
    metadata,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("origin", sa.String(16), nullable=False),  # of the judgements made in this database; not exported
    sa.Column("body", sa.Text, nullable=False),  # the Project as JSON
)
annotation_events = sa.Table(  # who takes part and which stage was begun; rows are only ever added
    "annotation_events",
    metadata,
    sa.Column("project_id", sa.String(16), primary_key=True),
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("body", sa.Text, nullable=False),  # the Member or StageChange as JSON
)
annotation_tasks = sa.Table(
    "annotation_tasks",
    metadata,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("project_id", sa.String(16), nullable=False, index=True),
    sa.Column("body", sa.Text, nullable=False),  # the Task as JSON, without its source
    sa.Column("source", sa.Text, nullable=False),
)
annotation_judgements = sa.Table(  # people's judgements; rows are only ever added
    "annotation_judgements",
    metadata,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("project_id", sa.String(16), nullable=False, index=True),
    sa.Column("task_id", sa.String(16), nullable=False),
    sa.Column("annotator", sa.String(80), nullable=False),
    sa.Column("role", sa.String(16), nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("origin", sa.String(16), nullable=False),
    sa.Column("made_at", sa.String(32), nullable=False),
    sa.Column("answer", sa.String(16), nullable=False),  # to both questions; empty: not finished
    sa.Column("body", sa.Text, nullable=False),  # the Judgement as JSON
    sa.UniqueConstraint("task_id", "annotator", "role", "revision", "origin"),
)
annotation_verdicts = sa.Table(  # of verifiers on the same tasks
    "annotation_verdicts",
    metadata,
    sa.Column("task_id", sa.String(16), primary_key=True),
    sa.Column("verifier", sa.String(200), primary_key=True),  # name, then the version of its model
    sa.Column("label", sa.String(16), nullable=False),
    sa.Column("confidence", sa.Float, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
)

"""All tables, as the first release has them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision, down_revision = "initial", None


def upgrade() -> None:
    op.create_table(
        "annotation_events",
        sa.Column("project_id", sa.String(length=16), nullable=False),
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "id"),
    )
    op.create_table(
        "annotation_judgements",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("project_id", sa.String(length=16), nullable=False),
        sa.Column("task_id", sa.String(length=16), nullable=False),
        sa.Column("annotator", sa.String(length=80), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("origin", sa.String(length=16), nullable=False),
        sa.Column("made_at", sa.String(length=32), nullable=False),
        sa.Column("answer", sa.String(length=16), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("task_id", "annotator", "role", "revision", "origin"),
    )
    op.create_index("ix_annotation_judgements_project_id", "annotation_judgements", ["project_id"], unique=False)
    op.create_table(
        "annotation_projects",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("origin", sa.String(length=16), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "annotation_tasks",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("project_id", sa.String(length=16), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_annotation_tasks_project_id", "annotation_tasks", ["project_id"], unique=False)
    op.create_table(
        "annotation_verdicts",
        sa.Column("task_id", sa.String(length=16), nullable=False),
        sa.Column("verifier", sa.String(length=200), nullable=False),
        sa.Column("label", sa.String(length=16), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("task_id", "verifier"),
    )
    op.create_table(
        "collections",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "document_vectors",
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("passage", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("collection_id", "document_id", "passage"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "documents",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("source_sha256", sa.String(length=64), nullable=False),
        sa.Column("characters", sa.Integer(), nullable=False),
        sa.Column("added_at", sa.String(length=32), nullable=False),
        sa.Column("embedded", sa.String(length=64), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("collection_id", "name"),
        sa.UniqueConstraint("collection_id", "origin"),
        sa.UniqueConstraint("collection_id", "sha256"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "documents_facts", "documents", ["collection_id", "embedded", "characters", "added_at"], unique=False
    )
    op.create_table(
        "frozen_pages",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "judgements",
        sa.Column("key", sa.String(length=16), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "pages",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("fetched_at", sa.String(length=32), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_pages_url", "pages", ["url"], unique=False)
    op.create_table(
        "replies",
        sa.Column("key", sa.String(length=16), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "results",
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("owner", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("kind", "id"),
    )
    op.create_table(
        "run_documents",
        sa.Column("run_id", sa.String(length=16), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "number"),
    )
    op.create_table(
        "run_summaries",
        sa.Column("run_id", sa.String(length=16), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("claims", sa.Integer(), nullable=False),
        sa.Column("verdicts", sa.Text(), nullable=False),
        sa.Column("sources", sa.Text(), nullable=False),
        sa.Column("search_text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "number"),
    )
    op.create_table(
        "run_versions",
        sa.Column("run_id", sa.String(length=16), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("parent", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.Column("claim_id", sa.Text(), nullable=False),
        sa.Column("report", sa.Text(), nullable=False),
        sa.Column("provenance", sa.Text(), nullable=False),
        sa.Column("edit", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "number"),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(length=64), nullable=False),
        sa.Column("private", sa.Boolean(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("search_text", sa.Text(), nullable=False),
        sa.Column("deleted_at", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("runs_of_owner", "runs", ["owner", "created_at"], unique=False)
    op.create_table(
        "searches",
        sa.Column("searcher", sa.String(length=64), nullable=False),
        sa.Column("query", sa.String(length=1024), nullable=False),
        sa.Column("k", sa.Integer(), nullable=False),
        sa.Column("made_at", sa.String(length=32), nullable=False),
        sa.Column("hits", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("searcher", "query", "k"),
    )
    op.create_table(
        "unfinished_runs",
        sa.Column("run_id", sa.String(length=16), nullable=False),
        sa.Column("saved_at", sa.String(length=32), nullable=False),
        sa.Column("report", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("run_id"),
    )
    op.create_table(
        "uses",
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.String(length=16), nullable=False),
        sa.PrimaryKeyConstraint("kind", "key", "owner_id"),
    )
    op.create_index("ix_uses_owner_id", "uses", ["owner_id"], unique=False)
    op.create_table(
        "vectors",
        sa.Column("key", sa.String(length=16), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )

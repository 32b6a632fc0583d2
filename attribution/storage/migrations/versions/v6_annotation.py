"""People's judgements: projects, who takes part, tasks, judgements, and the verdicts of verifiers on the same tasks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision, down_revision = "6", "5"


def upgrade() -> None:
    def text(name: str, length: int | None = None, primary_key: bool = False) -> sa.Column[str]:
        kind = sa.String(length) if length else sa.Text()
        return sa.Column(name, kind, primary_key=primary_key, nullable=False)

    def key(name: str, length: int = 16) -> sa.Column[str]:
        return text(name, length, primary_key=True)

    op.create_table("annotation_projects", key("id"), text("origin", 16), text("body"))
    op.create_table("annotation_events", key("project_id"), key("id"), text("body"))
    op.create_table("annotation_tasks", key("id"), text("project_id", 16), text("body"), text("source"))
    op.create_index("ix_annotation_tasks_project_id", "annotation_tasks", ["project_id"])
    op.create_table(
        "annotation_judgements",
        key("id"),
        text("project_id", 16),
        text("task_id", 16),
        text("annotator", 80),
        text("role", 16),
        sa.Column("revision", sa.Integer(), nullable=False),
        text("origin", 16),
        text("made_at", 32),
        text("answer", 16),
        text("body"),
        sa.UniqueConstraint("task_id", "annotator", "role", "revision", "origin"),
    )
    op.create_index("ix_annotation_judgements_project_id", "annotation_judgements", ["project_id"])
    op.create_table(
        "annotation_verdicts",
        key("task_id"),
        key("verifier", 200),
        text("label", 16),
        sa.Column("confidence", sa.Float(), nullable=False),
        text("reason"),
    )

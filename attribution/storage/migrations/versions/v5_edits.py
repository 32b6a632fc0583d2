"""Each version of a run says which edit made it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision, down_revision = "5", "4"


def upgrade() -> None:
    op.add_column("run_versions", sa.Column("edit", sa.Text(), nullable=False, server_default=""))

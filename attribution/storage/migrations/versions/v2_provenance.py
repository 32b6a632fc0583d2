"""`trails` becomes `provenance`. Versions from before the migrations read `meta` and refuse the database."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision, down_revision = "2", "1"


def upgrade() -> None:
    op.rename_table("trails", "provenance")
    op.execute("DELETE FROM meta")
    op.bulk_insert(sa.table("meta", sa.column("schema_version")), [{"schema_version": 2}])

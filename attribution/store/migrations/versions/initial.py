"""All tables of the code, as they are in a new database."""

from __future__ import annotations

from alembic import op

from attribution.store.schema import metadata

revision, down_revision = "initial", None


def upgrade() -> None:
    metadata.create_all(op.get_bind())

"""All tables of the code. The first release writes them out here, so that a later migration can
change them.
"""

from __future__ import annotations

from alembic import op

from attribution.store.schema import metadata

revision, down_revision = "initial", None


def upgrade() -> None:
    metadata.create_all(op.get_bind())

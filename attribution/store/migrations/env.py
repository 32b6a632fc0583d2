"""Run by alembic for each upgrade, within the transaction that `Database` has begun."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
context.run_migrations()

"""What Alembic runs to migrate: the steps, in the transaction of the connection that it is handed."""

from __future__ import annotations

from alembic import context

from calib_pipeline.ledger.tables import stamp

context.configure(connection=context.config.attributes["connection"], version_table=stamp.name)
with context.begin_transaction():
    context.run_migrations()

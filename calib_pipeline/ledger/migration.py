"""Bringing the schema of an older ledger to the version that this program knows."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from sqlalchemy import Connection, update

from calib_pipeline.ledger import tables

if TYPE_CHECKING:
    from alembic.config import Config

LOCATION = "calib_pipeline.ledger:migrations"
"""Where Alembic finds the steps: a folder of a package, or a path."""


def upgrade(connection: Connection, version: int) -> None:
    """Run every step that is newer than the ledger's version, in the transaction of the connection.

    What `meta` says is stamped for Alembic first: a ledger that was made before there were steps has no stamp.
    """
    from alembic import command

    config = configuration(connection)
    command.stamp(config, tables.revision(version), purge=True)
    command.upgrade(config, "head")
    connection.execute(update(tables.meta).values(schema_version=tables.SCHEMA_VERSION))


def configuration(connection: Connection) -> Config:
    """What Alembic needs to know, with the connection whose transaction it is to stay in."""
    from alembic.config import Config

    config = Config(stdout=io.StringIO())
    config.set_main_option("script_location", LOCATION)
    config.attributes["connection"] = connection
    return config

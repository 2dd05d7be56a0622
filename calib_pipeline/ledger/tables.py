"""The ledger's tables, the same on every database."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, Integer, MetaData, PrimaryKeyConstraint, String, Table, Text

SCHEMA_VERSION = 1

TEXT = String().with_variant(String(collation="C"), "postgresql")
"""Text that is compared and sorted byte by byte, as SQLite does unasked and Python's `sorted` by code point."""

metadata = MetaData()

events = Table(
    "events",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("holdout_id", TEXT),
    Column("event", TEXT, nullable=False),
    Column("study", TEXT),
    Column("config_digest", TEXT),
    Column("run_id", TEXT),
    Column("actor", TEXT, nullable=False),
    Column("at", TEXT, nullable=False),
    Column("details", Text, nullable=False),
    Column("prev_hash", TEXT, nullable=False),
    Column("hash", TEXT, nullable=False),
    Index("events_by_set", "holdout_id", "event", "seq"),
    Index("events_by_kind", "event", "study", "seq"),
)

holdout_items = Table(
    "holdout_items",
    metadata,
    Column("holdout_id", TEXT, primary_key=True),
    Column("item_id", TEXT, primary_key=True),
    Column("content_digest", TEXT),
    Column("stratum", TEXT, nullable=False),
    Column("group_id", TEXT),
    Column("rank", Integer, nullable=False),
    Column("doubly", Boolean(create_constraint=True, name="doubly_is_yes_or_no"), nullable=False),
    Index("items_by_id", "item_id"),
    Index("items_by_content", "content_digest"),
)

meta = Table("meta", metadata, Column("schema_version", Integer, nullable=False))

REQUIRED = frozenset(metadata.tables)
"""What makes a database a ledger."""

stamp = Table(
    "ledger_alembic_version",
    metadata,
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="ledger_alembic_version_pkc"),
)
"""Where Alembic keeps the version; `meta` is what decides. Dagster keeps a table ``alembic_version`` of its own."""


def revision(version: int) -> str:
    """What Alembic calls a version of the schema."""
    return f"{version:04d}"

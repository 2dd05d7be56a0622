"""The ledger's tables. The only module that knows them; what guards them is in the module of each database."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, Integer, MetaData, Table, Text
from sqlalchemy import String as AnyString

SCHEMA_VERSION = 1

metadata = MetaData()

String = AnyString().with_variant(AnyString(collation="C"), "postgresql")
"""Text that is compared and ordered by its bytes, on every database and whatever the language of the server."""

events = Table(
    "events",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("holdout_id", String),
    Column("event", String, nullable=False),
    Column("study", String),
    Column("config_digest", String),
    Column("run_id", String),
    Column("actor", String, nullable=False),
    Column("at", String, nullable=False),
    Column("details", Text, nullable=False),
    Column("prev_hash", String, nullable=False),
    Column("hash", String, nullable=False),
    Index("events_by_set", "holdout_id", "event", "seq"),
    Index("events_by_kind", "event", "study", "seq"),
)

holdout_items = Table(
    "holdout_items",
    metadata,
    Column("holdout_id", String, primary_key=True),
    Column("item_id", String, primary_key=True),
    Column("content_digest", String),
    Column("stratum", String, nullable=False),
    Column("group_id", String),
    Column("rank", Integer, nullable=False),
    Column("doubly", Boolean(create_constraint=True, name="doubly_is_yes_or_no"), nullable=False),
    Index("items_by_id", "item_id"),
    Index("items_by_content", "content_digest"),
)

meta = Table("meta", metadata, Column("schema_version", Integer, nullable=False))

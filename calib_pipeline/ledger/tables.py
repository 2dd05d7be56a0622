"""The ledger's tables, and the triggers that refuse to change what they hold. The only module that knows them."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, Integer, MetaData, String, Table, Text

SCHEMA_VERSION = 1

metadata = MetaData()

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

SQLITE_TRIGGERS: dict[str, str] = {
    "events_are_never_updated": (
        "CREATE TRIGGER events_are_never_updated BEFORE UPDATE ON events "
        "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: no event is ever changed'); END"
    ),
    "events_are_never_deleted": (
        "CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events "
        "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: no event is ever deleted'); END"
    ),
    # INSERT OR REPLACE removes the old row without firing the trigger on DELETE. The 32 zero bytes are GENESIS.
    "events_follow_the_head": (
        "CREATE TRIGGER events_follow_the_head BEFORE INSERT ON events "
        "WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM events) OR NEW.prev_hash IS NOT coalesce("
        "(SELECT hash FROM events ORDER BY seq DESC LIMIT 1), hex(zeroblob(32))) "
        "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: an event follows the newest one'); END"
    ),
    "items_are_never_updated": (
        "CREATE TRIGGER items_are_never_updated BEFORE UPDATE ON holdout_items "
        "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: no reserved item is ever changed'); END"
    ),
    "items_are_never_deleted": (
        "CREATE TRIGGER items_are_never_deleted BEFORE DELETE ON holdout_items "
        "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: no reserved item is ever deleted'); END"
    ),
    "items_are_never_added_later": (
        "CREATE TRIGGER items_are_never_added_later BEFORE INSERT ON holdout_items "
        "WHEN EXISTS (SELECT 1 FROM events WHERE holdout_id = NEW.holdout_id AND event = 'reserved') "
        "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: a reserved set never grows'); END"
    ),
}
"""Name and statement of each trigger on SQLite."""

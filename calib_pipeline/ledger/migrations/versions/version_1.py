"""Version 1: events, the items of the sets, and the triggers that refuse to change either.

A step is frozen: it makes what a ledger of its version has, whatever the program makes by now. So it repeats what other
modules say, on purpose.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import Boolean, Column, Integer, String, Table, Text, insert

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables, their triggers, and the mark of the version."""
    text = String().with_variant(String(collation="C"), "postgresql")
    op.create_table(
        "events",
        Column("seq", Integer, primary_key=True, autoincrement=False),
        Column("holdout_id", text),
        Column("event", text, nullable=False),
        Column("study", text),
        Column("config_digest", text),
        Column("run_id", text),
        Column("actor", text, nullable=False),
        Column("at", text, nullable=False),
        Column("details", Text, nullable=False),
        Column("prev_hash", text, nullable=False),
        Column("hash", text, nullable=False),
    )
    op.create_index("events_by_set", "events", ["holdout_id", "event", "seq"])
    op.create_index("events_by_kind", "events", ["event", "study", "seq"])
    op.create_table(
        "holdout_items",
        Column("holdout_id", text, primary_key=True),
        Column("item_id", text, primary_key=True),
        Column("content_digest", text),
        Column("stratum", text, nullable=False),
        Column("group_id", text),
        Column("rank", Integer, nullable=False),
        Column("doubly", Boolean(create_constraint=True, name="doubly_is_yes_or_no"), nullable=False),
    )
    op.create_index("items_by_id", "holdout_items", ["item_id"])
    op.create_index("items_by_content", "holdout_items", ["content_digest"])
    if op.get_context().dialect.name == "postgresql":
        _guard_on_postgresql()
    else:
        for statement in SQLITE_TRIGGERS.values():
            op.execute(statement)
    meta: Table = op.create_table("meta", Column("schema_version", Integer, nullable=False))
    op.get_bind().execute(insert(meta), {"schema_version": 1})


def _guard_on_postgresql() -> None:
    for name, body in POSTGRESQL_FUNCTIONS.items():
        op.execute(
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $${body}$$"
        )
    for name, statement in POSTGRESQL_TRIGGERS.items():
        op.execute(statement)
        table = "events" if name.startswith("events") else "holdout_items"
        op.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}")


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

POSTGRESQL_FUNCTIONS: dict[str, str] = {
    "ledger_refuses": """
BEGIN
    RAISE EXCEPTION 'the ledger is append-only: %', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END
""",
    "ledger_follows_the_head": """
DECLARE
    newest_seq integer;
    newest_hash text;
BEGIN
    EXECUTE format('SELECT seq, hash FROM %I.events ORDER BY seq DESC LIMIT 1', TG_TABLE_SCHEMA)
        INTO newest_seq, newest_hash;
    IF NEW.seq IS DISTINCT FROM coalesce(newest_seq, 0) + 1
        OR NEW.prev_hash IS DISTINCT FROM coalesce(newest_hash, repeat('0', 64))
    THEN
        RAISE EXCEPTION 'the ledger is append-only: an event follows the newest one'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END
""",
    "ledger_closes_a_set": """
DECLARE
    reserved boolean;
BEGIN
    EXECUTE format(
        'SELECT EXISTS (SELECT 1 FROM %I.events WHERE holdout_id = $1 AND event = ''reserved'')', TG_TABLE_SCHEMA
    ) INTO reserved USING NEW.holdout_id;
    IF reserved THEN
        RAISE EXCEPTION 'the ledger is append-only: a reserved set never grows'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END
""",
}

POSTGRESQL_TRIGGERS: dict[str, str] = {
    "events_are_never_updated": (
        "CREATE TRIGGER events_are_never_updated BEFORE UPDATE ON events "
        "FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuses('no event is ever changed')"
    ),
    "events_are_never_deleted": (
        "CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events "
        "FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuses('no event is ever deleted')"
    ),
    "events_are_never_truncated": (
        "CREATE TRIGGER events_are_never_truncated BEFORE TRUNCATE ON events "
        "FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuses('no event is ever deleted')"
    ),
    "events_follow_the_head": (
        "CREATE TRIGGER events_follow_the_head BEFORE INSERT ON events "
        "FOR EACH ROW EXECUTE FUNCTION ledger_follows_the_head()"
    ),
    "items_are_never_updated": (
        "CREATE TRIGGER items_are_never_updated BEFORE UPDATE ON holdout_items "
        "FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuses('no reserved item is ever changed')"
    ),
    "items_are_never_deleted": (
        "CREATE TRIGGER items_are_never_deleted BEFORE DELETE ON holdout_items "
        "FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuses('no reserved item is ever deleted')"
    ),
    "items_are_never_truncated": (
        "CREATE TRIGGER items_are_never_truncated BEFORE TRUNCATE ON holdout_items "
        "FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuses('no reserved item is ever deleted')"
    ),
    "items_are_never_added_later": (
        "CREATE TRIGGER items_are_never_added_later BEFORE INSERT ON holdout_items "
        "FOR EACH ROW EXECUTE FUNCTION ledger_closes_a_set()"
    ),
}

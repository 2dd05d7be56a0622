"""The triggers that refuse to change what the ledger holds, in the words of SQLite."""

from __future__ import annotations

TRIGGERS: dict[str, str] = {
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
"""Name and statement of each trigger."""

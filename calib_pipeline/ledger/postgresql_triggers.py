"""The triggers that refuse to change what the ledger holds, in the words of PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping

SETTINGS = "search_path=pg_catalog"
"""Nobody who writes chooses which functions and tables a trigger's function finds."""

FUNCTIONS: Mapping[str, str] = {
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
"""Name and body of each function."""

TRIGGERS: Mapping[str, str] = {
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
"""Name and statement of each trigger, as `pg_get_triggerdef` gives it back."""


def statements() -> list[str]:
    """What makes the functions and triggers.

    The triggers are ``ENABLE ALWAYS``: with ``session_replication_role = replica`` ordinary ones stay silent.
    """
    functions = [
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $${body}$$"
        for name, body in FUNCTIONS.items()
    ]
    table_of = {name: statement.partition(" ON ")[2].split()[0] for name, statement in TRIGGERS.items()}
    enabled = [f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}" for name, table in table_of.items()]
    return [*functions, *TRIGGERS.values(), *enabled]


def standing_statement(trigger: str, language: str, settings: str, body: str) -> str:
    """A trigger with all that its function does, as one text to compare."""
    return f"{trigger} -- {language}, {settings}:{body}"


def expected_statements() -> dict[str, str]:
    """Each trigger by name, as `standing_statement` shows the one that belongs to a ledger."""
    return {
        name: standing_statement(statement, "plpgsql", SETTINGS, FUNCTIONS[_function_of(statement)])
        for name, statement in TRIGGERS.items()
    }


def _function_of(trigger: str) -> str:
    return trigger.partition(" FUNCTION ")[2].partition("(")[0]

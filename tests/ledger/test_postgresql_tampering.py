"""Edits behind the ledger's back that only a PostgreSQL server allows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ledger_story import Story, tell
from past_the_ledger import REFUSED, Past, past

CHANGES = [
    "TRUNCATE events",
    "TRUNCATE holdout_items",
    "TRUNCATE events, holdout_items, meta CASCADE",
    "INSERT INTO events SELECT * FROM events WHERE seq = 3 ON CONFLICT (seq) DO UPDATE SET actor = 'nobody'",
    "INSERT INTO holdout_items SELECT * FROM holdout_items ON CONFLICT (holdout_id, item_id) DO UPDATE SET rank=0",
    "WITH gone AS (DELETE FROM events RETURNING seq) SELECT * FROM gone",
    "UPDATE ONLY events SET actor = 'nobody' WHERE false",
]


@pytest.fixture
def told(postgresql_story: Story) -> Story:
    return tell(postgresql_story)


@pytest.fixture
def raw(told: Story) -> Iterator[Past]:
    with past(told.url) as connection:
        yield connection


@pytest.mark.parametrize("role", ["origin", "replica"])
def test_no_row_is_changed_whatever_role_the_session_plays(told: Story, raw: Past, role: str) -> None:
    raw.run(f"SET session_replication_role = {role}")
    for statement in CHANGES:
        with pytest.raises(REFUSED, match="the ledger is append-only"):
            raw.run(statement)
    assert told.ledger.verify() == []


@pytest.mark.slow
def test_a_table_that_the_session_puts_before_the_ledgers_own_deceives_no_trigger(told: Story, raw: Past) -> None:
    raw.run("CREATE TEMPORARY TABLE events (seq integer, hash varchar, holdout_id varchar, event varchar)")
    schema = raw.run("SELECT current_schema() AS name")[0]["name"]
    with pytest.raises(REFUSED, match="a reserved set never grows"):
        raw.run("INSERT INTO OWN.holdout_items VALUES ('s', 'i4', NULL, 'all', NULL, 4, false)".replace("OWN", schema))
    with pytest.raises(REFUSED, match="an event follows the newest one"):
        raw.run("INSERT INTO OWN.events SELECT * FROM OWN.events WHERE seq = 1".replace("OWN", schema))
    assert told.ledger.verify() == []


@pytest.mark.parametrize(
    ("statements", "problem"),
    [
        (
            ["DROP TRIGGER events_are_never_deleted ON events"],
            "trigger events_are_never_deleted is gone: rows could be changed without a refusal",
        ),
        (
            ["DROP FUNCTION ledger_closes_a_set CASCADE"],
            "trigger items_are_never_added_later is gone: rows could be changed without a refusal",
        ),
        (
            ["ALTER TABLE events DISABLE TRIGGER events_follow_the_head"],
            "trigger events_follow_the_head is switched off: rows could be changed without a refusal",
        ),
        (
            ["ALTER TABLE holdout_items ENABLE TRIGGER items_are_never_deleted"],
            "trigger items_are_never_deleted is switched off: rows could be changed without a refusal",
        ),
        (
            ["ALTER TABLE holdout_items ENABLE REPLICA TRIGGER items_are_never_truncated"],
            "trigger items_are_never_truncated is switched off: rows could be changed without a refusal",
        ),
        (
            [
                "CREATE OR REPLACE FUNCTION ledger_follows_the_head() RETURNS trigger LANGUAGE plpgsql "
                "SET search_path = pg_catalog AS 'BEGIN RETURN NEW; END'"
            ],
            "trigger events_follow_the_head was replaced by another statement",
        ),
        (
            ["ALTER FUNCTION ledger_follows_the_head() RESET search_path"],
            "trigger events_follow_the_head was replaced by another statement",
        ),
        (
            [
                "CREATE OR REPLACE TRIGGER events_are_never_updated BEFORE UPDATE OF run_id ON events "
                "FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuses('no event is ever changed')"
            ],
            "trigger events_are_never_updated was replaced by another statement",
        ),
        (
            [
                "CREATE OR REPLACE TRIGGER events_follow_the_head BEFORE INSERT ON events FOR EACH ROW "
                "WHEN (NEW.actor <> 'me') EXECUTE FUNCTION ledger_follows_the_head()"
            ],
            "trigger events_follow_the_head was replaced by another statement",
        ),
        (
            [
                "CREATE FUNCTION harmless() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
                "CREATE TRIGGER helper AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION harmless()",
            ],
            "trigger helper does not belong to a ledger",
        ),
        (
            ["ALTER TABLE events DROP CONSTRAINT events_pkey"],
            "table events has lost its primary key: rows could stand in it twice",
        ),
        (
            ["CREATE RULE swallow AS ON INSERT TO events DO INSTEAD NOTHING"],
            "table events has rules, which could change what is written to it",
        ),
        (
            ["ALTER TABLE holdout_items ENABLE ROW LEVEL SECURITY"],
            "table holdout_items has row security, which could hide rows",
        ),
    ],
)
def test_a_guard_that_was_changed_is_named(told: Story, raw: Past, statements: list[str], problem: str) -> None:
    for statement in statements:
        raw.run(statement)
    assert told.ledger.verify() == [problem]


def test_every_trigger_that_is_switched_off_is_named(told: Story, raw: Past) -> None:
    raw.run("ALTER TABLE events DISABLE TRIGGER ALL")
    raw.run("ALTER TABLE holdout_items DISABLE TRIGGER ALL")
    problems = told.ledger.verify()
    assert len(problems) == 8
    assert all("is switched off" in problem for problem in problems)

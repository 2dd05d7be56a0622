"""Every edit behind the ledger's back is refused by the database, or found and named."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from ledger_story import A, B, Story

from calib_pipeline.ledger import GENESIS, LedgerError
from calib_pipeline.ledger.chain import row_hash
from calib_pipeline.ledger.sqlite_triggers import TRIGGERS as SQLITE_TRIGGERS


@pytest.fixture
def told(sqlite_story: Story) -> Story:
    """Six events: reserved, registered, registered, read, opened, exported."""
    sqlite_story.reserve(registrations=[A, B], items=[("i1", "text one"), ("i2", "text two"), "i3"])
    sqlite_story.read()
    sqlite_story.open()
    sqlite_story.ledger.record_export("s", "maria")
    assert sqlite_story.ledger.verify() == []
    return sqlite_story


@pytest.fixture
def raw(told: Story) -> Iterator[sqlite3.Connection]:
    """A connection past the ledger."""
    with closing(sqlite3.connect(told.url.removeprefix("sqlite:///"), isolation_level=None)) as connection:
        yield connection


def without_triggers(raw: sqlite3.Connection, *statements: str) -> None:
    """Run statements with the triggers taken away and put back, as someone would who knows of them."""
    for name in SQLITE_TRIGGERS:
        raw.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        raw.execute(statement)
    for statement in SQLITE_TRIGGERS.values():
        raw.execute(statement)


class TestRefusedByTheDatabase:
    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE events SET actor = 'nobody' WHERE seq = 5",
            "UPDATE events SET seq = 50 WHERE seq = 6",
            "DELETE FROM events WHERE seq = 6",
            "DELETE FROM events",
            "INSERT OR REPLACE INTO events SELECT * FROM events WHERE seq = 3",
            "INSERT INTO events SELECT 9, holdout_id, event, study, config_digest, run_id, actor, at, details, "
            "prev_hash, hash FROM events WHERE seq = 6",
            "INSERT INTO events SELECT 7, holdout_id, event, study, config_digest, run_id, actor, at, details, "
            "prev_hash, hash FROM events WHERE seq = 6",
            "UPDATE holdout_items SET content_digest = 'other'",
            "DELETE FROM holdout_items WHERE item_id = 'i1'",
            "INSERT OR REPLACE INTO holdout_items SELECT * FROM holdout_items",
            "INSERT INTO holdout_items VALUES ('s', 'i4', NULL, 'all', NULL, 4, 0)",
        ],
    )
    def test_no_row_is_changed_removed_or_slipped_in(
        self, told: Story, raw: sqlite3.Connection, statement: str
    ) -> None:
        with pytest.raises(sqlite3.IntegrityError, match="the ledger is append-only"):
            raw.execute(statement)
        assert told.ledger.verify() == []


class TestFoundInTheChain:
    @pytest.mark.parametrize(
        ("statement", "found"),
        [
            ("UPDATE events SET study = 'b' WHERE seq = 5", "event 5 (opened) was edited"),
            (
                "UPDATE events SET at = '2020' || substr(at, 5) WHERE seq = 1",
                "event 1 (reserved) was edited",
            ),
            ("UPDATE events SET run_id = '' WHERE seq = 4", "event 4 (read) was edited"),
            ("UPDATE events SET details = details || ' ' WHERE seq = 2", "event 2 (registered) was edited"),
            ("UPDATE events SET details = 'gone' WHERE seq = 2", "event 2 (registered) was edited"),
            ("UPDATE events SET details = x'00ff' WHERE seq = 2", "event 2 (registered) was edited"),
            ("UPDATE events SET event = 'peeked' WHERE seq = 4", "event 4 (peeked) is of no kind"),
            ("DELETE FROM events WHERE seq = 4", "event 4 is missing before event 5 (opened)"),
            ("DELETE FROM events WHERE seq IN (3, 4)", "events 3 to 4 are missing before event 5 (opened)"),
            ("DELETE FROM events WHERE seq = 1", "event 1 is missing before event 2 (registered)"),
        ],
    )
    def test_an_edited_or_deleted_row(self, told: Story, raw: sqlite3.Connection, statement: str, found: str) -> None:
        without_triggers(raw, statement)
        assert any(found in problem for problem in told.ledger.verify())

    def test_rows_that_changed_places(self, told: Story, raw: sqlite3.Connection) -> None:
        without_triggers(
            raw,
            "UPDATE events SET seq = 100 WHERE seq = 4",
            "UPDATE events SET seq = 4 WHERE seq = 5",
            "UPDATE events SET seq = 5 WHERE seq = 100",
        )
        problems = told.ledger.verify()
        assert any(problem.startswith("event 4 (opened) was edited") for problem in problems)
        assert any(problem.startswith("event 5 (read) does not follow event 4") for problem in problems)

    def test_a_row_that_was_inserted_between_two(self, told: Story, raw: sqlite3.Connection) -> None:
        without_triggers(
            raw,
            "UPDATE events SET seq = 7 WHERE seq = 6",
            "INSERT INTO events SELECT 6, holdout_id, 'read', study, config_digest, run_id, actor, at, details, "
            "hash, 'forged' FROM events WHERE seq = 5",
        )
        problems = told.ledger.verify()
        assert any("event 6 (read) was edited: its hash is not that of its content" in problem for problem in problems)
        assert any(problem.startswith("event 7 (exported) does not follow event 6") for problem in problems)

    def test_an_edited_row_with_a_hash_that_fits_breaks_the_next(self, told: Story, raw: sqlite3.Connection) -> None:
        raw.row_factory = sqlite3.Row
        row = dict(raw.execute("SELECT * FROM events WHERE seq = 5").fetchone())
        row["config_digest"] = "b1"
        raw.create_function("hash_that_fits", 0, lambda: row_hash(row))
        without_triggers(raw, "UPDATE events SET config_digest = 'b1', hash = hash_that_fits() WHERE seq = 5")
        assert told.ledger.verify() == [
            "event 6 (exported) does not follow event 5: a row was edited, deleted, inserted or moved between them"
        ]

    def test_the_triggers(self, told: Story, raw: sqlite3.Connection) -> None:
        raw.execute("DROP TRIGGER events_are_never_deleted")
        raw.execute("DROP TRIGGER items_are_never_updated")
        raw.execute("CREATE TRIGGER items_are_never_updated BEFORE UPDATE ON holdout_items WHEN 0 BEGIN SELECT 1; END")
        raw.execute("CREATE TRIGGER helper AFTER INSERT ON events BEGIN SELECT 1; END")
        assert told.ledger.verify() == [
            "trigger events_are_never_deleted is gone: rows could be changed without a refusal",
            "trigger items_are_never_updated was replaced by another statement",
            "trigger helper does not belong to a ledger",
        ]


class TestFoundInTheItems:
    @pytest.mark.parametrize(
        ("statement", "found"),
        [
            ("UPDATE holdout_items SET item_id = 'i9' WHERE item_id = 'i1'", "its item rows were changed since"),
            ("UPDATE holdout_items SET content_digest = NULL WHERE item_id = 'i1'", "its item rows were changed since"),
            ("UPDATE holdout_items SET stratum = x'00' WHERE item_id = 'i1'", "its item rows were changed since"),
            ("UPDATE holdout_items SET rank = 9 WHERE item_id = 'i1'", "its item rows were changed since"),
            ("DELETE FROM holdout_items WHERE item_id = 'i1'", "holds 2 items and was reserved with 3"),
            (
                "INSERT INTO holdout_items VALUES ('s', 'i4', NULL, 'all', NULL, 4, 0)",
                "holds 4 items and was reserved with 3",
            ),
        ],
    )
    def test_a_changed_row_is_named_with_its_set(
        self, told: Story, raw: sqlite3.Connection, statement: str, found: str
    ) -> None:
        without_triggers(raw, statement)
        (problem,) = told.ledger.verify()
        assert problem.startswith("set s, reserved as event 1")
        assert found in problem

    def test_rows_of_a_set_that_nobody_reserved(self, told: Story, raw: sqlite3.Connection) -> None:
        raw.execute("INSERT INTO holdout_items VALUES ('smuggled', 'i4', NULL, 'all', NULL, 4, 0)")
        assert told.ledger.verify() == ["item rows stand under smuggled, which no event reserved"]


class TestFoundInTheRules:
    """A forger who computes hashes can append; what the ledger would have refused shows all the same."""

    def forge(self, raw: sqlite3.Connection, **changed: object) -> None:
        raw.row_factory = sqlite3.Row
        newest = raw.execute("SELECT * FROM events ORDER BY seq DESC LIMIT 1").fetchone()
        row = {**dict(newest), "seq": newest["seq"] + 1, "prev_hash": newest["hash"], **changed}
        row["hash"] = row_hash(row)
        raw.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", list(row.values()))

    def test_a_measurement_of_a_set_that_was_reused(self, told: Story, raw: sqlite3.Connection) -> None:
        details = json.dumps({"purpose": "measurement", "plan_digest": "q1"})
        self.forge(raw, event="opened", study="b", config_digest="b1", details=details)
        (problem,) = told.ledger.verify()
        assert problem.startswith("event 7 (opened) claims a measurement of set s that was reused for it: exported to")

    def test_a_second_measurement(self, told: Story, raw: sqlite3.Connection) -> None:
        details = json.dumps({"purpose": "measurement", "plan_digest": "p1", "labels_digest": "better"})
        self.forge(raw, event="opened", study="a", config_digest="a1", details=details)
        (problem,) = told.ledger.verify()
        assert "was measured for it" in problem

    def test_a_set_that_is_reserved_twice(self, told: Story, raw: sqlite3.Connection) -> None:
        details = raw.execute("SELECT details FROM events WHERE seq = 1").fetchone()[0]
        self.forge(raw, event="reserved", study=None, config_digest=None, details=details)
        assert told.ledger.verify() == ["set s, reserved as event 7, was reserved before: a set is reserved once"]


def test_what_was_altered_is_not_read_as_if_it_were_not(told: Story, raw: sqlite3.Connection) -> None:
    without_triggers(raw, "UPDATE events SET details = '[1]' WHERE seq = 5")
    with pytest.raises(LedgerError, match=r"event 5 of the ledger was altered.*calib holdout verify"):
        told.state()


def test_an_empty_ledger_is_sound(story: Story) -> None:
    assert story.ledger.verify() == []
    assert story.ledger.head() == GENESIS == "0" * 64


def test_a_damaged_file_is_named(told: Story) -> None:
    path = Path(told.url.removeprefix("sqlite:///"))
    told.ledger.close()
    content = bytearray(path.read_bytes())
    content[4096:8192] = b"\xff" * 4096
    path.write_bytes(content)
    with pytest.raises(LedgerError, match="is damaged; keep it as it is"):
        told.ledger.verify()

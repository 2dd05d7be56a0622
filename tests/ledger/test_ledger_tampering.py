"""Every edit behind the ledger's back is refused by the database, or found and named."""

from __future__ import annotations

import json

import pytest
from ledger_story import Story
from past_the_ledger import REFUSED, Past

from calib_pipeline.ledger import GENESIS, LedgerError
from calib_pipeline.ledger.chain import row_hash


class TestRefusedByTheDatabase:
    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE events SET actor = 'nobody' WHERE seq = 5",
            "UPDATE events SET seq = 50 WHERE seq = 6",
            "DELETE FROM events WHERE seq = 6",
            "DELETE FROM events",
            "INSERT INTO events SELECT 9, holdout_id, event, study, config_digest, run_id, actor, at, details, "
            "prev_hash, hash FROM events WHERE seq = 6",
            "INSERT INTO events SELECT 7, holdout_id, event, study, config_digest, run_id, actor, at, details, "
            "prev_hash, hash FROM events WHERE seq = 6",
            "UPDATE holdout_items SET content_digest = 'other'",
            "DELETE FROM holdout_items WHERE item_id = 'i1'",
            "INSERT INTO holdout_items VALUES ('s', 'i4', NULL, 'all', NULL, 4, false)",
        ],
    )
    def test_no_row_is_changed_removed_or_slipped_in(self, told: Story, raw: Past, statement: str) -> None:
        with pytest.raises(REFUSED, match="the ledger is append-only"):
            raw.run(statement)
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
            ("UPDATE events SET event = 'peeked' WHERE seq = 4", "event 4 (peeked) is of no kind"),
            ("DELETE FROM events WHERE seq = 4", "event 4 is missing before event 5 (opened)"),
            ("DELETE FROM events WHERE seq IN (3, 4)", "events 3 to 4 are missing before event 5 (opened)"),
            ("DELETE FROM events WHERE seq = 1", "event 1 is missing before event 2 (registered)"),
        ],
    )
    def test_an_edited_or_deleted_row(self, told: Story, raw: Past, statement: str, found: str) -> None:
        raw.without_triggers(statement)
        assert any(found in problem for problem in told.ledger.verify())

    def test_rows_that_changed_places(self, told: Story, raw: Past) -> None:
        raw.without_triggers(
            "UPDATE events SET seq = 100 WHERE seq = 4",
            "UPDATE events SET seq = 4 WHERE seq = 5",
            "UPDATE events SET seq = 5 WHERE seq = 100",
        )
        problems = told.ledger.verify()
        assert any(problem.startswith("event 4 (opened) was edited") for problem in problems)
        assert any(problem.startswith("event 5 (read) does not follow event 4") for problem in problems)

    def test_a_row_that_was_inserted_between_two(self, told: Story, raw: Past) -> None:
        raw.without_triggers(
            "UPDATE events SET seq = 7 WHERE seq = 6",
            "INSERT INTO events SELECT 6, holdout_id, 'read', study, config_digest, run_id, actor, at, details, "
            "hash, 'forged' FROM events WHERE seq = 5",
        )
        problems = told.ledger.verify()
        assert any("event 6 (read) was edited: its hash is not that of its content" in problem for problem in problems)
        assert any(problem.startswith("event 7 (exported) does not follow event 6") for problem in problems)

    def test_an_edited_row_with_a_hash_that_fits_breaks_the_next(self, told: Story, raw: Past) -> None:
        [row] = raw.run("SELECT * FROM events WHERE seq = 5")
        fits = row_hash({**row, "config_digest": "b1"})
        edit = "UPDATE events SET config_digest = 'b1', hash = 'FITS' WHERE seq = 5"
        raw.without_triggers(edit.replace("FITS", fits))
        assert told.ledger.verify() == [
            "event 6 (exported) does not follow event 5: a row was edited, deleted, inserted or moved between them"
        ]


class TestFoundInTheItems:
    @pytest.mark.parametrize(
        ("statement", "found"),
        [
            ("UPDATE holdout_items SET item_id = 'i9' WHERE item_id = 'i1'", "its item rows were changed since"),
            ("UPDATE holdout_items SET content_digest = NULL WHERE item_id = 'i1'", "its item rows were changed since"),
            ("UPDATE holdout_items SET rank = 9 WHERE item_id = 'i1'", "its item rows were changed since"),
            ("DELETE FROM holdout_items WHERE item_id = 'i1'", "holds 2 items and was reserved with 3"),
            (
                "INSERT INTO holdout_items VALUES ('s', 'i4', NULL, 'all', NULL, 4, false)",
                "holds 4 items and was reserved with 3",
            ),
        ],
    )
    def test_a_changed_row_is_named_with_its_set(self, told: Story, raw: Past, statement: str, found: str) -> None:
        raw.without_triggers(statement)
        (problem,) = told.ledger.verify()
        assert problem.startswith("set s, reserved as event 1")
        assert found in problem

    def test_rows_of_a_set_that_nobody_reserved(self, told: Story, raw: Past) -> None:
        raw.run("INSERT INTO holdout_items VALUES ('smuggled', 'i4', NULL, 'all', NULL, 4, false)")
        assert told.ledger.verify() == ["item rows stand under smuggled, which no event reserved"]


class TestFoundInTheRules:
    """A forger who computes hashes can append; what the ledger would have refused shows all the same."""

    def forge(self, raw: Past, **changed: object) -> None:
        [newest] = raw.run("SELECT * FROM events ORDER BY seq DESC LIMIT 1")
        row = {**newest, "seq": newest["seq"] + 1, "prev_hash": newest["hash"], **changed}
        row["hash"] = row_hash(row)
        raw.run("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", *row.values())

    def test_a_measurement_of_a_set_that_was_reused(self, told: Story, raw: Past) -> None:
        details = json.dumps({"purpose": "measurement", "plan_digest": "q1"})
        self.forge(raw, event="opened", study="b", config_digest="b1", details=details)
        (problem,) = told.ledger.verify()
        assert problem.startswith("event 7 (opened) claims a measurement of set s that was reused for it: exported to")

    def test_a_second_measurement(self, told: Story, raw: Past) -> None:
        details = json.dumps({"purpose": "measurement", "plan_digest": "p1", "labels_digest": "better"})
        self.forge(raw, event="opened", study="a", config_digest="a1", details=details)
        (problem,) = told.ledger.verify()
        assert "was measured for it" in problem

    def test_a_set_that_is_reserved_twice(self, told: Story, raw: Past) -> None:
        details = raw.run("SELECT details FROM events WHERE seq = 1")[0]["details"]
        self.forge(raw, event="reserved", study=None, config_digest=None, details=details)
        assert told.ledger.verify() == ["set s, reserved as event 7, was reserved before: a set is reserved once"]


def test_what_was_altered_is_not_read_as_if_it_were_not(told: Story, raw: Past) -> None:
    raw.without_triggers("UPDATE events SET details = '[1]' WHERE seq = 5")
    with pytest.raises(LedgerError, match=r"event 5 of the ledger was altered.*calib holdout verify"):
        told.state()


def test_an_empty_ledger_is_sound(story: Story) -> None:
    assert story.ledger.verify() == []
    assert story.ledger.head() == GENESIS == "0" * 64

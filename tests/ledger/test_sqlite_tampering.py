"""Edits behind the ledger's back that only an SQLite file allows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ledger_story import Story, tell
from past_the_ledger import REFUSED, Past, past

from calib_pipeline.ledger import LedgerError


@pytest.fixture
def told(sqlite_story: Story) -> Story:
    return tell(sqlite_story)


@pytest.fixture
def raw(told: Story) -> Iterator[Past]:
    with past(told.url) as connection:
        yield connection


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT OR REPLACE INTO events SELECT * FROM events WHERE seq = 3",
        "INSERT OR REPLACE INTO holdout_items SELECT * FROM holdout_items",
    ],
)
def test_no_row_is_replaced(told: Story, raw: Past, statement: str) -> None:
    with pytest.raises(REFUSED, match="the ledger is append-only"):
        raw.run(statement)
    assert told.ledger.verify() == []


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE events SET details = x'00ff' WHERE seq = 2", "event 2 (registered) was edited"),
        ("UPDATE holdout_items SET stratum = x'00' WHERE item_id = 'i1'", "its item rows were changed since"),
    ],
)
def test_bytes_in_place_of_text_are_found(told: Story, raw: Past, statement: str, found: str) -> None:
    raw.without_triggers(statement)
    assert any(found in problem for problem in told.ledger.verify())


def test_the_triggers(told: Story, raw: Past) -> None:
    raw.run("DROP TRIGGER events_are_never_deleted")
    raw.run("DROP TRIGGER items_are_never_updated")
    raw.run("CREATE TRIGGER items_are_never_updated BEFORE UPDATE ON holdout_items WHEN 0 BEGIN SELECT 1; END")
    raw.run("CREATE TRIGGER helper AFTER INSERT ON events BEGIN SELECT 1; END")
    assert told.ledger.verify() == [
        "trigger events_are_never_deleted is gone: rows could be changed without a refusal",
        "trigger items_are_never_updated was replaced by another statement",
        "trigger helper does not belong to a ledger",
    ]


def test_a_damaged_file_is_named(told: Story) -> None:
    path = Path(told.url.removeprefix("sqlite:///"))
    told.ledger.close()
    content = bytearray(path.read_bytes())
    content[4096:8192] = b"\xff" * 4096
    path.write_bytes(content)
    with pytest.raises(LedgerError, match="is damaged; keep it as it is"):
        told.ledger.verify()

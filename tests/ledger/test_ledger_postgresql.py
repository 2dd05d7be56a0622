"""What a server can do to a ledger that a file cannot: be away, go away, and know who asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ledger_story import A, Story
from raw_database import raw_database
from sqlalchemy import make_url

from calib_pipeline.ledger import Ledger, LedgerError, NoLedgerYet

pytestmark = pytest.mark.parametrize("url", ["postgresql"], indirect=True)


def elsewhere(url: str, **parts: Any) -> str:
    return make_url(url).set(**parts).render_as_string(hide_password=False)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"database": "nobody-made-it"}, "names a database that is not there; make it with `createdb`"),
        ({"username": "nobody-knows", "password": "geheim"}, "refuses the user"),
        (
            {"host": "127.0.0.1", "port": 1, "query": {}, "password": "geheim"},
            "cannot be reached, or the connection was",
        ),
    ],
)
def test_a_server_that_does_not_let_in(url: str, parts: dict[str, Any], said: str) -> None:
    with pytest.raises(LedgerError) as refusal:
        Ledger.open(elsewhere(url, **parts))
    assert said in str(refusal.value)
    assert "geheim" not in str(refusal.value)


def test_an_empty_schema_is_no_ledger_to_a_reader(url: str) -> None:
    with pytest.raises(NoLedgerYet, match="holds no ledger"):
        Ledger.open(url, read_only=True)
    with Ledger.open(url):
        pass
    with Ledger.open(url, read_only=True) as ledger:
        assert ledger.events() == []


def test_a_schema_may_hold_tables_of_others_but_not_of_these_names(url: str) -> None:
    with raw_database(url) as raw:
        raw.execute("CREATE TABLE runs (id integer)")
        with Ledger.open(url) as ledger:
            assert ledger.verify() == []
        raw.execute("ALTER TABLE events RENAME TO old_events")
    with pytest.raises(LedgerError, match="holds a table holdout_items, meta and is no ledger"):
        Ledger.open(url)


def test_a_connection_that_is_cut_within_a_transaction_has_written_nothing(story: Story) -> None:
    story.reserve(registrations=[A])
    with (
        pytest.raises(LedgerError, match="nothing was written"),
        story.ledger._database.writing() as journal,
        raw_database(story.url) as raw,
    ):
        journal.append("read", holdout_id="s", study="a", details={"purpose": "ceiling"})
        raw.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'calib ledger' AND pid <> pg_backend_pid()"
        )
        journal.append("read", holdout_id="s", study="a", details={"purpose": "baselines"})
    assert story.count("read") == 0
    story.read()
    assert story.ledger.verify() == []


def test_a_role_that_may_read_and_insert_is_enough_and_one_that_may_not_is_told(
    story: Story, postgresql_schema: Callable[[], str]
) -> None:
    story.reserve(registrations=[A])
    schema = make_url(story.url).query["options"].removeprefix("-csearch_path=")  # type: ignore[union-attr]
    with raw_database(story.url) as raw:
        for role, tables in ((f"{schema}_writer", "events, holdout_items"), (f"{schema}_reader", None)):
            raw.execute(f"CREATE ROLE {role} LOGIN")
            raw.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
            raw.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}")
            if tables is not None:
                raw.execute(f"GRANT INSERT ON {tables} TO {role}")
    with Ledger.open(elsewhere(story.url, username=f"{schema}_writer")) as writer:
        assert writer.record_read("s", "a", "a1", "ceiling").seq == 3
        assert writer.verify() == []
    with Ledger.open(elsewhere(story.url, username=f"{schema}_reader")) as reader:
        with pytest.raises(LedgerError, match="may not be used by this role; nothing was written"):
            reader.record_read("s", "a", "a1", "baselines")
        assert len(reader.events()) == 3


def test_names_are_ordered_by_their_bytes_whatever_the_language_of_the_server(story: Story) -> None:
    names = ["b", "a", "B", "Ä", "_", "é", "Z", "10", "9"]
    story.reserve(registrations=[A], items=names)
    held = story.ledger.items("s")
    assert [item.item_id for item in held if item.rank == held[0].rank] == sorted(
        item.item_id for item in held if item.rank == held[0].rank
    )


@pytest.mark.parametrize("text", ["a\0b"])
def test_a_character_that_no_database_keeps_is_refused(story: Story, text: str) -> None:
    with pytest.raises(LedgerError, match="NUL"):
        story.reserve(text, registrations=[A])

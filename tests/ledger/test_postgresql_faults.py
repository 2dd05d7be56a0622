"""A server that cannot serve: one clear sentence, and nothing written."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from ledger_story import A, Story
from past_the_ledger import connect, past
from postgresql_server import ASKED_FOR_A_PASSWORD, Server, running_server
from sqlalchemy import event as sqlalchemy_event
from test_ledger_migrations import next_version

from calib_pipeline.ledger import Ledger, LedgerError, NoLedgerYet, backend


def terminate(connection: Any) -> None:
    """End the session that a transaction runs in, from another one."""
    [pid] = connection.exec_driver_sql("SELECT pg_backend_pid()").one()
    with connect(connection.engine.url.render_as_string(hide_password=False)) as other:
        other.execute("SELECT pg_terminate_backend(%s, 10000)", (pid,))


@contextmanager
def role(server: Server, name: str, *rights: str) -> Iterator[str]:
    """A role with rights, which go with it; WHOM stands for its name."""
    server.run(f"CREATE ROLE {name} LOGIN", *(right.replace("WHOM", name) for right in rights))
    try:
        yield name
    finally:
        server.run(f"DROP OWNED BY {name}", f"DROP ROLE {name}")


def enough_to_write(schema: str) -> list[str]:
    """The rights that docs/ledger.md asks for."""
    return [
        f"GRANT USAGE ON SCHEMA {schema} TO WHOM",
        f"GRANT SELECT, INSERT, UPDATE ON {schema}.events, {schema}.holdout_items TO WHOM",
        f"GRANT SELECT ON {schema}.meta TO WHOM",
    ]


def schema_in(address: str) -> str:
    return address.partition("search_path%3D")[2]


def test_a_ledger_is_made_where_there_is_none(postgresql_ledger: str) -> None:
    with pytest.raises(NoLedgerYet, match="is an empty database and no ledger"):
        Ledger.open(postgresql_ledger, read_only=True)
    with past(postgresql_ledger) as raw:
        assert raw.run("SELECT * FROM pg_tables WHERE schemaname = current_schema()") == []
        with Ledger.open(postgresql_ledger) as ledger:
            assert ledger.events() == []
        assert raw.run("SELECT schema_version FROM meta") == [{"schema_version": 1}]


def test_text_is_compared_byte_by_byte(postgresql_story: Story) -> None:
    query = (
        "SELECT DISTINCT collation_name FROM information_schema.columns WHERE table_schema = current_schema() "
        "AND table_name IN ('events', 'holdout_items') AND data_type = 'character varying'"
    )
    with past(postgresql_story.url) as raw:
        assert raw.run(query) == [{"collation_name": "C"}]


@pytest.mark.parametrize("read_only", [False, True])
def test_another_database(postgresql_ledger: str, read_only: bool) -> None:
    with past(postgresql_ledger) as raw:
        raw.run("CREATE TABLE customers (name text)")
        with pytest.raises(LedgerError, match=r"holds customers\. Give the ledger a database or a schema of its own"):
            Ledger.open(postgresql_ledger, read_only=read_only)
        assert len(raw.run("SELECT * FROM pg_tables WHERE schemaname = current_schema()")) == 1


def test_a_ledger_beside_other_tables_of_another_schema(postgresql: Server, postgresql_ledger: str) -> None:
    with past(postgresql_ledger) as raw, postgresql.schema() as other:
        raw.run("CREATE TABLE events (name text)")
        both = other + "," + schema_in(postgresql_ledger)
        with Ledger.open(both) as ledger:
            assert ledger.verify() == []
        assert raw.run("SELECT * FROM events") == []


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE meta SET schema_version = 99", "has schema version 99 and this program knows 1; use a newer"),
        ("DELETE FROM meta", "does not say of which version it is"),
    ],
)
def test_another_version(postgresql_story: Story, statement: str, message: str) -> None:
    with past(postgresql_story.url) as raw:
        raw.run(statement)
    with pytest.raises(LedgerError, match=message):
        Ledger.open(postgresql_story.url)


class TestNoWayIn:
    @pytest.mark.parametrize("read_only", [False, True])
    @pytest.mark.parametrize(
        "address",
        [
            "postgresql+psycopg://calib:s3cret@/calib?host=/nowhere",
            "postgresql+psycopg://calib:s3cret@127.0.0.1:1/calib",
            "postgresql+psycopg://calib@127.0.0.1:1/calib?password=s3cret",
        ],
    )
    def test_no_server(self, address: str, read_only: bool) -> None:
        with pytest.raises(LedgerError, match="cannot be reached; nothing was written") as refusal:
            Ledger.open(address, read_only=read_only)
        assert "s3cret" not in str(refusal.value)

    def test_a_wrong_password(self, postgresql: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        address = postgresql.address(user=ASKED_FOR_A_PASSWORD)
        with role(postgresql, ASKED_FOR_A_PASSWORD, "ALTER ROLE WHOM PASSWORD 'right'"):
            with pytest.raises(LedgerError, match=r"asks for a password; give it in PGPASSWORD"):
                Ledger.open(address)
            wrong = address.replace(ASKED_FOR_A_PASSWORD, f"{ASKED_FOR_A_PASSWORD}:s3cret")
            with pytest.raises(LedgerError, match="does not take this role's password; give the right one") as refusal:
                Ledger.open(wrong)
            assert "s3cret" not in str(refusal.value)
            monkeypatch.setenv("PGPASSWORD", "right")
            with pytest.raises(NoLedgerYet):
                Ledger.open(address, read_only=True)

    def test_no_such_database_or_role(self, postgresql: Server) -> None:
        for address in (postgresql.address(database="nonesuch"), postgresql.address(user="nobody")):
            with pytest.raises(
                LedgerError, match=r"names a database or role that its server does not have.*nonesuch|role"
            ):
                Ledger.open(address)

    def test_no_such_schema(self, postgresql: Server) -> None:
        with pytest.raises(LedgerError, match="has no schema on its search path; make the schema"):
            Ledger.open(postgresql.address(schema="nonesuch"))

    def test_a_database_of_another_encoding(self, postgresql: Server) -> None:
        postgresql.run("CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0")
        try:
            with pytest.raises(LedgerError, match=r"stores text as SQL_ASCII; expected UTF8\. Make one with CREATE"):
                Ledger.open(postgresql.address(database="ascii"))
        finally:
            postgresql.run("DROP DATABASE ascii WITH (FORCE)")


class TestRights:
    def test_a_role_that_may_read_alone(self, postgresql: Server, postgresql_story: Story) -> None:
        postgresql_story.reserve(registrations=[A])
        schema = schema_in(postgresql_story.url)
        rights = [f"GRANT USAGE ON SCHEMA {schema} TO WHOM", f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO WHOM"]
        with (
            role(postgresql, "reader", *rights) as name,
            Ledger.open(postgresql.address(user=name, schema=schema)) as reader,
        ):
            assert reader.verify() == []
            with pytest.raises(LedgerError, match=r"may not be used so by this role; nothing was written\. Ask"):
                reader.retire("s", "old")
        assert postgresql_story.count("retired") == 0

    def test_what_is_asked_for_is_enough_to_write_and_not_to_rewrite(
        self, postgresql: Server, postgresql_story: Story
    ) -> None:
        schema = schema_in(postgresql_story.url)
        with role(postgresql, "writer", *enough_to_write(schema)) as name:
            address = postgresql.address(user=name, schema=schema)
            with Ledger.open(address) as ledger:
                Story(ledger, address).reserve(registrations=[A])
                assert Story(ledger, address).open().kind == "opened"
                assert ledger.verify() == []
            with past(address) as raw:
                with pytest.raises(Exception, match="must be owner"):
                    raw.run("ALTER TABLE events DISABLE TRIGGER USER")
                with pytest.raises(Exception, match="append-only"):
                    raw.run("UPDATE events SET actor = 'nobody'")

    def test_an_older_ledger_is_brought_to_a_newer_version_by_its_owner(
        self, postgresql: Server, postgresql_story: Story, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        postgresql_story.reserve(registrations=[A])
        schema = schema_in(postgresql_story.url)
        next_version(monkeypatch, tmp_path)
        with role(postgresql, "writer", *enough_to_write(schema)) as name:
            with pytest.raises(LedgerError, match="bringing them to a newer version, is for their owner alone"):
                Ledger.open(postgresql.address(user=name, schema=schema))
            with past(postgresql_story.url) as raw:
                assert raw.run("SELECT schema_version FROM meta") == [{"schema_version": 1}]
            Ledger.open(postgresql_story.url).close()
            with Ledger.open(postgresql.address(user=name, schema=schema)) as ledger:
                assert ledger.verify() == []
                assert ledger.retire("s", "old").seq == 3

    def test_a_role_that_may_make_nothing(self, postgresql: Server, postgresql_ledger: str) -> None:
        schema = schema_in(postgresql_ledger)
        with (
            role(postgresql, "guest", f"GRANT USAGE ON SCHEMA {schema} TO WHOM") as name,
            pytest.raises(LedgerError, match="may not be used so by this role"),
        ):
            Ledger.open(postgresql.address(user=name, schema=schema))


class TestOthersOnTheSameTables:
    @pytest.mark.parametrize(
        "held", ["LOCK TABLE events IN EXCLUSIVE MODE", "UPDATE holdout_items SET rank = rank WHERE false"]
    )
    def test_a_ledger_that_another_session_holds(
        self, postgresql_story: Story, monkeypatch: pytest.MonkeyPatch, held: str
    ) -> None:
        postgresql_story.reserve(registrations=[A])
        with past(postgresql_story.url) as raw:
            raw.run("ALTER TABLE holdout_items DISABLE TRIGGER items_are_never_updated")
            raw.run("BEGIN")
            raw.run(held)
            monkeypatch.setattr(backend, "BUSY_SECONDS", 0.1)
            with Ledger.open(postgresql_story.url) as waiting:
                with pytest.raises(LedgerError, match=r"is held by another process, for longer than 0\.1 seconds"):
                    waiting.record_read("s", "a", "a1", "ceiling")
                assert waiting.state("s", study="a", config_digest="a1", plan_digest="p1").state == "unopened"
                raw.run("ROLLBACK")
                assert waiting.record_read("s", "a", "a1", "ceiling").seq == 3

    def test_a_writer_that_is_not_ours_waits_and_then_follows_nothing(self, postgresql_story: Story) -> None:
        """Its row was made for a head that is no longer the newest."""
        postgresql_story.reserve(registrations=[A])
        [row] = rows_of(postgresql_story)[-1:]
        forged = {**row, "seq": row["seq"] + 1, "prev_hash": row["hash"], "hash": "f" * 64}
        heard: list[BaseException] = []

        def insert() -> None:
            with past(postgresql_story.url) as raw:
                try:
                    raw.run("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", *forged.values())
                except BaseException as fault:
                    heard.append(fault)

        other = threading.Thread(target=insert)
        with postgresql_story.ledger._database.writing() as journal:
            other.start()
            other.join(0.3)
            assert other.is_alive()
            journal.append("read", holdout_id="s", study="a", details={"purpose": "ceiling"})
        other.join()
        assert "an event follows the newest one" in str(heard[0])
        assert postgresql_story.ledger.verify() == []


def rows_of(story: Story) -> list[dict[str, Any]]:
    with past(story.url) as raw:
        return raw.run("SELECT * FROM events ORDER BY seq")


class TestWentAway:
    def test_within_a_transaction(self, postgresql_story: Story) -> None:
        postgresql_story.reserve(registrations=[A])
        database = postgresql_story.ledger._database
        with (
            pytest.raises(LedgerError, match=r"went away in the middle of it; nothing was written\. Run again"),
            database.writing() as journal,
        ):
            journal.append("read", holdout_id="s", study="a", details={"purpose": "ceiling"})
            terminate(journal._connection)
            journal.append("read", holdout_id="s", study="a", details={"purpose": "ceiling"})
        assert postgresql_story.count("read") == 0
        assert postgresql_story.open().kind == "opened"
        assert postgresql_story.ledger.verify() == []

    def test_while_a_write_is_confirmed(self, postgresql_story: Story) -> None:
        postgresql_story.reserve(registrations=[A])
        engine = postgresql_story.ledger._database._engine
        sqlalchemy_event.listen(engine, "commit", terminate)
        with pytest.raises(LedgerError, match=r"so it is not known whether it was written\. Run again: what stands"):
            postgresql_story.read()
        sqlalchemy_event.remove(engine, "commit", terminate)
        assert postgresql_story.open().kind == "opened"

    def test_between_two_calls(self, postgresql_story: Story) -> None:
        postgresql_story.reserve(registrations=[A])
        with past(postgresql_story.url) as raw:
            ended = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            assert raw.run(f"{ended} AND backend_type = 'client backend'")
        assert postgresql_story.open().kind == "opened"

    def test_with_its_server(self) -> None:
        with running_server() as server:
            ledger = Ledger.open(server.address())
            Story(ledger, "").reserve(registrations=[A])
        with pytest.raises(LedgerError, match=r"cannot be reached|went away") as refusal:
            ledger.retire("s", "old")
        assert "nothing was written" in str(refusal.value)
        assert not Path(server.folder).exists()


def test_a_reader_sees_one_state_and_writes_nothing(postgresql_story: Story) -> None:
    postgresql_story.reserve(registrations=[A])
    with postgresql_story.ledger._database.reading() as journal:
        before = journal.newest()
        with Ledger.open(postgresql_story.url) as other:
            other.retire("s", "old")
        assert journal.newest() == before
        assert [event.event for event in journal.events()] == ["reserved", "registered"]
    with (
        pytest.raises(LedgerError, match="is on a server that is read-only"),
        postgresql_story.ledger._database.reading() as journal,
    ):
        journal.append("read", holdout_id="s", study="a", details={"purpose": "ceiling"})
    assert postgresql_story.count("retired") == 1

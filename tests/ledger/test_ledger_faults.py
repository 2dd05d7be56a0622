"""A database that cannot serve: one clear sentence, and nothing written."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from ledger_story import A, Story
from sqlalchemy import event as sqlalchemy_event

from calib_pipeline.ledger import Ledger, LedgerError, backend


def url_of(path: Path) -> str:
    return f"sqlite:///{path}"


def test_a_ledger_is_made_where_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "in the" / "project #1" / "ledger.db"
    with Ledger.open(url_of(path)) as ledger:
        assert ledger.events() == []
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert raw.execute("SELECT schema_version FROM meta").fetchall() == [(1,)]


def test_a_missing_ledger_is_not_made_for_a_reader(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with pytest.raises(LedgerError, match=r"there is no ledger at .*ledger\.db; the first reservation makes one"):
        Ledger.open(url_of(path), read_only=True)
    assert not path.exists()


@pytest.mark.parametrize("read_only", [False, True])
def test_a_folder_is_no_ledger(tmp_path: Path, read_only: bool) -> None:
    with pytest.raises(LedgerError, match="is a folder; a ledger is a file"):
        Ledger.open(url_of(tmp_path), read_only=read_only)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LedgerError, match=r"the folder of the ledger .*ledger\.db cannot be made"):
        Ledger.open(url_of(tmp_path / "file" / "ledger.db"))


@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_of_another_kind(tmp_path: Path, read_only: bool) -> None:
    path = tmp_path / "items.csv"
    path.write_text("item_id,stratum\n" * 100)
    with pytest.raises(LedgerError, match="is a file of another kind, or damaged"):
        Ledger.open(url_of(path), read_only=read_only)
    assert path.read_text() == "item_id,stratum\n" * 100


def test_another_database(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE TABLE customers (name)")
    with pytest.raises(LedgerError, match="is a database, but no ledger: it holds customers"):
        Ledger.open(url_of(path))


def test_an_empty_file_is_no_ledger_to_a_reader(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    path.touch()
    with pytest.raises(LedgerError, match="is an empty database and no ledger"):
        Ledger.open(url_of(path), read_only=True)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE meta SET schema_version = 99", "has schema version 99 and this program knows 1; use a newer"),
        ("DELETE FROM meta", "does not say of which version it is"),
    ],
)
def test_another_version(sqlite_story: Story, statement: str, message: str) -> None:
    with closing(sqlite3.connect(sqlite_story.url.removeprefix("sqlite:///"), isolation_level=None)) as raw:
        raw.execute(statement)
    with pytest.raises(LedgerError, match=message):
        Ledger.open(sqlite_story.url)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ledger.db", "is no address of a ledger; expected one such as sqlite:////data/ledger.db"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("mysql://maria:secret@host/db", "a ledger on mysql is not supported; name an SQLite file, or PostgreSQL"),
        ("postgresql+asyncpg://maria:secret@host/db", r"a ledger on postgresql\+asyncpg is not supported"),
        (
            "postgresql://maria:secret@host:port/db",
            r"'postgresql://maria:\*\*\*@host:port/db' is no address of a ledger",
        ),
    ],
)
def test_another_address(url: str, message: str) -> None:
    with pytest.raises(LedgerError, match=message) as refusal:
        Ledger.open(url)
    assert "secret" not in str(refusal.value)


def test_a_ledger_that_another_process_holds(
    sqlite_story: Story, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sqlite_story.reserve(registrations=[A])
    monkeypatch.setattr(backend, "BUSY_SECONDS", 0.1)
    with closing(sqlite3.connect(sqlite_story.url.removeprefix("sqlite:///"), isolation_level=None)) as raw:
        raw.execute("BEGIN IMMEDIATE")
        with Ledger.open(sqlite_story.url) as waiting:
            with pytest.raises(LedgerError, match=r"is held by another process, for longer than 0\.1 seconds"):
                waiting.record_read("s", "a", "a1", "ceiling")
            assert waiting.state("s", study="a", config_digest="a1", plan_digest="p1").state == "unopened"
            raw.execute("ROLLBACK")
            assert waiting.record_read("s", "a", "a1", "ceiling").seq == 3


def test_a_full_disk(sqlite_story: Story) -> None:
    sqlite_story.reserve(registrations=[A])
    engine = sqlite_story.ledger._database._engine

    @sqlalchemy_event.listens_for(engine, "begin")
    def fill(connection: object) -> None:
        connection.exec_driver_sql("PRAGMA max_page_count = 1")  # type: ignore[attr-defined]

    with pytest.raises(LedgerError, match="has no room on its disk; nothing was written"):
        for _ in range(100):
            sqlite_story.ledger.record_export("s", "maria " * 1000)
    sqlalchemy_event.remove(engine, "begin", fill)
    with Ledger.open(sqlite_story.url) as again:
        assert again.verify() == []
        assert again.retire("s", "old").seq == len(again.events())


class TestReadOnly:
    def test_a_reader_verifies_and_never_writes(self, sqlite_story: Story) -> None:
        sqlite_story.reserve(registrations=[A])
        with Ledger.open(sqlite_story.url, read_only=True) as reader:
            assert reader.verify() == []
            assert reader.head() == sqlite_story.ledger.head()
            with pytest.raises(LedgerError, match="open for reading only"):
                reader.retire("s", "old")
            sqlite_story.read()
            assert reader.head() == sqlite_story.ledger.head()

    def test_a_file_without_write_permission_is_read(
        self, sqlite_story: Story, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sqlite_story.reserve(registrations=[A])
        sqlite_story.ledger.close()
        path = Path(sqlite_story.url.removeprefix("sqlite:///"))
        allowed = os.access
        # The superuser may write anywhere, so the permission is taken away where it is asked for.
        monkeypatch.setattr(os, "access", lambda name, mode: mode != os.W_OK and allowed(name, mode))
        path.chmod(0o444)
        path.parent.chmod(0o555)
        try:
            with Ledger.open(sqlite_story.url) as reader:
                assert reader.verify() == []
                assert len(reader.events("s")) == 2
                with pytest.raises(LedgerError, match="may not be written to; nothing was written"):
                    reader.retire("s", "old")
            assert sorted(entry.name for entry in path.parent.iterdir()) == ["ledger.db"]
        finally:
            path.parent.chmod(0o755)


def test_a_refused_call_leaves_the_ledger_usable(story: Story) -> None:
    story.reserve(registrations=[A])
    for details in ({"n": float("nan")}, {"when": object()}, {"name": "\udc80"}):
        with pytest.raises(LedgerError, match="must be plain JSON"):
            story.ledger.record_read("s", "a", "a1", "ceiling", details)
    with pytest.raises(LedgerError, match="study must be text, got 7"):
        story.ledger.record_read("s", 7, "a1", "ceiling")  # type: ignore[arg-type]
    assert len(story.ledger.events()) == 2
    assert story.open().kind == "opened"

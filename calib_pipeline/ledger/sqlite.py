"""The ledger in an SQLite file: how it is opened, locked, guarded, and how SQLite's faults read in words."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.pool import QueuePool

from calib_pipeline.ledger.errors import LedgerError, NoLedgerYet

BUSY_SECONDS = 60.0
"""How long a transaction waits for another process before it gives up."""

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

_BEGIN = {False: "BEGIN", True: "BEGIN IMMEDIATE"}


class SqliteFile:
    """A file that is, or becomes, a ledger.

    Parameters
    ----------
    url
        Of a file, such as ``sqlite:////data/ledger.db``.
    read_only
        Never create or change anything; a file or folder without write permission is opened so anyway.
    """

    guards: Mapping[str, str] = TRIGGERS

    def __init__(self, url: URL, *, read_only: bool) -> None:
        if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
            raise LedgerError(f"{str(url)!r} names no file; a ledger outlives the process, so it must be one")
        self._path = Path(url.database).absolute()
        self.shown = str(self._path)
        self.read_only = read_only or (self._path.exists() and not _is_writable(self._path))
        if self._path.is_dir():
            raise LedgerError(f"{self._path} is a folder; a ledger is a file, such as {self._path / 'ledger.db'}")
        if self.read_only and not self._path.exists():
            raise LedgerError(f"there is no ledger at {self._path}; the first reservation makes one")
        if not self.read_only:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as fault:
                raise LedgerError(f"the folder of the ledger {self._path} cannot be made: {fault.strerror}") from fault

    def engine(self) -> Engine:
        """A new engine whose transactions begin as `begin` says."""
        engine = create_engine("sqlite://", creator=self._connect, poolclass=QueuePool)

        # The driver would begin a transaction late, at the first write, and unlocked: what was read before it could
        # be outdated by then. With isolation_level None it leaves BEGIN to this listener.
        @event.listens_for(engine, "begin")
        def begin(connection: Connection) -> None:
            connection.exec_driver_sql(connection.get_execution_options()["ledger_begin"])

        return engine

    def ready(self, connection: Connection, *, writing: bool) -> Connection:
        """The connection, to begin with one consistent view, or with the write lock."""
        return connection.execution_options(ledger_begin=_BEGIN[writing])

    def lock(self, connection: Connection) -> None:
        """Nothing more: BEGIN IMMEDIATE holds the lock."""

    def leave(self, engine: Engine) -> None:
        """Nothing: a connection of SQLite must not be used in a forked process, nor closed there."""

    def refuse_foreign(self, found: set[str], ours: set[str]) -> None:
        """Refuse a database that holds other tables and is no ledger."""
        if found and not ours <= found:
            raise LedgerError(
                f"{self.shown} is a database, but no ledger: it holds {', '.join(sorted(found))}. "
                "Name another file as `ledger` in calib.yaml"
            )
        if not found and self.read_only:
            raise NoLedgerYet(f"{self.shown} is an empty database and no ledger")

    def create_guards(self, connection: Connection) -> None:
        """Make the triggers."""
        for statement in TRIGGERS.values():
            connection.exec_driver_sql(statement)

    def standing_guards(self, connection: Connection) -> dict[str, str]:
        """Name and statement of each trigger that stands."""
        rows = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        return {str(name): str(statement) for name, statement in rows}

    def integrity_problems(self, connection: Connection) -> list[str]:
        """What SQLite itself finds wrong with its file."""
        rows = connection.exec_driver_sql("PRAGMA integrity_check")
        return [message for (message,) in rows if message != "ok"]

    def in_words(self, fault: BaseException) -> str | None:
        """What a fault means for the reader; None for one that is not the database's."""
        if not isinstance(fault, sqlite3.Error):
            return None
        said = str(fault)
        for fragment, sentence in _WORDS.items():
            if fragment in said:
                return f"{sentence.format(seconds=BUSY_SECONDS)} (SQLite says: {said})"
        return f"cannot be used; nothing was written (SQLite says: {said})"

    def _connect(self) -> sqlite3.Connection:
        location = f"file:{quote(str(self._path))}"
        if self.read_only:
            log = self._path.with_name(self._path.name + "-wal")
            unlogged = not log.exists() or log.stat().st_size == 0
            location += "?mode=ro&immutable=1" if unlogged and not os.access(self._path.parent, os.W_OK) else "?mode=ro"
        connection = sqlite3.connect(
            location, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        if not self.read_only:
            _use_write_ahead_log(connection)
            connection.execute("PRAGMA synchronous = FULL")
        return connection


_WORDS = {
    "locked": "is held by another process, for longer than {seconds:g} seconds; nothing was written. Run again",
    "full": "has no room on its disk; nothing was written. Make room and run again",
    "not a database": "is a file of another kind, or damaged; name another file, or restore it from a copy",
    "malformed": "is damaged; keep it as it is, restore a copy and run `calib holdout verify` on it",
    "unable to open": "cannot be opened; it must be a file in a folder that you may write to",
    "readonly": "may not be written to; nothing was written. Ask for write permission on the file and its folder",
    "disk I/O error": "cannot be read or written on its disk; nothing was written. See to the disk and run again",
}
"""What SQLite says, and what that means for the reader."""


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch to the write-ahead log; SQLite does not wait for other processes in this one statement, so we do."""
    patience = time.monotonic() + BUSY_SECONDS
    while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as fault:
            if "locked" not in str(fault) or time.monotonic() > patience:
                raise
            time.sleep(0.01)

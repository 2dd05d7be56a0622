"""A ledger in an SQLite file: its connections, its locks, and its faults in words."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine
from sqlalchemy.pool import QueuePool

from calib_pipeline.ledger import backend, sqlite_triggers
from calib_pipeline.ledger.backend import Trigger
from calib_pipeline.ledger.errors import LedgerError


class SQLite:
    """A file.

    Parameters
    ----------
    url
        Its URL.
    read_only
        Never create or change anything; a file or folder without write permission is opened so anyway.

    Raises
    ------
    LedgerError
        When the URL names no file, the file is a folder, its folder cannot be made, or there is none to be read.
    """

    elsewhere = "Name another file as `ledger` in calib.yaml"
    triggers: Mapping[str, str] = sqlite_triggers.TRIGGERS

    def __init__(self, url: URL, *, read_only: bool) -> None:
        self.path = _file_of(url)
        self.read_only = read_only or (self.path.exists() and not _is_writable(self.path))
        self._inherited: list[Engine] = []
        if self.path.is_dir():
            raise LedgerError(f"{self.path} is a folder; a ledger is a file, such as {self.path / 'ledger.db'}")
        if self.read_only and not self.path.exists():
            raise LedgerError(f"there is no ledger at {self.path}; the first reservation makes one")
        if not self.read_only:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as fault:
                raise LedgerError(f"the folder of the ledger {self.path} cannot be made: {fault.strerror}") from fault

    @property
    def shown(self) -> str:
        """The path."""
        return str(self.path)

    def new_engine(self) -> Engine:
        """An engine whose connections leave BEGIN to `reading` and `writing`.

        The driver would begin a transaction late, at the first write, and unlocked: what was read before it could be
        outdated by then.
        """
        return create_engine("sqlite://", creator=self._connect, poolclass=QueuePool)

    def leave_to_parent(self, engine: Engine) -> None:
        """Keep it: a connection of SQLite must not be used in a forked process, nor closed there."""
        self._inherited.append(engine)

    @contextmanager
    def reading(self, engine: Engine) -> Iterator[Connection]:
        """One state of the file."""
        with engine.begin() as connection:
            connection.exec_driver_sql("BEGIN")
            yield connection

    @contextmanager
    def writing(self, engine: Engine) -> Iterator[Connection]:
        """The file's one write lock."""
        with engine.begin() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection

    creating = writing

    def create_triggers(self, connection: Connection) -> None:
        """Make the triggers."""
        for statement in sqlite_triggers.TRIGGERS.values():
            connection.exec_driver_sql(statement)

    def standing_triggers(self, connection: Connection) -> dict[str, Trigger]:
        """The triggers of the file."""
        rows = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        return {str(name): Trigger(str(statement)) for name, statement in rows}

    def integrity_problems(self, connection: Connection) -> list[str]:
        """What SQLite finds wrong with the file."""
        rows = connection.exec_driver_sql("PRAGMA integrity_check")
        return [message for (message,) in rows if message != "ok"]

    def in_words(self, fault: BaseException, *, committing: bool) -> str:
        """What SQLite says, and what that means; a commit that fails is rolled back."""
        said = str(fault)
        if "append-only" in said:
            return f"the ledger {self.path} refused to be changed ({said})"
        for fragment, sentence in _WORDS.items():
            if fragment in said:
                return f"the ledger {self.path} {sentence.format(seconds=backend.BUSY_SECONDS)} (SQLite says: {said})"
        return f"the ledger {self.path} cannot be used; nothing was written (SQLite says: {said})"

    def _connect(self) -> sqlite3.Connection:
        location = f"file:{quote(str(self.path))}"
        if self.read_only:
            log = self.path.with_name(self.path.name + "-wal")
            unlogged = not log.exists() or log.stat().st_size == 0
            location += "?mode=ro&immutable=1" if unlogged and not os.access(self.path.parent, os.W_OK) else "?mode=ro"
        connection = sqlite3.connect(
            location, uri=True, timeout=backend.BUSY_SECONDS, isolation_level=None, check_same_thread=False
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


def _file_of(url: URL) -> Path:
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise LedgerError(f"{str(url)!r} names no file; a ledger outlives the process, so it must be one")
    return Path(url.database).absolute()


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch to the write-ahead log; SQLite does not wait for other processes in this one statement, so we do."""
    patience = time.monotonic() + backend.BUSY_SECONDS
    while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as fault:
            if "locked" not in str(fault) or time.monotonic() > patience:
                raise
            time.sleep(0.01)

"""The connection to the ledger's database: its transactions, its schema, and its faults in words."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, insert, inspect, make_url, select
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from calib_pipeline.ledger import tables
from calib_pipeline.ledger.errors import LedgerError, NoLedgerYet
from calib_pipeline.ledger.journal import Journal

BUSY_SECONDS = 60.0
"""How long a transaction waits for another process before it gives up."""


class Database:
    """A SQLite file with the ledger's schema.

    Parameters
    ----------
    url
        SQLAlchemy URL of a file, such as ``sqlite:////data/ledger.db``.
    read_only
        Never create or change anything; a file or folder without write permission is opened so anyway.
    """

    def __init__(self, url: str, *, read_only: bool = False) -> None:
        self.path = _file_of(url)
        self.read_only = read_only or (self.path.exists() and not _is_writable(self.path))
        if self.path.is_dir():
            raise LedgerError(f"{self.path} is a folder; a ledger is a file, such as {self.path / 'ledger.db'}")
        if self.read_only and not self.path.exists():
            raise LedgerError(f"there is no ledger at {self.path}; the first reservation makes one")
        if not self.read_only:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as fault:
                raise LedgerError(f"the folder of the ledger {self.path} cannot be made: {fault.strerror}") from fault
        self._engine = self._new_engine()
        self._process = os.getpid()
        self._inherited: list[Engine] = []
        with self._faults_in_words():
            self._prepare()

    @contextmanager
    def reading(self) -> Iterator[Journal]:
        """One consistent view of the ledger."""
        with self._faults_in_words(), self._transaction("BEGIN") as connection:
            yield Journal(connection)

    @contextmanager
    def writing(self) -> Iterator[Journal]:
        """One transaction that holds the write lock from its first statement; all of it is written, or nothing."""
        if self.read_only:
            raise LedgerError(
                f"the ledger {self.path} is open for reading only, or its file or folder may not be written to; "
                "nothing was written"
            )
        with self._faults_in_words(), self._transaction("BEGIN IMMEDIATE") as connection:
            yield Journal(connection)

    def close(self) -> None:
        """Give the file back; the last one to do so folds the write-ahead log into it."""
        self._engine.dispose()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Connection]:
        if os.getpid() != self._process:
            # A connection of SQLite must not be used in a forked process, nor closed there: hence it is kept.
            self._inherited.append(self._engine)
            self._engine, self._process = self._new_engine(), os.getpid()
        with self._engine.connect().execution_options(ledger_begin=begin) as connection, connection.begin():
            yield connection

    def _new_engine(self) -> Engine:
        engine = create_engine("sqlite://", creator=self._connect, poolclass=QueuePool)

        # The driver would begin a transaction late, at the first write, and unlocked: what was read before it could
        # be outdated by then. With isolation_level None it leaves BEGIN to this listener.
        @event.listens_for(engine, "begin")
        def begin(connection: Connection) -> None:
            connection.exec_driver_sql(connection.get_execution_options()["ledger_begin"])

        return engine

    def _connect(self) -> sqlite3.Connection:
        location = f"file:{quote(str(self.path))}"
        if self.read_only:
            log = self.path.with_name(self.path.name + "-wal")
            unlogged = not log.exists() or log.stat().st_size == 0
            location += "?mode=ro&immutable=1" if unlogged and not os.access(self.path.parent, os.W_OK) else "?mode=ro"
        connection = sqlite3.connect(
            location, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        if not self.read_only:
            _use_write_ahead_log(connection)
            connection.execute("PRAGMA synchronous = FULL")
        return connection

    def _prepare(self) -> None:
        with self._transaction("BEGIN") as connection:
            found = set(inspect(connection).get_table_names())
        if not found:
            if self.read_only:
                raise NoLedgerYet(f"{self.path} is an empty database and no ledger")
            with self._transaction("BEGIN IMMEDIATE") as connection:
                if not inspect(connection).get_table_names():
                    _create_schema(connection)
        elif not {table.name for table in tables.metadata.tables.values()} <= found:
            raise LedgerError(
                f"{self.path} is a database, but no ledger: it holds {', '.join(sorted(found))}. "
                "Name another file as `ledger` in calib.yaml"
            )
        with self._transaction("BEGIN") as connection:
            versions = list(connection.scalars(select(tables.meta.c.schema_version)))
        if len(versions) != 1:
            raise LedgerError(f"the ledger {self.path} does not say of which version it is; restore it from a copy")
        if versions[0] > tables.SCHEMA_VERSION:
            raise LedgerError(
                f"the ledger {self.path} has schema version {versions[0]} and this program knows "
                f"{tables.SCHEMA_VERSION}; use a newer calib-pipeline"
            )

    @contextmanager
    def _faults_in_words(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as fault:
            raise LedgerError(self._in_words(getattr(fault, "orig", None) or fault)) from fault
        except sqlite3.Error as fault:
            raise LedgerError(self._in_words(fault)) from fault

    def _in_words(self, fault: BaseException) -> str:
        said = str(fault)
        if "append-only" in said:
            return f"the ledger {self.path} refused to be changed ({said})"
        for fragment, sentence in _WORDS.items():
            if fragment in said:
                return f"the ledger {self.path} {sentence.format(seconds=BUSY_SECONDS)} (SQLite says: {said})"
        return f"the ledger {self.path} cannot be used; nothing was written (SQLite says: {said})"


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


def _file_of(url: str) -> Path:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise LedgerError(
            f"{url!r} is no address of a ledger; expected one such as sqlite:////data/ledger.db"
        ) from None
    if parsed.get_backend_name() != "sqlite":
        raise LedgerError(
            f"a ledger on {parsed.get_backend_name()} is not supported by this version; name a SQLite file"
        )
    if not parsed.database or parsed.database == ":memory:" or parsed.database.startswith("file:"):
        raise LedgerError(f"{url!r} names no file; a ledger outlives the process, so it must be one")
    return Path(parsed.database).absolute()


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


def _create_schema(connection: Connection) -> None:
    tables.metadata.create_all(connection)
    for statement in tables.SQLITE_TRIGGERS.values():
        connection.exec_driver_sql(statement)
    connection.execute(insert(tables.meta), {"schema_version": tables.SCHEMA_VERSION})

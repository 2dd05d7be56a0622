"""The connection to the ledger's database: its transactions, its schema, and its faults in words."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import Connection, Engine, insert, inspect, make_url, select
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from calib_pipeline.ledger import tables
from calib_pipeline.ledger.errors import LedgerError
from calib_pipeline.ledger.journal import Journal

if TYPE_CHECKING:
    from calib_pipeline.ledger.verification import Guards


class Backend(Protocol):
    """What differs between the databases that can hold a ledger."""

    shown: str
    read_only: bool
    guards: Mapping[str, str]

    def engine(self) -> Engine: ...

    def ready(self, connection: Connection, *, writing: bool) -> Connection: ...

    def lock(self, connection: Connection) -> None: ...

    def leave(self, engine: Engine) -> None: ...

    def refuse_foreign(self, found: set[str], ours: set[str]) -> None: ...

    def create_guards(self, connection: Connection) -> None: ...

    def standing_guards(self, connection: Connection) -> dict[str, str]: ...

    def integrity_problems(self, connection: Connection) -> list[str]: ...

    def in_words(self, fault: BaseException) -> str | None: ...


class Database:
    """A database with the ledger's schema, made where it is not there yet.

    Parameters
    ----------
    url
        SQLAlchemy URL of an SQLite file or a PostgreSQL database.
    read_only
        Never create or change anything.
    """

    def __init__(self, url: str, *, read_only: bool = False) -> None:
        self._backend = _backend_of(url, read_only=read_only)
        self._engine = self._backend.engine()
        self._process = os.getpid()
        self._inherited: list[Engine] = []
        with self._faults_in_words():
            self._prepare()

    @contextmanager
    def reading(self) -> Iterator[Journal]:
        """One consistent view of the ledger."""
        with self._faults_in_words(), self._transaction(writing=False) as connection:
            yield Journal(connection)

    @contextmanager
    def writing(self) -> Iterator[Journal]:
        """One transaction that holds the lock of the chain's head from its beginning; all is written, or nothing."""
        if self._backend.read_only:
            raise LedgerError(
                f"the ledger {self._backend.shown} is open for reading only, or its file or folder may not be written "
                "to; nothing was written"
            )
        with self._faults_in_words(), self._transaction(writing=True) as connection:
            yield Journal(connection)

    @contextmanager
    def inspecting(self) -> Iterator[tuple[Journal, Guards]]:
        """One consistent view of the ledger, with what guards it and what the database finds wrong with itself."""
        from calib_pipeline.ledger.verification import Guards

        with self._faults_in_words(), self._transaction(writing=False) as connection:
            backend = self._backend
            problems = tuple(backend.integrity_problems(connection))
            yield Journal(connection), Guards(backend.guards, backend.standing_guards(connection), problems)

    def close(self) -> None:
        """Give the database back; of SQLite the last one to do so folds the write-ahead log into the file."""
        self._engine.dispose()

    @contextmanager
    def _transaction(self, *, writing: bool) -> Iterator[Connection]:
        if os.getpid() != self._process:
            self._backend.leave(self._engine)
            self._inherited.append(self._engine)
            self._engine, self._process = self._backend.engine(), os.getpid()
        with self._engine.connect() as connected:
            connection = self._backend.ready(connected, writing=writing)
            with connection.begin():
                if writing:
                    self._backend.lock(connection)
                yield connection

    def _prepare(self) -> None:
        shown, ours = self._backend.shown, {table.name for table in tables.metadata.tables.values()}
        with self._transaction(writing=False) as connection:
            found = set(inspect(connection).get_table_names())
        self._backend.refuse_foreign(found, ours)
        if not ours & found:
            with self._transaction(writing=True) as connection:
                if not ours & set(inspect(connection).get_table_names()):
                    tables.metadata.create_all(connection)
                    self._backend.create_guards(connection)
                    connection.execute(insert(tables.meta), {"schema_version": tables.SCHEMA_VERSION})
        with self._transaction(writing=False) as connection:
            versions = list(connection.scalars(select(tables.meta.c.schema_version)))
        if len(versions) != 1:
            raise LedgerError(f"the ledger {shown} does not say of which version it is; restore it from a copy")
        if versions[0] > tables.SCHEMA_VERSION:
            raise LedgerError(
                f"the ledger {shown} has schema version {versions[0]} and this program knows "
                f"{tables.SCHEMA_VERSION}; use a newer calib-pipeline"
            )

    @contextmanager
    def _faults_in_words(self) -> Iterator[None]:
        try:
            yield
        except LedgerError:
            raise
        except SQLAlchemyError as fault:
            raise LedgerError(self._in_words(getattr(fault, "orig", None) or fault)) from fault
        except Exception as fault:
            if self._backend.in_words(fault) is None or not _is_of_a_driver(fault):
                raise
            raise LedgerError(self._in_words(fault)) from fault

    def _in_words(self, fault: BaseException) -> str:
        said = " ".join(str(fault).split())
        if "append-only" in said:
            return f"the ledger {self._backend.shown} refused to be changed ({said})"
        words = self._backend.in_words(fault) or f"cannot be used; nothing was written ({said})"
        return f"the ledger {self._backend.shown} {words}"


def _is_of_a_driver(fault: BaseException) -> bool:
    return type(fault).__module__.partition(".")[0] in ("sqlite3", "psycopg")


def _backend_of(url: str, *, read_only: bool) -> Backend:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise LedgerError(
            f"{url!r} is no address of a ledger; expected one such as sqlite:////data/ledger.db"
        ) from None
    if parsed.get_backend_name() == "sqlite":
        from calib_pipeline.ledger.sqlite import SqliteFile

        return SqliteFile(parsed, read_only=read_only)
    if parsed.get_backend_name() == "postgresql":
        from calib_pipeline.ledger.postgresql import PostgresqlServer

        return PostgresqlServer(parsed, read_only=read_only)
    raise LedgerError(
        f"a ledger on {parsed.get_backend_name()} is not supported; name an SQLite file or a PostgreSQL database"
    )

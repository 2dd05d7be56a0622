"""The ledger's database: which kind it is, its schema, and transactions whose faults are told in words."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, insert, inspect, make_url, select
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from calib_pipeline.ledger import tables
from calib_pipeline.ledger.addresses import without_password
from calib_pipeline.ledger.backend import Backend
from calib_pipeline.ledger.errors import LedgerError, NoLedgerYet
from calib_pipeline.ledger.journal import Journal


class Database:
    """A database with the ledger's schema.

    Parameters
    ----------
    url
        SQLAlchemy URL, such as ``sqlite:////data/ledger.db`` or ``postgresql+psycopg://calib@db.internal/calib``.
    read_only
        Never create or change anything.
    """

    def __init__(self, url: str, *, read_only: bool = False) -> None:
        self._backend = _backend_of(url, read_only)
        self.read_only = self._backend.read_only
        self._engine = self._backend.new_engine()
        self._process = os.getpid()
        with self._faults_in_words():
            self._prepare()

    @contextmanager
    def reading(self) -> Iterator[Journal]:
        """One consistent view of the ledger."""
        self._own_engine()
        with self._faults_in_words(), self._backend.reading(self._engine) as connection:
            yield Journal(connection, self._backend)

    @contextmanager
    def writing(self) -> Iterator[Journal]:
        """One transaction that holds the write lock from its first statement; all of it is written, or nothing."""
        if self.read_only:
            raise LedgerError(
                f"the ledger {self._backend.shown} is open for reading only, or its file or folder may not be written "
                "to; nothing was written"
            )
        self._own_engine()
        committing = False
        with self._faults_in_words(lambda: committing), self._backend.writing(self._engine) as connection:
            yield Journal(connection, self._backend)
            committing = True

    def close(self) -> None:
        """Give the database back; the last one to close an SQLite file folds the write-ahead log into it."""
        self._engine.dispose()

    def _own_engine(self) -> None:
        if os.getpid() != self._process:
            self._backend.leave_to_parent(self._engine)
            self._engine, self._process = self._backend.new_engine(), os.getpid()

    def _prepare(self) -> None:
        shown = self._backend.shown
        with self._backend.reading(self._engine) as connection:
            found = _table_names(connection)
            versions = _versions(connection, found)
        if not found:
            if self.read_only:
                raise NoLedgerYet(f"{shown} is an empty database and no ledger")
            with self._backend.creating(self._engine) as connection:
                found = _table_names(connection)
                if not found:
                    _create_schema(connection, self._backend)
                    return
                versions = _versions(connection, found)
        if not found.issuperset(tables.REQUIRED):
            raise LedgerError(
                f"{shown} is a database, but no ledger: it holds {', '.join(sorted(found))}. {self._backend.elsewhere}"
            )
        if len(versions) != 1:
            raise LedgerError(f"the ledger {shown} does not say of which version it is; restore it from a copy")
        if versions[0] > tables.SCHEMA_VERSION:
            raise LedgerError(
                f"the ledger {shown} has schema version {versions[0]} and this program knows {tables.SCHEMA_VERSION}; "
                "use a newer calib-pipeline"
            )
        if versions[0] < tables.SCHEMA_VERSION:
            self._upgrade(versions[0])

    def _upgrade(self, version: int) -> None:
        if self.read_only:
            raise LedgerError(
                f"the ledger {self._backend.shown} has schema version {version}, which this program brings to "
                f"{tables.SCHEMA_VERSION} when it opens it for writing; do so once, with `calib run`"
            )
        from calib_pipeline.ledger import migration

        with self._backend.writing(self._engine) as connection:
            [now] = _versions(connection, _table_names(connection))
            if now < tables.SCHEMA_VERSION:
                migration.upgrade(connection, now)

    @contextmanager
    def _faults_in_words(self, committing: Callable[[], bool] = lambda: False) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as fault:
            told = fault.orig if isinstance(fault, DBAPIError) and fault.orig is not None else fault
            raise LedgerError(self._backend.in_words(told, committing=committing())) from fault
        except self._engine.dialect.loaded_dbapi.Error as fault:
            raise LedgerError(self._backend.in_words(fault, committing=committing())) from fault


def _backend_of(url: str, read_only: bool) -> Backend:
    """The kind of database that a URL names; imports no other."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise LedgerError(
            f"{without_password(url)!r} is no address of a ledger; expected one such as sqlite:////data/ledger.db or "
            "postgresql+psycopg://user@host:5432/database"
        ) from None
    kind = parsed.get_backend_name()
    if kind == "sqlite":
        from calib_pipeline.ledger.sqlite import SQLite

        return SQLite(parsed, read_only=read_only)
    if parsed.drivername in ("postgresql", "postgresql+psycopg"):
        from calib_pipeline.ledger.postgresql import PostgreSQL

        return PostgreSQL(parsed.set(drivername="postgresql+psycopg"), read_only=read_only)
    raise LedgerError(
        f"a ledger on {parsed.drivername} is not supported; name an SQLite file, or PostgreSQL with postgresql+psycopg"
    )


def _table_names(connection: Connection) -> set[str]:
    return set(inspect(connection).get_table_names(schema=connection.dialect.default_schema_name))


def _versions(connection: Connection, found: set[str]) -> list[int]:
    """The rows that say of which version the schema is; one, where it is a ledger that nobody changed."""
    return list(connection.scalars(select(tables.meta.c.schema_version))) if found.issuperset(tables.REQUIRED) else []


def _create_schema(connection: Connection, backend: Backend) -> None:
    tables.metadata.create_all(connection, checkfirst=False)
    backend.create_triggers(connection)
    connection.execute(insert(tables.meta), {"schema_version": tables.SCHEMA_VERSION})
    connection.execute(insert(tables.stamp), {"version_num": tables.revision(tables.SCHEMA_VERSION)})

"""A connection past the ledger, as someone has who may do anything to its database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from calib_pipeline.ledger.postgresql import TRIGGERS as POSTGRESQL_TRIGGERS
from calib_pipeline.ledger.sqlite import TRIGGERS as SQLITE_TRIGGERS


class RawDatabase:
    """Statements with ``?`` for values, each committed by itself."""

    def __init__(self, connection: Any, *, is_postgresql: bool) -> None:
        self._connection = connection
        self.is_postgresql = is_postgresql

    def execute(self, statement: str, values: Sequence[object] = ()) -> None:
        """Run one statement."""
        self._connection.execute(statement.replace("?", "%s") if self.is_postgresql else statement, values)

    def row(self, query: str) -> dict[str, Any]:
        """The first row of a query."""
        cursor = self._connection.execute(query)
        return dict(zip([column[0] for column in cursor.description], cursor.fetchone(), strict=True))

    def without_triggers(self, *statements: str) -> None:
        """Run statements with the triggers taken away and put back, as someone would who knows of them."""
        if self.is_postgresql:
            away = [f"ALTER TABLE {table} DISABLE TRIGGER USER" for table in ("events", "holdout_items")]
            back = [statement.replace("DISABLE", "ENABLE") for statement in away]
        else:
            away = [f"DROP TRIGGER {name}" for name in SQLITE_TRIGGERS]
            back = list(SQLITE_TRIGGERS.values())
        for statement in (*away, *statements, *back):
            self.execute(statement)

    def drop_trigger(self, name: str) -> None:
        """Take one trigger away."""
        on = next((f" ON {one.table}" for one in POSTGRESQL_TRIGGERS if one.name == name), "")
        self.execute(f"DROP TRIGGER {name}{on if self.is_postgresql else ''}")


@contextmanager
def raw_database(url: str) -> Iterator[RawDatabase]:
    """The database of a ledger."""
    if url.startswith("sqlite:///"):
        connection: Any = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
    else:
        import psycopg

        connection = psycopg.connect(url.replace("postgresql+psycopg://", "postgresql://"), autocommit=True)
    try:
        yield RawDatabase(connection, is_postgresql=not url.startswith("sqlite"))
    finally:
        connection.close()


def refusal() -> tuple[type[Exception], ...]:
    """What the databases raise where a trigger refuses."""
    try:
        from psycopg.errors import RaiseException
    except ImportError:
        return (sqlite3.IntegrityError,)
    return sqlite3.IntegrityError, RaiseException

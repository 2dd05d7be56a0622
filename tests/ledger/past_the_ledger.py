"""A connection to the ledger's database that goes past the ledger, as somebody would who wants to change history."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, Protocol

import psycopg
from sqlalchemy import make_url

from calib_pipeline.ledger import postgresql_triggers, sqlite_triggers

REFUSED = (sqlite3.IntegrityError, psycopg.errors.IntegrityConstraintViolation)


class Past(Protocol):
    """Statements on either database; ``kind`` is its name."""

    kind: str

    def run(self, statement: str, *values: object) -> list[dict[str, Any]]:
        """The rows that a statement gives, by column; ``?`` stands for a value."""

    def without_triggers(self, *statements: str) -> None:
        """Run statements with the triggers taken away and put back, as someone would who knows of them."""


class PastSQLite:
    """In a file."""

    kind = "sqlite"

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def run(self, statement: str, *values: object) -> list[dict[str, Any]]:
        return [dict(row) for row in self._connection.execute(statement, values)]

    def without_triggers(self, *statements: str) -> None:
        for name in sqlite_triggers.TRIGGERS:
            self.run(f"DROP TRIGGER {name}")
        for statement in [*statements, *sqlite_triggers.TRIGGERS.values()]:
            self.run(statement)


class PastPostgreSQL:
    """On a server, as its superuser."""

    kind = "postgresql"

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def run(self, statement: str, *values: object) -> list[dict[str, Any]]:
        cursor = self._connection.execute(statement.replace("?", "%s"), values or None)  # type: ignore[call-overload]
        columns = [column.name for column in cursor.description or ()]
        return [dict(zip(columns, row, strict=True)) for row in cursor] if columns else []

    def without_triggers(self, *statements: str) -> None:
        for table in ("events", "holdout_items"):
            self.run(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        for statement in statements:
            self.run(statement)
        for name in postgresql_triggers.TRIGGERS:
            table = "events" if name.startswith("events") else "holdout_items"
            self.run(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}")


@contextmanager
def past(address: str) -> Iterator[Past]:
    """Connect to the database of a ledger; each statement stands at once."""
    if address.startswith("sqlite"):
        with closing(sqlite3.connect(address.removeprefix("sqlite:///"), isolation_level=None)) as connection:
            connection.row_factory = sqlite3.Row
            yield PastSQLite(connection)
    else:
        with closing(connect(address)) as connection:
            yield PastPostgreSQL(connection)


def connect(address: str) -> psycopg.Connection[Any]:
    """A connection to a PostgreSQL database by its SQLAlchemy URL, without a transaction around its statements."""
    url = make_url(address)
    given = {"user": url.username, "dbname": url.database, **url.query}
    return psycopg.connect(**given, autocommit=True)  # type: ignore[arg-type]

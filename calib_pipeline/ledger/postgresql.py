"""A ledger in a PostgreSQL database: its connections, its locks, and its faults in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, text

from calib_pipeline.errors import InputError
from calib_pipeline.ledger import backend, postgresql_triggers
from calib_pipeline.ledger.backend import Trigger
from calib_pipeline.ledger.errors import LedgerError

CONNECT_SECONDS = 10
"""How long a server may take to answer, where the address does not say."""

SHOWN_PARAMETERS = ("host", "port", "options", "service")
"""Parameters of an address that say where the ledger is; any other might be a secret."""


class PostgreSQL:
    """The first schema on the search path of a database.

    Parameters
    ----------
    url
        Its URL, with the driver psycopg.
    read_only
        Never create or change anything.

    Raises
    ------
    InputError
        When psycopg is not installed, or finds no libpq.
    """

    elsewhere = (
        "Give the ledger a database or a schema of its own: the address may end in ?options=-csearch_path%3DSCHEMA"
    )
    triggers: Mapping[str, str] = postgresql_triggers.expected_statements()

    def __init__(self, url: URL, *, read_only: bool) -> None:
        self._url = url
        self.read_only = read_only
        known = {name: value for name, value in url.query.items() if name in SHOWN_PARAMETERS}
        self.shown = url.set(query=known).render_as_string(hide_password=True)

    def new_engine(self) -> Engine:
        """An engine that asks each pooled connection whether it is alive before it is used."""
        arguments: dict[str, Any] = {"client_encoding": "utf8"}
        if "connect_timeout" not in self._url.query:
            arguments["connect_timeout"] = CONNECT_SECONDS
        try:
            engine = create_engine(
                self._url, connect_args=arguments, isolation_level="READ COMMITTED", pool_pre_ping=True
            )
        except ImportError as fault:
            raise InputError(
                f"the ledger {self.shown} needs the package psycopg with its library, and cannot load it: {fault}",
                todo="install it with `pip install 'calib-pipeline[postgres]'`",
            ) from fault

        @event.listens_for(engine, "connect")
        def check(connection: Any, _: object) -> None:
            encoding = connection.info.parameter_status("server_encoding")
            if encoding != "UTF8":
                raise LedgerError(
                    f"the database of the ledger {self.shown} stores text as {encoding}; expected UTF8. "
                    "Make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
                )

        return engine

    def leave_to_parent(self, engine: Engine) -> None:
        """Forget the connections without a word to the server: the parent goes on using them."""
        engine.dispose(close=False)

    @contextmanager
    def reading(self, engine: Engine) -> Iterator[Connection]:
        """One snapshot; the server refuses to write in it."""
        options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with engine.connect().execution_options(**options) as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self, engine: Engine) -> Iterator[Connection]:
        """Both tables, locked against every writer.

        A lock on the tables holds whoever writes: an advisory lock would hold only those who ask for it. Readers and
        dumps are not in its way. What is read after it is newer than whatever was committed before it was granted.
        """
        with engine.begin() as connection:
            _begin_to_write(connection)
            connection.exec_driver_sql("LOCK TABLE events, holdout_items IN EXCLUSIVE MODE")
            yield connection

    @contextmanager
    def creating(self, engine: Engine) -> Iterator[Connection]:
        """A lock on the schema's name, which there is before any table."""
        with engine.begin() as connection:
            _begin_to_write(connection)
            connection.exec_driver_sql(
                "SELECT pg_advisory_xact_lock(hashtextextended('calib ledger ' || current_schema(), 0))"
            )
            yield connection

    def create_triggers(self, connection: Connection) -> None:
        """Make the functions and triggers."""
        for statement in postgresql_triggers.statements():
            connection.execute(text(statement))

    def standing_triggers(self, connection: Connection) -> dict[str, Trigger]:
        """The triggers on the ledger's tables, each with the body of its function."""
        return {
            row.name: Trigger(
                postgresql_triggers.standing_statement(row.statement, row.language, row.settings, row.body),
                enabled=row.enabled == "A",
            )
            for row in connection.execute(text(_TRIGGERS_THAT_STAND))
        }

    def integrity_problems(self, connection: Connection) -> list[str]:
        """What stands on the tables that no ledger has, or is gone that each has."""
        problems = []
        for row in connection.execute(text(_TABLES_THAT_STAND)):
            if row.primary_key != _PRIMARY_KEYS[row.name]:
                problems.append(f"table {row.name} has lost its primary key: rows could stand in it twice")
            if row.has_rules:
                problems.append(f"table {row.name} has rules, which could change what is written to it")
            if row.has_row_security:
                problems.append(f"table {row.name} has row security, which could hide rows")
        return problems

    def in_words(self, fault: BaseException, *, committing: bool) -> str:
        """What the server or the driver says, and what that means."""
        said = " ".join(str(fault).split())
        if "append-only" in said:
            return f"the ledger {self.shown} refused to be changed ({said})"
        return f"the ledger {self.shown} {_sentence(fault, said, committing)} (PostgreSQL says: {said})"


def _begin_to_write(connection: Connection) -> None:
    """Wait for others no longer than is said, and be told of a commit only once it is on disk."""
    connection.execute(
        text("SELECT set_config('lock_timeout', :patience, true), set_config('synchronous_commit', 'on', true)"),
        {"patience": f"{backend.BUSY_SECONDS * 1000:.0f}ms"},
    )


def _sentence(fault: BaseException, said: str, committing: bool) -> str:
    state = getattr(fault, "sqlstate", None) or ""
    for beginning, sentence in _BY_STATE.items():
        if state.startswith(beginning):
            return sentence.format(seconds=backend.BUSY_SECONDS)
    if said.startswith(_REFUSED):
        for fragment, sentence in _BY_TEXT.items():
            if fragment in said:
                return sentence
        return "cannot be reached; nothing was written. See that its server runs, and that host and port are right"
    if state.startswith(("57P", "08")) or any(fragment in said for fragment in _BROKEN_OFF):
        if committing:
            return (
                "went away while the last write was being confirmed, so it is not known whether it was written. Run "
                "again: what stands already is not written twice"
            )
        return "went away in the middle of it; nothing was written. Run again"
    return "cannot be used; nothing was written"


_BY_STATE = {
    "55P03": "is held by another process, for longer than {seconds:g} seconds; nothing was written. Run again",
    "40": "was changed by another process at the same time; nothing was written. Run again",
    "23505": "was written to by something else at the same time; nothing was written. Run again",
    "42501": (
        "may not be used so by this role; nothing was written. Ask its owner for SELECT, INSERT and UPDATE on events "
        "and holdout_items, and for SELECT on meta; making the tables, and bringing them to a newer version, is "
        "for their owner alone"
    ),
    "25006": "is on a server that is read-only, such as a standby; nothing was written. Name the primary server",
    "3F000": "has no schema on its search path; make the schema, or name one that there is",
    "53100": "has no room on its server's disk; nothing was written. Make room and run again",
}
"""How an SQLSTATE begins, and what that means for the reader."""

_SECRET = "in PGPASSWORD, in a password file of libpq, or as ${NAME} in the address"
_BY_TEXT = {
    "password authentication failed": f"does not take this role's password; give the right one {_SECRET}",
    "no password supplied": f"asks for a password; give it {_SECRET}",
    "no pg_hba.conf entry": "does not let this role in from here; ask for an entry in its server's pg_hba.conf",
    "permission denied for database": "does not let this role in; ask its owner for CONNECT on the database",
    "does not exist": "names a database or role that its server does not have; create it, or name another",
    "too many clients": "is on a server that has no connection left; nothing was written. Run again later",
    "too many connections": "is on a server that has no connection left; nothing was written. Run again later",
    "remaining connection slots": "is on a server that has no connection left; nothing was written. Run again later",
    "is starting up": "is on a server that is starting; nothing was written. Run again",
}
"""What is said where a connection is refused, which comes without an SQLSTATE."""

_REFUSED = ("connection failed", "connection is bad", "connection timeout", "failed to resolve")
_BROKEN_OFF = ("connection is closed", "connection is lost", "closed the connection", "consuming input failed")

_TRIGGERS_THAT_STAND = """
SELECT t.tgname AS name, pg_get_triggerdef(t.oid, true) AS statement, t.tgenabled::text AS enabled,
    l.lanname AS language, array_to_string(p.proconfig, ', ') AS settings, p.prosrc AS body
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_language l ON l.oid = p.prolang
WHERE n.nspname = current_schema() AND c.relname IN ('events', 'holdout_items', 'meta') AND NOT t.tgisinternal
"""
_TABLES_THAT_STAND = """
SELECT c.relname AS name, c.relrowsecurity AS has_row_security,
    EXISTS (SELECT 1 FROM pg_rewrite r WHERE r.ev_class = c.oid) AS has_rules,
    (SELECT pg_get_constraintdef(k.oid) FROM pg_constraint k
        WHERE k.conrelid = c.oid AND k.contype = 'p') AS primary_key
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = current_schema() AND c.relname IN ('events', 'holdout_items')
"""
_PRIMARY_KEYS = {"events": "PRIMARY KEY (seq)", "holdout_items": "PRIMARY KEY (holdout_id, item_id)"}

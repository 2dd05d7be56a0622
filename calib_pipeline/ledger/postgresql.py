"""The ledger on a PostgreSQL server: how it is reached, locked, guarded, and how the server's faults read in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import URL, Connection, Engine, create_engine, text

from calib_pipeline.ledger.errors import LedgerError, NoLedgerYet

BUSY_SECONDS = 60.0
"""How long a transaction waits for another process before it gives up."""


@dataclass(frozen=True)
class Trigger:
    """A trigger of the ledger: on which table it stands, when it fires, and the body of its function."""

    name: str
    table: str
    when: str
    body: str

    @property
    def statements(self) -> tuple[str, str]:
        """What makes the function and the trigger."""
        return (
            f"CREATE FUNCTION {self.name}() RETURNS trigger LANGUAGE plpgsql AS $ledger${self.body}$ledger$",
            f"CREATE TRIGGER {self.name} BEFORE {self.when} ON {self.table} "
            f"FOR EACH {'STATEMENT' if 'TRUNCATE' in self.when else 'ROW'} EXECUTE FUNCTION {self.name}()",
        )

    @property
    def definition(self) -> str:
        """What `standing_guards` says of it where it stands as it was made."""
        bits = {"ROW": 1, "BEFORE": 2, "INSERT": 4, "DELETE": 8, "UPDATE": 16, "TRUNCATE": 32}
        kind = bits["BEFORE"] + sum(bits[word] for word in self.when.split(" OR "))
        return _definition(self.table, kind + (0 if "TRUNCATE" in self.when else bits["ROW"]), "O", self.body)


def _refusal(said: str) -> str:
    return f"BEGIN RAISE EXCEPTION 'the ledger is append-only: {said}'; END"


TRIGGERS = (
    Trigger("events_are_never_updated", "events", "UPDATE", _refusal("no event is ever changed")),
    Trigger("events_are_never_deleted", "events", "DELETE", _refusal("no event is ever deleted")),
    Trigger("events_are_never_truncated", "events", "TRUNCATE", _refusal("no event is ever deleted")),
    Trigger(
        "events_follow_the_head",
        "events",
        "INSERT",
        "DECLARE newest record; BEGIN "
        "SELECT seq, hash INTO newest FROM events ORDER BY seq DESC LIMIT 1; "
        "IF NEW.seq <> coalesce(newest.seq, 0) + 1 OR NEW.prev_hash <> coalesce(newest.hash, repeat('0', 64)) "
        "THEN RAISE EXCEPTION 'the ledger is append-only: an event follows the newest one'; END IF; "
        "RETURN NEW; END",
    ),
    Trigger("items_are_never_updated", "holdout_items", "UPDATE", _refusal("no reserved item is ever changed")),
    Trigger("items_are_never_deleted", "holdout_items", "DELETE", _refusal("no reserved item is ever deleted")),
    Trigger("items_are_never_truncated", "holdout_items", "TRUNCATE", _refusal("no reserved item is ever deleted")),
    Trigger(
        "items_are_never_added_later",
        "holdout_items",
        "INSERT",
        "BEGIN IF EXISTS (SELECT 1 FROM events WHERE holdout_id = NEW.holdout_id AND event = 'reserved') "
        "THEN RAISE EXCEPTION 'the ledger is append-only: a reserved set never grows'; END IF; RETURN NEW; END",
    ),
)

_STANDING = text(
    "SELECT t.tgname, c.relname, t.tgtype, t.tgenabled, p.prosrc FROM pg_trigger t "
    "JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid "
    "WHERE NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace "
    "AND c.relname IN ('events', 'holdout_items', 'meta')"
)
_RULES = text(
    "SELECT r.rulename, c.relname FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class "
    "WHERE c.relnamespace = current_schema()::regnamespace AND c.relname IN ('events', 'holdout_items', 'meta')"
)


def _definition(table: str, kind: int, enabled: str, body: str) -> str:
    return f"on {table}, type {kind}, enabled {enabled}: {body}"


class PostgresqlServer:
    """A schema of a database on a server that is, or becomes, a ledger: the first one on the connection's search path.

    Parameters
    ----------
    url
        Such as ``postgresql+psycopg://calib@db.example/calib``.
    read_only
        Never create or change anything.
    """

    def __init__(self, url: URL, *, read_only: bool) -> None:
        if url.get_driver_name() not in ("psycopg", ""):
            raise LedgerError(
                f"the ledger {url.render_as_string()} names the driver {url.get_driver_name()}; "
                "expected postgresql+psycopg://"
            )
        self._url = url.set(drivername="postgresql+psycopg")
        self.shown = self._url.render_as_string(hide_password=True)
        self.read_only = read_only
        self.guards: Mapping[str, str] = {trigger.name: trigger.definition for trigger in TRIGGERS}

    def engine(self) -> Engine:
        """A new engine; a connection is asked whether it lives before it is used, so that a server is found again."""
        try:
            return create_engine(
                self._url,
                pool_size=1,
                pool_pre_ping=True,
                connect_args={"connect_timeout": 10, "application_name": "calib ledger"},
            )
        except ModuleNotFoundError as missing:
            raise LedgerError(
                f"a ledger on PostgreSQL needs the package {missing.name}: pip install 'calib-pipeline[postgres]'"
            ) from missing

    def ready(self, connection: Connection, *, writing: bool) -> Connection:
        """The connection, to begin with one consistent view, or to see what is committed when the lock is held."""
        if writing:
            return connection.execution_options(isolation_level="READ COMMITTED")
        return connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)

    def lock(self, connection: Connection) -> None:
        """Hold the head of the chain until the transaction ends.

        An advisory lock, since a role that may only read and insert can take it. A writer that does not take it still
        has to follow the head, by trigger and by primary key.
        """
        connection.execute(text(f"SET LOCAL lock_timeout = '{BUSY_SECONDS:g}s'"))
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('calib ledger'), hashtext(current_schema()))"))

    def leave(self, engine: Engine) -> None:
        """Forget the connections of a process that this one was forked from, without closing them."""
        engine.dispose(close=False)

    def refuse_foreign(self, found: set[str], ours: set[str]) -> None:
        """Refuse a schema in which other tables have the names of the ledger's; it may hold tables of others."""
        if ours & found and not ours <= found:
            raise LedgerError(
                f"{self.shown} holds a table {', '.join(sorted(ours & found))} and is no ledger; name another database "
                "as `ledger` in calib.yaml, or another schema with ?options=-csearch_path%3DNAME"
            )
        if not ours & found and self.read_only:
            raise NoLedgerYet(f"{self.shown} holds no ledger")

    def create_guards(self, connection: Connection) -> None:
        """Make the functions and their triggers."""
        for trigger in TRIGGERS:
            for statement in trigger.statements:
                connection.exec_driver_sql(statement)

    def standing_guards(self, connection: Connection) -> dict[str, str]:
        """Name and definition of each trigger and rule that stands on the ledger's tables."""
        standing = {
            str(name): _definition(str(table), int(kind), _text(enabled), str(body))
            for name, table, kind, enabled, body in connection.execute(_STANDING)
        }
        return standing | {f"rule {name}": f"on {table}" for name, table in connection.execute(_RULES)}

    def integrity_problems(self, connection: Connection) -> list[str]:
        """Nothing: a server checks its files by itself."""
        return []

    def in_words(self, fault: BaseException) -> str | None:
        """What a fault means for the reader; None for one that is not the server's."""
        state = getattr(fault, "sqlstate", None)
        said = " ".join(str(fault).split())
        for states, sentence in _WORDS:
            if state is not None and re.fullmatch(states, state):
                return f"{sentence.format(seconds=BUSY_SECONDS)} (PostgreSQL says: {said})"
        for fragment, sentence in _BY_TEXT.items():
            if fragment in said:
                return f"{sentence} (PostgreSQL says: {said})"
        if state is None and type(fault).__name__ == "OperationalError":
            return (
                "cannot be reached, or the connection was lost; nothing was written. See that the server runs, and run "
                f"again (PostgreSQL says: {said})"
            )
        return f"cannot be used; nothing was written (PostgreSQL says: {said})"


_WORDS = (
    ("55P03", "is held by another process, for longer than {seconds:g} seconds; nothing was written. Run again"),
    ("40...", "was written to by another process at the same time; nothing was written. Run again"),
    ("23505", "was written to by another program at the same time; nothing was written. Run again"),
    ("53100", "has no room on its disk; nothing was written. Make room and run again"),
    ("53...", "has no memory or connection left; nothing was written. Run again when the server is less busy"),
    ("57...|08...", "was closed by the server; nothing was written. See that the server runs, and run again"),
    ("28...", "refuses the user or the password; see the address, and PGPASSWORD"),
    ("3D000", "names a database that is not there; make it with `createdb`, or correct the address"),
    ("3F000", "names a schema that is not there; make it with CREATE SCHEMA, or correct the address"),
    (
        "42501",
        "may not be used by this role; nothing was written. It needs SELECT and INSERT on events and holdout_items, "
        "SELECT on meta, and CREATE on the schema for the first reservation",
    ),
)
"""What the server's codes mean for the reader."""

_BY_TEXT = {
    "password authentication failed": "refuses the user or the password; see the address, and PGPASSWORD",
    "no password supplied": "asks for a password; set PGPASSWORD, or ${NAME} in the address",
    'role "': "refuses the user; see the address",
    'database "': "names a database that is not there; make it with `createdb`, or correct the address",
}
"""The same for a connection that was refused, which carries no code."""


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)

"""Makes Dagster's own SQLite history cheap to write, for as long as cells are climbed in this process.

Dagster makes an engine and a connection an event, compiles its statement anew and closes the connection again. As the
last one to its file, each close folds the write-ahead log back into the database, with two flushes to the disk; each
commit before it flushes once more. Measured, that is most of the time a ladder takes. Here an engine a file stays, with
its connection and its compiled statements, and commits flush with the log (``synchronous=NORMAL``): after a power cut
the history may lack its newest events, and it is never damaged. The holdout ledger is not Dagster's history and is not
touched.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

if TYPE_CHECKING:
    import dagster as dg
    from sqlalchemy import Engine

STORAGES = (
    "dagster._core.storage.event_log.sqlite.sqlite_event_log",
    "dagster._core.storage.runs.sqlite.sqlite_run_storage",
)
"""Dagster's modules that make an engine whenever they speak to a file."""


BUSY_SECONDS = 60
"""How long a write waits for another process."""


@contextmanager
def cheap_history(instance: dg.DagsterInstance) -> Iterator[None]:
    """Write and read the history of ``instance`` cheaply inside of the block; on other storages it changes nothing.

    Inside of another such block it changes nothing either: one around many climbs makes each of them cheaper.
    """
    if "has_dynamic_partition" in vars(instance):
        yield
        return
    with (
        _engines_kept(),
        _tables_made_at_once(),
        _migrations_read_once(),
        _output_not_captured(instance),
        _partitions_remembered(instance),
    ):
        yield


@contextmanager
def _engines_kept() -> Iterator[None]:
    import sqlalchemy

    kept: dict[str, Engine] = {}

    def engine_of(address: str, **_options: Any) -> Engine:
        if address not in kept:
            made = sqlalchemy.create_engine(address, connect_args={"timeout": BUSY_SECONDS})
            sqlalchemy.event.listen(made, "connect", _flush_with_the_log)
            made.dispose = lambda close=True: None  # type: ignore[method-assign]
            kept[address] = made
        return kept[address]

    with ExitStack() as patches:
        for name in STORAGES:
            module = importlib.import_module(name)
            if hasattr(module, "create_engine"):
                patches.enter_context(patch.object(module, "create_engine", engine_of))
        try:
            yield
        finally:
            for engine in kept.values():
                sqlalchemy.Engine.dispose(engine)


def _flush_with_the_log(connection: Any, _record: Any) -> None:
    connection.execute("PRAGMA synchronous=NORMAL")


@contextmanager
def _tables_made_at_once() -> Iterator[None]:
    """Each run has a file of its own, and the driver commits each of its tables and indexes by itself."""
    import sqlalchemy
    from dagster._core.storage.event_log import SqlEventLogStorageMetadata

    def begin(_metadata: Any, connection: sqlalchemy.Connection, **_options: Any) -> None:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    sqlalchemy.event.listen(SqlEventLogStorageMetadata, "before_create", begin)
    try:
        yield
    finally:
        sqlalchemy.event.remove(SqlEventLogStorageMetadata, "before_create", begin)


@contextmanager
def _migrations_read_once() -> Iterator[None]:
    """Each run has a file of its own, and making one reads all of Dagster's migrations, twice."""
    from dagster._core.storage import sql

    read: dict[tuple[str, str], Any] = {}
    scripts: Any = vars(sql)["ScriptDirectory"]
    read_anew = scripts.from_config

    def scripts_of(config: Any) -> Any:
        key = (config.config_file_name, config.get_main_option("script_location"))
        if key not in read:
            read[key] = read_anew(config)
        return read[key]

    with patch.object(scripts, "from_config", scripts_of):
        yield


@contextmanager
def _output_not_captured(instance: dg.DagsterInstance) -> Iterator[None]:
    """The rungs print nothing, and to capture it Dagster starts four processes a run."""
    from dagster._core.storage.noop_compute_log_manager import NoOpComputeLogManager

    with patch.object(instance.compute_log_manager, "capture_logs", NoOpComputeLogManager().capture_logs):
        yield


@contextmanager
def _partitions_remembered(instance: dg.DagsterInstance) -> Iterator[None]:
    """Ask the storage once whether a partition exists: a run of the seven rungs asks 250 times after its two keys."""
    instance.has_dynamic_partition = cache(instance.has_dynamic_partition)  # type: ignore[method-assign]
    try:
        yield
    finally:
        del instance.has_dynamic_partition

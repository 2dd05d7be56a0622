"""Makes Dagster's own SQLite history cheap to write, for as long as cells are climbed in this process.

Dagster opens a connection an event and closes it again. As the last one to its file, each close folds the write-ahead
log back into the database, with two flushes to the disk; each commit before it flushes once more. Measured on a busy
disk that is four fifths of the time a ladder takes. Here one idle connection a file stays open, so that nothing is
folded back in between, and commits flush with the log (``synchronous=NORMAL``): after a power cut the history may lack
its newest events, and it is never damaged. The holdout ledger is not Dagster's history and is not touched.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import dagster as dg


@contextmanager
def cheap_history(instance: dg.DagsterInstance) -> Iterator[None]:
    """Write and read the history of ``instance`` cheaply inside of the block; on other storages it changes nothing."""
    with _connections_kept(Path(instance.root_directory)), _partitions_remembered(instance):
        yield


@contextmanager
def _connections_kept(home: Path) -> Iterator[None]:
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    kept: dict[str, sqlite3.Connection] = {}

    def keep(connection: Any, _record: Any) -> None:
        if not isinstance(connection, sqlite3.Connection):
            return
        path = connection.execute("PRAGMA database_list").fetchone()[2]
        if not path or not Path(path).is_relative_to(home):
            return
        connection.execute("PRAGMA synchronous=NORMAL")
        if path not in kept:
            kept[path] = sqlite3.connect(path, check_same_thread=False)
        kept[path].execute("PRAGMA schema_version").fetchone()

    event.listen(Engine, "connect", keep)
    try:
        yield
    finally:
        event.remove(Engine, "connect", keep)
        for connection in kept.values():
            connection.close()


@contextmanager
def _partitions_remembered(instance: dg.DagsterInstance) -> Iterator[None]:
    """Ask the storage once whether a partition exists: a run of the seven rungs asks 250 times after its two keys."""
    instance.has_dynamic_partition = cache(instance.has_dynamic_partition)  # type: ignore[method-assign]
    try:
        yield
    finally:
        del instance.has_dynamic_partition

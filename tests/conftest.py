"""What tests of any folder may ask for."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from postgresql_server import NoServer, Server, running_server


def pytest_collection_finish() -> None:
    """Keep the garbage collector from going through all that was imported, again and again: a tenth of a climb."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A PostgreSQL server of this test process."""
    try:
        with running_server() as server:
            yield server
    except NoServer as fault:
        pytest.skip(str(fault))


@pytest.fixture
def postgresql_ledger(postgresql: Server) -> Iterator[str]:
    """The address of a ledger that is not there yet."""
    with postgresql.schema() as address:
        yield address

"""A ledger for each test: in an SQLite file, and on a PostgreSQL server.

What holds on either database is tested on the server by the long tests; what the server has of its own, and a few
stories on it, are in the quick suite.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ledger_story import Story, tell
from past_the_ledger import Past, past

from calib_pipeline.ledger import Ledger


@pytest.fixture
def sqlite_ledger(tmp_path: Path) -> str:
    """The address of a ledger that is not there yet."""
    return f"sqlite:///{tmp_path / 'ledger.db'}"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def address(request: pytest.FixtureRequest) -> str:
    """The address of a ledger that is not there yet, on either database."""
    return str(request.getfixturevalue(f"{request.param}_ledger"))


@pytest.fixture
def story(address: str) -> Iterator[Story]:
    """A new ledger on either database."""
    with Ledger.open(address) as ledger:
        yield Story(ledger, address)


@pytest.fixture
def sqlite_story(sqlite_ledger: str) -> Iterator[Story]:
    """A new ledger in a file."""
    with Ledger.open(sqlite_ledger) as ledger:
        yield Story(ledger, sqlite_ledger)


@pytest.fixture
def postgresql_story(postgresql_ledger: str) -> Iterator[Story]:
    """A new ledger on a server."""
    with Ledger.open(postgresql_ledger) as ledger:
        yield Story(ledger, postgresql_ledger)


@pytest.fixture
def told(story: Story) -> Story:
    """Six events: reserved, registered, registered, read, opened, exported."""
    return tell(story)


@pytest.fixture
def raw(told: Story) -> Iterator[Past]:
    """A connection past the ledger."""
    with past(told.url) as connection:
        yield connection

"""A ledger for each test: in an SQLite file, and in a schema of a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ledger_story import Story

from calib_pipeline.ledger import Ledger


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where no ledger is yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    made: str = request.getfixturevalue("postgresql_schema")()
    return made


@pytest.fixture
def story(url: str) -> Iterator[Story]:
    with Ledger.open(url) as ledger:
        yield Story(ledger, url)

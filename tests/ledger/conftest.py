"""A ledger on disk for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ledger_story import Story

from calib_pipeline.ledger import Ledger


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    with Ledger.open(url) as ledger:
        yield Story(ledger, url)

"""Judges are run on the made-up project, which stands beside the ladder's tests."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "ladder"))

import pytest
from ladder_fixtures import instance

__all__ = ["instance"]


@pytest.fixture(autouse=True)
def endpoint_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "of-no-worth")

"""Sweeps of which the quick suite runs a few."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def swept(values: Iterable[Any], *quick: Any) -> list[Any]:
    """The values as parameters of a test, all but the named ones marked slow."""
    known = list(values)
    assert all(one in known for one in quick), "a quick value is none of the sweep"
    return [pytest.param(value, marks=() if value in quick else pytest.mark.slow) for value in known]

"""Records are those of the made-up project, which stands beside the ladder's tests."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "ladder"))

from ladder_fixtures import climbed, climbed_once, instance, measured_twice, world

__all__ = ["climbed", "climbed_once", "instance", "measured_twice", "world"]

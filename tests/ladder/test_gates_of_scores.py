"""Conditions of the rungs from the opening on: each stops the ladder, from the raw tables on."""

from __future__ import annotations

from pathlib import Path

import pytest
from climbs import Folder
from gate_cases import CASES, IDS, climbs_of
from gate_flow import stops

RUNGS_OF_SCORES = ("scorer_agreement", "threshold_check", "published_record")


@pytest.mark.parametrize(("asset", "condition"), climbs_of(*RUNGS_OF_SCORES), ids=IDS)
def test_a_condition_that_fails_stops_the_ladder(
    asset: str, condition: str, climbed_once: Folder, tmp_path: Path
) -> None:
    stops(CASES[asset][condition], asset, condition, climbed_once, tmp_path)

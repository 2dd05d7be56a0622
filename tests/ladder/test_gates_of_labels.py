"""Conditions of the rungs on which no label has met an output: each stops the ladder, from the raw tables on."""

from __future__ import annotations

from pathlib import Path

import pytest
from climbs import Folder
from gate_cases import CASES, IDS, climbs_of
from gate_flow import stops

RUNGS_OF_LABELS = ("holdout_reservation", "annotations", "human_ceiling", "baseline_comparators")


@pytest.mark.parametrize(("asset", "condition"), climbs_of(*RUNGS_OF_LABELS), ids=IDS)
def test_a_condition_that_fails_stops_the_ladder(
    asset: str, condition: str, climbed_once: Folder, tmp_path: Path
) -> None:
    stops(CASES[asset][condition], asset, condition, climbed_once, tmp_path)

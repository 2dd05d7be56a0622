"""For every condition of every gate one change to the raw tables or declarations that makes it fail, and it alone.

Where another condition must fail with it, ``also`` names it and the case says why. Where no table and no declaration
can make a condition fail, since what makes the evidence rules it out, the evidence is changed as it is made, and the
case says what rules it out.
"""

from __future__ import annotations

from typing import Any

import pytest
from cases_of_labels import ANNOTATIONS, BASELINES, CEILING, RESERVATION
from cases_of_scores import AGREEMENT, RECORD, THRESHOLD
from gate_case import Case

from calib_pipeline.schemas import GATES

CASES: dict[str, dict[str, Case]] = {
    "holdout_reservation": RESERVATION,
    "annotations": ANNOTATIONS,
    "human_ceiling": CEILING,
    "baseline_comparators": BASELINES,
    "scorer_agreement": AGREEMENT,
    "threshold_check": THRESHOLD,
    "published_record": RECORD,
}


CLIMBED_QUICKLY = {
    ("holdout_reservation", "role_is_holdout"),
    ("annotations", "coverage"),
    ("human_ceiling", "above_the_floor"),
    ("baseline_comparators", "distinct_values"),
    ("scorer_agreement", "beats_every_comparator"),
    ("threshold_check", "within_budget"),
    ("published_record", "recomputes"),
}
"""One condition of every gate, whose climb is in the quick suite; the climbs of the others are long tests."""


def climbs_of(*assets: str) -> list[Any]:
    """Every condition of the gates of some assets as a parameter, all but one of each gate marked slow."""
    return [
        pytest.param(*pair, marks=() if pair in CLIMBED_QUICKLY else pytest.mark.slow)
        for pair in conditions_of(*assets)
    ]


def conditions_of(*assets: str) -> list[tuple[str, str]]:
    """Every condition of the gates of some assets, whether or not it has a case."""
    return [(asset, condition.name) for asset in assets for condition in GATES[asset].conditions]


IDS = "{}".format
"""Shows asset and condition each by its name."""

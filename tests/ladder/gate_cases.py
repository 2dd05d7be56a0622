"""For every condition of every gate one change to the raw tables or declarations that makes it fail, and it alone.

Where another condition must fail with it, ``also`` names it and the case says why. Where no table and no declaration
can make a condition fail, since what makes the evidence rules it out, the evidence is changed as it is made, and the
case says what rules it out.
"""

from __future__ import annotations

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


def conditions_of(*assets: str) -> list[tuple[str, str]]:
    """Every condition of the gates of some assets, whether or not it has a case."""
    return [(asset, condition.name) for asset in assets for condition in GATES[asset].conditions]


IDS = "{}".format
"""Shows asset and condition each by its name."""

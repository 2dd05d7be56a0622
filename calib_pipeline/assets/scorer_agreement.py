"""The fifth rung: the set is opened, and the scorer is compared with people and with every comparator."""

from functools import partial

import pandas as pd

from calib_pipeline.cell import Cell
from calib_pipeline.dagster_side.rung import rung
from calib_pipeline.evidence.evidence import Evidence
from calib_pipeline.ladder import Ladder


@partial(rung, after=("scorer_outputs",))
def scorer_agreement(
    ladder: Ladder,
    cell: Cell,
    holdout_reservation: pd.DataFrame,
    annotations: pd.DataFrame,
    human_ceiling: pd.DataFrame,
    baseline_comparators: pd.DataFrame,
) -> Evidence:
    """Checks from ids and statuses that enough is scored, opens the set, and measures the scorer's agreement, its
    errors, and its paired difference to every comparator."""
    return ladder.scorer_agreement(cell, holdout_reservation, annotations, human_ceiling, baseline_comparators)

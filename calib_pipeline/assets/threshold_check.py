"""The sixth rung: whether acting on the scorer costs less than acting without it."""

import pandas as pd

from calib_pipeline.cell import Cell
from calib_pipeline.dagster_side.rung import rung
from calib_pipeline.evidence.evidence import Evidence
from calib_pipeline.ladder import Ladder


@rung
def threshold_check(
    ladder: Ladder, cell: Cell, holdout_reservation: pd.DataFrame, scorer_agreement: pd.DataFrame
) -> Evidence:
    """Holds the expected cost of acting on the scorer against the declared budget, accepting all and rejecting
    all."""
    return ladder.threshold_check(cell, holdout_reservation, scorer_agreement)

"""The fourth rung: what a scorer that understands nothing would reach on the same items."""

import pandas as pd

from calib_pipeline.cell import Cell
from calib_pipeline.dagster_side.rung import rung
from calib_pipeline.evidence.evidence import Evidence
from calib_pipeline.ladder import Ladder


@rung
def baseline_comparators(
    ladder: Ladder,
    cell: Cell,
    holdout_reservation: pd.DataFrame,
    annotations: pd.DataFrame,
    human_ceiling: pd.DataFrame,
) -> Evidence:
    """Puts the constant majority, random at the base rate and the structural heuristics in one table, on the same
    items and reference."""
    return ladder.baseline_comparators(cell, holdout_reservation, annotations, human_ceiling)

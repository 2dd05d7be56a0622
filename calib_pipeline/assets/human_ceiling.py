"""The third rung: how well people agree with each other, which no scorer can be asked to exceed."""

import pandas as pd

from calib_pipeline.cell import Cell
from calib_pipeline.dagster_side.rung import rung
from calib_pipeline.evidence.evidence import Evidence
from calib_pipeline.ladder import Ladder


@rung
def human_ceiling(ladder: Ladder, cell: Cell, holdout_reservation: pd.DataFrame, annotations: pd.DataFrame) -> Evidence:
    """Measures human-to-human agreement, overall and per stratum, in the statistics that the scorer will be given, the
    label noise of the reference as used, and the observable ceiling."""
    return ladder.human_ceiling(cell, holdout_reservation, annotations)

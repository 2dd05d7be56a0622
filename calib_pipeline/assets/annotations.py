"""The second rung: what people said of the reserved items, and every row that could not be used."""

import pandas as pd

from calib_pipeline.cell import Cell
from calib_pipeline.dagster_side.rung import rung
from calib_pipeline.evidence.evidence import Evidence
from calib_pipeline.ladder import Ladder


@rung
def annotations(ladder: Ladder, cell: Cell, holdout_reservation: pd.DataFrame) -> Evidence:
    """Ingests the label sheet for the reserved items: normalises, keeps usable rows, lists every other row with its
    reason."""
    return ladder.annotations(cell, holdout_reservation)

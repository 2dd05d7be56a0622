"""Beside the ladder: what can be said of a study that can never be calibrated, labeled as such."""

from calib_pipeline.cell import Cell
from calib_pipeline.dagster_side.rung import ungated
from calib_pipeline.evidence.evidence import Evidence
from calib_pipeline.ladder import Ladder


@ungated
def diagnostic_record(ladder: Ladder, cell: Cell) -> Evidence:
    """Records the figures of a fitted, proxy or loosely set study, or of one with too little data, as a diagnostic. It
    reads no rung's evidence through a gate, so a stopped ladder does not stop it."""
    return ladder.diagnostic_record(cell)

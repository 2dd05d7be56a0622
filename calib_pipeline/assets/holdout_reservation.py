"""The first rung: a stratified random sample of the population, reserved before anything is measured on it."""

from calib_pipeline.cell import Cell
from calib_pipeline.dagster_side.rung import rung
from calib_pipeline.evidence.evidence import Evidence
from calib_pipeline.ladder import Ladder


@rung
def holdout_reservation(ladder: Ladder, cell: Cell) -> Evidence:
    """Draws the stratified random sample from the population manifest, names the items to be labeled twice, and
    registers set, configurations and plans in the ledger."""
    return ladder.holdout_reservation(cell)

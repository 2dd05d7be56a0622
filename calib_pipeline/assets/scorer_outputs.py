"""Before the fifth rung and beside the ladder: the judge answers for the reserved items."""

import pandas as pd

from calib_pipeline.cell import Cell
from calib_pipeline.dagster_side.judging import Said, judging
from calib_pipeline.judging.held_out import Judged
from calib_pipeline.ladder import Ladder


@judging
def scorer_outputs(
    ladder: Ladder, cell: Cell, said: Said, holdout_reservation: pd.DataFrame, baseline_comparators: pd.DataFrame
) -> Judged | None:
    """Shows every reserved item to the study's judges, within their budget, once people agree and comparators stand:
    no call is paid for on a set that cannot be measured. No label is read. Where a table brings the outputs there is
    nothing to run."""
    return ladder.scorer_outputs(cell, holdout_reservation, said) if ladder.project.studies[cell.study].judged else None

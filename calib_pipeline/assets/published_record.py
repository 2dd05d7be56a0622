"""The last rung: the record that anyone can recompute, written once."""

import pandas as pd

from calib_pipeline.cell import Cell
from calib_pipeline.dagster_side.rung import rung
from calib_pipeline.evidence.evidence import Evidence
from calib_pipeline.ladder import Ladder


@rung
def published_record(
    ladder: Ladder,
    cell: Cell,
    holdout_reservation: pd.DataFrame,
    annotations: pd.DataFrame,
    human_ceiling: pd.DataFrame,
    baseline_comparators: pd.DataFrame,
    scorer_agreement: pd.DataFrame,
    threshold_check: pd.DataFrame,
) -> Evidence:
    """Builds the record, judges it, and only then writes it, once, atomically, with its ledger entry."""
    return ladder.published_record(
        cell,
        holdout_reservation=holdout_reservation,
        annotations=annotations,
        human_ceiling=human_ceiling,
        baseline_comparators=baseline_comparators,
        scorer_agreement=scorer_agreement,
        threshold_check=threshold_check,
    )

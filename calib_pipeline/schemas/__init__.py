"""What each rung demands of its evidence: one file an asset, named as the asset."""

from calib_pipeline.schemas.annotations import ANNOTATIONS
from calib_pipeline.schemas.baseline_comparators import BASELINE_COMPARATORS
from calib_pipeline.schemas.gate import RUNGS, Condition, Gate, Reason, Rung, Verdict
from calib_pipeline.schemas.holdout_reservation import HOLDOUT_RESERVATION
from calib_pipeline.schemas.human_ceiling import HUMAN_CEILING
from calib_pipeline.schemas.published_record import PUBLISHED_RECORD
from calib_pipeline.schemas.scorer_agreement import SCORER_AGREEMENT
from calib_pipeline.schemas.threshold_check import THRESHOLD_CHECK

GATES: dict[str, Gate] = {
    gate.asset: gate
    for gate in (
        HOLDOUT_RESERVATION,
        ANNOTATIONS,
        HUMAN_CEILING,
        BASELINE_COMPARATORS,
        SCORER_AGREEMENT,
        THRESHOLD_CHECK,
        PUBLISHED_RECORD,
    )
}
"""The gates in the order in which the ladder is climbed."""

__all__ = ["GATES", "RUNGS", "Condition", "Gate", "Reason", "Rung", "Verdict"]

"""The chain, in the order in which it runs; `scorer_outputs` and `diagnostic_record` stand beside it."""

from calib_pipeline.assets.annotations import annotations
from calib_pipeline.assets.baseline_comparators import baseline_comparators
from calib_pipeline.assets.diagnostic_record import diagnostic_record
from calib_pipeline.assets.holdout_reservation import holdout_reservation
from calib_pipeline.assets.human_ceiling import human_ceiling
from calib_pipeline.assets.published_record import published_record
from calib_pipeline.assets.scorer_agreement import scorer_agreement
from calib_pipeline.assets.scorer_outputs import scorer_outputs
from calib_pipeline.assets.threshold_check import threshold_check

CHAIN = (
    holdout_reservation,
    annotations,
    human_ceiling,
    baseline_comparators,
    scorer_agreement,
    threshold_check,
    published_record,
)

__all__ = [
    "CHAIN",
    "annotations",
    "baseline_comparators",
    "diagnostic_record",
    "holdout_reservation",
    "human_ceiling",
    "published_record",
    "scorer_agreement",
    "scorer_outputs",
    "threshold_check",
]

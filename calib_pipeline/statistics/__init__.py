"""Arithmetic of agreement: arrays in, frozen results out; no I/O, no clock, no global random state."""

from calib_pipeline.statistics.coincidences import (
    alpha_of_coincidences,
    coincidence_contributions,
    coincidences,
    table_coincidences,
)
from calib_pipeline.statistics.contingency import (
    disagreement_weights,
    fill_refusals,
    joint_table,
    refusal_targets,
    table_ac1,
    table_chance,
    table_kappa,
    table_percent_agreement,
    table_spearman,
)
from calib_pipeline.statistics.continuous import moment_contributions, pearson_of_moments, weighted_spearman
from calib_pipeline.statistics.design import Design, effective_n
from calib_pipeline.statistics.estimate import Estimate
from calib_pipeline.statistics.intervals import (
    fisher_limits,
    implied_kappa_limits,
    mover_sum,
    wilson,
    wilson_limits,
)
from calib_pipeline.statistics.resampling import (
    percentile_limits,
    resample_count_chunks,
    resample_counts,
    resample_sums,
)

__all__ = [
    "Design",
    "Estimate",
    "alpha_of_coincidences",
    "coincidence_contributions",
    "coincidences",
    "disagreement_weights",
    "effective_n",
    "fill_refusals",
    "fisher_limits",
    "implied_kappa_limits",
    "joint_table",
    "moment_contributions",
    "mover_sum",
    "pearson_of_moments",
    "percentile_limits",
    "refusal_targets",
    "resample_count_chunks",
    "resample_counts",
    "resample_sums",
    "table_ac1",
    "table_chance",
    "table_coincidences",
    "table_kappa",
    "table_percent_agreement",
    "table_spearman",
    "weighted_spearman",
    "wilson",
    "wilson_limits",
]

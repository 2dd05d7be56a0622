"""Arithmetic of agreement: arrays in, frozen results out; no I/O, no clock, no global random state."""

from calib_pipeline.statistics.agreement import cohen_kappa, gwet_ac1, percent_agreement
from calib_pipeline.statistics.association import pearson, spearman
from calib_pipeline.statistics.clearing_power import clearing_power, items_to_clear
from calib_pipeline.statistics.coincidences import (
    alpha_of_coincidences,
    coincidence_contributions,
    coincidence_matrix,
    table_coincidences,
)
from calib_pipeline.statistics.comparators import (
    base_rate,
    cross_fitted_line,
    cross_fitted_map,
    folds_by_hash,
    majority_value,
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
from calib_pipeline.statistics.decisions import Confusion, ErrorRates, confusion, error_rates, youden_j
from calib_pipeline.statistics.design import Design, effective_n
from calib_pipeline.statistics.distance import mean_absolute_difference, within, within_tolerance
from calib_pipeline.statistics.estimate import Estimate
from calib_pipeline.statistics.exact_sums import weighted_sums
from calib_pipeline.statistics.influence import mean_influence, pearson_influence, spearman_influence
from calib_pipeline.statistics.interval_width import items_for_half_width, wilson_half_width
from calib_pipeline.statistics.intervals import (
    fisher_limits,
    implied_kappa_limits,
    mover_sum,
    wilson,
    wilson_limits,
)
from calib_pipeline.statistics.kappa_error import kappa_standard_error, table_kappa_error
from calib_pipeline.statistics.kappa_power import items_to_tell, joint_of_kappa, kappa_power
from calib_pipeline.statistics.krippendorff import krippendorff_alpha
from calib_pipeline.statistics.label_noise import (
    consensus_flip_rate,
    flip_rate_from_pairs,
    flip_rate_from_repeats,
    latent_accuracy,
    observed_ceiling,
)
from calib_pipeline.statistics.multirater import multirater_ac1, pairwise_agreement
from calib_pipeline.statistics.resampling import (
    SCHEME,
    percentile_limits,
    resample_cell_counts,
    resample_count_chunks,
    resample_counts,
    resample_pattern_sums,
    resample_sums,
)

__all__ = [
    "SCHEME",
    "Confusion",
    "Design",
    "ErrorRates",
    "Estimate",
    "alpha_of_coincidences",
    "base_rate",
    "clearing_power",
    "cohen_kappa",
    "coincidence_contributions",
    "coincidence_matrix",
    "confusion",
    "consensus_flip_rate",
    "cross_fitted_line",
    "cross_fitted_map",
    "disagreement_weights",
    "effective_n",
    "error_rates",
    "fill_refusals",
    "fisher_limits",
    "flip_rate_from_pairs",
    "flip_rate_from_repeats",
    "folds_by_hash",
    "gwet_ac1",
    "implied_kappa_limits",
    "items_for_half_width",
    "items_to_clear",
    "items_to_tell",
    "joint_of_kappa",
    "joint_table",
    "kappa_power",
    "kappa_standard_error",
    "krippendorff_alpha",
    "latent_accuracy",
    "majority_value",
    "mean_absolute_difference",
    "mean_influence",
    "moment_contributions",
    "mover_sum",
    "multirater_ac1",
    "observed_ceiling",
    "pairwise_agreement",
    "pearson",
    "pearson_influence",
    "pearson_of_moments",
    "percent_agreement",
    "percentile_limits",
    "refusal_targets",
    "resample_cell_counts",
    "resample_count_chunks",
    "resample_counts",
    "resample_pattern_sums",
    "resample_sums",
    "spearman",
    "spearman_influence",
    "table_ac1",
    "table_chance",
    "table_coincidences",
    "table_kappa",
    "table_kappa_error",
    "table_percent_agreement",
    "table_spearman",
    "weighted_spearman",
    "weighted_sums",
    "wilson",
    "wilson_half_width",
    "wilson_limits",
    "within",
    "within_tolerance",
    "youden_j",
]

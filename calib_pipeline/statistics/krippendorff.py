"""Krippendorff's α: agreement of any number of raters, with missing labels, at four levels of measurement."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.statistics.bootstrap import bootstrap_estimate, words_for
from calib_pipeline.statistics.coding import Labels
from calib_pipeline.statistics.coincidences import (
    METRICS,
    Metric,
    alpha_of_coincidences,
    coincidence_contributions,
    coincidence_matrix,
)
from calib_pipeline.statistics.design import Design
from calib_pipeline.statistics.estimate import Estimate, undefined
from calib_pipeline.statistics.fine_scale import FineScale
from calib_pipeline.statistics.ratings import CodedRatings, code_ratings, count_patterns
from calib_pipeline.statistics.resampling import resample_pattern_sums

Floats = NDArray[np.float64]

NAME = "krippendorff_alpha"
NO_PAIRS = "undefined: no unit has two labels"
NO_VARIATION = "undefined: no variation (every pairable label is the same)"

_COARSE = 32


def krippendorff_alpha(
    ratings: Sequence[Any] | NDArray[Any],
    *,
    level: Metric,
    categories: Iterable[Hashable] | None = None,
    interval_level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    sample_weights: Any = None,
    strata: Labels | None = None,
    group: Labels | None = None,
) -> Estimate:
    """Krippendorff's α, 1 - D_o / D_e, with a percentile bootstrap over units.

    Units with fewer than two labels carry no pairs and are left out. Units with the same counts of values are
    exchangeable, so the bootstrap draws how often each distinct count vector occurs.

    Parameters
    ----------
    ratings : raters × units
        Labels, missing as None or NaN.
    level : "nominal", "ordinal", "interval" or "ratio"
        Level of measurement.
    categories : iterable, optional
        The scale in its order. Needed for the ordinal level unless the labels are numbers.
    interval_level : float
        Confidence level of the interval.
    resamples, seed : int
        Replicates B, and the seed of their generator.
    sample_weights, strata, group : (units,), optional
        How the units were drawn.

    Returns
    -------
    Estimate
        `n` is the number of units with two labels or more. Value None with a note without such a unit, and where all
        their labels are the same.

    Raises
    ------
    ValueError
        An unknown level, labels that are no numbers where the level needs numbers, an impossible design.

    References
    ----------
    Hayes, A. F. and Krippendorff, K. (2007). Answering the call for a standard reliability measure for coding data.
    Communication Methods and Measures 1, 77-89.
    """
    if level not in METRICS:
        raise ValueError(f"level must be one of {', '.join(METRICS)}. Got {level!r}.")
    scale = None if categories is None else list(categories)
    coded = code_ratings(ratings, scale)
    positions = _positions(coded.values, level, ordered=scale is not None)
    units = coded.codes.shape[1]
    design = Design.of(sample_weights, strata, group, n=units) if _drawn(sample_weights, strata, group) else None
    paired = np.count_nonzero(coded.codes >= 0, axis=0) >= 2
    if not paired.any():
        return undefined(NAME, NO_PAIRS, level=interval_level)
    if not paired.all():
        coded = CodedRatings(coded.codes[:, paired], coded.values)
        design = None if design is None else design.subset(paired)
    if design is None:
        design = Design.simple(coded.codes.shape[1])
    if len(coded.values) > _COARSE:
        fine = FineScale.of(coded.codes, len(coded.values), level, positions)
        value, replicate = fine.alpha(design), lambda: fine.replicates(design, resamples=resamples, seed=seed)
    else:
        pattern, counts = count_patterns(coded.codes, len(coded.values))
        times = np.bincount(pattern, weights=None if design.equally_weighted else design.weights, minlength=len(counts))
        value = float(alpha_of_coincidences(coincidence_matrix(counts, times), level, positions))

        def replicate() -> Floats:
            rows = coincidence_contributions(counts)
            drawn = resample_pattern_sums(pattern, rows, design, resamples=resamples, seed=seed)
            return alpha_of_coincidences(drawn, level, positions)

    return bootstrap_estimate(
        NAME,
        value,
        replicate,
        n=design.n,
        level=interval_level,
        resamples=resamples,
        seed=seed,
        resampled=words_for(design, "units"),
        why_undefined=NO_VARIATION,
    )


def _drawn(*columns: Any) -> bool:
    return any(column is not None for column in columns)


def _positions(values: list[Any], level: Metric, *, ordered: bool) -> Floats | None:
    if level == "nominal" or (level == "ordinal" and ordered):
        return None
    if any(isinstance(value, str) or not np.isscalar(value) for value in values):
        wanted = "categories=[...] in the order of the scale" if level == "ordinal" else "numbers instead of text"
        raise ValueError(f"level {level!r} needs an order or distance between labels. Got {values!r}; give {wanted}.")
    return None if level == "ordinal" else np.asarray(values, dtype=np.float64)

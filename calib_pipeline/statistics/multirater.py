"""Agreement among any number of raters, from how many of them gave each value to each unit."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.statistics.bootstrap import bootstrap_estimate, words_for
from calib_pipeline.statistics.coding import Labels
from calib_pipeline.statistics.design import Design
from calib_pipeline.statistics.estimate import Estimate, undefined
from calib_pipeline.statistics.ratings import value_counts
from calib_pipeline.statistics.resampling import resample_sums

Floats = NDArray[np.float64]


def pairwise_agreement(
    ratings: Sequence[Any] | NDArray[Any],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    sample_weights: Any = None,
    strata: Labels | None = None,
    group: Labels | None = None,
) -> Estimate:
    """Mean over units of the share of rater pairs that agree; units with fewer than two labels have no pairs.

    Parameters
    ----------
    ratings : raters × units
        Any hashables, missing as None or NaN.
    level, resamples, seed
        As in `percent_agreement`.
    sample_weights, strata, group : (units,), optional
        How the units were drawn.

    Raises
    ------
    ValueError
        Raters with different numbers of units.
    """
    counts, _ = value_counts(ratings)
    design = Design.of(sample_weights, strata, group, n=len(counts))
    raters = counts.sum(axis=1)
    paired = raters >= 2
    if not paired.any():
        return undefined("pairwise_agreement", "undefined: no unit has two labels", level=level)
    agreed = (counts * (counts - 1.0)).sum(axis=1)[paired] / (raters * (raters - 1.0))[paired]
    return _ratio_of_means(
        "pairwise_agreement", agreed, np.ones(len(agreed)), design.subset(paired), level, resamples, seed
    )


def multirater_ac1(
    ratings: Sequence[Any] | NDArray[Any],
    *,
    categories: Iterable[Hashable] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    sample_weights: Any = None,
    strata: Labels | None = None,
    group: Labels | None = None,
) -> Estimate:
    """Gwet's AC1 for any number of raters with missing labels (Gwet 2008).

    Observed agreement over units with two or more labels; chance from the mean share of each value over units with at
    least one.

    Parameters
    ----------
    categories : iterable, optional
        The scale; its size enters the chance term. Without it: the values that occur.
    ratings, level, resamples, seed, sample_weights, strata, group
        As in `pairwise_agreement`.

    Raises
    ------
    ValueError
        As in `pairwise_agreement`, or a label that is not among the categories.
    """
    name = "multirater_ac1"
    counts, values = value_counts(ratings, categories)
    design = Design.of(sample_weights, strata, group, n=len(counts))
    raters = counts.sum(axis=1)
    labeled, paired = raters >= 1, raters >= 2
    if not paired.any():
        return undefined(name, "undefined: no unit has two labels", level=level)
    if len(values) < 2:
        return undefined(name, "undefined: the scale has one value", n=int(paired.sum()), level=level)
    shares = np.divide(counts, raters[:, None], out=np.zeros_like(counts), where=labeled[:, None])
    pairs = np.where(paired, raters * (raters - 1.0), 1.0)
    agreed = (counts * (counts - 1.0)).sum(axis=1) / pairs
    rows = np.column_stack([agreed, paired, labeled, shares])

    def statistic(sums: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            observed = sums[..., 0] / sums[..., 1]
            share = sums[..., 3:] / sums[..., 2:3]
            chance = (share * (1.0 - share)).sum(axis=-1) / (len(values) - 1)
            return np.asarray((observed - chance) / (1.0 - chance))

    return bootstrap_estimate(
        name,
        float(statistic(design.weights @ rows)),
        lambda: statistic(resample_sums(rows, design, resamples=resamples, seed=seed)),
        n=int(paired.sum()),
        level=level,
        resamples=resamples,
        seed=seed,
        resampled=words_for(design, "units"),
        why_undefined="undefined: the scale has one value",
    )


def _ratio_of_means(
    name: str, upper: Floats, lower: Floats, design: Design, level: float, resamples: int, seed: int
) -> Estimate:
    def replicate() -> Floats:
        sums = resample_sums(np.column_stack([upper, lower]), design, resamples=resamples, seed=seed)
        return np.asarray(sums[:, 0] / sums[:, 1])

    return bootstrap_estimate(
        name,
        float(design.weights @ upper) / float(design.weights @ lower),
        replicate,
        n=design.n,
        level=level,
        resamples=resamples,
        seed=seed,
        resampled=words_for(design, "units"),
        why_undefined="undefined: no pairs",
    )

"""Agreement of paired numbers on a continuous scale: mean absolute difference, share within a tolerance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.statistics.bootstrap import bootstrap_estimate
from calib_pipeline.statistics.coding import Labels
from calib_pipeline.statistics.design import Design
from calib_pipeline.statistics.estimate import Estimate, undefined
from calib_pipeline.statistics.pairs import number_pairs
from calib_pipeline.statistics.resampling import resample_sums

Floats = NDArray[np.float64]

_ROUNDING = 1e-9


def mean_absolute_difference(
    x: Labels,
    y: Labels,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    sample_weights: Any = None,
    strata: Labels | None = None,
    group: Labels | None = None,
) -> Estimate:
    """Mean of |x - y|, in the unit of the scale, with a percentile bootstrap.

    Parameters
    ----------
    x, y : (n,) numbers
        None or NaN leaves the pair.
    level, resamples, seed, sample_weights, strata, group
        As in `percent_agreement`.

    Raises
    ------
    ValueError
        Columns of unequal length, or values that are no finite numbers.
    """
    first, second, design = number_pairs(x, y, sample_weights=sample_weights, strata=strata, group=group)
    return _mean("mean_absolute_difference", np.abs(first - second), design, level, resamples, seed)


def within_tolerance(
    x: Labels,
    y: Labels,
    *,
    span: float,
    share: float = 0.1,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    sample_weights: Any = None,
    strata: Labels | None = None,
    group: Labels | None = None,
) -> Estimate:
    """Share of pairs that lie within `share` of the scale's `span` of each other, the boundary included.

    Parameters
    ----------
    x, y : (n,) numbers
        None or NaN leaves the pair.
    span : float
        Width of the scale, highest minus lowest value.
    share : float
        Tolerance as a share of the span.
    level, resamples, seed, sample_weights, strata, group
        As in `percent_agreement`.

    Raises
    ------
    ValueError
        Columns of unequal length, values that are no finite numbers, a span or share that is not positive.
    """
    if not (math.isfinite(span) and span > 0 and math.isfinite(share) and share > 0):
        raise ValueError(f"span and share must be positive numbers. Got span={span}, share={share}.")
    first, second, design = number_pairs(x, y, sample_weights=sample_weights, strata=strata, group=group)
    close = within(first, second, span=span, share=share)
    return _mean("within_tolerance", close.astype(np.float64), design, level, resamples, seed)


def within(x: Floats, y: Floats, *, span: float, share: float = 0.1) -> NDArray[np.bool_]:
    """(n,) whether |x - y| is at most `share` of `span`; what only rounding pushes over the edge counts as within."""
    return np.asarray(np.abs(x - y) <= share * span * (1.0 + _ROUNDING) + span * _ROUNDING)


def _mean(name: str, values: Floats, design: Design, level: float, resamples: int, seed: int) -> Estimate:
    if design.n == 0:
        return undefined(name, "undefined: no pairs", level=level)

    def replicate() -> Floats:
        sums = resample_sums(np.column_stack([values, np.ones_like(values)]), design, resamples=resamples, seed=seed)
        return np.asarray(sums[:, 0] / sums[:, 1])

    return bootstrap_estimate(
        name,
        float(np.average(values, weights=design.weights)),
        replicate,
        n=design.n,
        level=level,
        resamples=resamples,
        seed=seed,
        resampled=design.resampled,
        why_undefined="undefined: no pairs",
    )

"""From a point estimate and its replicates to an `Estimate` with a percentile interval."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.statistics.design import Design
from calib_pipeline.statistics.estimate import FEWEST_FOR_AN_INTERVAL, Estimate, undefined
from calib_pipeline.statistics.resampling import percentile_limits

Floats = NDArray[np.float64]

METHOD = "percentile bootstrap"


def bootstrap_estimate(
    statistic: str,
    value: float,
    replicate: Callable[[], Floats],
    *,
    n: float,
    level: float,
    resamples: int,
    seed: int,
    resampled: str,
    why_undefined: str,
) -> Estimate:
    """Put a value and its replicates together.

    Parameters
    ----------
    value : float
        The statistic of the sample; NaN where undefined.
    replicate : callable
        Draws the (B,) replicates; called only if there is an interval to be made.
    why_undefined : str
        Note for an undefined value.

    Raises
    ------
    ValueError
        `level` is not between 0 and 1, or `resamples` is below 1.
    """
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1. Got {resamples}; 2000 is usual.")
    if not math.isfinite(value):
        return undefined(statistic, why_undefined, n=n, level=level)
    if n < FEWEST_FOR_AN_INTERVAL:
        return Estimate(statistic, value, n=n, level=level, note="no interval: three or fewer pairs")
    low, high, survivors = percentile_limits(replicate(), level)
    return Estimate(
        statistic,
        value,
        low,
        high,
        n=n,
        level=level,
        method=METHOD,
        resamples=resamples,
        survivors=survivors,
        seed=seed,
        resampled=resampled,
        note=_caveat(low, high, survivors, resamples),
    )


def words_for(design: Design, unit: str = "rows") -> str:
    """What the replicates of a design draw, rows being called `unit`."""
    return design.resampled.replace("rows", unit, 1)


def _caveat(low: float | None, high: float | None, survivors: int, resamples: int) -> str | None:
    if survivors == 0:
        return "no interval: undefined in every replicate"
    if low == high:
        return "zero width: every replicate gave the same value, which says nothing about the uncertainty"
    if survivors < resamples:
        return f"undefined in {resamples - survivors} of {resamples} replicates, which were dropped"
    return None

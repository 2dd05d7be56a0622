"""Association of paired numbers. A high correlation says that two columns move together, never that one is accurate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.statistics.coding import Labels
from calib_pipeline.statistics.continuous import moment_contributions, pearson_of_moments, weighted_spearman
from calib_pipeline.statistics.design import Design, effective_n
from calib_pipeline.statistics.estimate import FEWEST_FOR_AN_INTERVAL, Estimate, undefined
from calib_pipeline.statistics.influence import pearson_influence, spearman_influence
from calib_pipeline.statistics.intervals import fisher_limits
from calib_pipeline.statistics.pairs import number_pairs

Floats = NDArray[np.float64]

SPEARMAN_VARIANCE = 1.06


def pearson(
    x: Labels,
    y: Labels,
    *,
    level: float = 0.95,
    sample_weights: Any = None,
    strata: Labels | None = None,
    group: Labels | None = None,
) -> Estimate:
    """Pearson's r with Fisher's z interval, variance 1 / (n - 3); effective n under weights or groups.

    Parameters
    ----------
    x, y : (n,) numbers
        None or NaN leaves the pair.
    level : float
        Confidence level.
    sample_weights, strata, group : (n,), optional
        How the rows were drawn.

    Raises
    ------
    ValueError
        Columns of unequal length, or values that are no finite numbers.
    """
    first, second, design = number_pairs(x, y, sample_weights=sample_weights, strata=strata, group=group)
    if design.n == 0:
        return undefined("pearson", "undefined: no pairs", level=level)
    sums = (moment_contributions(first - first.mean(), second - second.mean()) * design.weights[:, None]).sum(axis=0)
    influence = pearson_influence(first, second, design)
    return _fisher("pearson", float(pearson_of_moments(sums)), influence, design, level, 1.0)


def spearman(
    x: Labels,
    y: Labels,
    *,
    level: float = 0.95,
    sample_weights: Any = None,
    strata: Labels | None = None,
    group: Labels | None = None,
) -> Estimate:
    """Spearman's ρ on mid-ranks with Fisher's z interval, variance 1.06 / (n - 3) (Fieller, Hartley, Pearson 1957).

    Parameters and errors as in `pearson`.
    """
    first, second, design = number_pairs(x, y, sample_weights=sample_weights, strata=strata, group=group)
    if design.n == 0:
        return undefined("spearman", "undefined: no pairs", level=level)
    rho = float(weighted_spearman(first, second, design.weights[None, :])[0])
    influence = spearman_influence(first, second, design)
    return _fisher("spearman", rho, influence, design, level, SPEARMAN_VARIANCE)


def _fisher(
    name: str, r: float, influence: Floats, design: Design, level: float, variance_numerator: float
) -> Estimate:
    n = design.n
    if n < 2:
        return undefined(name, "undefined: one pair", n=n, level=level)
    if not math.isfinite(r):
        return undefined(name, "undefined: no variance on one side", n=n, level=level)
    if n < FEWEST_FOR_AN_INTERVAL:
        return Estimate(name, r, n=n, level=level, note="no interval: three or fewer pairs")
    r = math.copysign(1.0, r) if 1.0 - abs(r) < 1e-12 else r
    effective = effective_n(influence, design)
    low, high = fisher_limits(r, effective, level, variance_numerator)
    method = f"Fisher z, variance {variance_numerator:g}/(n - 3)"
    if low is None:
        return Estimate(name, r, n=n, level=level, note=f"no interval: effective n is {effective:.1f}, 3 or less")
    notes = []
    if abs(r) == 1.0:
        notes.append("degenerate: at |r| = 1 Fisher's interval has no width, which is no certainty")
    if abs(effective - n) > 1e-9 * n:
        notes.append(f"at effective n {effective:.1f}")
    return Estimate(name, r, low, high, n=n, level=level, method=method, note="; ".join(notes) or None)

"""Intervals in closed form: Wilson, Fisher, κ implied by agreement, and MOVER."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

from calib_pipeline.statistics.estimate import Estimate, undefined


@lru_cache(maxsize=64)
def critical_value(level: float) -> float:
    """Two-sided critical value of the standard normal distribution; 1.959964 at level 0.95."""
    from statistics import NormalDist

    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie between 0 and 1. Got {level}; 0.95 is usual.")
    return -NormalDist().inv_cdf((1.0 - level) / 2.0)


def wilson_limits(p: float, n_eff: float, level: float) -> tuple[float, float]:
    """Wilson's score limits of a proportion `p` seen in `n_eff` > 0 trials, which may be fractional.

    Exactly 0 below at p = 0 and exactly 1 above at p = 1.

    References
    ----------
    Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. JASA 22, 209-212.
    """
    if not n_eff > 0:
        raise ValueError(f"n must be above 0 for an interval. Got {n_eff}.")
    if not -1e-9 <= p <= 1.0 + 1e-9:
        raise ValueError(f"a proportion lies between 0 and 1. Got {p}.")
    p = min(max(p, 0.0), 1.0)
    z2 = critical_value(level) ** 2
    centre = p + z2 / (2.0 * n_eff)
    half = math.sqrt(z2 * (p * (1.0 - p) / n_eff + z2 / (4.0 * n_eff**2)))
    scale = 1.0 + z2 / n_eff
    low = 0.0 if p == 0.0 else max(0.0, (centre - half) / scale)
    high = 1.0 if p == 1.0 else min(1.0, (centre + half) / scale)
    return low, high


def wilson(k: float, n: float, *, level: float = 0.95) -> Estimate:
    """A proportion k / n with Wilson's score interval (Wilson 1927).

    Parameters
    ----------
    k, n : float
        Successes and trials; fractional counts are allowed.
    level : float
        Confidence level.

    Returns
    -------
    Estimate
        Value None where n is 0.

    Raises
    ------
    ValueError
        k or n is not a number, or k does not lie between 0 and n.
    """
    if not (math.isfinite(k) and math.isfinite(n) and -1e-9 <= k <= n + 1e-9):
        raise ValueError(f"k must lie between 0 and n, both finite. Got k={k}, n={n}.")
    if n <= 0:
        return undefined("proportion", "undefined: n = 0", level=level)
    p = min(max(k / n, 0.0), 1.0)
    low, high = wilson_limits(p, n, level)
    return Estimate("proportion", p, low, high, n=n, level=level, method="Wilson score")


def fisher_limits(
    r: float, n_eff: float, level: float, variance_numerator: float = 1.0
) -> tuple[float | None, float | None]:
    """Limits of a correlation through Fisher's z, with variance `variance_numerator` / (n - 3).

    1 for Pearson's r, 1.06 for Spearman's ρ. (None, None) where n is 3 or less; [r, r] at |r| = 1, where z is infinite.

    References
    ----------
    Fieller, E. C., Hartley, H. O. and Pearson, E. S. (1957). Tests for rank correlation coefficients I.
    Biometrika 44, 470-481.
    """
    if not -1.0 <= r <= 1.0:
        raise ValueError(f"a correlation lies between -1 and 1. Got {r}.")
    if n_eff <= 3:
        return None, None
    if abs(r) == 1.0:
        return r, r
    half = critical_value(level) * math.sqrt(variance_numerator / (n_eff - 3.0))
    z = math.atanh(r)
    return math.tanh(z - half), math.tanh(z + half)


def implied_kappa_limits(po: float, pe: float, n_eff: float, level: float) -> tuple[float, float]:
    """κ at Wilson's limits of the observed agreement `po`, the chance agreement `pe` < 1 held at its estimate.

    Unlike the bootstrap it keeps a width when no disagreement was observed.
    """
    if not pe < 1.0:
        raise ValueError(f"chance agreement must be below 1. Got {pe}.")
    low, high = wilson_limits(po, n_eff, level)
    return (low - pe) / (1.0 - pe), (high - pe) / (1.0 - pe)


def mover_sum(parts: Iterable[tuple[float, float, float, float]]) -> tuple[float, float]:
    """Limits of a linear combination from the limits of its parts (method of variance estimates recovery).

    Parameters
    ----------
    parts : iterable of (coefficient, estimate, low, high)

    Returns
    -------
    low, high : float

    References
    ----------
    Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures. Statistics in Medicine
    27, 1693-1702.
    """
    total = below = above = 0.0
    for coefficient, estimate, low, high in parts:
        least, most = sorted((coefficient * low, coefficient * high))
        at = coefficient * estimate
        total += at
        below += (at - least) ** 2
        above += (most - at) ** 2
    return total - math.sqrt(below), total + math.sqrt(above)

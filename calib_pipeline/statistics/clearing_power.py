"""How likely Wilson's interval of a proportion clears a bar, counted over the binomial distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.statistics.intervals import critical_value

MOST_ITEMS = 1_000_000
"""More are not searched: no plan asks people for as many labels."""


def clearing_power(p: float, n: Any, bar: float, level: float) -> NDArray[np.float64]:
    """Chance that Wilson's interval lies beyond `bar` on the side of the true proportion `p`.

    The lower limit exceeds a bar below `p`, the upper limit stays under a bar above it. Exact: a limit is beyond the
    bar where the score test rejects it, so the counts that clear it are a tail of the binomial distribution.

    Parameters
    ----------
    p, bar : float
        In [0, 1] and strictly between 0 and 1; not equal.
    n : (...,) int
        Trials.
    level : float
        Level of the two-sided interval.

    Returns
    -------
    (...,) float

    Raises
    ------
    ValueError
        `p` equals `bar`, or one of them is no proportion.
    """
    from scipy.stats import binom

    _refuse_no_proportions(p, bar)
    trials = np.asarray(n, dtype=np.int64)
    p, bar = (p, bar) if p > bar else (1.0 - p, 1.0 - bar)
    needed = trials * bar + critical_value(level) * np.sqrt(trials * bar * (1.0 - bar))
    # A count on the bar to the last digits does not exceed it.
    return np.asarray(binom.sf(np.floor(needed * (1.0 + 1e-12)), trials, p))


def items_to_clear(p: float, bar: float, *, power: float, level: float) -> int | None:
    """The smallest n from which on the chance to clear the bar is never below `power`.

    Since counts are whole the chance goes up and down a little from n to n + 1; a smaller n may reach it too, and the
    next one not. None where a million items are not known to be enough.

    Raises
    ------
    ValueError
        As in `clearing_power`, or `power` does not lie between 0 and 1.
    """
    _refuse_no_proportions(p, bar)
    if not 0.0 < power < 1.0:
        raise ValueError(f"power lies between 0 and 1. Got {power}.")
    last = _always_enough(p, bar, power, level) if p > bar else _always_enough(1.0 - p, 1.0 - bar, power, level)
    if last > MOST_ITEMS:
        return None
    reached = clearing_power(p, np.arange(1, last + 1), bar, level) >= power
    short = np.flatnonzero(~reached)
    return int(short[-1]) + 2 if len(short) else 1


def _always_enough(p: float, bar: float, power: float, level: float) -> int:
    """An n from which on Chernoff's inequality alone promises the power, for a bar below the proportion.

    The least share that clears the bar falls with n towards it; n times its divergence from p therefore grows.
    """
    reach, n = critical_value(level) * math.sqrt(bar * (1.0 - bar)), 1
    while n <= MOST_ITEMS:
        share = bar + reach / math.sqrt(n) + 1.0 / n
        if share < p and n * _divergence(share, p) >= -math.log(1.0 - power):
            return n
        n = math.ceil(n * 1.1)
    return n


def _divergence(share: float, p: float) -> float:
    """Kullback and Leibler's, of two coins."""
    if p == 1.0:
        return math.inf
    return share * math.log(share / p) + (1.0 - share) * math.log((1.0 - share) / (1.0 - p))


def _refuse_no_proportions(p: float, bar: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"a proportion lies between 0 and 1. Got {p}.")
    if not 0.0 < bar < 1.0:
        raise ValueError(f"the bar lies strictly between 0 and 1. Got {bar}.")
    if p == bar:
        raise ValueError(f"no number of items tells a proportion from itself. Got {p} twice.")

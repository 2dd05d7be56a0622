"""Limits for the difference of two estimates made on the same rows."""

from __future__ import annotations

import math


def mover_difference(
    first: tuple[float, float, float], second: tuple[float, float, float], correlation: float
) -> tuple[float, float]:
    """Limits of ``first - second`` recovered from the limits of each (MOVER), for correlated estimates.

    Unlike the percentiles of a bootstrap, they do not collapse where no replicate shows an error.

    Parameters
    ----------
    first, second
        Estimate, lower and upper limit, at the level that the difference is wanted at.
    correlation
        Correlation of the two estimates' sampling errors, in [-1, 1].

    References
    ----------
    Zou, G. Y. (2007). Toward using confidence intervals to compare correlations. Psychological Methods 12(4), 399-413.
    """
    a, a_low, a_high = first
    b, b_low, b_high = second
    below, above = a - a_low, b_high - b
    low = a - b - math.sqrt(max(below**2 - 2 * correlation * below * above + above**2, 0.0))
    below, above = b - b_low, a_high - a
    high = a - b + math.sqrt(max(above**2 - 2 * correlation * above * below + below**2, 0.0))
    return low, high


def labels_to_decide(estimate: float, low: float, high: float, bar: float, n: float) -> int | None:
    """How many labels would put the nearer limit on the bar if the estimate stayed: widths shrink with the root of n.

    The answer may be for or against: an estimate below a bar that it must exceed is decided against. None where the
    estimate lies on the bar, which no number of labels decides.
    """
    margin = estimate - bar
    width = estimate - low if margin > 0 else high - estimate
    if margin == 0 or not width > 0:
        return None
    return math.ceil(n * (width / margin) ** 2)

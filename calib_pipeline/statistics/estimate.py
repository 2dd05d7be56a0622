"""The one shape in which every figure leaves this package."""

from __future__ import annotations

from dataclasses import dataclass

FEWEST_FOR_AN_INTERVAL = 4


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval and with what is needed to make it again.

    Attributes
    ----------
    statistic : str
        What was estimated, e.g. ``"cohen_kappa"``.
    value : float or None
        The point estimate; None where it is undefined, and then `note` says why.
    low, high : float or None
        Limits of the interval at `level`; None where there is none, and then `note` says why.
    n : float
        Number of pairs, units or trials behind the value (may be fractional for weighted counts).
    level : float or None
        Confidence level of the interval, e.g. 0.95.
    method : str or None
        How the interval was made, e.g. ``"percentile bootstrap"``.
    resamples, survivors : int or None
        Replicates drawn (B), and those in which the statistic was defined; the limits are quantiles of the survivors.
    seed : int or None
        Seed of the replicates.
    resampled : str or None
        The unit that was drawn: ``"rows"``, ``"units"`` or ``"groups"``, with ``" within strata"`` where that is so.
    note : str or None
        Why the value or its interval is missing, or a caveat that belongs to the figure.
    """

    statistic: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: float = 0.0
    level: float | None = None
    method: str | None = None
    resamples: int | None = None
    survivors: int | None = None
    seed: int | None = None
    resampled: str | None = None
    note: str | None = None


def undefined(statistic: str, note: str, *, n: float = 0.0, level: float | None = None) -> Estimate:
    """An estimate without a value; `note` says why there is none."""
    return Estimate(statistic=statistic, value=None, n=n, level=level, note=note)

"""How many items tell one κ from another, by its large-sample standard error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.statistics.contingency import KappaWeights, table_kappa
from calib_pipeline.statistics.intervals import critical_value
from calib_pipeline.statistics.kappa_error import kappa_standard_error

Floats = NDArray[np.float64]


def joint_of_kappa(shares: Sequence[float], kappa: float) -> Floats:
    """(K, K) the joint shares of two raters who use the values alike and reach this κ.

    (1 - κ)·π_i·π_j, and κ·π_i more on the diagonal: what is no agreement beyond chance is chance. Weighted κ is κ too.

    Parameters
    ----------
    shares : (K,) float
        Share of each value, at least two of them, above 0; scaled to sum 1.
    kappa : float
        Below 1, and not so far below 0 that a cell would be negative.

    Raises
    ------
    ValueError
        The shares or the κ are impossible.
    """
    margins = np.asarray(shares, dtype=np.float64)
    if len(margins) < 2 or not np.isfinite(margins).all() or not (margins > 0).all():
        raise ValueError(f"shares must be two or more numbers above 0. Got {list(shares)}.")
    margins = margins / margins.sum()
    if not kappa < 1.0:
        raise ValueError(f"κ must be below 1. Got {kappa}.")
    joint = (1.0 - kappa) * np.outer(margins, margins) + kappa * np.diag(margins)
    if (joint < 0).any():
        raise ValueError(f"two raters with these shares cannot have a κ of {kappa}.")
    return joint


def kappa_power(joint: NDArray[Any], n: int, against: float, *, level: float, weights: KappaWeights = None) -> float:
    """Chance that the interval κ ± z·s/√n of `n` items excludes `against`, on the side of the κ of `joint`.

    s is Fleiss, Cohen and Everitt's standard error for one item, at the true joint shares.

    Raises
    ------
    ValueError
        The κ of `joint` is `against`, or undefined.
    """
    from statistics import NormalDist

    distance, error = _distance_and_error(joint, against, weights)
    if error == 0.0:
        return 1.0
    return NormalDist().cdf(distance * math.sqrt(n) / error - critical_value(level))


def items_to_tell(
    joint: NDArray[Any], against: float, *, power: float, level: float, weights: KappaWeights = None
) -> int:
    """The smallest n at which `kappa_power` reaches `power`: ((z + z_power)·s/distance)², rounded up.

    Raises
    ------
    ValueError
        As in `kappa_power`, or `power` does not lie between 0 and 1.
    """
    from statistics import NormalDist

    if not 0.0 < power < 1.0:
        raise ValueError(f"power lies between 0 and 1. Got {power}.")
    distance, error = _distance_and_error(joint, against, weights)
    reach = max(critical_value(level) + NormalDist().inv_cdf(power), 0.0)
    return max(1, math.ceil((reach * error / distance) ** 2))


def _distance_and_error(joint: NDArray[Any], against: float, weights: KappaWeights) -> tuple[float, float]:
    shares = np.asarray(joint, dtype=np.float64)
    shares = shares / shares.sum()
    error = kappa_standard_error(shares, weights)
    if error is None:
        raise ValueError("κ is undefined for these shares.")
    distance = abs(float(table_kappa(shares, weights)) - against)
    if distance < 1e-12:
        raise ValueError(f"no number of items tells a κ from itself. Got {against} twice.")
    return distance, error

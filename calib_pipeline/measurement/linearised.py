"""Limits by linearisation: how far each item moves a statistic, and what that says of its sampling error.

A percentile bootstrap's limits sit too close to the end of the scale that a good scorer comes near, and do not know
that few units of a stratum vary less among themselves than in the population. On the logarithm of the disagreement,
the error that the items' influence implies does not have these faults (measured by ``bench/promotion.py``).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from calib_pipeline.measurement.reference import Floats
from calib_pipeline.statistics import Design
from calib_pipeline.statistics.intervals import critical_value

_STEP = 1e-3


def influence(value: Callable[[Floats], Floats], contributions: Floats, sums: Floats, design: Design) -> Floats:
    """(n,) how a function of weighted sums moves with each item, per unit of its weight.

    Parameters
    ----------
    value
        (..., c) sums to (...,) values.
    contributions
        (n, c) what each item adds to the sums.
    sums
        (c,) at which the derivative is taken, by central differences.
    """
    scale = design.weights @ np.abs(contributions)
    used = scale > 0
    steps = np.diag(_STEP * scale)[used]
    slopes = (value(sums + steps) - value(sums - steps)) / (2 * _STEP * scale[used])
    return np.asarray(contributions[:, used] @ slopes)


def standard_error(moved: Floats, design: Design) -> float:
    """Standard error of a statistic from its items' influence (n,), drawn within strata, in whole groups.

    Units that are alone in their stratum show no variation, so they are taken together as one stratum. Rounded to nine
    digits, since the derivative's last ones depend on the processor.

    References
    ----------
    Särndal, C.-E., Swensson, B. and Wretman, J. (1992). Model Assisted Survey Sampling. Springer. Section 5.5.
    """
    totals = np.bincount(design.unit, design.weights * moved, design.groups).astype(float)
    of_strata = [totals[units] for units in design.unit_strata]
    alone = np.array([of_one[0] for of_one in of_strata if len(of_one) == 1])
    variance = sum((_spread(of_several) for of_several in of_strata if len(of_several) > 1), 0.0)
    error = math.sqrt(variance + (_spread(alone) if len(alone) > 1 else float((alone**2).sum())))
    return float(f"{error:.9g}")


def disagreement_limits(value: float, error: float, level: float, lowest: float) -> tuple[float, float]:
    """Limits of a coefficient from ``lowest`` to 1, symmetric on the logarithm of the disagreement 1 - value.

    A disagreement is near a rate of rare errors, whose relative error is constant on that scale. No width where the
    value is 1.
    """
    disagreement = 1 - value
    if disagreement <= 0:
        return value, value
    reach = min(critical_value(level) * error / disagreement, 700.0)
    return max(lowest, 1 - disagreement * math.exp(reach)), 1 - disagreement * math.exp(-reach)


def _spread(totals: Floats) -> float:
    units = len(totals)
    return units / (units - 1) * float(((totals - totals.mean()) ** 2).sum())

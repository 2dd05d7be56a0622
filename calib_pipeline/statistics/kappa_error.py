"""The large-sample standard error of Cohen's κ."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.statistics.contingency import KappaWeights, disagreement_weights


def kappa_standard_error(table: NDArray[Any], weights: KappaWeights = None) -> float | None:
    """Standard error of κ (weighted κ) under simple random sampling, by Fleiss, Cohen and Everitt's formula.

    Parameters
    ----------
    table : (K, K) float
        Joint table of counts.
    weights : None, "linear" or "quadratic"

    Returns
    -------
    float or None
        None where κ is undefined. 0 for perfect agreement, which is no certainty.

    References
    ----------
    Fleiss, J. L., Cohen, J. and Everitt, B. S. (1969). Large sample standard errors of kappa and weighted kappa.
    Psychological Bulletin 72, 323-327.
    """
    counts = np.asarray(table, dtype=np.float64)
    n = float(counts.sum())
    if n <= 0:
        return None
    p = counts / n
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    credit = 1.0 - disagreement_weights(len(counts), weights)
    chance = float(rows @ credit @ columns)
    if 1.0 - chance <= 1e-12:
        return None
    kappa = (float((p * credit).sum()) - chance) / (1.0 - chance)
    margins = (credit @ columns)[:, None] + (rows @ credit)[None, :]
    squares = float((p * (credit - margins * (1.0 - kappa)) ** 2).sum())
    variance = (squares - (kappa - chance * (1.0 - kappa)) ** 2) / (n * (1.0 - chance) ** 2)
    return math.sqrt(max(0.0, variance)) if variance > 1e-18 else 0.0

"""The large-sample standard error of Cohen's κ."""

from __future__ import annotations

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
    error = float(table_kappa_error(np.asarray(table, dtype=np.float64), weights))
    return None if np.isnan(error) else error


def table_kappa_error(t: NDArray[Any], weights: KappaWeights = None) -> NDArray[np.float64]:
    """The same of a stack of tables (..., K, K): (...,) floats, NaN where κ is undefined."""
    n = t.sum(axis=(-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        p = t / n[..., None, None]
        rows, columns = p.sum(axis=-1), p.sum(axis=-2)
        credit = 1.0 - disagreement_weights(t.shape[-1], weights)
        chance = ((rows @ credit) * columns).sum(axis=-1)
        kappa = ((p * credit).sum(axis=(-2, -1)) - chance) / (1.0 - chance)
        margins = (columns @ credit)[..., :, None] + (rows @ credit)[..., None, :]
        spread = (p * (credit - margins * (1.0 - kappa)[..., None, None]) ** 2).sum(axis=(-2, -1))
        variance = (spread - (kappa - chance * (1.0 - kappa)) ** 2) / (n * (1.0 - chance) ** 2)
    error = np.sqrt(np.where(variance > 1e-18, variance, 0.0))
    return np.where((n > 0) & (1.0 - chance > 1e-12), error, np.nan)

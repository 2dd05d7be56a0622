"""Statistics of continuous pairs as functions of resampled sums, and weighted ranks where they are none."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_NOTHING = 1e-12


def moment_contributions(x: NDArray[Any], y: NDArray[Any]) -> Floats:
    """(n, 6) columns 1, x, y, x², y², xy: their sums determine Pearson's r.

    r does not depend on where x and y are centred; centre both before where their mean is large beside their spread.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    return np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y])


def pearson_of_moments(s: NDArray[Any]) -> Floats:
    """Pearson's r of moment sums (..., 6) as in `moment_contributions`; NaN without variance."""
    n, x, y, xx, yy, xy = np.moveaxis(np.asarray(s, dtype=np.float64), -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        x_spread = xx - x * x / n
        y_spread = yy - y * y / n
        r = (xy - x * y / n) / np.sqrt(x_spread * y_spread)
    defined = (n > 0) & (x_spread > _NOTHING * xx) & (y_spread > _NOTHING * yy)
    return np.where(defined, np.clip(r, -1.0, 1.0), np.nan)


def weighted_spearman(x: NDArray[Any], y: NDArray[Any], counts: NDArray[Any]) -> Floats:
    """Spearman's ρ under row weights: Pearson's r of weighted mid-ranks.

    Parameters
    ----------
    x, y : (n,) float
    counts : (B, n) float
        Weight of each row in each replicate, as from `resample_counts`.

    Returns
    -------
    (B,) float
        NaN in a replicate without variance.
    """
    counts = np.atleast_2d(np.asarray(counts, dtype=np.float64))
    total = counts.sum(axis=1)
    x_ranks, x_spread = _centred_ranks(x, counts, total)
    y_ranks, y_spread = _centred_ranks(y, counts, total)
    x_ranks *= y_ranks
    covariance = np.einsum("bn,bn->b", counts, x_ranks)
    least = _NOTHING * total**3
    defined = (x_spread > least) & (y_spread > least)
    with np.errstate(invalid="ignore", divide="ignore"):
        rho = covariance / np.sqrt(x_spread * y_spread)
    return np.where(defined, np.clip(rho, -1.0, 1.0), np.nan)


def _centred_ranks(values: NDArray[Any], counts: Floats, total: Floats) -> tuple[Floats, Floats]:
    order = np.argsort(values, kind="stable")
    ordered = np.asarray(values)[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.cumsum(np.concatenate([[False], ordered[1:] != ordered[:-1]]))
    margin = np.add.reduceat(counts[:, order], starts, axis=1)
    ranks = np.cumsum(margin, axis=1)
    ranks -= margin / 2.0
    ranks -= total[:, None] / 2.0
    spread = np.einsum("bk,bk,bk->b", margin, ranks, ranks)
    return ranks[:, place], spread

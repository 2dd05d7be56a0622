"""Agreement statistics as functions of joint tables.

A table has a row for each value of the reference and a column for each value of the scorer. Every function takes a
stack of tables (..., K, K), whole or fractional, and returns (...,) floats, NaN where the statistic is undefined, so
that one call serves the sample and all of its bootstrap replicates.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
KappaWeights = Literal["linear", "quadratic"] | None

_NOTHING = 1e-12


def joint_table(rows: NDArray[np.intp], columns: NDArray[np.intp], size: int, weights: Floats | None = None) -> Floats:
    """(size, size) table of two coded columns, counting `weights` (1 a row without them)."""
    cells = np.bincount(rows * size + columns, weights=weights, minlength=size * size)
    return cells.astype(np.float64, copy=False).reshape(size, size)


def disagreement_weights(size: int, weights: KappaWeights) -> Floats:
    """(size, size) disagreement in [0, 1] of each pair of values.

    None: 1 off the diagonal. "linear", "quadratic": distance of the positions on the scale, to the power 1 or 2, as a
    share of the largest.
    """
    if weights is None:
        return 1.0 - np.eye(size)
    if weights not in ("linear", "quadratic"):
        raise ValueError(f"weights must be None, 'linear' or 'quadratic'. Got {weights!r}.")
    position = np.arange(size, dtype=np.float64)
    distance = np.abs(position[:, None] - position[None, :]) / max(1, size - 1)
    return distance if weights == "linear" else distance**2


def table_percent_agreement(t: NDArray[Any], weights: KappaWeights = None) -> Floats:
    """Share of the table on its diagonal; with `weights`, 1 minus the mean disagreement. NaN for an empty table."""
    total = t.sum(axis=(-2, -1))
    if weights is None:
        agreed = np.trace(t, axis1=-2, axis2=-1)
    else:
        agreed = np.tensordot(t, 1.0 - disagreement_weights(t.shape[-1], weights), axes=2)
    return np.minimum(_ratio(agreed, total), 1.0)


def table_chance(t: NDArray[Any], weights: KappaWeights = None) -> Floats:
    """Agreement expected from the margins alone, Cohen's p_e; with `weights`, in the weighted sense."""
    rows, columns = t.sum(axis=-1), t.sum(axis=-2)
    total = rows.sum(axis=-1)
    if weights is None:
        expected = (rows * columns).sum(axis=-1)
    else:
        expected = total**2 - _expected_disagreement(rows, columns, disagreement_weights(t.shape[-1], weights))
    return _ratio(expected, total**2)


def table_kappa(t: NDArray[Any], weights: KappaWeights = None) -> Floats:
    """Cohen's κ, 1 - Σ w·observed / Σ w·expected (Cohen 1960, 1968).

    NaN for an empty table and where chance alone gives full agreement (one and the same value throughout).
    """
    size = t.shape[-1]
    if size == 2:
        return _kappa_of_two(t)
    rows, columns = t.sum(axis=-1), t.sum(axis=-2)
    total = rows.sum(axis=-1)
    penalty = disagreement_weights(size, weights)
    observed = np.tensordot(t, penalty, axes=2)
    if weights is None:
        expected = total**2 - (rows * columns).sum(axis=-1)
    else:
        expected = _expected_disagreement(rows, columns, penalty)
    return _one_minus(observed * total, expected, total**2)


def table_ac1(t: NDArray[Any]) -> Floats:
    """Gwet's AC1, chance being Σ π(1-π)/(K-1) at the mean margins π (Gwet 2008). NaN for an empty table or K < 2.

    K is the number of values on the scale, used or not.
    """
    size = t.shape[-1]
    rows, columns = t.sum(axis=-1), t.sum(axis=-2)
    total = rows.sum(axis=-1)
    if size < 2:
        return np.full(total.shape, np.nan)
    share = _ratio((rows + columns) / 2.0, total[..., None])
    chance = (share * (1.0 - share)).sum(axis=-1) / (size - 1)
    observed = table_percent_agreement(t)
    return _ratio(observed - chance, 1.0 - chance)


def table_spearman(t: NDArray[Any]) -> Floats:
    """Spearman's ρ of an ordered table: Pearson's r of the mid-ranks that its margins give. NaN without variance."""
    rows, columns = t.sum(axis=-1), t.sum(axis=-2)
    total = rows.sum(axis=-1)
    row_ranks = _centred_midranks(rows)
    column_ranks = _centred_midranks(columns)
    covariance = (row_ranks * (t @ column_ranks[..., None])[..., 0]).sum(axis=-1)
    row_spread = (rows * row_ranks**2).sum(axis=-1)
    column_spread = (columns * column_ranks**2).sum(axis=-1)
    least = _NOTHING * total**3
    defined = (row_spread > least) & (column_spread > least)
    return np.clip(_ratio(covariance, np.sqrt(row_spread * column_spread), defined), -1.0, 1.0)


def fill_refusals(t: NDArray[Any], *, ordered: bool, base: NDArray[Any]) -> Floats:
    """Charge refusals as the largest disagreement that the scale allows.

    Parameters
    ----------
    t : (..., K, K+1) float
        Joint tables whose last column counts items that the scorer abstained on or failed.
    ordered : bool
        On an ordered scale a refusal moves to the end farthest from the reference value (half to each end from the
        exact middle); else to the wrong value that the reference uses most.
    base : (K,) float
        Margin of the reference, which ranks the wrong values of an unordered scale; ties go to the first.

    Returns
    -------
    (..., K, K) float
    """
    size = t.shape[-2]
    if t.shape[-1] != size + 1:
        raise ValueError(f"t must have one column more than it has rows. Got shape {t.shape}.")
    return t[..., :size] + t[..., size:] * refusal_targets(size, ordered=ordered, base=base)


def refusal_targets(size: int, *, ordered: bool, base: NDArray[Any]) -> Floats:
    """(K, K): where the refusals of each reference value go; rows sum to 1. See `fill_refusals`."""
    targets = np.zeros((size, size))
    if size < 2:
        raise ValueError(f"a scale needs two values to disagree on. Got {size}.")
    for value in range(size):
        if ordered or size == 2:
            up, down = size - 1 - value, value
            targets[value, size - 1] += 1.0 if up > down else 0.5 * (up == down)
            targets[value, 0] += 1.0 if down > up else 0.5 * (up == down)
        else:
            others = np.asarray(base, dtype=np.float64).copy()
            others[value] = -np.inf
            targets[value, int(np.argmax(others))] = 1.0
    return targets


def _kappa_of_two(t: NDArray[Any]) -> Floats:
    a, b, c, d = t[..., 0, 0], t[..., 0, 1], t[..., 1, 0], t[..., 1, 1]
    first, second = a + b, c + d
    expected = first * (b + d) + second * (a + c)
    with np.errstate(invalid="ignore", divide="ignore"):
        kappa = 2.0 * (a * d - b * c) / expected
    undefined = expected <= _NOTHING * (first + second) ** 2
    return np.where(undefined, np.nan, kappa)


def _expected_disagreement(rows: Floats, columns: Floats, penalty: Floats) -> Floats:
    return np.asarray(((rows @ penalty) * columns).sum(axis=-1))


def _centred_midranks(margin: Floats) -> Floats:
    return np.asarray(np.cumsum(margin, axis=-1) - margin / 2.0 - margin.sum(axis=-1, keepdims=True) / 2.0)


def _one_minus(observed: Floats, expected: Floats, scale: Floats) -> Floats:
    return np.asarray(1.0 - _ratio(observed, expected, expected > _NOTHING * scale))


def _ratio(upper: NDArray[Any], lower: NDArray[Any], defined: NDArray[np.bool_] | None = None) -> Floats:
    usable = lower > 0 if defined is None else defined
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(usable, upper / lower, np.nan)

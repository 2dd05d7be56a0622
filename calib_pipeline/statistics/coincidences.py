"""Krippendorff's α as a function of coincidence matrices."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Metric = Literal["nominal", "ordinal", "interval", "ratio"]
METRICS: tuple[Metric, ...] = ("nominal", "ordinal", "interval", "ratio")

_NOTHING = 1e-12


def coincidence_contributions(counts: NDArray[Any]) -> Floats:
    """What each unit adds to the coincidence matrix: (c_c c_k - δ_ck c_c) / (m - 1).

    Parameters
    ----------
    counts : (n, K) float
        How many raters gave each value to each unit; m is their sum. Units with m < 2 have no pairs and add nothing.

    Returns
    -------
    (n, K, K) float
    """
    counts = np.asarray(counts, dtype=np.float64)
    raters = counts.sum(axis=1)
    pairs = counts[:, :, None] * counts[:, None, :]
    diagonal = np.arange(counts.shape[1])
    pairs[:, diagonal, diagonal] -= counts
    scale = np.zeros(len(counts))
    np.divide(1.0, raters - 1.0, out=scale, where=raters >= 2)
    return np.asarray(pairs * scale[:, None, None])


def coincidence_matrix(counts: NDArray[Any], multiplicity: NDArray[Any] | None = None) -> Floats:
    """(K, K) coincidence matrix of units with value counts (n, K), each unit counted `multiplicity` (n,) times."""
    counts = np.asarray(counts, dtype=np.float64)
    raters = counts.sum(axis=1)
    scale = np.zeros(len(counts))
    np.divide(1.0, raters - 1.0, out=scale, where=raters >= 2)
    if multiplicity is not None:
        scale *= multiplicity
    scaled = counts * scale[:, None]
    return np.asarray(scaled.T @ counts - np.diag(scaled.sum(axis=0)))


def table_coincidences(t: NDArray[Any]) -> Floats:
    """Coincidences of paired ratings: the joint tables (..., K, K) plus their transposes."""
    return np.asarray(t + np.swapaxes(t, -1, -2))


def alpha_of_coincidences(o: NDArray[Any], metric: Metric, positions: NDArray[Any] | None = None) -> Floats:
    """Krippendorff's α, 1 - (n.. - 1) Σ o δ² / Σ n_c n_k δ².

    Parameters
    ----------
    o : (..., K, K) float
        Symmetric coincidence matrices; n.. is the sum of each.
    metric : "nominal", "ordinal", "interval" or "ratio"
        Difference function δ between values.
    positions : (K,) float, optional
        Numbers that the values stand for (interval and ratio); 0, 1, 2, … without it.

    Returns
    -------
    (...,) float
        NaN without pairable values and where all of them are one and the same.

    References
    ----------
    Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability. University of Pennsylvania.
    """
    margin = o.sum(axis=-1)
    total = margin.sum(axis=-1)
    if metric == "nominal":
        observed = np.tensordot(o, 1.0 - np.eye(o.shape[-1]), axes=2)
        expected = total**2 - (margin**2).sum(axis=-1)
        scale = total**2
    elif metric == "ordinal":
        ranks = np.cumsum(margin, axis=-1) - margin / 2.0 - total[..., None] / 2.0
        observed, expected = _squared_differences(o, margin, total, ranks)
        scale = total**4
    elif metric == "interval":
        numbers = _numbers(positions, o.shape[-1])
        numbers = numbers - numbers.mean()
        observed, expected = _squared_differences(o, margin, total, numbers)
        scale = total**2 * max(float(np.abs(numbers).max()) ** 2, np.finfo(float).tiny)
    elif metric == "ratio":
        delta = _ratio_differences(_numbers(positions, o.shape[-1]))
        observed = np.tensordot(o, delta, axes=2)
        expected = ((margin @ delta) * margin).sum(axis=-1)
        scale = total**2
    else:
        raise ValueError(f"level must be one of {', '.join(METRICS)}. Got {metric!r}.")
    with np.errstate(invalid="ignore", divide="ignore"):
        alpha = 1.0 - (total - 1.0) * observed / expected
    return np.where(expected > _NOTHING * scale, alpha, np.nan)


def _squared_differences(o: Floats, margin: Floats, total: Floats, at: Floats) -> tuple[Floats, Floats]:
    squares = (margin * at**2).sum(axis=-1)
    products = ((o @ at[..., None])[..., 0] * at).sum(axis=-1)
    return np.maximum(0.0, 2.0 * (squares - products)), 2.0 * (total * squares - (margin * at).sum(axis=-1) ** 2)


def _numbers(positions: NDArray[Any] | None, size: int) -> Floats:
    numbers = np.arange(size, dtype=np.float64) if positions is None else np.asarray(positions, dtype=np.float64)
    if numbers.shape != (size,) or not np.isfinite(numbers).all():
        raise ValueError(f"positions must be {size} finite numbers, one for each value. Got {positions!r}.")
    return numbers


def _ratio_differences(numbers: Floats) -> Floats:
    if (numbers < 0).any():
        raise ValueError("a ratio scale has no values below 0. Use level 'interval' for values of both signs.")
    sums = numbers[:, None] + numbers[None, :]
    apart = numbers[:, None] - numbers[None, :]
    return np.asarray(np.divide(apart, sums, out=np.zeros_like(sums), where=sums > 0) ** 2)

"""Influence values: how far each row moves a statistic. They feed `effective_n`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.statistics.design import Design

Floats = NDArray[np.float64]


def mean_influence(values: NDArray[Any], design: Design) -> Floats:
    """(n,) influence on a weighted mean, so also on a proportion: value minus mean."""
    numbers = np.asarray(values, dtype=np.float64)
    return numbers - float(np.average(numbers, weights=design.weights)) if design.n else numbers


def pearson_influence(x: NDArray[Any], y: NDArray[Any], design: Design) -> Floats:
    """(n,) influence on Pearson's r: z_x z_y - r (z_x² + z_y²) / 2; zeros where r is undefined.

    References
    ----------
    Devlin, S. J., Gnanadesikan, R. and Kettenring, J. R. (1975). Robust estimation and outlier detection with
    correlation coefficients. Biometrika 62, 531-545.
    """
    x_standard, y_standard = _standard(x, design), _standard(y, design)
    if x_standard is None or y_standard is None:
        return np.zeros(design.n)
    r = float(np.average(x_standard * y_standard, weights=design.weights))
    return np.asarray(x_standard * y_standard - r * (x_standard**2 + y_standard**2) / 2.0)


def spearman_influence(x: NDArray[Any], y: NDArray[Any], design: Design) -> Floats:
    """(n,) influence on Spearman's ρ with mid-ranks; zeros where ρ is undefined.

    A row also moves the ranks of the others, and that is included.
    ρ = C / √(V_x V_y) with C the covariance of the mid-distribution functions F and G, and V = (1 - Σp³) / 12.
    """
    if design.n == 0:
        return np.zeros(0)
    share = design.weights / design.weights.sum()
    x_place, x_mass, x_ranks = _midranks(x, share)
    y_place, y_mass, y_ranks = _midranks(y, share)
    x_variance, y_variance = (1.0 - (x_mass**3).sum()) / 12.0, (1.0 - (y_mass**3).sum()) / 12.0
    if min(x_variance, y_variance) <= 1e-12:
        return np.zeros(design.n)
    f, g = x_ranks[x_place] - 0.5, y_ranks[y_place] - 0.5
    covariance = float(share @ (f * g))
    moved = f * g + _above(x_place, x_mass, share * g) + _above(y_place, y_mass, share * f)
    moved -= float(share @ moved)
    x_moved = (x_mass**3).sum() - x_mass[x_place] ** 2
    y_moved = (y_mass**3).sum() - y_mass[y_place] ** 2
    scale = np.sqrt(x_variance * y_variance)
    return np.asarray((moved - covariance / 8.0 * (x_moved / x_variance + y_moved / y_variance)) / scale)


def _standard(values: NDArray[Any], design: Design) -> Floats | None:
    numbers = mean_influence(values, design)
    variance = float(np.average(numbers**2, weights=design.weights)) if design.n else 0.0
    return None if variance <= 0.0 else numbers / np.sqrt(variance)


def _midranks(values: NDArray[Any], share: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    _, place = np.unique(values, return_inverse=True)
    mass: Floats = np.bincount(place, weights=share).astype(np.float64, copy=False)
    return place, mass, np.asarray(np.cumsum(mass) - mass / 2.0)


def _above(place: NDArray[np.intp], mass: Floats, values: Floats) -> Floats:
    """For each row: the sum of `values` over the rows above it, ties at half."""
    at = np.bincount(place, weights=values, minlength=len(mass))
    return np.asarray((np.cumsum(at[::-1])[::-1] - at / 2.0)[place])

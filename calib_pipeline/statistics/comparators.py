"""Comparators that a scorer has to beat: the constant, the base rate, and structural heuristics.

A heuristic's map from feature to value is fitted on the folds that an item is not in, so that it is neither
handicapped by a cut that nobody tuned nor flattered by one tuned on the item itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.statistics.contingency import table_kappa
from calib_pipeline.statistics.continuous import weighted_spearman
from calib_pipeline.statistics.design import Design

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Predict = Callable[[Floats], Ints]

_MOST_BINS = 10
_ROWS_A_BIN = 20


def base_rate(reference: NDArray[Any], design: Design) -> Floats:
    """(K,) weighted share of each value in the reference.

    Parameters
    ----------
    reference : (n, K) float
        Each row's weight over the values, summing to 1: a single 1, or 1/t on each of t tied values.
    design : Design
    """
    totals = design.weights @ np.asarray(reference, dtype=np.float64)
    total = float(totals.sum())
    return np.asarray(totals / total if total > 0 else totals)


def majority_value(reference: NDArray[Any], design: Design) -> int:
    """Code of the value that the reference uses most; the first of equals."""
    return int(np.argmax(base_rate(reference, design)))


def folds_by_hash(ids: Sequence[str], seed: int, folds: int = 5) -> Ints:
    """Fold of each id, by keyed hash: it depends on the id and the seed alone, never on the order of rows.

    Parameters
    ----------
    ids : (n,) str
        Item ids, or group ids where rows of a group must share a fold.
    seed : int
    folds : int
        Number of folds, at least 2.

    Returns
    -------
    (n,) int in 0..folds-1
    """
    if folds < 2:
        raise ValueError(f"folds must be at least 2. Got {folds}; 5 is usual.")
    key = str(seed).encode()
    hashed = (blake2b(name.encode(), key=key, digest_size=8).digest() for name in ids)
    return np.fromiter((int.from_bytes(digest, "big") % folds for digest in hashed), dtype=np.intp, count=len(ids))


def cross_fitted_map(
    feature: NDArray[Any], reference: NDArray[Any], design: Design, folds: NDArray[Any], *, ordered: bool
) -> Ints:
    """Predict each row's value from one feature by a map fitted on the other folds.

    Two values: the cut and direction of the highest κ. An ordered scale: the better in quadratic κ of two monotone
    maps in the direction of Spearman's ρ, the median value per bin of the feature, and the map that gives the
    reference's own shares (a median alone shrinks to the middle, which quadratic κ punishes). An unordered scale: the
    most frequent value per bin. Rows without the feature get the most frequent value.

    Parameters
    ----------
    feature : (n,) float
        NaN where missing.
    reference : (n, K) float
        As in `base_rate`.
    design : Design
    folds : (n,) int
        As from `folds_by_hash`.
    ordered : bool

    Returns
    -------
    (n,) int
        Codes 0..K-1.
    """
    numbers = np.asarray(feature, dtype=np.float64)
    shares = np.asarray(reference, dtype=np.float64) * design.weights[:, None]
    present = np.isfinite(numbers)
    predicted = np.empty(len(numbers), dtype=np.intp)
    for fold in np.unique(folds):
        held = folds == fold
        others = ~held if not held.all() else held
        fitted = others & present
        predicted[held] = int(np.argmax(shares[others].sum(axis=0)))
        asked = held & present
        if fitted.any() and asked.any():
            predicted[asked] = _fit(numbers[fitted], shares[fitted], ordered)(numbers[asked])
    return predicted


def cross_fitted_line(feature: NDArray[Any], target: NDArray[Any], design: Design, folds: NDArray[Any]) -> Floats:
    """Predict each row's number from one feature by the weighted least-squares line of the other folds.

    Rows without the feature, and folds in which it does not vary, get the mean.

    Parameters
    ----------
    feature : (n,) float
        NaN where missing.
    target : (n,) float
    design : Design
    folds : (n,) int

    Returns
    -------
    (n,) float
    """
    x, y, w = np.asarray(feature, dtype=np.float64), np.asarray(target, dtype=np.float64), design.weights
    present = np.isfinite(x)
    predicted = np.empty(len(x))
    for fold in np.unique(folds):
        held = folds == fold
        others = ~held if not held.all() else held
        predicted[held] = np.average(y[others], weights=w[others])
        fitted = others & present
        asked = held & present
        if not (fitted.any() and asked.any()):
            continue
        x_mean, y_mean = np.average(x[fitted], weights=w[fitted]), np.average(y[fitted], weights=w[fitted])
        apart = x[fitted] - x_mean
        spread = float(w[fitted] @ apart**2)
        if spread > 0:
            slope = float((w[fitted] * apart) @ (y[fitted] - y_mean)) / spread
            predicted[asked] = y_mean + slope * (x[asked] - x_mean)
    return predicted


def _fit(feature: Floats, shares: Floats, ordered: bool) -> Predict:
    size = shares.shape[1]
    if size == 2:
        return _best_cut(feature, shares)
    edges = _bin_edges(feature)
    if not ordered:
        bins = _bin_totals(feature, shares, edges)
        values = np.where(bins.sum(axis=1) > 0, np.argmax(bins, axis=1), int(np.argmax(bins.sum(axis=0))))
        return lambda x: values[np.searchsorted(edges, x)]
    levels = (shares @ np.arange(size)) / shares.sum(axis=1)
    rho = float(weighted_spearman(feature, levels, shares.sum(axis=1)[None, :])[0])
    sign = -1.0 if rho < 0 else 1.0
    candidates = [_monotone_medians(feature, shares, edges, sign), _matched_shares(feature, shares, sign)]
    fits = [float(np.nan_to_num(table_kappa(_fitted_table(shares, map_(feature)), "quadratic"))) for map_ in candidates]
    return candidates[int(np.argmax(fits))]


def _best_cut(feature: Floats, shares: Floats) -> Predict:
    order = np.argsort(feature, kind="stable")
    ordered = feature[order]
    below = np.cumsum(shares[order], axis=0)
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    below, total = below[ends], below[-1]
    tables = np.empty((2, len(ends), 2, 2))
    tables[0, :, :, 0], tables[0, :, :, 1] = below, total - below
    tables[1] = tables[0, :, :, ::-1]
    kappas = np.nan_to_num(table_kappa(tables), nan=0.0)
    direction, cut = np.unravel_index(int(np.argmax(kappas)), kappas.shape)
    if kappas[direction, cut] <= 0.0:
        majority = int(np.argmax(total))
        return lambda x: np.full(len(x), majority, dtype=np.intp)
    at = ordered[ends[cut]]
    after = ordered[ends[cut] + 1] if ends[cut] + 1 < len(ordered) else at
    middle = at / 2.0 + after / 2.0
    return lambda x: ((x > middle) != bool(direction)).astype(np.intp)


def _bin_edges(feature: Floats) -> Floats:
    """Upper edges of all bins but the last: between distinct values where these are few, else at quantiles."""
    distinct = np.unique(feature)
    bins = int(np.clip(len(feature) // _ROWS_A_BIN, 2, _MOST_BINS))
    if len(distinct) <= bins:
        return np.asarray(distinct[:-1] / 2.0 + distinct[1:] / 2.0)
    return np.unique(np.quantile(feature, np.arange(1, bins) / bins))


def _bin_totals(feature: Floats, shares: Floats, edges: Floats) -> Floats:
    places = np.searchsorted(edges, feature)
    bins, size = len(edges) + 1, shares.shape[1]
    cells = places[:, None] * size + np.arange(size)
    totals = np.bincount(cells.ravel(), weights=shares.ravel(), minlength=bins * size)
    return totals.reshape(bins, size).astype(np.float64, copy=False)


def _monotone_medians(feature: Floats, shares: Floats, edges: Floats, sign: float) -> Predict:
    bins = _bin_totals(feature, shares, edges)
    pooled: list[tuple[Floats, int]] = []
    for totals in bins if sign > 0 else bins[::-1]:
        pooled.append((totals, 1))
        while len(pooled) > 1 and _median(pooled[-1][0]) < _median(pooled[-2][0]):
            last, before = pooled.pop(), pooled.pop()
            pooled.append((last[0] + before[0], last[1] + before[1]))
    values = np.repeat([_median(totals) for totals, _ in pooled], [width for _, width in pooled])
    values = values if sign > 0 else values[::-1]
    return lambda x: values[np.searchsorted(edges, x)]


def _median(totals: Floats) -> int:
    return int(np.searchsorted(np.cumsum(totals), totals.sum() / 2.0))


def _matched_shares(feature: Floats, shares: Floats, sign: float) -> Predict:
    directed = sign * feature
    order = np.argsort(directed, kind="stable")
    ordered = directed[order]
    weights = shares.sum(axis=1)[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    mass = np.add.reduceat(weights, starts)
    middle = np.cumsum(mass) - mass / 2.0
    bounds = np.cumsum(shares.sum(axis=0))[:-1]
    values = np.searchsorted(bounds, middle, side="right")
    edges = ordered[starts[:-1]] / 2.0 + ordered[starts[1:]] / 2.0
    return lambda x: values[np.searchsorted(edges, sign * x)]


def _fitted_table(shares: Floats, predicted: Ints) -> Floats:
    size = shares.shape[1]
    table = np.zeros((size, size))
    for code in range(size):
        table[:, code] = shares[predicted == code].sum(axis=0)
    return table

"""Pairs on a continuous scale: what each item adds to the sums that its statistics are functions of.

Contributions are (n, 13): weight, x, y, x², y², xy, within 10 % of the range, absolute difference, then the mid-ranks
of x and y, their squares and their product; each the average over the item's pairs, and all 0 where it has none. Ranks
are those of the full sample, also in its replicates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.measurement.reference import Floats, Labels

TOLERANCE = 0.1
"""Two values agree when they are within this share of the range."""

MOMENTS = [0, 1, 2, 3, 4, 5]
RANK_MOMENTS = [0, 8, 9, 10, 11, 12]
WITHIN, DIFFERENCE = 6, 7


def pair_contributions(
    reference: Floats, answers: Floats, item: NDArray[np.int64], weights: Floats, *, span: float
) -> Floats:
    """(n, 13) averages over pairs: ``reference`` and ``answers`` (p,), NaN leaving the pair, of items ``item`` (p,).

    ``weights`` (n,) are those of the items; they enter the ranks.
    """
    items = len(weights)
    paired = np.isfinite(reference) & np.isfinite(answers)
    x, y, where = reference[paired], answers[paired], item[paired]
    difference = np.abs(x - y)
    within = (difference <= TOLERANCE * span * (1 + 1e-12)).astype(float)
    pairs = np.bincount(where, minlength=items)
    of_pair = weights[where] / pairs[where]
    rank_x, rank_y = mid_ranks(x, of_pair), mid_ranks(y, of_pair)
    parts = (
        np.ones_like(x), x, y, x * x, y * y, x * y, within, difference,
        rank_x, rank_y, rank_x * rank_x, rank_y * rank_y, rank_x * rank_y,
    )  # fmt: skip
    sums = np.stack([np.bincount(where, part, items) for part in parts], axis=1)
    return np.asarray(sums / np.maximum(sums[:, :1], 1))


def mid_ranks(values: Floats, weights: Floats) -> Floats:
    """(p,) mid-ranks of weighted values on the unit interval."""
    distinct, code = np.unique(values, return_inverse=True)
    mass = np.bincount(code, weights, len(distinct))
    return np.asarray((np.cumsum(mass) - mass / 2)[code] / max(float(mass.sum()), 1e-300))


def worst_answer(reference: Floats, answers: Floats, low: float, high: float) -> Floats:
    """Refused (NaN) answers at the end of the range that is farthest from the reference."""
    farthest = np.where(reference - low >= high - reference, low, high)
    return np.where(np.isnan(answers), farthest, answers)


def people_one_to_one(labels: Labels, span: float) -> Floats:
    """One person's number against another's of the same item, over ordered pairs of distinct people."""
    first, second = _ordered_pairs(labels.label_items)
    numbers = labels.label_numbers
    return pair_contributions(
        numbers[first], numbers[second], labels.label_items[first], labels.design.weights, span=span
    )


def people_against_others(labels: Labels, span: float) -> Floats:
    """The mean of the others against each person's number."""
    return pair_contributions(
        mean_of_others(labels), labels.label_numbers, labels.label_items, labels.design.weights, span=span
    )


def mean_of_others(labels: Labels) -> Floats:
    """(L,) for every single label the mean of the item's other labels, NaN where there is none."""
    m = np.bincount(labels.label_items, minlength=labels.n)[labels.label_items]
    total = np.bincount(labels.label_items, labels.label_numbers, labels.n)[labels.label_items]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(m > 1, (total - labels.label_numbers) / (m - 1), np.nan))


def best_constant(reference: Floats, weights: Floats, span: float) -> float:
    """The constant that lies within tolerance of the most reference weight: a continuous scale's majority class."""
    order = np.argsort(reference)
    x, w = reference[order], weights[order]
    total = np.concatenate([[0.0], np.cumsum(w)])
    end = np.searchsorted(x, x + 2 * TOLERANCE * span, side="right")
    start = int(np.argmax(total[end] - total[np.arange(len(x))]))
    return float((x[start] + x[end[start] - 1]) / 2)


def random_contributions(reference: Floats, weights: Floats, span: float) -> Floats:
    """The expectation over answers drawn from the reference values themselves."""
    order = np.argsort(reference)
    x, w = reference[order], weights[order] / weights.sum()
    total, first = np.concatenate([[0.0], np.cumsum(w)]), np.concatenate([[0.0], np.cumsum(w * x)])
    tolerance = TOLERANCE * span * (1 + 1e-12)
    low = np.searchsorted(x, reference - tolerance, side="left")
    high = np.searchsorted(x, reference + tolerance, side="right")
    below = np.searchsorted(x, reference, side="right")
    mean, square = first[-1], float(w @ (x * x))
    difference = reference * total[below] - first[below] + (mean - first[below]) - reference * (1 - total[below])
    n = len(reference)
    ranks, middle = mid_ranks(reference, weights), np.full(n, 0.5)
    parts = (
        np.ones(n), reference, np.full(n, mean), reference**2, np.full(n, square), reference * mean,
        total[high] - total[low], difference, ranks, middle, ranks**2, middle**2, ranks * middle,
    )  # fmt: skip
    return np.stack(parts, axis=1)


def _ordered_pairs(items: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    order = np.argsort(items, kind="stable")
    sizes = np.bincount(items)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    first, second = [], []
    for start, size in zip(starts, sizes, strict=True):
        members = order[start : start + size]
        a, b = np.meshgrid(members, members, indexing="ij")
        apart = ~np.eye(size, dtype=bool)
        first.append(a[apart])
        second.append(b[apart])
    empty = np.zeros(0, dtype=np.int64)
    return np.concatenate([empty, *first]), np.concatenate([empty, *second])

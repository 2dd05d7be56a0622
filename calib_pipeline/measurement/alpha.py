"""Krippendorff's α of people's labels, as a function of weighted sums over items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from calib_pipeline.measurement.figures import Block
from calib_pipeline.measurement.reference import Floats, Labels
from calib_pipeline.statistics import alpha_of_coincidences, coincidence_contributions

ALPHA = "krippendorff_alpha"


@dataclass(frozen=True)
class CoincidenceMeasure:
    """α of nominal or ordinal labels; contributions are coincidence matrices, flattened."""

    levels: int
    metric: Literal["nominal", "ordinal"]

    @property
    def statistics(self) -> tuple[str, ...]:
        return (ALPHA,)

    def value(self, statistic: str, sums: Floats) -> Floats:
        return alpha_of_coincidences(sums.reshape(*sums.shape[:-1], self.levels, self.levels), self.metric)

    def agreement_of_rows(self, statistic: str, contributions: Floats) -> Floats:
        raise ValueError("α is no proportion")

    def chance(self, sums: Floats) -> float:
        raise ValueError("α has no chance agreement")

    def moments(self, statistic: str, contributions: Floats, sums: Floats) -> Floats:
        raise ValueError("α is no correlation")


@dataclass(frozen=True)
class SpreadMeasure:
    """α of numbers on the interval metric; contributions are labels, sum, sum of squares and spread within the item."""

    @property
    def statistics(self) -> tuple[str, ...]:
        return (ALPHA,)

    def value(self, statistic: str, sums: Floats) -> Floats:
        n, total, squares, within = (sums[..., column] for column in range(4))
        expected = 2 * (n * squares - total**2)
        with np.errstate(invalid="ignore", divide="ignore"):
            alpha = 1 - (n - 1) * within / expected
        return np.where(expected > 1e-12 * np.maximum(n * squares, 1e-300), alpha, np.nan)

    def agreement_of_rows(self, statistic: str, contributions: Floats) -> Floats:
        raise ValueError("α is no proportion")

    def chance(self, sums: Floats) -> float:
        raise ValueError("α has no chance agreement")

    def moments(self, statistic: str, contributions: Floats, sums: Floats) -> Floats:
        raise ValueError("α is no correlation")


def alpha_block(labels: Labels, *, ordered: bool) -> Block:
    """People's labels as a block whose one statistic is α, on the metric of their scale."""
    if labels.counts.shape[1]:
        metric: Literal["nominal", "ordinal"] = "ordinal" if ordered else "nominal"
        return Block(coincidence_contributions(labels.counts), CoincidenceMeasure(labels.counts.shape[1], metric))
    items = labels.label_items
    numbers = labels.label_numbers - (float(np.median(labels.label_numbers)) if items.size else 0.0)
    m = np.bincount(items, minlength=labels.n).astype(float)
    total, squares = np.bincount(items, numbers, labels.n), np.bincount(items, numbers**2, labels.n)
    within = 2 * (m * squares - total**2) / np.maximum(m - 1, 1)
    paired = (m >= 2)[:, None]
    return Block(np.where(paired, np.stack([m, total, squares, within], axis=1), 0.0), SpreadMeasure())

"""Which statistics a scale has, and each as a function of weighted sums of pair contributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.measurement.continuous import DIFFERENCE, MOMENTS, RANK_MOMENTS, WITHIN
from calib_pipeline.measurement.reference import Floats
from calib_pipeline.statistics import (
    alpha_of_coincidences,
    pearson_of_moments,
    table_ac1,
    table_chance,
    table_coincidences,
    table_kappa,
    table_percent_agreement,
    table_spearman,
)

LOWER_IS_BETTER = frozenset({"mean_absolute_difference"})
PROPORTIONS = frozenset({"percent_agreement", "within_tolerance"})
CORRELATIONS = {"spearman": 1.06, "pearson": 1.0}
"""Correlations with the numerator of the variance of their Fisher z: 1/(n-3), and 1.06/(n-3) for ranks."""


class Measure(Protocol):
    """The statistics of a scale. ``sums`` are (..., c) weighted sums of (n, c) contributions."""

    @property
    def statistics(self) -> tuple[str, ...]:
        """The statistics in the order in which they are shown."""

    def value(self, statistic: str, sums: Floats) -> Floats:
        """(...,) the statistic of each sum; NaN where it is undefined."""

    def agreement_of_rows(self, statistic: str, contributions: Floats) -> Floats:
        """(n,) what each item adds to a proportion, for the items that have a pair."""

    def chance(self, sums: Floats) -> float:
        """Chance agreement at the margins of the sums."""

    def moments(self, statistic: str, contributions: Floats, sums: Floats) -> Floats:
        """(n, 6) the moments behind a correlation: 1, x, y, x², y², xy."""


@dataclass(frozen=True)
class LevelMeasure:
    """The statistics of a scale of ``levels`` values; contributions are joint tables, flattened."""

    levels: int
    ordered: bool

    @property
    def statistics(self) -> tuple[str, ...]:
        nominal = ("percent_agreement", "cohen_kappa", "gwet_ac1")
        return (*nominal, "quadratic_kappa", "krippendorff_alpha", "spearman") if self.ordered else nominal

    def tables(self, sums: Floats) -> Floats:
        """(..., K, K) the joint tables."""
        return sums.reshape(*sums.shape[:-1], self.levels, self.levels)

    def value(self, statistic: str, sums: Floats) -> Floats:
        tables = self.tables(sums)
        match statistic:
            case "percent_agreement":
                return table_percent_agreement(tables)
            case "cohen_kappa":
                return table_kappa(tables)
            case "gwet_ac1":
                return table_ac1(tables)
            case "quadratic_kappa":
                return table_kappa(tables, weights="quadratic")
            case "krippendorff_alpha":
                return alpha_of_coincidences(table_coincidences(tables), "ordinal" if self.ordered else "nominal")
            case "spearman":
                return table_spearman(tables)
        raise ValueError(f"a scale of levels has no {statistic}")

    def agreement_of_rows(self, statistic: str, contributions: Floats) -> Floats:
        return np.asarray(np.trace(self.tables(contributions), axis1=-2, axis2=-1))

    def chance(self, sums: Floats) -> float:
        return float(table_chance(self.tables(sums)))

    def moments(self, statistic: str, contributions: Floats, sums: Floats) -> Floats:
        table = self.tables(sums)
        x, y = _margin_ranks(table.sum(axis=-1)), _margin_ranks(table.sum(axis=-2))
        joint = self.tables(contributions)
        rows, columns = joint.sum(axis=-1), joint.sum(axis=-2)
        product = np.einsum("nkl,k,l->n", joint, x, y)
        parts = (joint.sum(axis=(-2, -1)), rows @ x, columns @ y, rows @ x**2, columns @ y**2, product)
        return np.stack(parts, axis=1)


@dataclass(frozen=True)
class RangeMeasure:
    """The statistics of a continuous scale; contributions are those of `measurement.continuous`."""

    @property
    def statistics(self) -> tuple[str, ...]:
        return ("within_tolerance", "mean_absolute_difference", "pearson", "spearman")

    def value(self, statistic: str, sums: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            match statistic:
                case "within_tolerance":
                    return np.asarray(sums[..., WITHIN] / sums[..., 0])
                case "mean_absolute_difference":
                    return np.asarray(sums[..., DIFFERENCE] / sums[..., 0])
                case "pearson":
                    return pearson_of_moments(sums[..., MOMENTS])
                case "spearman":
                    return pearson_of_moments(sums[..., RANK_MOMENTS])
        raise ValueError(f"a continuous scale has no {statistic}")

    def agreement_of_rows(self, statistic: str, contributions: Floats) -> Floats:
        return contributions[:, WITHIN]

    def chance(self, sums: Floats) -> float:
        raise ValueError("a continuous scale has no chance agreement")

    def moments(self, statistic: str, contributions: Floats, sums: Floats) -> Floats:
        return contributions[:, MOMENTS if statistic == "pearson" else RANK_MOMENTS]


def measure_of(scale: Any) -> LevelMeasure | RangeMeasure:
    """The statistics of a declared scale."""
    return RangeMeasure() if scale.levels is None else LevelMeasure(len(scale.levels), bool(scale.ordered))


def correlation_influence(moments: Floats, weights: Floats) -> Floats:
    """(n,) influence of each item on a Pearson correlation of its moments (n, 6): zx·zy - r/2·(zx² + zy²)."""
    total = weights @ moments
    mean_x, mean_y = total[1] / total[0], total[2] / total[0]
    unit, x, y, xx, yy, xy = moments.T
    cxx = xx - 2 * mean_x * x + unit * mean_x**2
    cyy = yy - 2 * mean_y * y + unit * mean_y**2
    cxy = xy - mean_x * y - mean_y * x + unit * mean_x * mean_y
    var_x, var_y = weights @ cxx / total[0], weights @ cyy / total[0]
    scale = np.sqrt(var_x * var_y)
    if not scale > 0:
        return np.zeros(len(moments))
    r = (weights @ cxy / total[0]) / scale
    return np.asarray(cxy / scale - r / 2 * (cxx / var_x + cyy / var_y))


def _margin_ranks(margin: NDArray[np.float64]) -> Floats:
    return np.asarray((np.cumsum(margin) - margin / 2) / max(float(margin.sum()), 1e-300))

"""Krippendorff's α on a scale with very many values, where a coincidence matrix would not fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.statistics.coincidences import Metric
from calib_pipeline.statistics.design import Design
from calib_pipeline.statistics.resampling import resample_count_chunks, resample_sums

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_NOTHING = 1e-12
_COLUMNS_AT_ONCE = 512


@dataclass(frozen=True, eq=False)
class FineScale:
    """The pairable labels of a coded table, label by label.

    Attributes
    ----------
    unit, code : (labels,) int
        Unit and value of each label.
    raters : (units,) float
        Labels of each unit, two or more.
    size : int
        Number of values.
    level : level of measurement
    numbers : (size,) float
        What the values stand for (interval and ratio); their order otherwise.
    """

    unit: Ints
    code: Ints
    raters: Floats
    size: int
    level: Metric
    numbers: Floats

    @classmethod
    def of(cls, codes: Ints, size: int, level: Metric, positions: Floats | None) -> FineScale:
        """From a raters × units table of codes in which every unit has two labels or more."""
        unit, rater = np.nonzero(codes.T >= 0)
        code = codes.T[unit, rater]
        numbers = np.arange(size, dtype=np.float64) if positions is None else positions
        if level == "ratio" and (numbers < 0).any():
            raise ValueError("a ratio scale has no values below 0. Use level 'interval' for values of both signs.")
        return cls(unit, code, np.bincount(unit).astype(np.float64), size, level, numbers)

    def alpha(self, design: Design) -> float:
        """α of the sample; NaN where its labels do not vary."""
        if self.level == "interval":
            return float(_of_moments(design.weights @ self._moments()))
        return float(self._of_weights(design.weights[None, :])[0])

    def replicates(self, design: Design, *, resamples: int, seed: int) -> Floats:
        """(B,) bootstrap replicates of α."""
        if self.level == "interval":
            return _of_moments(resample_sums(self._moments(), design, resamples=resamples, seed=seed))
        blocks = resample_count_chunks(design, resamples=resamples, seed=seed)
        return np.concatenate([self._of_weights(block) for block in blocks])

    def _moments(self) -> Floats:
        at = self.numbers - self.numbers.mean()
        sums, squares = self._sums(at[self.code])
        return np.column_stack([self.raters, sums, squares, _spread(self.raters, sums, squares)])

    def _of_weights(self, weights: Floats) -> Floats:
        margins: Floats = np.stack(
            [np.bincount(self.code, weights=row[self.unit], minlength=self.size) for row in weights]
        ).astype(np.float64, copy=False)
        total = margins.sum(axis=1)
        if self.level == "ordinal":
            ranks = np.cumsum(margins, axis=1) - margins / 2.0 - total[:, None] / 2.0
            observed = np.array([self._ordinal(row, at) for row, at in zip(weights, ranks, strict=True)])
            expected = 2.0 * (total * (margins * ranks**2).sum(axis=1) - (margins * ranks).sum(axis=1) ** 2)
            scale = total**4
        else:
            observed = weights @ self._disagreement()
            expected = total**2 - (margins**2).sum(axis=1) if self.level == "nominal" else self._ratio(margins)
            scale = total**2
        with np.errstate(invalid="ignore", divide="ignore"):
            alpha = 1.0 - (total - 1.0) * observed / expected
        return np.where(expected > _NOTHING * scale, alpha, np.nan)

    def _ordinal(self, weights: Floats, ranks: Floats) -> float:
        return float(weights @ _spread(self.raters, *self._sums(ranks[self.code])))

    def _sums(self, values: Floats) -> tuple[Floats, Floats]:
        """(units,) sums of the labels' values, and of their squares."""
        sums = np.bincount(self.unit, weights=values)
        squares = np.bincount(self.unit, weights=values**2)
        return sums.astype(np.float64, copy=False), squares.astype(np.float64, copy=False)

    def _disagreement(self) -> Floats:
        """(units,): Σ δ² over the ordered pairs of a unit, over m - 1."""
        starts = np.concatenate([[0], np.cumsum(self.raters)[:-1]]).astype(np.intp)
        total = np.zeros(len(self.raters))
        for apart in range(1, int(self.raters.max())):
            first = np.flatnonzero(self.unit[:-apart] == self.unit[apart:])
            a, b = self.code[first], self.code[first + apart]
            if self.level == "nominal":
                delta = (a != b).astype(np.float64)
            else:
                delta = _ratio_delta(self.numbers[a], self.numbers[b])
            total += np.bincount(self.unit[first], weights=2.0 * delta, minlength=len(starts))
        return total / (self.raters - 1.0)

    def _ratio(self, margins: Floats) -> Floats:
        expected = np.zeros(len(margins))
        for start in range(0, self.size, _COLUMNS_AT_ONCE):
            columns = slice(start, start + _COLUMNS_AT_ONCE)
            delta = _ratio_delta(self.numbers[:, None], self.numbers[None, columns])
            expected += ((margins @ delta) * margins[:, columns]).sum(axis=1)
        return expected


def _of_moments(sums: Floats) -> Floats:
    total, values, squares, observed = np.moveaxis(sums, -1, 0)
    expected = 2.0 * (total * squares - values**2)
    with np.errstate(invalid="ignore", divide="ignore"):
        alpha = 1.0 - (total - 1.0) * observed / expected
    return np.where(expected > _NOTHING * total * squares, alpha, np.nan)


def _spread(raters: Floats, sums: Floats, squares: Floats) -> Floats:
    return np.asarray(np.maximum(0.0, 2.0 * (raters * squares - sums**2) / (raters - 1.0)))


def _ratio_delta(a: Floats, b: Floats) -> Floats:
    sums, apart = a + b, a - b
    return np.asarray(np.divide(apart, sums, out=np.zeros_like(sums), where=sums > 0) ** 2)

"""Sums that do not depend on the machine.

Floating-point addition is not associative, so a matrix product differs in its last bits between processors. Numbers
rounded to a binary grid that is coarse enough for all of their sums add without error, in any order. Whole numbers,
halves and quarters are on the grid already; others move by about n · 2⁻⁵² of their size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.statistics.design import Design

Floats = NDArray[np.float64]

_BITS = 52


def on_grid(values: Floats, terms: int) -> Floats:
    """Round each column of `values` (n, c) to a grid on which any sum of `terms` entries is exact.

    The grid of a column follows from the largest of 1 and its entries, so that columns of shares and counts have one
    grid and add exactly among each other too.
    """
    if values.size == 0:
        return values
    largest = np.maximum(np.abs(values).max(axis=0), 1.0)
    _, exponents = np.frexp(largest * max(1, terms))
    power = _BITS - exponents
    return np.asarray(np.ldexp(np.rint(np.ldexp(values, power)), -power))


def weighted_sums(contributions: NDArray[Any], design: Design) -> Floats:
    """(...) weighted sums of contributions (n, ...) over all rows: what `resample_sums` gives for every unit once."""
    rows = np.asarray(contributions, dtype=np.float64)
    trailing = rows.shape[1:]
    totals = design.unit_totals(rows.reshape(design.n, -1)) if design.n else np.zeros((0, int(np.prod(trailing))))
    return np.asarray(on_grid(totals, design.groups).sum(axis=0).reshape(trailing))

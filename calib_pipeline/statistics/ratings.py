"""A raters × units table of labels as codes, and as distinct count vectors of its units."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.statistics.coding import MISSING, code_together
from calib_pipeline.statistics.resampling import distinct_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_NARROWEST = 64
_LARGEST_KEY = 2**62


@dataclass(frozen=True, eq=False)
class CodedRatings:
    """`codes` (raters, units), -1 where missing, and the `values` in code order."""

    codes: Ints
    values: list[Any]


def code_ratings(ratings: Sequence[Any] | NDArray[Any], categories: Iterable[Hashable] | None = None) -> CodedRatings:
    """Code a raters × units table over one list of values.

    Parameters
    ----------
    ratings : raters × units
        A 2-d array, or a sequence of one row a rater; hashables, missing as None or NaN.
    categories : iterable, optional
        The scale in its order; without it the values that occur, sorted where they can be sorted.

    Raises
    ------
    ValueError
        Not a two-dimensional table, or a label that is not among the categories.
    """
    if isinstance(ratings, np.ndarray) and ratings.ndim == 2 and ratings.dtype.kind in "iuf" and categories is None:
        coded = _code_whole_numbers(ratings)
        if coded is not None:
            return coded
    rows = list(ratings)
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        raise ValueError(f"every rater must have one place for each unit. Got rows of {sorted(lengths)} places.")
    if not rows:
        return CodedRatings(np.zeros((0, 0), dtype=np.intp), list(categories or []))
    codes, values = code_together([_plain(row) for row in rows], categories)
    return CodedRatings(np.stack(codes), values)


def value_counts(
    ratings: Sequence[Any] | NDArray[Any], categories: Iterable[Hashable] | None = None
) -> tuple[Floats, list[Any]]:
    """(units, K): how many raters gave each value to each unit; and the K values."""
    coded = code_ratings(ratings, categories)
    return count_codes(coded.codes, len(coded.values)), coded.values


def count_codes(codes: Ints, size: int) -> Floats:
    """(units, size) counts of a coded raters × units table."""
    units = codes.shape[1]
    place = np.where(codes == MISSING, size, codes) + np.arange(units) * (size + 1)
    counts = np.bincount(place.ravel(), minlength=units * (size + 1)).reshape(units, size + 1)
    return counts[:, :size].astype(np.float64)


def count_patterns(codes: Ints, size: int) -> tuple[Ints, Floats]:
    """Number the distinct count vectors of a coded raters × units table.

    A count vector is read as one integer in base raters + 1, so that the distinct ones are found among integers.

    Returns
    -------
    pattern : (units,) int
        Number of each unit's count vector.
    counts : (p, size) float
        The distinct count vectors.
    """
    raters, units = codes.shape
    base = raters + 1
    if base**size > _LARGEST_KEY:
        return distinct_rows(count_codes(codes, size))
    places = np.array([base**value for value in range(size)], dtype=np.int64)
    worth = np.append(places, 0)
    keys = np.zeros(units, dtype=np.int64)
    for row in codes:
        keys += worth[row]
    if base**size <= max(65_536, 4 * units):
        used = np.flatnonzero(np.bincount(keys, minlength=1))
        number = np.zeros(int(used[-1]) + 1 if used.size else 0, dtype=np.intp)
        number[used] = np.arange(len(used))
        pattern = number[keys]
    else:
        used, pattern = np.unique(keys, return_inverse=True)
    counts = (used[:, None] // places[None, :]) % base
    return pattern.astype(np.intp, copy=False), counts.astype(np.float64)


def _code_whole_numbers(ratings: NDArray[Any]) -> CodedRatings | None:
    """Codes of whole numbers on a narrow scale without sorting; None for other tables."""
    if ratings.size == 0:
        return None
    if ratings.dtype.kind == "f":
        lowest, highest = np.fmin.reduce(ratings, axis=None), np.fmax.reduce(ratings, axis=None)
        if not (np.isfinite(lowest) and np.isfinite(highest)) or highest - lowest >= _NARROWEST:
            return None
        missing = np.isnan(ratings)
        filled = np.where(missing, lowest - 1.0, ratings) if missing.any() else ratings
        shifted = (filled - lowest).astype(np.intp)
        if not (shifted + lowest == filled).all():
            return None
    else:
        lowest, highest = ratings.min(), ratings.max()
        if int(highest) - int(lowest) >= _NARROWEST:
            return None
        shifted = ratings.astype(np.intp) - int(lowest)
    used = np.flatnonzero(np.bincount(shifted.ravel() + 1, minlength=2)[1:])
    if len(used) == int(highest) - int(lowest) + 1:
        codes = shifted
    else:
        number = np.full(int(used[-1]) + 2, MISSING, dtype=np.intp)
        number[used] = np.arange(len(used))
        codes = number[shifted]
    return CodedRatings(codes, (used + lowest).tolist())


def _plain(row: Any) -> Any:
    if isinstance(row, np.ndarray):
        return row
    return np.asarray(row) if all(type(value) in (int, float) for value in row) else list(row)

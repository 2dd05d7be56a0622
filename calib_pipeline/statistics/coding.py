"""Labels of any kind as integer codes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Labels = Sequence[Any] | NDArray[Any]
MISSING = -1


def is_missing(value: object) -> bool:
    """True for the spellings of "no label": None, a float NaN, and pandas' NA and NaT."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def code_together(
    columns: Sequence[Labels], categories: Iterable[Hashable] | None = None
) -> tuple[list[NDArray[np.intp]], list[Any]]:
    """Code several columns of labels over one list of values.

    Parameters
    ----------
    columns : sequence of (n_i,) labels
        Hashable labels; None and NaN are missing.
    categories : iterable, optional
        The values in their order on the scale. Without it: the values that occur, sorted where they can be sorted,
        else in order of first appearance.

    Returns
    -------
    codes : list of (n_i,) int arrays
        Positions in `values`, -1 where missing.
    values : list
        The values in code order.

    Raises
    ------
    ValueError
        A label is not among `categories`, or `categories` repeats a value.
    """
    arrays = [np.asarray(column) if not isinstance(column, np.ndarray) else column for column in columns]
    if categories is None and all(array.ndim == 1 and array.dtype.kind in "biuf" for array in arrays):
        return _code_numbers(arrays)
    listed = [column.tolist() if isinstance(column, np.ndarray) else list(column) for column in columns]
    found = dict.fromkeys(itertools.chain.from_iterable(listed))
    missing = [value for value in found if is_missing(value)]
    values = _ordered([value for value in found if not is_missing(value)]) if categories is None else list(categories)
    position = {value: code for code, value in enumerate(values)}
    if len(position) != len(values):
        raise ValueError(f"categories must be distinct. Got {values!r}; name each value of the scale once.")
    position.update(dict.fromkeys(missing, MISSING))
    unknown = [value for value in found if value not in position]
    if unknown:
        raise ValueError(
            f"label {unknown[0]!r} is not among the categories {values!r}. "
            "Map the label to one of them, or add it to the categories."
        )
    codes = [np.fromiter(map(position.__getitem__, column), np.intp, len(column)) for column in listed]
    return codes, values


def _ordered(values: list[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return values


def _code_numbers(arrays: list[NDArray[Any]]) -> tuple[list[NDArray[np.intp]], list[Any]]:
    joined = np.concatenate(arrays) if len(arrays) > 1 else arrays[0]
    present = ~np.isnan(joined) if joined.dtype.kind == "f" else None
    kept = joined if present is None or present.all() else joined[present]
    values, inverse = _number_codes(kept)
    if kept is joined:
        coded = inverse
    else:
        coded = np.full(joined.shape, MISSING, dtype=np.intp)
        coded[present] = inverse
    columns, start = [], 0
    for array in arrays:
        columns.append(coded[start : start + len(array)])
        start += len(array)
    return columns, values.tolist()


def _number_codes(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    if values.size and values.dtype.kind in "iu":
        lowest, highest = int(values.min()), int(values.max())
        if highest - lowest < 4 * values.size + 64:
            shifted = (values - lowest).astype(np.intp, copy=False)
            used = np.bincount(shifted) > 0
            if used.all():
                return np.arange(lowest, highest + 1), shifted
            return np.flatnonzero(used) + lowest, (np.cumsum(used) - 1)[shifted]
    found, inverse = np.unique(values, return_inverse=True)
    return found, inverse.astype(np.intp, copy=False)

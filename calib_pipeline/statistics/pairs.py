"""Two columns of labels as coded pairs, with the design of the pairs that are complete."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.statistics.coding import Labels, code_together
from calib_pipeline.statistics.design import Design

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class CodedPairs:
    """Complete pairs: codes `first` and `second` (n,), the `values` in code order, and the pairs' design."""

    first: Ints
    second: Ints
    values: list[Any]
    design: Design


def code_pairs(
    a: Labels,
    b: Labels,
    *,
    categories: Iterable[Hashable] | None = None,
    sample_weights: Any = None,
    strata: Labels | None = None,
    group: Labels | None = None,
) -> CodedPairs:
    """Code two columns of labels over one list of values and drop the pairs with a missing side.

    Raises
    ------
    ValueError
        The columns differ in length, or a label is not among `categories`.
    """
    _refuse_unequal(a, b)
    (first, second), values = code_together([a, b], categories)
    design = _design(len(first), sample_weights, strata, group)
    complete = (first >= 0) & (second >= 0)
    if complete.all():
        return CodedPairs(first, second, values, design)
    return CodedPairs(first[complete], second[complete], values, design.subset(complete))


def number_pairs(
    x: Labels, y: Labels, *, sample_weights: Any = None, strata: Labels | None = None, group: Labels | None = None
) -> tuple[Floats, Floats, Design]:
    """Two columns of numbers without the pairs that have a missing side (None or NaN), and the design of the rest.

    Raises
    ------
    ValueError
        The columns differ in length, or a value is no finite number.
    """
    _refuse_unequal(x, y)
    first, second = _numbers("x", x), _numbers("y", y)
    design = _design(len(first), sample_weights, strata, group)
    complete = ~(np.isnan(first) | np.isnan(second))
    if complete.all():
        return first, second, design
    return first[complete], second[complete], design.subset(complete)


def _design(n: int, sample_weights: Any, strata: Labels | None, group: Labels | None) -> Design:
    if sample_weights is None and strata is None and group is None:
        return Design.simple(n)
    return Design.of(sample_weights, strata, group, n=n)


def _refuse_unequal(a: Labels, b: Labels) -> None:
    if len(a) != len(b):
        raise ValueError(f"paired columns must have the same length. Got {len(a)} and {len(b)}; align them by item.")


def _numbers(name: str, values: Labels) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, None where missing. Code text labels as numbers first.") from None
    if np.isinf(numbers).any():
        raise ValueError(
            f"{name} must hold finite numbers. Row {int(np.flatnonzero(np.isinf(numbers))[0])} is infinite."
        )
    return numbers

"""Are the labels of two constructs one set of labels? Told on the items that both have labels for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

ITEMS_A_VALUE = 4
"""So many items for each value are needed before a table with other names for its values is called the same."""


@dataclass(frozen=True)
class SameLabels:
    """How far two tables of labels are one on the items of both.

    Parameters
    ----------
    items
        Items that both label.
    equal
        Items among them with the same values, as often, whoever gave them.
    same
        Whether the tables are one: all items are equal and hold more than one value, or become equal by calling the
        values otherwise, on at least `ITEMS_A_VALUE` items for each.
    """

    items: int
    equal: int
    same: bool


def same_labels(mine: pd.DataFrame, theirs: pd.DataFrame) -> SameLabels:
    """Compare two tables of labels, a row a label with ``item_id`` and ``value``; annotators do not enter.

    Where one value was given to all items nothing can be told: two constructs on which nothing fails agree as well.
    """
    own, other = _values_of_items(mine), _values_of_items(theirs)
    both = sorted(set(own) & set(other))
    equal = sum(own[item] == other[item] for item in both)
    values = {value for item in both for value in own[item]}
    if len(values) < 2:
        return SameLabels(len(both), equal, False)
    renamed = ITEMS_A_VALUE * len(values) <= len(both) and _patterns(own, both) == _patterns(other, both)
    return SameLabels(len(both), equal, equal == len(both) or renamed)


def _values_of_items(labels: pd.DataFrame) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for item, value in zip(labels["item_id"].tolist(), labels["value"].tolist(), strict=True):
        found.setdefault(item, Counter())[value] += 1
    return found


def _patterns(values: dict[str, Counter[str]], items: list[str]) -> Counter[tuple[int, ...]]:
    """How often each value stands at each item, without the values' names."""
    named = {value for item in items for value in values[item]}
    return Counter(tuple(values[item][value] for item in items) for value in named)

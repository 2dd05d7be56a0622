"""Are the labels of two constructs one set of labels? Told on the items that both have labels for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

Values = dict[str, Counter[str]]
"""How often each value was given to each item."""
ITEMS_A_VALUE = 4
"""So many items for each value are needed before a table with other names for its values is called the same."""
SAME_BEYOND_CHANCE = 0.9
"""Tables that agree on more than this share of what chance leaves open are one, whatever was changed in some rows."""


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
        Whether the tables are one: they hold more than one value, and their items are equal in more than
        `SAME_BEYOND_CHANCE` of what chance leaves open (Cohen's kappa of the values of an item, taken together), as
        they are or, on at least `ITEMS_A_VALUE` items for each value, by calling the values otherwise.
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
    same = _beyond_chance(own, other, both) > SAME_BEYOND_CHANCE
    if not same and ITEMS_A_VALUE * len(values) <= len(both):
        same = _beyond_chance(own, _called_as(own, other, both), both) > SAME_BEYOND_CHANCE
    return SameLabels(len(both), equal, same)


def _values_of_items(labels: pd.DataFrame) -> Values:
    found: Values = {}
    for item, value in zip(labels["item_id"].tolist(), labels["value"].tolist(), strict=True):
        found.setdefault(item, Counter())[value] += 1
    return found


def _beyond_chance(own: Values, other: Values, items: list[str]) -> float:
    """Cohen's kappa of the values of an item, taken together; 1 where every item is equal."""
    pairs = [(frozenset(own[item].items()), frozenset(other[item].items())) for item in items]
    observed = sum(a == b for a, b in pairs) / len(pairs)
    if observed == 1:
        return 1.0
    ours, theirs = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    expected = sum(count * theirs[one] for one, count in ours.items()) / len(pairs) ** 2
    return (observed - expected) / (1 - expected)


def _called_as(own: Values, other: Values, items: list[str]) -> Values:
    """The other table with its values called by the names that fit this one best, each name once."""
    from scipy.optimize import linear_sum_assignment

    ours = sorted({value for item in items for value in own[item]})
    theirs = sorted({value for item in items for value in other[item]})
    together = np.zeros((len(theirs), len(ours)))
    row, column = ({value: place for place, value in enumerate(values)} for values in (theirs, ours))
    for item in items:
        for name, count in other[item].items():
            for value, votes in own[item].items():
                together[row[name], column[value]] += count * votes
    found = zip(*linear_sum_assignment(together, maximize=True), strict=True)
    names = {theirs[at]: ours[of] for at, of in found}
    return {
        item: Counter({names.get(name, f"{name} of the other"): count for name, count in other[item].items()})
        for item in items
    }

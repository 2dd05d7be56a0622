"""Are the labels of two constructs one set of labels? Told on the items that both have labels for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

Values = dict[str, Counter[str]]
"""How often each value was given to each item."""
ITEMS_A_VALUE = 4
"""So many items for each value are needed before a table with other names for its values is called the same."""
SAME_ORDER = 0.98
"""Numbers whose item means have a higher rank correlation are one table on two scales."""
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
        Items among them on which all labels of one table are labels of the other, whoever gave them; where the tables
        are one under other names for their values, with these names.
    same
        Whether the tables are one: they hold more than one value, and their items are equal in more than
        `SAME_BEYOND_CHANCE` of what chance leaves open (Cohen's kappa of the values of an item, taken together), as
        they are or, on at least `ITEMS_A_VALUE` items for each value, with the values of one read as values of the
        other, each as the one it mostly stands beside; or they are numbers in one order (`SAME_ORDER`).
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
    equal = sum(_alike(own[item], other[item]) for item in both)
    values = {value for item in both for value in own[item]}
    if len(values) < 2:
        return SameLabels(len(both), equal, False)
    if _beyond_chance(own, other, both) > SAME_BEYOND_CHANCE:
        return SameLabels(len(both), equal, True)
    for ours, theirs_read in ((own, _read_as(own, other, both)), (other, _read_as(other, own, both))):
        named = {value for item in both for value in theirs_read[item]}
        enough = ITEMS_A_VALUE * len(values) <= len(both) and len(named) > 1
        if enough and _beyond_chance(ours, theirs_read, both) > SAME_BEYOND_CHANCE:
            return SameLabels(len(both), sum(_alike(ours[item], theirs_read[item]) for item in both), True)
    if _one_order(own, other, both):
        return SameLabels(len(both), len(both), True)
    return SameLabels(len(both), equal, False)


def _alike(own: Counter[str], other: Counter[str]) -> bool:
    """Whether the labels of one are among those of the other, as often: a sheet without one of its people is a copy."""
    return own <= other or other <= own


def _one_order(own: Values, other: Values, items: list[str]) -> bool:
    """Whether both hold many numbers, and the item means of one rise or fall with those of the other."""
    from scipy.stats import spearmanr

    means = []
    for table in (own, other):
        try:
            means.append([sum(float(v) * n for v, n in table[item].items()) / table[item].total() for item in items])
        except ValueError:
            return False
        if len(set(means[-1])) * ITEMS_A_VALUE <= len(items):
            return False
    return abs(float(spearmanr(means[0], means[1]).statistic)) > SAME_ORDER


def _values_of_items(labels: pd.DataFrame) -> Values:
    found: Values = {}
    for item, value in zip(labels["item_id"].tolist(), labels["value"].tolist(), strict=True):
        found.setdefault(item, Counter())[value] += 1
    return found


def _beyond_chance(own: Values, other: Values, items: list[str]) -> float:
    """Cohen's kappa of the values of an item, taken together; 1 where every item is equal, 0 where none is."""
    pairs = [(frozenset(own[item].items()), frozenset(other[item].items())) for item in items]
    observed = sum(_alike(own[item], other[item]) for item in items) / len(pairs)
    if observed in (0, 1):
        return observed
    ours, theirs = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    together = sum(
        count * times
        for one, count in ours.items()
        for another, times in theirs.items()
        if _alike(Counter(dict(one)), Counter(dict(another)))
    )
    expected = together / len(pairs) ** 2
    return (observed - expected) / (1 - expected)


def _read_as(own: Values, other: Values, items: list[str]) -> Values:
    """The other table with each of its values read as that of this one beside which it mostly stands."""
    beside: dict[str, Counter[str]] = {}
    for item in items:
        for name, count in other[item].items():
            for value, votes in own[item].items():
                beside.setdefault(name, Counter())[value] += count * votes
    names = {name: min(values, key=lambda value: (-values[value], value)) for name, values in beside.items()}
    read: Values = {}
    for item in items:
        read[item] = Counter()
        for name, count in other[item].items():
            read[item][names[name]] += count
    return read

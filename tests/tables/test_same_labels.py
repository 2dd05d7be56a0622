"""Two tables of labels are one: under other names of annotators and values, and not by chance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calib_pipeline.evidence.same_labels import SameLabels, same_labels

ITEMS = [f"i{number}" for number in range(40)]


def labels(*votes: list[str]) -> pd.DataFrame:
    """A table of one vote a list, of each item in order."""
    return pd.concat([pd.DataFrame({"item_id": ITEMS[: len(vote)], "value": vote}) for vote in votes])


def drawn(seed: int, values: str, size: int = 40) -> list[str]:
    return np.random.default_rng(seed).choice(list(values), size).tolist()


FIRST, SECOND = drawn(1, "abc"), drawn(2, "abc")


def test_the_same_votes_by_whomever_are_the_same() -> None:
    assert same_labels(labels(FIRST, SECOND), labels(SECOND, FIRST)) == SameLabels(40, 40, True)


def test_values_that_are_only_called_otherwise_are_the_same() -> None:
    renamed = [[dict(zip("abc", "xyz", strict=True))[value] for value in vote] for vote in (FIRST, SECOND)]
    turned = [[dict(zip("abc", "bca", strict=True))[value] for value in vote] for vote in (FIRST, SECOND)]
    assert same_labels(labels(FIRST, SECOND), labels(*renamed)) == SameLabels(40, 0, True)
    assert same_labels(labels(FIRST, SECOND), labels(*turned)).same


@pytest.mark.parametrize("names", ["abc", "bca", "xyz"], ids=["as they are", "turned", "renamed"])
def test_a_few_other_votes_make_no_other_labels(names: str) -> None:
    """The cheat: copy the labels of the other construct, and change some so that not all are equal."""
    other = [dict(zip("abc", names, strict=True))[value] for value in FIRST]
    other[0] = names[1] if other[0] != names[1] else names[2]
    assert same_labels(labels(FIRST), labels(other)).same
    half = other[:20] + [names[1]] * 20
    assert not same_labels(labels(FIRST), labels(half)).same


def test_constructs_that_go_together_are_two() -> None:
    """Nine of ten agree, and most items pass for both: far from a copy."""
    mine = ["pass"] * 34 + ["fail"] * 6
    theirs = ["pass"] * 32 + ["fail"] * 2 + ["pass"] * 2 + ["fail"] * 4
    assert same_labels(labels(mine), labels(theirs)) == SameLabels(40, 36, False)


def test_the_measure_is_cohens_kappa() -> None:
    from sklearn.metrics import cohen_kappa_score

    from calib_pipeline.evidence.same_labels import _beyond_chance, _values_of_items

    ours, theirs = (_values_of_items(labels(votes)) for votes in (FIRST, SECOND))
    assert _beyond_chance(ours, theirs, ITEMS) == pytest.approx(cohen_kappa_score(FIRST, SECOND))


def test_only_shared_items_count() -> None:
    assert same_labels(labels(FIRST), labels(FIRST[:7])) == SameLabels(7, 7, True)
    assert same_labels(labels(FIRST), labels(FIRST).iloc[:0]) == SameLabels(0, 0, False)


def test_where_nothing_fails_for_either_nothing_can_be_told() -> None:
    assert same_labels(labels(["a"] * 40), labels(["a"] * 40)) == SameLabels(40, 40, False)


def test_numbers_that_all_differ_are_no_names_for_each_other() -> None:
    numbers, others = ([f"{number / 7:.3f}" for number in start] for start in (range(40), range(100, 140)))
    assert not same_labels(labels(numbers), labels(others)).same
    assert same_labels(labels(numbers), labels(numbers)).same


@pytest.mark.parametrize("seed", range(20))
def test_two_constructs_are_not_the_same_by_chance(seed: int) -> None:
    assert not same_labels(labels(drawn(seed, "ab", 12)), labels(drawn(seed + 100, "ab", 12))).same

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


def test_one_other_vote_makes_them_others() -> None:
    other = ["c" if FIRST[0] != "c" else "a", *FIRST[1:]]
    assert same_labels(labels(FIRST), labels(other)) == SameLabels(40, 39, False)


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

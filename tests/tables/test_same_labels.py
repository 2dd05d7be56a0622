"""Two tables of labels are one: under other names of annotators and values, and not by chance."""

from __future__ import annotations

from collections.abc import Callable

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
    assert same_labels(labels(FIRST, SECOND), labels(*renamed)) == SameLabels(40, 40, True)
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
    rng = np.random.default_rng(6)
    numbers, others = ([f"{number:.3f}" for number in rng.random(40)] for _ in range(2))
    assert not same_labels(labels(numbers), labels(others)).same
    assert same_labels(labels(numbers), labels(numbers)).same


@pytest.mark.parametrize("turn", [lambda x: x + 0.1, lambda x: 100 - 3 * x, lambda x: x**3])
def test_numbers_on_another_scale_are_the_same(turn: Callable[[float], float]) -> None:
    numbers = np.random.default_rng(7).uniform(1, 5, 40)
    told = same_labels(labels([f"{x:.4f}" for x in numbers]), labels([f"{turn(x):.4f}" for x in numbers]))
    assert told == SameLabels(40, 40, True)


def test_numbers_that_go_together_are_two_tables() -> None:
    rng = np.random.default_rng(8)
    numbers = rng.uniform(1, 5, 40)
    near = numbers + rng.normal(0, 0.4, 40)
    assert not same_labels(labels([f"{x:.4f}" for x in numbers]), labels([f"{x:.4f}" for x in near])).same


def test_a_sheet_without_one_of_its_people_or_with_one_twice_is_the_same() -> None:
    third = drawn(9, "abc")
    assert same_labels(labels(FIRST, SECOND, third), labels(FIRST, third)) == SameLabels(40, 40, True)
    assert same_labels(labels(FIRST, SECOND), labels(FIRST, SECOND, SECOND)) == SameLabels(40, 40, True)
    assert not same_labels(labels(FIRST, SECOND, third), labels(drawn(10, "abc"), drawn(11, "abc"))).same


def test_levels_that_were_put_together_are_the_same() -> None:
    levels = drawn(12, "12345")
    passed = ["pass" if level >= "4" else "fail" for level in levels]
    for one, other in ((levels, passed), (passed, levels)):
        assert same_labels(labels(one), labels(other)) == SameLabels(40, 40, True)
    noisy = [value if at % 4 else "pass" for at, value in enumerate(passed)]
    assert not same_labels(labels(levels), labels(noisy)).same


@pytest.mark.parametrize("seed", range(20))
def test_two_constructs_are_not_the_same_by_chance(seed: int) -> None:
    assert not same_labels(labels(drawn(seed, "ab", 12)), labels(drawn(seed + 100, "ab", 12))).same

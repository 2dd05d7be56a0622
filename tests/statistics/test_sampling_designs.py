"""Weights, strata and groups; effective sizes; influence values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from calib_pipeline.statistics import (
    Design,
    cohen_kappa,
    effective_n,
    mean_absolute_difference,
    mean_influence,
    moment_contributions,
    pearson_influence,
    pearson_of_moments,
    percent_agreement,
    spearman_influence,
    weighted_spearman,
)


def test_weights_are_scaled_to_mean_one_and_labels_are_coded() -> None:
    design = Design.of([2, 4, 6], ["b", "a", "b"], ["g7", "g2", "g7"], n=3)
    assert design.weights.tolist() == [0.5, 1.0, 1.5]
    assert design.strata.tolist() == [1, 0, 1]
    assert design.groups == 2 and design.resampled == "groups within strata"
    assert Design.simple(3).resampled == "rows" and Design.simple(3).groups == 3
    assert Design.simple(0).groups == 0


def test_a_subset_keeps_weights_and_recounts_groups() -> None:
    design = Design.of([1, 1, 2, 2], None, ["a", "a", "b", "c"], n=4)
    kept = design.subset(np.array([False, True, True, False]))
    assert kept.n == 2 and kept.groups == 2
    assert kept.weights.tolist() == design.weights[1:3].tolist()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"weights": [1.0, 2.0]}, "weights must have one value for each of the 3 rows"),
        ({"weights": [1.0, 0.0, 1.0]}, "weights must be positive numbers. Got 0.0 at row 1"),
        ({"weights": [1.0, 1.0, float("nan")]}, "weights must be positive numbers. Got nan at row 2"),
        ({"strata": ["a", "b"]}, "strata must have one value for each of the 3 rows"),
        ({"strata": ["a", None, "b"]}, "strata must be given for every row. Row 1 has none"),
        ({"strata": ["a", "b", "b"], "group": ["g", "h", "g"]}, "the group of row 2 has rows in two strata"),
    ],
)
def test_an_impossible_design_is_refused_by_row(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Design.of(**given, n=3)


def test_effective_n_of_equal_weights_is_n_and_kishs_otherwise() -> None:
    rng = np.random.default_rng(0)
    assert effective_n(rng.normal(size=50), Design.simple(50)) == 50
    weights = np.repeat([1.0, 3.0], 25)
    assert effective_n(rng.normal(size=50), Design.of(weights, n=50)) == pytest.approx(100**2 / (25 + 25 * 9))


def test_a_group_that_answers_as_one_counts_as_one() -> None:
    values = np.repeat([0.0, 1.0] * 20, 5)
    design = Design.of(group=np.repeat(np.arange(40), 5), n=200)
    size = effective_n(mean_influence(values, design), design)
    assert size == pytest.approx(200 / (5 * 40 / 39))
    spread = np.tile([0.0, 1.0, 0.0, 1.0, 0.5], 40)
    assert effective_n(mean_influence(spread, design), design) == 200, "never more than Kish's"


def test_without_variation_the_worst_clustering_is_assumed() -> None:
    sizes = [17, 1, 1, 1]
    design = Design.of(group=np.repeat(np.arange(4), sizes), n=20)
    assert effective_n(np.zeros(20), design) == pytest.approx(20**2 / (17**2 + 3))
    one = Design.of(group=["only"] * 20, n=20)
    assert effective_n(np.random.default_rng(0).normal(size=20), one) == 1
    assert effective_n(np.zeros(0), Design.simple(0)) == 0


Influence = Callable[[NDArray[Any], NDArray[Any], Design], NDArray[np.float64]]


def pearson_at(x: NDArray[Any], y: NDArray[Any], weights: NDArray[np.float64]) -> float:
    return float(pearson_of_moments(weights @ moment_contributions(x, y)))


def spearman_at(x: NDArray[Any], y: NDArray[Any], weights: NDArray[np.float64]) -> float:
    return float(weighted_spearman(x, y, weights[None])[0])


@pytest.mark.parametrize(("influence", "value"), [(pearson_influence, pearson_at), (spearman_influence, spearman_at)])
@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_influence_is_the_derivative_in_each_rows_weight(
    influence: Influence, value: Callable[..., float], ties: bool, weighted: bool
) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=30)
    y = x + rng.normal(size=30)
    if ties:
        x, y = np.round(x), np.round(y)
    weights = rng.random(30) + 0.5 if weighted else np.ones(30)
    design = Design.of(weights, n=30)
    total, step = design.weights.sum(), 1e-6
    slopes = []
    for row in range(30):
        more, less = design.weights.copy(), design.weights.copy()
        more[row] += step
        less[row] -= step
        slopes.append((value(x, y, more) - value(x, y, less)) / (2 * step) * total)
    found = influence(x, y, design)
    assert found == pytest.approx(slopes, abs=1e-6)
    assert design.weights @ found == pytest.approx(0, abs=1e-9)


def test_influence_is_zero_where_the_correlation_is_undefined() -> None:
    design = Design.simple(4)
    for influence in (pearson_influence, spearman_influence):
        assert influence(np.ones(4), np.arange(4), design).tolist() == [0, 0, 0, 0]


def test_four_big_groups_that_agree_within_themselves_widen_the_interval() -> None:
    rng = np.random.default_rng(2)
    right = np.repeat([1, 1, 0, 1], 50)
    a = rng.integers(0, 2, 200)
    b = np.where(right == 1, a, 1 - a)
    alone = percent_agreement(a, b)
    clustered = percent_agreement(a, b, group=np.repeat(["g1", "g2", "g3", "g4"], 50))
    assert alone.low is not None and clustered.low is not None
    assert alone.low > 0.68, "rows alone would claim two thirds"
    assert clustered.low <= 0.25, "one group in four decides everything"
    assert clustered.resampled == "groups"


def test_strata_weights_move_the_value_to_the_population() -> None:
    # Two strata of ten: all agree in the first, none in the second, which stands for nine tenths of the population.
    a = [0, 1] * 10
    b = [0, 1] * 5 + [1, 0] * 5
    strata = ["easy"] * 10 + ["hard"] * 10
    weights = [1.0] * 10 + [9.0] * 10
    estimate = percent_agreement(a, b, strata=strata, sample_weights=weights)
    assert estimate.value == pytest.approx(0.1)
    assert estimate.low == estimate.high == pytest.approx(0.1), "within strata nothing varies"
    assert estimate.note is not None and "zero width" in estimate.note
    assert estimate.resampled == "rows within strata"
    difference = mean_absolute_difference(a, b, strata=strata, sample_weights=weights)
    assert difference.value == pytest.approx(0.9)


def test_every_spelling_of_no_label_leaves_the_pair() -> None:
    import pandas as pd

    a = ["x", None, float("nan"), pd.NA, "x", "y", "y", "x"]
    b = pd.Series(["x", "y", "x", "y", "x", "y", "x", None])
    assert percent_agreement(a, b).n == 4
    assert cohen_kappa(a, b, categories=["x", "y"]).value == pytest.approx(0.5)
    assert mean_absolute_difference([1, None, 3, 4], np.array([2, 5, np.nan, 4])).n == 2


def test_unequal_columns_and_unknown_labels_are_refused_with_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"same length\. Got 2 and 3; align them by item"):
        percent_agreement([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="label 'maybe' is not among the categories"):
        cohen_kappa(["yes", "maybe"], ["yes", "no"], categories=["yes", "no"])
    with pytest.raises(ValueError, match="categories must be distinct"):
        cohen_kappa(["yes"], ["no"], categories=["yes", "no", "yes"])
    with pytest.raises(ValueError, match="Give categories="):
        cohen_kappa(["low", "high"], ["low", "low"], weights="quadratic")
    with pytest.raises(ValueError, match="must hold numbers"):
        mean_absolute_difference(["a"], [1])
    with pytest.raises(ValueError, match="Row 1 is infinite"):
        mean_absolute_difference([1, float("inf")], [1, 2])

"""What must hold of agreement whatever the labels are."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from calib_pipeline.statistics import (
    Confusion,
    Estimate,
    cohen_kappa,
    error_rates,
    gwet_ac1,
    krippendorff_alpha,
    mean_absolute_difference,
    multirater_ac1,
    pairwise_agreement,
    pearson,
    percent_agreement,
    spearman,
    within_tolerance,
    youden_j,
)

B = 200
SCALE = ["low", "middle", "high"]
LABEL = st.sampled_from([*SCALE, None])
PAIRS = st.lists(st.tuples(LABEL, LABEL), min_size=1, max_size=40)
NUMBERS = st.lists(st.tuples(st.integers(-20, 20).map(float), st.integers(-20, 20).map(float)), min_size=1, max_size=40)
MATRIX = st.lists(st.lists(st.sampled_from([1, 2, 3, 4, None]), min_size=3, max_size=3), min_size=1, max_size=25)
KAPPAS: list[Callable[..., Estimate]] = [
    lambda a, b, **more: cohen_kappa(a, b, categories=SCALE, resamples=B, **more),
    lambda a, b, **more: cohen_kappa(a, b, categories=SCALE, weights="linear", resamples=B, **more),
    lambda a, b, **more: cohen_kappa(a, b, categories=SCALE, weights="quadratic", resamples=B, **more),
    lambda a, b, **more: gwet_ac1(a, b, categories=SCALE, resamples=B, **more),
    lambda a, b, **more: percent_agreement(a, b, resamples=B, **more),
]
kappas = pytest.mark.parametrize("statistic", KAPPAS, ids=["kappa", "linear", "quadratic", "ac1", "agreement"])


def columns(pairs: list[tuple[Any, Any]]) -> tuple[list[Any], list[Any]]:
    return [a for a, _ in pairs], [b for _, b in pairs]


def same(first: Estimate, second: Estimate) -> bool:
    if first.value is None or second.value is None:
        return first.value is second.value
    return math.isclose(first.value, second.value, abs_tol=1e-12)


@kappas
@given(pairs=PAIRS)
def test_the_two_sides_can_be_exchanged(statistic: Callable[..., Estimate], pairs: list[tuple[Any, Any]]) -> None:
    a, b = columns(pairs)
    assert same(statistic(a, b), statistic(b, a))


@kappas
@given(pairs=PAIRS, shuffle=st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(
    statistic: Callable[..., Estimate], pairs: list[tuple[Any, Any]], shuffle: Any
) -> None:
    a, b = columns(pairs)
    shuffle.shuffle(pairs)
    first, second = statistic(a, b), statistic(*columns(pairs))
    assert same(first, second)
    assert (first.low, first.high) == (second.low, second.high)


@given(pairs=PAIRS, names=st.permutations(["x", "y", "z"]))
def test_names_of_values_do_not_matter_without_an_order(pairs: list[tuple[Any, Any]], names: list[str]) -> None:
    a, b = columns(pairs)
    rename = dict(zip(SCALE, names, strict=True)) | {None: None}
    renamed = [rename[value] for value in a], [rename[value] for value in b]
    assert same(cohen_kappa(a, b, resamples=B), cohen_kappa(*renamed, resamples=B))
    assert same(percent_agreement(a, b, resamples=B), percent_agreement(*renamed, resamples=B))
    assert same(gwet_ac1(a, b, categories=SCALE), gwet_ac1(*renamed, categories=["x", "y", "z"]))


@given(pairs=PAIRS)
def test_an_ordered_scale_can_be_turned_round(pairs: list[tuple[Any, Any]]) -> None:
    a, b = columns(pairs)
    turned = cohen_kappa(a, b, categories=SCALE[::-1], weights="quadratic", resamples=B)
    assert same(cohen_kappa(a, b, categories=SCALE, weights="quadratic", resamples=B), turned)


@kappas
@given(pairs=PAIRS)
def test_values_and_limits_stay_inside_the_range_of_the_statistic(
    statistic: Callable[..., Estimate], pairs: list[tuple[Any, Any]]
) -> None:
    estimate = statistic(*columns(pairs))
    assert_inside(estimate, -1.0, 1.0)


@kappas
@given(pairs=PAIRS)
def test_three_pairs_carry_no_interval_and_no_figure_is_left_unexplained(
    statistic: Callable[..., Estimate], pairs: list[tuple[Any, Any]]
) -> None:
    estimate = statistic(*columns(pairs))
    complete = sum(a is not None and b is not None for a, b in pairs)
    assert estimate.n == complete
    if complete <= 3:
        assert estimate.low is None and estimate.high is None
    if estimate.value is None or estimate.low is None:
        assert estimate.note
    else:
        assert estimate.resamples == B and estimate.survivors is not None and 0 < estimate.survivors <= B


@kappas
@given(pairs=PAIRS, seed=st.integers(0, 2**32 - 1))
def test_the_same_seed_gives_the_same_interval(
    statistic: Callable[..., Estimate], pairs: list[tuple[Any, Any]], seed: int
) -> None:
    a, b = columns(pairs)
    assert statistic(a, b, seed=seed) == statistic(a, b, seed=seed)


@given(pairs=PAIRS)
def test_kappa_against_exact_arithmetic(pairs: list[tuple[Any, Any]]) -> None:
    a, b = columns(pairs)
    complete = [(x, y) for x, y in pairs if x is not None and y is not None]
    estimate = cohen_kappa(a, b, resamples=1)
    n = len(complete)
    if n == 0:
        assert estimate.value is None
        return
    observed = Fraction(sum(x == y for x, y in complete), n)
    chance = sum(
        Fraction(sum(x == value for x, _ in complete) * sum(y == value for _, y in complete), n * n) for value in SCALE
    )
    if chance == 1:
        assert estimate.value is None and estimate.note is not None and "one class" in estimate.note
    else:
        assert estimate.value == pytest.approx(float((observed - chance) / (1 - chance)), abs=1e-13)


@given(pairs=PAIRS)
def test_alpha_of_two_complete_raters_against_its_closed_form(pairs: list[tuple[Any, Any]]) -> None:
    # Scott's pi with the small-sample term: alpha = 1 - (2n - 1)/(2n) * (1 - po) / (1 - sum of squared pooled shares).
    complete = [(x, y) for x, y in pairs if x is not None and y is not None]
    a, b = columns(complete)
    estimate = krippendorff_alpha([a, b], level="nominal", resamples=B)
    n = len(complete)
    if n == 0:
        assert estimate.value is None
        return
    pooled = [Fraction(a.count(value) + b.count(value), 2 * n) for value in SCALE]
    disagreement = 1 - sum(share**2 for share in pooled)
    if disagreement == 0:
        assert estimate.value is None and estimate.note is not None and "no variation" in estimate.note
        return
    observed = Fraction(sum(x != y for x, y in complete), n)
    closed = 1 - Fraction(2 * n - 1, 2 * n) * observed / disagreement
    assert estimate.value == pytest.approx(float(closed), abs=1e-13)


@given(matrix=MATRIX, shuffle=st.randoms(use_true_random=False), level=st.sampled_from(["nominal", "ordinal", "ratio"]))
def test_alpha_knows_neither_raters_nor_the_order_of_units(matrix: list[list[Any]], shuffle: Any, level: Any) -> None:
    first = krippendorff_alpha(list(zip(*matrix, strict=True)), level=level, resamples=B)
    for unit in matrix:
        shuffle.shuffle(unit)
    shuffle.shuffle(matrix)
    second = krippendorff_alpha(list(zip(*matrix, strict=True)), level=level, resamples=B)
    assert same(first, second)
    assert first.low == pytest.approx(second.low) and first.high == pytest.approx(second.high)
    assert_inside(first, -2.0, 1.0)


@given(matrix=MATRIX)
def test_two_values_have_no_order(matrix: list[list[Any]]) -> None:
    two = [[None if value is None else value % 2 for value in unit] for unit in matrix]
    by_rater = list(zip(*two, strict=True))
    nominal = krippendorff_alpha(by_rater, level="nominal", resamples=B)
    for level in ("ordinal", "interval", "ratio"):
        assert same(nominal, krippendorff_alpha(by_rater, level=level, resamples=B))


@given(matrix=MATRIX)
def test_agreement_among_raters_stays_in_range(matrix: list[list[Any]]) -> None:
    by_rater = list(zip(*matrix, strict=True))
    assert_inside(pairwise_agreement(by_rater, resamples=B), 0.0, 1.0)
    assert_inside(multirater_ac1(by_rater, categories=[1, 2, 3, 4], resamples=B), -1.0, 1.0)


@given(pairs=NUMBERS)
def test_numbers_stay_in_range_and_sides_can_be_exchanged(pairs: list[tuple[float, float]]) -> None:
    x, y = columns(pairs)
    assert_inside(pearson(x, y), -1.0, 1.0)
    assert_inside(spearman(x, y), -1.0, 1.0)
    assert same(pearson(x, y), pearson(y, x)) and same(spearman(x, y), spearman(y, x))
    assert_inside(mean_absolute_difference(x, y, resamples=B), 0.0, 40.0)
    assert_inside(within_tolerance(x, y, span=40, resamples=B), 0.0, 1.0)


@given(pairs=NUMBERS, scale=st.sampled_from([0.5, 3.0]), shift=st.sampled_from([-7.0, 1e6]))
def test_correlations_know_no_unit(pairs: list[tuple[float, float]], scale: float, shift: float) -> None:
    x, y = columns(pairs)
    moved = [scale * value + shift for value in x]
    first, second = pearson(x, y), pearson(moved, y)
    assert (first.value is None) == (second.value is None)
    if first.value is not None:
        assert second.value == pytest.approx(first.value, abs=1e-7)
    assert same(spearman(x, y), spearman(moved, y))


COUNT = st.integers(0, 30)


@given(counts=st.tuples(*[COUNT] * 8))
def test_labeled_rates_are_never_below_decided_ones(counts: tuple[int, ...]) -> None:
    table = Confusion(*counts)
    rates = error_rates(table)
    for decided, labeled, refused, whole in (
        (
            rates.far_decided,
            rates.far_labeled,
            table.abstained_negative + table.failed_negative,
            table.labeled_negative,
        ),
        (
            rates.frr_decided,
            rates.frr_labeled,
            table.abstained_positive + table.failed_positive,
            table.labeled_positive,
        ),
    ):
        if labeled.value is None:
            assert whole == 0 and decided.value is None and labeled.note
        elif decided.value is None:
            assert labeled.value == 1.0, "everything was refused"
        else:
            share = refused / whole
            assert labeled.value == pytest.approx(decided.value * (1 - share) + share, abs=1e-12)
            assert labeled.value >= decided.value - 1e-12
            assert (labeled.value > decided.value) == (share > 0 and decided.value < 1)
        assert_inside(decided, 0.0, 1.0)
        assert_inside(labeled, 0.0, 1.0)
    if rates.let_through.value is not None and rates.far_labeled.value is not None:
        assert rates.let_through.value <= rates.far_labeled.value


@given(counts=st.tuples(*[COUNT] * 4))
def test_youden_is_invariant_to_prevalence(counts: tuple[int, ...]) -> None:
    tp, fp, fn, tn = counts
    assume(tp + fn > 0 and fp + tn > 0)
    plain = youden_j(Confusion(tp, fp, fn, tn, 0, 0), resamples=B)
    skewed = youden_j(Confusion(7 * tp, fp, 7 * fn, tn, 5, 9), resamples=B)
    assert same(plain, skewed)
    assert_inside(plain, -1.0, 1.0)
    halves = youden_j(Confusion(tp / 2 + 0.25, fp, fn, tn, 0, 0))
    assert_inside(halves, -1.0, 1.0)
    assert halves.low is not None and halves.high is not None and halves.low < halves.high


def assert_inside(estimate: Estimate, lowest: float, highest: float) -> None:
    for figure in (estimate.value, estimate.low, estimate.high):
        assert figure is None or lowest - 1e-12 <= figure <= highest + 1e-12
    if estimate.low is not None and estimate.high is not None:
        assert estimate.low <= estimate.high
        assert np.isfinite([estimate.low, estimate.high]).all()

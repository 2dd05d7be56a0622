"""How many items: against other packages, a search by hand, and the binomial distribution summed up."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint

from calib_pipeline.statistics import (
    clearing_power,
    items_for_half_width,
    items_to_clear,
    items_to_tell,
    joint_of_kappa,
    kappa_power,
    kappa_standard_error,
    table_kappa,
    table_kappa_error,
    wilson_half_width,
    wilson_limits,
)


def statsmodels_half_width(p: float, n: int, level: float) -> float:
    low, high = proportion_confint(p * n, n, alpha=1 - level, method="wilson")
    return (high - low) / 2


@pytest.mark.parametrize("p", [0.0, 0.03, 0.2, 0.5, 0.81, 1.0])
@pytest.mark.parametrize(("half_width", "level"), [(0.2, 0.8), (0.05, 0.95), (0.03, 0.99)])
def test_the_half_width_is_reached_there_and_not_one_item_before(p: float, half_width: float, level: float) -> None:
    n = items_for_half_width(p, half_width, level)
    assert statsmodels_half_width(p, n, level) <= half_width
    assert n == 1 or statsmodels_half_width(p, n - 1, level) > half_width


def test_the_half_width_against_a_search_over_every_n() -> None:
    by_hand = next(n for n in range(1, 10_000) if statsmodels_half_width(0.5, n, 0.95) <= 0.05)
    # z² · p(1 - p) / h² = 384.1 by the normal approximation
    assert items_for_half_width(0.5, 0.05, 0.95) == by_hand == 381


@given(p=st.floats(0, 1), n=st.integers(1, 5000))
def test_every_item_narrows_the_interval(p: float, n: int) -> None:
    assert wilson_half_width(p, n + 1, 0.95) < wilson_half_width(p, n, 0.95)


def summed_power(p: float, n: int, bar: float, level: float) -> float:
    """The probability of every count whose Wilson limit lies beyond the bar."""
    total = 0.0
    for k in range(n + 1):
        low, high = wilson_limits(k / n, n, level)
        if (low > bar) if p > bar else (high < bar):
            total += math.comb(n, k) * p**k * (1 - p) ** (n - k)
    return total


@settings(deadline=None, max_examples=60)
@given(p=st.floats(0.02, 0.98), bar=st.floats(0.05, 0.95), n=st.integers(1, 120), level=st.sampled_from([0.8, 0.95]))
def test_the_chance_to_clear_a_bar_is_the_sum_over_all_counts(p: float, bar: float, n: int, level: float) -> None:
    if p != bar:
        assert float(clearing_power(p, n, bar, level)) == pytest.approx(summed_power(p, n, bar, level), abs=1e-9)


@pytest.mark.parametrize(
    ("p", "bar", "power", "level"),
    [(0.9, 0.8, 0.8, 0.95), (0.05, 0.15, 0.9, 0.95), (1.0, 0.9, 0.8, 0.95), (0.7, 0.4, 0.5, 0.99)],
)
def test_items_to_clear_against_a_search_over_every_n(p: float, bar: float, power: float, level: float) -> None:
    short = [n for n in range(1, 400) if summed_power(p, n, bar, level) < power]
    assert items_to_clear(p, bar, power=power, level=level) == short[-1] + 1


def test_all_right_answers_clear_a_bar_when_wilson_does() -> None:
    # with p = 1 every sample is n of n: n / (n + z²) > 0.9
    z = NormalDist().inv_cdf(0.975)
    assert items_to_clear(1.0, 0.9, power=0.8, level=0.95) == math.floor(9 * z**2) + 1


def test_what_no_plan_can_ask_for_is_no_number() -> None:
    assert items_to_clear(0.9001, 0.9, power=0.8, level=0.95) is None
    with pytest.raises(ValueError, match="from itself"):
        items_to_clear(0.9, 0.9, power=0.8, level=0.95)
    with pytest.raises(ValueError, match="strictly between"):
        clearing_power(0.9, 10, 1.0, 0.95)
    with pytest.raises(ValueError, match="half-width"):
        items_for_half_width(0.5, 0.5, 0.95)
    with pytest.raises(ValueError, match="power lies"):
        items_to_tell(joint_of_kappa([1, 1], 0.5), 0.4, power=1.0, level=0.95)


@given(
    shares=st.lists(st.floats(0.05, 1), min_size=2, max_size=5), kappa=st.floats(0, 0.95),
    weights=st.sampled_from([None, "linear", "quadratic"]),
)  # fmt: skip
def test_the_joint_shares_have_the_kappa_and_the_margins(shares: list[float], kappa: float, weights: None) -> None:
    joint = joint_of_kappa(shares, kappa)
    wanted = np.array(shares) / sum(shares)
    assert joint.sum(axis=0) == pytest.approx(wanted) and joint.sum(axis=1) == pytest.approx(wanted)
    assert float(table_kappa(joint, weights)) == pytest.approx(kappa, abs=1e-9)


def test_the_joint_shares_against_another_package() -> None:
    counts = np.rint(joint_of_kappa([3, 1], 0.6) * 10_000).astype(int)
    first, second = np.repeat(np.indices((2, 2)).reshape(2, -1), counts.ravel(), axis=1)
    assert cohen_kappa_score(first, second) == pytest.approx(0.6, abs=1e-3)


@pytest.mark.parametrize(("shares", "kappa"), [([1], 0.5), ([1, 0], 0.5), ([1, 1], 1.0), ([9, 1], -0.5)])
def test_impossible_shares_are_refused(shares: list[float], kappa: float) -> None:
    with pytest.raises(ValueError, match=r"shares|κ"):
        joint_of_kappa(shares, kappa)


def test_a_stack_of_tables_has_the_errors_of_each() -> None:
    tables = np.random.default_rng(3).multinomial(80, np.full(9, 1 / 9), 6).reshape(6, 3, 3)
    for weights, name in ((None, None), ("quadratic", "quadratic"), ("linear", "linear")):
        expected = [cohens_kappa(table, wt=name).std_kappa for table in tables]
        assert table_kappa_error(tables, weights) == pytest.approx(np.array(expected))  # type: ignore[arg-type]
    one_value = np.array([[[7, 0], [0, 0]], [[0, 0], [0, 0]]])
    assert np.isnan(table_kappa_error(one_value)).all()


def test_kappa_by_hand() -> None:
    # equal shares: κ = 2·p_o - 1, so s² = 4·p_o·(1 - p_o) = 1 - κ² = 0.5775
    # (1.95996 + 0.84162)² · 0.5775 / 0.1² = 453.3
    joint = joint_of_kappa([1, 1], 0.65)
    assert items_to_tell(joint, 0.55, power=0.8, level=0.95) == 454
    assert (kappa_standard_error(joint) or 0) ** 2 == pytest.approx(0.5775)


@given(kappa=st.floats(0.2, 0.9), against=st.floats(0.0, 0.95), power=st.floats(0.3, 0.95))
def test_the_power_is_reached_there_and_not_one_item_before(kappa: float, against: float, power: float) -> None:
    if abs(kappa - against) > 0.02:
        joint = joint_of_kappa([2, 1, 1], kappa)
        n = items_to_tell(joint, against, power=power, level=0.95)
        assert kappa_power(joint, n, against, level=0.95) >= power - 1e-9
        assert n == 1 or kappa_power(joint, n - 1, against, level=0.95) < power + 1e-9

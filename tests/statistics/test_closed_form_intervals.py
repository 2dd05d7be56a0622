"""Wilson, Fisher, the κ that Wilson implies, and MOVER."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import norm

from calib_pipeline.statistics import (
    cohen_kappa,
    fisher_limits,
    implied_kappa_limits,
    mover_sum,
    pearson,
    spearman,
    wilson,
    wilson_limits,
)
from calib_pipeline.statistics.intervals import critical_value

LEVEL = st.sampled_from([0.8, 0.95, 0.99, 0.9975])


@given(level=st.floats(0.01, 0.9999))
def test_critical_values_are_scipys(level: float) -> None:
    assert critical_value(level) == pytest.approx(norm.ppf((1 + level) / 2), rel=1e-12)


@given(p=st.floats(0, 1), n=st.floats(0.5, 1e5), level=LEVEL)
def test_wilson_limits_contain_the_proportion_and_solve_the_score_equation(p: float, n: float, level: float) -> None:
    low, high = wilson_limits(p, n, level)
    assert 0 <= low <= p + 1e-12 and p - 1e-12 <= high <= 1
    for limit in (low, high):
        if 1e-6 < limit < 1 - 1e-6:
            distance = abs(p - limit) / math.sqrt(limit * (1 - limit) / n)
            assert distance == pytest.approx(critical_value(level), rel=1e-5)


@given(p=st.floats(0, 1), n=st.floats(1, 1e4), level=LEVEL)
def test_wilson_is_symmetric_and_narrows_with_n(p: float, n: float, level: float) -> None:
    low, high = wilson_limits(p, n, level)
    assert wilson_limits(1 - p, n, level) == pytest.approx((1 - high, 1 - low), abs=1e-9)
    narrower = wilson_limits(p, 4 * n, level)
    assert narrower[1] - narrower[0] < high - low


def test_wilson_takes_fractional_counts_between_their_neighbours() -> None:
    lows = [wilson(k, 20.5).low for k in (4, 4.5, 5)]
    assert None not in lows and lows == sorted(lows)  # type: ignore[type-var]
    assert wilson(4.5, 20.5).value == 4.5 / 20.5


def test_wilson_names_what_is_impossible() -> None:
    nothing = wilson(0, 0)
    assert nothing.value is None and nothing.low is None and nothing.note == "undefined: n = 0"
    with pytest.raises(ValueError, match="k must lie between 0 and n"):
        wilson(5, 4)
    with pytest.raises(ValueError, match="k must lie between 0 and n"):
        wilson(float("nan"), 4)
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        wilson(1, 4, level=95)


def test_fisher_has_no_interval_on_three_and_no_width_at_one() -> None:
    assert fisher_limits(0.5, 3, 0.95) == (None, None)
    assert fisher_limits(1.0, 50, 0.95) == (1.0, 1.0)
    assert fisher_limits(-1.0, 50, 0.95) == (-1.0, -1.0)
    perfect = spearman([1, 2, 3, 4, 9], [1, 2, 3, 4, 5])
    assert (perfect.low, perfect.high) == (1.0, 1.0)
    assert perfect.note is not None and perfect.note.startswith("degenerate")
    assert pearson([1, 2, 3], [1, 3, 2]).low is None
    with pytest.raises(ValueError, match="between -1 and 1"):
        fisher_limits(1.2, 50, 0.95)


@given(r=st.floats(-0.999, 0.999), n=st.floats(3.1, 1e4), level=LEVEL)
def test_spearmans_interval_is_wider_than_pearsons(r: float, n: float, level: float) -> None:
    low, high = fisher_limits(r, n, level)
    wide = fisher_limits(r, n, level, 1.06)
    assert low is not None and high is not None and wide[0] is not None and wide[1] is not None
    assert -1 <= wide[0] <= low <= r <= high <= wide[1] <= 1


def test_spearmans_interval_uses_the_variance_of_ranks() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=40)
    found = spearman(x, x + rng.normal(size=40))
    assert found.value is not None and found.method == "Fisher z, variance 1.06/(n - 3)"
    half = 1.959963984540054 * math.sqrt(1.06 / 37)
    z = math.atanh(found.value)
    assert (found.low, found.high) == pytest.approx((math.tanh(z - half), math.tanh(z + half)))


def test_a_correlation_without_variance_is_undefined_with_its_reason() -> None:
    for statistic in (pearson, spearman):
        flat = statistic([1, 1, 1, 1, 1], [1, 2, 3, 4, 5])
        assert flat.value is None and flat.low is None
        assert flat.note == "undefined: no variance on one side"
        assert statistic([], []).note == "undefined: no pairs"
        assert statistic([1, None], [None, 1]).note == "undefined: no pairs"
        assert statistic([1, None], [2, 1]).note == "undefined: one pair"


def test_groups_widen_a_correlation_interval() -> None:
    rng = np.random.default_rng(0)
    shared = np.repeat(rng.normal(size=20), 10)
    x, y = shared + 0.1 * rng.normal(size=200), shared + np.repeat(rng.normal(size=20), 10)
    group = np.repeat(np.arange(20), 10)
    for statistic in (pearson, spearman):
        alone, clustered = statistic(x, y), statistic(x, y, group=group)
        assert clustered.value == alone.value
        assert None not in (alone.low, alone.high, clustered.low, clustered.high)
        assert clustered.high - clustered.low > 1.5 * (alone.high - alone.low)  # type: ignore[operator]
        assert clustered.note is not None and "effective n" in clustered.note


def test_perfect_agreement_on_ten_items_keeps_a_width_in_implied_kappa() -> None:
    a = ["yes"] * 5 + ["no"] * 5
    naive = cohen_kappa(a, a)
    assert naive.low == naive.high == 1.0, "the bootstrap sees no disagreement to draw"
    low, high = implied_kappa_limits(1.0, 0.5, 10, 0.95)
    assert high == 1.0
    assert low == pytest.approx((0.7224672001371107 - 0.5) / 0.5)


@given(po=st.floats(0, 1), pe=st.floats(0, 0.95), n=st.floats(1, 1e4), level=LEVEL)
def test_implied_kappa_contains_kappa(po: float, pe: float, n: float, level: float) -> None:
    low, high = implied_kappa_limits(po, pe, n, level)
    assert low - 1e-9 <= (po - pe) / (1 - pe) <= high + 1e-9 and high <= 1


def test_implied_kappa_needs_chance_below_one() -> None:
    with pytest.raises(ValueError, match="below 1"):
        implied_kappa_limits(1.0, 1.0, 10, 0.95)


def test_mover_of_one_part_is_that_part_and_of_a_difference_is_newcombes() -> None:
    assert mover_sum([(2.0, 0.3, 0.1, 0.6)]) == pytest.approx((0.2, 1.2))
    assert mover_sum([(-1.0, 0.3, 0.1, 0.6)]) == pytest.approx((-0.6, -0.1))
    # Newcombe (1998), Statistics in Medicine 17, 873-890, table II: 56/70 against 48/80, method 10.
    first, second = wilson(56, 70), wilson(48, 80)
    parts = [(1.0, 0.8, first.low, first.high), (-1.0, 0.6, second.low, second.high)]
    assert mover_sum(parts) == pytest.approx((0.0524, 0.3339), abs=5e-5)  # type: ignore[arg-type]


def test_mover_sees_a_rare_costly_error_that_no_replicate_draws() -> None:
    # No false accept among 60 items, but one would cost 100: the bound must not be the bound of the other cell alone.
    none, some = wilson_limits(0.0, 60, 0.95), wilson_limits(0.1, 60, 0.95)
    _, high = mover_sum([(100.0, 0.0, *none), (1.0, 0.1, *some)])
    assert high > 100 * none[1] * 0.99 > 5


def test_wilson_limits_invert_a_score_test() -> None:
    low, _ = wilson_limits(0.3, 40, 0.9)
    z = norm.ppf(0.95)
    assert low == pytest.approx(brentq(lambda q: 0.3 - q - z * math.sqrt(q * (1 - q) / 40), 1e-9, 0.3 - 1e-9))

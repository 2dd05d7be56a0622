"""Limits of differences from limits of both sides, and how many labels would decide a figure."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from statsmodels.stats.proportion import confint_proportions_2indep

from calib_pipeline.evidence.next_steps import Sampling, labels_wanted, longer_next_time
from calib_pipeline.measurement.figures import IntervalPlan
from calib_pipeline.statistics import wilson_limits
from calib_pipeline.statistics.paired import labels_to_decide, mover_difference

Settings = settings(max_examples=60, deadline=None, derandomize=True)


def test_two_independent_proportions_are_newcombes_method_10() -> None:
    """Newcombe (1998), Statistics in Medicine 17, 873: 56 of 70 and 48 of 80."""
    first = (56 / 70, *wilson_limits(56 / 70, 70, 0.95))
    second = (48 / 80, *wilson_limits(48 / 80, 80, 0.95))
    found = mover_difference(first, second, 0.0)
    assert found == pytest.approx((0.0524, 0.3339), abs=1e-4)
    assert found == pytest.approx(confint_proportions_2indep(56, 70, 48, 80, method="newcomb"), abs=1e-9)


def test_symmetric_limits_give_the_difference_of_normal_estimates() -> None:
    """Half widths 1.96·s with correlation ρ: √(s² + t² - 2ρst)."""
    half = 1.96 * math.sqrt(0.1**2 + 0.2**2 - 2 * 0.6 * 0.1 * 0.2)
    low, high = mover_difference((0.7, 0.7 - 0.196, 0.7 + 0.196), (0.3, 0.3 - 0.392, 0.3 + 0.392), 0.6)
    assert (low, high) == pytest.approx((0.4 - half, 0.4 + half))


@given(
    a=st.floats(0.2, 0.8), b=st.floats(0.2, 0.8), widths=st.lists(st.floats(0.01, 0.2), min_size=4, max_size=4),
    correlation=st.floats(-1, 1),
)  # fmt: skip
@Settings
def test_the_limits_enclose_the_difference_and_turn_with_it(
    a: float, b: float, widths: list[float], correlation: float
) -> None:
    first, second = (a, a - widths[0], a + widths[1]), (b, b - widths[2], b + widths[3])
    low, high = mover_difference(first, second, correlation)
    assert low <= a - b + 1e-12
    assert high >= a - b - 1e-12
    turned = mover_difference(second, first, correlation)
    assert (-turned[1], -turned[0]) == pytest.approx((low, high))


@given(estimate=st.floats(-0.9, 0.9), half=st.floats(0.01, 0.5), bar=st.floats(-0.9, 0.9), n=st.integers(10, 1000))
@Settings
def test_with_so_many_labels_the_nearer_limit_lies_on_the_bar(estimate: float, half: float, bar: float, n: int) -> None:
    assume(abs(estimate - bar) > 0.01)
    wanted = labels_to_decide(estimate, estimate - half, estimate + half, bar, n)
    assert wanted is not None
    width = half * math.sqrt(n / wanted)
    nearer = estimate - width if estimate > bar else estimate + width
    assert (nearer - bar) * (1 if estimate > bar else -1) >= -1e-9
    one_less = half * math.sqrt(n / (wanted - 1)) if wanted > 1 else math.inf
    assert one_less >= abs(estimate - bar) - 1e-9


def test_an_estimate_on_the_bar_is_decided_by_no_number() -> None:
    assert labels_to_decide(0.6, 0.5, 0.7, 0.6, 100) is None
    assert labels_to_decide(0.7, 0.7, 0.8, 0.6, 100) is None


def test_doubling_the_labels_narrows_an_interval_by_three_tenths() -> None:
    """The sources: from 300 to 600 items the interval tightens by about 30 percent."""
    width = 0.098
    wanted = labels_to_decide(0.588, 0.588 - width, 0.588 + width, 0.588 + width / math.sqrt(2), 300)
    assert wanted == pytest.approx(600, abs=1)
    assert 1 - 1 / math.sqrt(2) == pytest.approx(0.3, abs=0.01)


@pytest.mark.parametrize(
    ("clears", "population", "said"),
    [
        (True, 1500, "raise holdout.size, and label the set that is drawn then"),
        (True, 1499, "add items to the population, which has 1499, and then raise holdout.size"),
        (False, 5000, "against the scorer: improve it, or decide otherwise"),
    ],
)
def test_the_labels_that_decide_are_those_of_the_next_set(clears: bool, population: int, said: str) -> None:
    """Half the width needs four times the labels; the 300 that were read are spent."""
    value = 0.75 if clears else 0.25
    sampling = Sampling("holdout.size", population)
    text = labels_wanted(value, value - 0.5, value + 0.5, 0.5, 300, clears=clears, sampling=sampling)
    assert text is not None
    assert "at the present estimate 1200 labels decide it, all of unspent items (300 did not)" in text
    assert text.endswith(said)


@pytest.mark.parametrize("attempts", [1, 2, 20])
def test_the_next_set_is_read_at_the_level_of_one_attempt_more(attempts: int) -> None:
    longer = longer_next_time(IntervalPlan(2000, 0, 0.95, attempts))
    now, after = (norm.ppf(1 - 0.05 / m / 2) for m in (attempts, attempts + 1))
    assert longer == pytest.approx((after / now) ** 2)
    sampling = Sampling("holdout.size", 5000, longer)
    text = labels_wanted(0.75, 0.25, 1.25, 0.5, 300, clears=True, sampling=sampling)
    assert f"{math.ceil(300 * 4 * (after / now) ** 2)} labels decide it" in str(text)

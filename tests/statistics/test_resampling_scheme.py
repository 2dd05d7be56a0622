"""The fast bootstrap draws what a loop over rows draws: the same distribution, reproducibly, within the design."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import ks_2samp

from calib_pipeline.statistics import (
    Design,
    alpha_of_coincidences,
    cohen_kappa,
    coincidence_contributions,
    mean_absolute_difference,
    moment_contributions,
    pearson_of_moments,
    percentile_limits,
    resample_cell_counts,
    resample_counts,
    resample_pattern_sums,
    resample_sums,
    table_kappa,
    weighted_spearman,
    weighted_sums,
)
from calib_pipeline.statistics.resampling import distinct_rows

Floats = NDArray[np.float64]
B = 4000
FEWER = 1500


def pairs(n: int, values: int, agree: float = 0.7) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rng = np.random.default_rng(n + values)
    a = rng.integers(0, values, n)
    return a, np.where(rng.random(n) < agree, a, rng.integers(0, values, n))


def tables(a: NDArray[np.int64], b: NDArray[np.int64], size: int) -> Floats:
    joint = np.zeros((len(a), size, size))
    joint[np.arange(len(a)), a, b] = 1.0
    return joint


def rows_drawn(design: Design, statistic: Callable[[NDArray[np.intp]], float], replicates: int) -> Floats:
    """The textbook: draw units within strata with replacement, gather their rows, compute, repeat."""
    rng = np.random.default_rng(99)
    units = design.unit
    strata = [np.unique(units[design.strata == stratum]) for stratum in np.unique(design.strata)]
    members = [np.flatnonzero(units == unit) for unit in range(design.groups)]
    values = []
    for _ in range(replicates):
        drawn = np.concatenate([rng.choice(stratum, len(stratum)) for stratum in strata])
        values.append(statistic(np.concatenate([members[unit] for unit in drawn])))
    return np.array(values)


def assert_one_distribution(fast: Floats, slow: Floats) -> None:
    fast, slow = fast[np.isfinite(fast)], slow[np.isfinite(slow)]
    assert ks_2samp(fast, slow).pvalue > 0.001
    assert fast.std() == pytest.approx(slow.std(), rel=0.08)


DESIGNS = {
    "rows": Design.simple(120),
    "strata and weights": Design.of(np.repeat([1.0, 3.0, 0.5], 40), np.repeat([0, 1, 2], 40), n=120),
    "groups": Design.of(group=np.repeat(np.arange(30), 4), n=120),
    "unequal groups within strata": Design.of(
        np.repeat([1.0, 2.0], 60), np.repeat(["a", "b"], 60), np.arange(120) ** 2 // 600, n=120
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS.keys())
def test_kappa_of_resampled_tables_is_distributed_as_kappa_of_resampled_rows(design: Design) -> None:
    a, b = pairs(120, 3)
    fast = table_kappa(resample_sums(tables(a, b, 3), design, resamples=B, seed=1))

    def slow(rows: NDArray[np.intp]) -> float:
        joint = np.zeros((3, 3))
        np.add.at(joint, (a[rows], b[rows]), design.weights[rows])
        return float(table_kappa(joint))

    assert_one_distribution(fast, rows_drawn(design, slow, B))


def test_the_multinomial_over_cells_is_distributed_as_resampled_rows() -> None:
    a, b = pairs(500, 2)
    cells = np.bincount(a * 2 + b, minlength=4)
    fast = table_kappa(resample_cell_counts(cells, resamples=B, seed=3).reshape(B, 2, 2))
    rng = np.random.default_rng(4)
    slow = []
    for _ in range(B):
        rows = rng.integers(0, 500, 500)
        slow.append(float(table_kappa(np.bincount(a[rows] * 2 + b[rows], minlength=4).reshape(2, 2))))
    assert_one_distribution(fast, np.array(slow))


@pytest.mark.slow
def test_alpha_over_distinct_count_vectors_is_distributed_as_alpha_of_resampled_units() -> None:
    rng = np.random.default_rng(5)
    counts = rng.multinomial(3, [0.5, 0.3, 0.2], 300).astype(float)
    pattern, patterns = distinct_rows(counts)[0], distinct_rows(counts)[1]
    assert len(patterns) * 8 < 300, "few enough patterns that the multinomial is drawn"
    design = Design.simple(300)
    fast = alpha_of_coincidences(
        resample_pattern_sums(pattern, coincidence_contributions(patterns), design, resamples=B, seed=6), "ordinal"
    )
    each = coincidence_contributions(counts)
    slow = rows_drawn(design, lambda rows: float(alpha_of_coincidences(each[rows].sum(axis=0), "ordinal")), B)
    assert_one_distribution(fast, slow)


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS.keys())
def test_correlations_of_resampled_moments_and_counts_are_distributed_as_those_of_rows(design: Design) -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=120)
    y = np.round(x + rng.normal(size=120), 1)
    w = design.weights
    fast = pearson_of_moments(resample_sums(moment_contributions(x, y), design, resamples=FEWER, seed=8))

    def slow(rows: NDArray[np.intp]) -> float:
        covariance = np.cov(x[rows], y[rows], aweights=w[rows])
        return float(covariance[0, 1] / math.sqrt(covariance[0, 0] * covariance[1, 1]))

    assert_one_distribution(fast, rows_drawn(design, slow, FEWER))
    ranked = weighted_spearman(x, y, resample_counts(design, resamples=FEWER, seed=9))
    by_rows = rows_drawn(design, lambda rows: float(weighted_spearman(x[rows], y[rows], w[rows][None])[0]), FEWER)
    assert_one_distribution(ranked, by_rows)


def test_every_replicate_draws_each_stratum_at_its_size() -> None:
    design = DESIGNS["unequal groups within strata"]
    strata = np.eye(2)[design.strata]
    units = np.zeros((120, design.groups))
    units[np.arange(120), design.unit] = 1.0 / np.bincount(design.unit)[design.unit] / design.weights
    sums = resample_sums(np.hstack([units, strata]), design, resamples=50, seed=0)
    multiplicity = sums[:, : design.groups]
    assert multiplicity == pytest.approx(np.round(multiplicity))
    for stratum in range(2):
        inside = np.unique(design.unit[design.strata == stratum])
        assert multiplicity[:, inside].sum(axis=1) == pytest.approx(len(inside))


def test_a_stratum_of_one_unit_does_not_vary() -> None:
    design = Design.of(strata=["big"] * 20 + ["small"], n=21)
    values = np.arange(21.0)[:, None]
    lone = np.append(np.zeros(20), 1.0)[:, None]
    sums = resample_sums(np.hstack([values, lone]), design, resamples=100, seed=0)
    assert (sums[:, 1] == 1.0).all()
    assert sums[:, 0].std() > 0


@given(
    rows=st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 2)), min_size=1, max_size=60),
    seed=st.integers(0, 2**63 - 1),
    shuffle=st.randoms(use_true_random=False),
)
def test_replicates_depend_on_the_seed_and_the_rows_but_not_on_their_order(
    rows: list[tuple[int, int]], seed: int, shuffle: Any
) -> None:
    first = resample_sums(np.array(rows, float), Design.simple(len(rows)), resamples=20, seed=seed)
    again = resample_sums(np.array(rows, float), Design.simple(len(rows)), resamples=20, seed=seed)
    assert np.array_equal(first, again)
    shuffle.shuffle(rows)
    assert np.array_equal(
        first, resample_sums(np.array(rows, float), Design.simple(len(rows)), resamples=20, seed=seed)
    )


def test_another_seed_gives_other_replicates_and_no_global_state_is_touched() -> None:
    a, b = pairs(200, 2)
    np.random.seed(11)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # type: ignore[index,union-attr]  # noqa: NPY002
    first, second = cohen_kappa(a, b, seed=1), cohen_kappa(a, b, seed=2)
    assert (np.random.get_state()[1] == before).all()  # type: ignore[index]  # noqa: NPY002
    assert first.value == second.value
    assert (first.low, first.high) != (second.low, second.high)


def test_columns_resampled_together_stay_paired() -> None:
    values = np.random.default_rng(3).normal(size=(200, 1))
    sums = resample_sums(np.hstack([values, 2 * values]), Design.simple(200), resamples=100, seed=0)
    assert sums[:, 1] == pytest.approx(2 * sums[:, 0])


def test_replicates_do_not_depend_on_the_order_of_addition() -> None:
    rng = np.random.default_rng(12)
    weights = rng.random(300) + 0.5
    contributions = rng.random((300, 7)) / 3
    design = Design.of(weights, n=300)
    turned = Design.of(weights[::-1], n=300)
    assert np.array_equal(weighted_sums(contributions, design), weighted_sums(contributions[::-1], turned))
    assert weighted_sums(contributions, design) == pytest.approx(design.weights @ contributions, rel=1e-11)
    forward = resample_sums(contributions, design, resamples=30, seed=0)
    backward = resample_sums(contributions[::-1], turned, resamples=30, seed=0)
    assert np.array_equal(forward, backward)


def test_whole_numbers_pass_through_the_grid_unchanged() -> None:
    contributions = np.random.default_rng(0).integers(0, 5, (1000, 3)) / 4
    sums = weighted_sums(contributions, Design.simple(1000))
    assert np.array_equal(sums, contributions.sum(axis=0))


def test_equal_keys_never_merge_different_rows() -> None:
    rng = np.random.default_rng(0)
    rows = rng.choice([0.0, 0.5, 1.0, -1.0, 1 / 3], size=(5000, 4))
    codes, patterns = distinct_rows(rows)
    assert np.array_equal(patterns[codes], rows)
    assert len(patterns) == len(np.unique(rows, axis=0))


@given(
    replicates=st.lists(st.one_of(st.floats(-5, 5), st.sampled_from([math.nan, math.inf])), min_size=1, max_size=60),
    level=st.sampled_from([0.5, 0.9, 0.95, 0.9975]),
)
def test_limits_are_numpys_percentiles_of_the_survivors(replicates: list[float], level: float) -> None:
    values = np.array(replicates)
    low, high, survivors = percentile_limits(values, level)
    finite = values[np.isfinite(values)]
    assert survivors == len(finite)
    if survivors == 0:
        assert low is None and high is None
    else:
        expected = np.quantile(finite, [(1 - level) / 2, 1 - (1 - level) / 2])
        assert (low, high) == pytest.approx(tuple(expected), abs=1e-12)


def test_degenerate_replicates_are_dropped_and_counted() -> None:
    estimate = cohen_kappa([0] * 19 + [1], [0] * 19 + [1], resamples=2000, seed=0)
    # All draws miss the one positive with probability .95 ** 20 = .358.
    assert estimate.survivors is not None and 0.60 < estimate.survivors / 2000 < 0.68
    assert estimate.low == estimate.high == 1.0
    assert estimate.note is not None and estimate.note.startswith("zero width")


def test_a_level_or_count_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        percentile_limits(np.arange(5.0), 95)
    with pytest.raises(ValueError, match="resamples must be at least 1"):
        mean_absolute_difference([1, 2, 3, 4], [1, 2, 3, 5], resamples=0)
    with pytest.raises(ValueError, match="must have the design's 3 rows"):
        resample_sums(np.ones((2, 1)), Design.simple(3), resamples=1, seed=0)

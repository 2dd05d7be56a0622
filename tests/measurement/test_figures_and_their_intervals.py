"""Figures against other packages and loops over rows; what is published and what a gate reads of them."""

from __future__ import annotations

import math

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import accuracy_score, cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from calib_pipeline.measurement import continuous
from calib_pipeline.measurement.figures import Block, Figures, IntervalPlan
from calib_pipeline.measurement.linearised import disagreement_limits, influence, standard_error
from calib_pipeline.measurement.measures import LevelMeasure, RangeMeasure, correlation_influence
from calib_pipeline.measurement.pairs import against_reference
from calib_pipeline.statistics import Design, implied_kappa_limits, pearson_influence, wilson_limits

PLAN = IntervalPlan(2000, 0, 0.95)
NOMINAL, ORDINAL = LevelMeasure(3, ordered=False), LevelMeasure(4, ordered=True)
OF_LEVELS = ("percent_agreement", "cohen_kappa", "gwet_ac1", "quadratic_kappa", "krippendorff_alpha", "spearman")
Settings = settings(max_examples=25, deadline=None, derandomize=True)


def pairs(measure: LevelMeasure, first: np.ndarray, second: np.ndarray) -> Block:
    """One label against one answer."""
    levels = np.eye(measure.levels)
    return Block(against_reference(levels[first], levels[second]), measure)


def raters(levels: int, n: int, seed: int, right: float = 0.7) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, levels, n)
    return first, np.where(rng.random(n) < right, first, rng.integers(0, levels, n))


def figures(block: Block, design: Design | None = None, plan: IntervalPlan = PLAN) -> Figures:
    return Figures({"judge": block}, design or Design.simple(len(block.contributions)), plan, {"judge"})


def test_every_statistic_of_an_ordinal_scale_against_another_package() -> None:
    first, second = raters(4, 120, 1)
    made = figures(pairs(ORDINAL, first, second))
    both = np.stack([first, second]).astype(float)
    share = (np.bincount(first, minlength=4) + np.bincount(second, minlength=4)) / 240
    chance = (share * (1 - share)).sum() / 3
    expected = {
        "percent_agreement": accuracy_score(first, second),
        "cohen_kappa": cohen_kappa_score(first, second),
        "gwet_ac1": (accuracy_score(first, second) - chance) / (1 - chance),
        "quadratic_kappa": cohen_kappa_score(first, second, weights="quadratic"),
        "krippendorff_alpha": krippendorff.alpha(both, level_of_measurement="ordinal"),
        "spearman": stats.spearmanr(first, second).statistic,
    }
    assert {name: made.figure("judge", name).estimate.value for name in OF_LEVELS} == pytest.approx(expected)


def test_alpha_of_an_unordered_scale_is_nominal() -> None:
    first, second = raters(3, 80, 2)
    value = float(NOMINAL.value("krippendorff_alpha", pairs(NOMINAL, first, second).contributions.sum(axis=0).ravel()))
    both = np.stack([first, second]).astype(float)
    assert value == pytest.approx(krippendorff.alpha(both, level_of_measurement="nominal"))


def test_published_limits_are_those_of_rows_drawn_again() -> None:
    """Against 4000 replicates that draw rows: as near as two sets of replicates are to each other."""
    first, second = raters(3, 90, 3)
    made = figures(pairs(NOMINAL, first, second))
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, 90, (4000, 90))
    kappas = [cohen_kappa_score(first[rows], second[rows]) for rows in drawn[:600]]
    shares = (first == second)[drawn].mean(axis=1)
    for statistic, replicates in {"cohen_kappa": kappas, "percent_agreement": shares}.items():
        estimate = made.figure("judge", statistic).estimate
        low, high = np.quantile(replicates, [0.025, 0.975])
        assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=0.025)


def test_groups_are_drawn_together() -> None:
    """Against a loop that draws whole groups; rows that repeat within a group say nothing new."""
    rng = np.random.default_rng(7)
    of_group, said = raters(2, 40, 7)
    group = np.repeat(np.arange(40), 5)
    block = pairs(LevelMeasure(2, ordered=False), of_group[group], said[group])
    design = Design.of(group=group, n=200)
    clustered = figures(block, design).figure("judge", "percent_agreement")
    drawn = (of_group == said)[rng.integers(0, 40, (4000, 40))].mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert (clustered.estimate.low, clustered.estimate.high) == pytest.approx((low, high), abs=0.02)
    assert clustered.units == 40
    as_rows = figures(block).figure("judge", "percent_agreement").estimate
    assert clustered.estimate.value == as_rows.value
    wide = clustered.estimate.high - clustered.estimate.low
    assert wide > 1.8 * (as_rows.high - as_rows.low)
    assert clustered.gate is not None
    assert clustered.gate.low <= wilson_limits(float((of_group == said).mean()), 40, 0.95)[0] + 1e-9


def test_strata_weigh_what_they_stand_for_and_are_drawn_apart() -> None:
    """60 rows that stand for 900 items, all right, and 60 that stand for 100, half right: 0.9 · 1 + 0.1 · 0.5."""
    right = np.concatenate([np.ones(60, dtype=int), np.arange(60) % 2])
    strata, weights = np.repeat(["a", "b"], 60), np.repeat([15.0, 5 / 3], 60)
    block = pairs(LevelMeasure(2, ordered=False), np.ones(120, dtype=int), right)
    made = figures(block, Design.of(weights=weights, strata=strata, n=120)).figure("judge", "percent_agreement")
    assert made.estimate.value == pytest.approx(0.95)
    rng = np.random.default_rng(0)
    drawn = 0.9 + 0.1 * rng.binomial(60, 0.5, 4000) / 60
    assert (made.estimate.low, made.estimate.high) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.003)


def test_a_difference_is_of_the_same_replicates() -> None:
    """Against a loop over rows; two scorers that err on the same items differ by less than two that do not."""
    truth, judge = raters(2, 150, 4, right=0.9)
    other = np.where(np.arange(150) < 120, judge, 1 - judge)
    measure = LevelMeasure(2, ordered=False)
    blocks = {"judge": pairs(measure, truth, judge), "other": pairs(measure, truth, other)}
    made = Figures(blocks, Design.simple(150), PLAN, set(blocks))
    difference = made.difference("judge", "other", "percent_agreement", at_least_zero=False)
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 150, (4000, 150))
    drawn = (truth == judge)[rows].mean(axis=1) - (truth == other)[rows].mean(axis=1)
    assert difference.estimate.value == pytest.approx((truth == judge).mean() - (truth == other).mean())
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert (difference.estimate.low, difference.estimate.high) == pytest.approx((low, high), abs=0.02)
    assert difference.gate is not None
    assert difference.gate.low <= difference.estimate.low


def test_a_comparator_worse_than_chance_counts_as_chance() -> None:
    truth, judge = raters(2, 100, 5)
    measure = LevelMeasure(2, ordered=False)
    blocks = {"judge": pairs(measure, truth, judge), "inverted": pairs(measure, truth, 1 - truth)}
    made = Figures(blocks, Design.simple(100), PLAN, set(blocks))
    floored = made.difference("judge", "inverted", "cohen_kappa", at_least_zero=True).estimate
    assert floored.value == pytest.approx(cohen_kappa_score(truth, judge))
    plain = made.difference("judge", "inverted", "cohen_kappa", at_least_zero=False).estimate
    assert plain.value == pytest.approx(cohen_kappa_score(truth, judge) - cohen_kappa_score(truth, 1 - truth))


def test_a_constant_whose_kappa_is_undefined_counts_as_chance_too() -> None:
    truth = np.array([1] * 30)
    measure = LevelMeasure(2, ordered=False)
    judge = np.where(np.arange(30) < 3, 0, 1)
    blocks = {"judge": pairs(measure, truth, judge), "constant": pairs(measure, truth, truth)}
    made = Figures(blocks, Design.simple(30), PLAN, set(blocks))
    assert made.figure("constant", "cohen_kappa").estimate.value is None
    assert made.difference("judge", "constant", "cohen_kappa", at_least_zero=True).estimate.value == pytest.approx(0)


@pytest.mark.parametrize(("attempts", "level", "resamples"), [(1, 0.95, 2000), (2, 0.975, 4000), (20, 0.9975, 40_000)])
def test_the_gate_answers_for_every_attempt(attempts: int, level: float, resamples: int) -> None:
    plan = IntervalPlan(2000, 0, 0.95, attempts)
    assert plan.gate_level == pytest.approx(level)
    assert plan.gate_resamples == resamples
    first, second = raters(3, 60, 6)
    made = figures(pairs(NOMINAL, first, second), plan=plan).figure("judge", "cohen_kappa")
    assert made.gate is not None
    assert (made.gate.level, made.gate.resamples) == (pytest.approx(level), resamples)
    alone = figures(pairs(NOMINAL, first, second)).figure("judge", "cohen_kappa")
    assert (made.estimate.low, made.estimate.high) == (alone.estimate.low, alone.estimate.high)
    assert alone.gate is not None
    assert made.gate.low <= alone.gate.low


def test_a_gate_reads_the_farthest_of_the_three_limits_of_kappa() -> None:
    first, second = raters(2, 60, 8, right=0.9)
    block = pairs(LevelMeasure(2, ordered=False), first, second)
    made = figures(block).figure("judge", "cohen_kappa")
    agreement = float((first == second).mean())
    chance = sum((first == k).mean() * (second == k).mean() for k in (0, 1))
    of_wilson = implied_kappa_limits(agreement, chance, 60, 0.95)
    error = cohens_kappa(np.histogram2d(first, second, bins=2)[0]).std_kappa * math.sqrt(60 / 59)
    linear = disagreement_limits(made.estimate.value, error, 0.95, -1)
    assert made.gate is not None
    lows = (made.estimate.low, of_wilson[0], linear[0])
    highs = (made.estimate.high, of_wilson[1], linear[1])
    assert (made.gate.low, made.gate.high) == pytest.approx((min(lows), max(highs)), abs=1e-6)


def test_the_linearised_error_of_kappa_is_that_of_fleiss_cohen_and_everitt() -> None:
    for seed in range(5):
        first, second = raters(3, 100, seed)
        block = pairs(NOMINAL, first, second).contributions.reshape(100, 9)
        design = Design.simple(100)
        moved = influence(lambda sums: NOMINAL.value("cohen_kappa", sums), block, block.sum(axis=0), design)
        table = block.sum(axis=0).reshape(3, 3)
        expected = cohens_kappa(table).std_kappa * math.sqrt(100 / 99)
        assert standard_error(moved, design) == pytest.approx(expected, rel=1e-5)


def test_the_linearised_error_of_a_mean_is_the_textbooks() -> None:
    """Simple, stratified and clustered, with weights: formulas of a survey sampling course."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=60)
    simple = Design.simple(60)
    assert standard_error((x - x.mean()) / 60, simple) == pytest.approx(x.std(ddof=1) / math.sqrt(60))
    strata, weights = np.repeat(["a", "b"], [20, 40]), np.repeat([3.0, 1.0], [20, 40])
    stratified = Design.of(weights=weights, strata=strata, n=60)
    w = stratified.weights
    mean = w @ x / w.sum()
    parts = [(w[of] * x[of]).var(ddof=1) * of.sum() for of in (strata == "a", strata == "b")]
    assert standard_error((x - mean) / w.sum(), stratified) == pytest.approx(math.sqrt(sum(parts)) / w.sum())
    clustered = Design.of(group=np.repeat(np.arange(12), 5), n=60)
    of_groups = x.reshape(12, 5).mean(axis=1)
    assert standard_error((x - x.mean()) / 60, clustered) == pytest.approx(of_groups.std(ddof=1) / math.sqrt(12))


def test_units_that_are_alone_in_their_stratum_are_taken_together() -> None:
    x = np.random.default_rng(1).normal(size=20)
    alone = Design.of(strata=np.arange(20), n=20)
    assert standard_error(x - x.mean(), alone) == pytest.approx(standard_error(x - x.mean(), Design.simple(20)))


def test_the_influence_on_pearsons_r_is_devlins() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(50, 10, 80)
    y = 0.7 * x + rng.normal(0, 6, 80)
    block = continuous.pair_contributions(x, y, np.arange(80), np.ones(80), span=100.0)
    expected = pearson_influence(x, y, Design.simple(80))
    found = correlation_influence(block[:, continuous.MOMENTS], np.ones(80))
    assert found - found.mean() == pytest.approx(expected - expected.mean())
    gate = figures(Block(block, RangeMeasure())).figure("judge", "pearson").gate
    error = standard_error(expected / 80, Design.simple(80))
    assert gate is not None
    r = float(np.corrcoef(x, y)[0, 1])
    fisher = math.tanh(math.atanh(r) - 1.959964 / math.sqrt(77))
    assert gate.low == pytest.approx(min(fisher, disagreement_limits(r, error, 0.95, -1)[0]), abs=1e-6)


def test_limits_on_the_scale_of_the_disagreement() -> None:
    low, high = disagreement_limits(0.9, 0.03, 0.95, -1)
    assert (1 - low) / 0.1 == pytest.approx(0.1 / (1 - high)) == pytest.approx(math.exp(1.959964 * 0.3), rel=1e-6)
    assert disagreement_limits(1.0, 0.0, 0.95, -1) == (1, 1)
    assert disagreement_limits(0.2, 10.0, 0.95, -1)[0] == -1


def test_a_coefficient_near_its_end_is_not_promoted_by_the_bootstrap_alone() -> None:
    """Two disagreements in 50: of Poisson's 2, the upper limit is 7.2; rows drawn again show at most 5."""
    first = np.arange(50) % 2
    second = np.where(np.arange(50) < 2, 1 - first, first)
    made = figures(pairs(LevelMeasure(2, ordered=False), first, second)).figure("judge", "gwet_ac1")
    assert made.gate is not None
    assert made.estimate.low > 0.79
    assert made.gate.low < 0.75
    assert 1 - 2 * stats.chi2.ppf(0.975, 6) / 2 / 50 == pytest.approx(made.gate.low, abs=0.07)


def test_a_few_items_a_stratum_do_not_narrow_what_a_gate_reads() -> None:
    """Strata of two rows: drawn again within them, rows vary by half of what they should."""
    first, second = raters(2, 100, 9, right=0.85)
    block = pairs(LevelMeasure(2, ordered=False), first, second)
    within = figures(block, Design.of(strata=np.arange(100) // 2, n=100)).figure("judge", "gwet_ac1")
    simple = figures(block).figure("judge", "gwet_ac1")
    assert within.gate is not None
    assert simple.gate is not None
    assert within.estimate.high - within.estimate.low < 0.8 * (simple.estimate.high - simple.estimate.low)
    assert within.gate.high - within.gate.low > 0.85 * (simple.gate.high - simple.gate.low)


def test_replicates_in_which_a_statistic_is_undefined_are_dropped_and_counted() -> None:
    """One item of 30 is of the other class: more than a third of the replicates have one class only."""
    truth = np.array([0] + [1] * 29)
    made = figures(pairs(LevelMeasure(2, ordered=False), truth, truth)).figure("judge", "cohen_kappa")
    assert made.gate is not None
    assert made.estimate.resamples == 2000
    assert made.estimate.survivors / 2000 == pytest.approx(1 - (29 / 30) ** 30, abs=0.03)
    assert made.gate.survivors == made.estimate.survivors


def test_no_interval_on_three_pairs_and_no_value_without_two_classes() -> None:
    measure = LevelMeasure(2, ordered=False)
    few = figures(pairs(measure, np.array([0, 1, 1]), np.array([0, 1, 0]))).figure("judge", "percent_agreement")
    assert few.estimate.value == pytest.approx(2 / 3)
    assert (few.estimate.low, few.gate) == (None, None)
    assert "more than three" in str(few.estimate.note)
    one_class = figures(pairs(measure, np.ones(20, dtype=int), np.ones(20, dtype=int))).figure("judge", "cohen_kappa")
    assert one_class.estimate.value is None
    assert "single value" in str(one_class.estimate.note)


def test_zero_width_is_said() -> None:
    same = np.arange(40) % 2
    made = figures(pairs(LevelMeasure(2, ordered=False), same, same)).figure("judge", "gwet_ac1")
    assert (made.estimate.low, made.estimate.high) == (1, 1)
    assert "zero width" in str(made.estimate.note)


def test_a_perfect_correlation_is_a_point_for_the_gate_too() -> None:
    same = np.arange(40) % 4
    made = figures(pairs(ORDINAL, same, same)).figure("judge", "spearman")
    assert made.gate is not None
    assert (made.gate.low, made.gate.high) == (1, 1)


levels = st.integers(2, 4)


@given(seed=st.integers(0, 10_000), size=levels, n=st.integers(8, 60), right=st.floats(0.2, 0.98))
@Settings
def test_every_interval_lies_within_the_range_of_its_statistic(seed: int, size: int, n: int, right: float) -> None:
    first, second = raters(size, n, seed, right)
    made = figures(pairs(LevelMeasure(size, ordered=True), first, second))
    for statistic in OF_LEVELS:
        figure = made.figure("judge", statistic)
        lowest = 0 if statistic == "percent_agreement" else -1
        for interval in (figure.estimate, figure.gate):
            if interval is not None and interval.low is not None:
                assert lowest - 1e-12 <= interval.low <= interval.high <= 1 + 1e-12
        if figure.gate is not None and figure.gate.low is not None:
            assert figure.gate.low <= figure.estimate.low
            assert figure.gate.high >= figure.estimate.high


@given(seed=st.integers(0, 10_000), n=st.integers(10, 60))
@Settings
def test_names_and_order_of_rows_and_sides_do_not_matter(seed: int, n: int) -> None:
    first, second = raters(3, n, seed)
    rng = np.random.default_rng(seed)
    renamed, order = rng.permutation(3), rng.permutation(n)
    plan = IntervalPlan(300, 0, 0.95)
    made = figures(pairs(NOMINAL, first, second), plan=plan)
    shuffled = figures(pairs(NOMINAL, first[order], second[order]), plan=plan)
    under_other_names = figures(pairs(NOMINAL, renamed[first], renamed[second]), plan=plan)
    turned = figures(pairs(NOMINAL, second, first), plan=plan)
    for statistic in ("percent_agreement", "cohen_kappa", "gwet_ac1"):
        original = made.figure("judge", statistic)
        again = shuffled.figure("judge", statistic)
        assert again.estimate == original.estimate
        assert again.gate is not None
        assert original.gate is not None
        assert (again.gate.low, again.gate.high) == pytest.approx((original.gate.low, original.gate.high), abs=1e-9)
        for other in (under_other_names, turned):
            assert other.figure("judge", statistic).estimate.value == pytest.approx(original.estimate.value)


@given(seed=st.integers(0, 10_000))
@Settings
def test_the_same_seed_gives_the_same_figure_and_another_one_another(seed: int) -> None:
    block = pairs(NOMINAL, *raters(3, 50, seed))
    made = [figures(block, plan=IntervalPlan(200, chosen, 0.95)).figure("judge", "cohen_kappa") for chosen in (1, 1, 2)]
    assert made[0] == made[1]
    assert made[0].estimate.value == made[2].estimate.value
    assert (made[0].estimate.low, made[0].estimate.high) != (made[2].estimate.low, made[2].estimate.high)

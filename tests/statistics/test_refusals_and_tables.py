"""Table statistics on stacks, and how refusals are charged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_pipeline.statistics import (
    alpha_of_coincidences,
    coincidence_contributions,
    coincidence_matrix,
    fill_refusals,
    joint_table,
    refusal_targets,
    table_ac1,
    table_chance,
    table_coincidences,
    table_kappa,
    table_percent_agreement,
    table_spearman,
)


def test_a_refusal_on_two_values_is_the_other_value() -> None:
    table = np.array([[10.0, 2.0, 3.0], [1.0, 20.0, 5.0]])
    filled = fill_refusals(table, ordered=False, base=np.array([15.0, 26.0]))
    assert filled.tolist() == [[10.0, 5.0], [6.0, 20.0]]
    assert fill_refusals(table, ordered=True, base=np.array([15.0, 26.0])).tolist() == filled.tolist()


def test_a_refusal_on_an_ordered_scale_goes_to_the_far_end() -> None:
    targets = refusal_targets(5, ordered=True, base=np.ones(5))
    assert targets.tolist() == [
        [0, 0, 0, 0, 1],
        [0, 0, 0, 0, 1],
        [0.5, 0, 0, 0, 0.5],
        [1, 0, 0, 0, 0],
        [1, 0, 0, 0, 0],
    ]


def test_a_refusal_without_order_goes_to_the_wrong_value_most_used() -> None:
    targets = refusal_targets(3, ordered=False, base=np.array([5.0, 9.0, 7.0]))
    assert targets.argmax(axis=1).tolist() == [1, 2, 1]
    tied = refusal_targets(3, ordered=False, base=np.array([5.0, 5.0, 5.0]))
    assert tied.argmax(axis=1).tolist() == [1, 0, 0], "the first of equals"


def test_a_scorer_that_answers_only_the_easy_third_does_not_gain() -> None:
    # On the 30 items that it answers it is perfect; the 60 hard ones it refuses. Decided kappa is 1.
    table = np.array([[15.0, 0.0, 30.0], [0.0, 15.0, 30.0]])
    decided = table[:, :2]
    labeled = fill_refusals(table, ordered=False, base=table.sum(axis=1))
    assert table_kappa(decided) == 1.0
    assert table_percent_agreement(labeled) == pytest.approx(1 / 3)
    assert table_kappa(labeled) < 0


def test_a_wrongly_shaped_table_is_refused() -> None:
    with pytest.raises(ValueError, match="one column more"):
        fill_refusals(np.ones((2, 2)), ordered=True, base=np.ones(2))
    with pytest.raises(ValueError, match="two values"):
        refusal_targets(1, ordered=True, base=np.ones(1))


COUNTS = st.lists(st.integers(0, 9), min_size=16, max_size=16)


@given(first=COUNTS, second=COUNTS)
def test_a_stack_is_its_tables_one_by_one(first: list[int], second: list[int]) -> None:
    stack = np.array([first, second], float).reshape(2, 4, 4)
    for statistic in (
        table_percent_agreement,
        table_kappa,
        lambda t: table_kappa(t, "quadratic"),
        table_chance,
        table_ac1,
        table_spearman,
        lambda t: alpha_of_coincidences(table_coincidences(t), "ordinal"),
    ):
        one_by_one = [float(statistic(table)) for table in stack]
        assert np.allclose(statistic(stack), one_by_one, equal_nan=True, atol=1e-12)


@given(counts=COUNTS, scale=st.sampled_from([0.25, 1 / 3, 7.0]))
def test_fractional_tables_give_the_same_coefficients(counts: list[int], scale: float) -> None:
    table = np.array(counts, float).reshape(4, 4)
    for statistic in (table_percent_agreement, table_kappa, table_chance, table_ac1, table_spearman):
        assert np.allclose(statistic(table * scale), statistic(table), equal_nan=True, atol=1e-12)


@given(counts=COUNTS)
def test_kappa_follows_from_agreement_and_chance(counts: list[int]) -> None:
    table = np.array(counts, float).reshape(4, 4)
    for weights in (None, "linear", "quadratic"):
        observed, chance = table_percent_agreement(table, weights), table_chance(table, weights)
        kappa = table_kappa(table, weights)
        if np.isfinite(kappa):
            assert float(kappa) == pytest.approx(float((observed - chance) / (1 - chance)), abs=1e-9)


def test_one_class_and_no_items_are_undefined() -> None:
    for table in (np.zeros((3, 3)), np.diag([0.0, 7.0, 0.0]), np.diag([0.0, 0.1 + 0.2, 0.0])):
        assert np.isnan(table_kappa(table)) and np.isnan(table_spearman(table))
        assert np.isnan(table_kappa(table, "quadratic"))
        assert np.isnan(alpha_of_coincidences(table_coincidences(table), "nominal"))
        assert np.isnan(alpha_of_coincidences(table_coincidences(table), "ordinal"))
    assert np.isnan(table_percent_agreement(np.zeros((2, 2)))) and np.isnan(table_ac1(np.zeros((2, 2))))
    assert np.isnan(table_ac1(np.ones((1, 1))))


@given(rows=st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=20))
def test_coincidences_of_units_add_up(rows: list[list[int]]) -> None:
    counts = np.array(rows, float)
    contributions = coincidence_contributions(counts)
    assert contributions.sum(axis=0) == pytest.approx(coincidence_matrix(counts))
    raters = counts.sum(axis=1)
    assert contributions.sum(axis=(1, 2)) == pytest.approx(np.where(raters >= 2, raters, 0.0))
    assert contributions == pytest.approx(contributions.transpose(0, 2, 1))


def test_joint_table_counts_and_weighs() -> None:
    a, b = np.array([0, 1, 1]), np.array([1, 1, 1])
    assert joint_table(a, b, 2).tolist() == [[0, 1], [0, 2]]
    assert joint_table(a, b, 2, np.array([0.5, 1, 2])).tolist() == [[0, 0.5], [0, 3]]


def test_unknown_weights_and_metrics_are_refused() -> None:
    with pytest.raises(ValueError, match="weights must be None, 'linear' or 'quadratic'"):
        table_kappa(np.ones((3, 3)), "cubic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="level must be one of"):
        alpha_of_coincidences(np.ones((3, 3)), "cubic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no values below 0"):
        alpha_of_coincidences(np.ones((2, 2)), "ratio", np.array([-1.0, 1.0]))

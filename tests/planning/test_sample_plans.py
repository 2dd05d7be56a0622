"""Samples and labels by hand: strata that are raised weigh less, and what a population lacks is said."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from calib_pipeline.planning.sample_plan import Labeling, effective_size, overall_plan, per_stratum_plan
from calib_pipeline.sampling import draw_holdout

TWICE = Labeling(annotators=2, doubly=30)


def test_without_strata_the_sample_is_what_is_needed() -> None:
    plan = overall_plan(200, {}, 1, TWICE)
    assert (plan.size, plan.strata, plan.effective, plan.short) == (200, {}, 200.0, {})
    # 30 / 0.9 = 33.3, so 34 are named
    assert (plan.cost.items, plan.cost.doubly, plan.cost.labels, plan.cost.all_by_each) == (200, 34, 234, 400)


def test_a_third_annotator_costs_two_more_labels_a_named_item() -> None:
    assert overall_plan(100, {}, 1, Labeling(3, 27)).cost.labels == 100 + 30 * 2
    assert overall_plan(100, {}, 1, Labeling(2, 0)).cost.labels == 100


def test_a_proportional_sample_is_no_larger() -> None:
    plan = overall_plan(300, {"short": 6000, "long": 3000}, 1, TWICE)
    assert plan.strata == {"long": 100, "short": 200}
    assert plan.effective == pytest.approx(300)


def test_what_a_stratum_is_raised_by_comes_on_top() -> None:
    sizes = {"short": 9900, "rare": 100}
    plan = overall_plan(300, sizes, 60, TWICE)
    assert (plan.size, plan.strata, plan.cost.items) == (300, {"rare": 60, "short": 297}, 357)
    weights = np.repeat([sizes[name] / n for name, n in plan.strata.items()], list(plan.strata.values()))
    assert plan.effective == pytest.approx(weights.sum() ** 2 / (weights @ weights))
    assert 300 < plan.effective < 357


def test_a_stratum_that_gives_nothing_is_not_represented() -> None:
    assert effective_size({"a": 100, "b": 100}, {"a": 10, "b": 0}) == pytest.approx(10)
    assert effective_size({"a": 100}, {"a": 0}) == 0.0


def test_a_population_that_is_too_small_says_by_how_much() -> None:
    plan = overall_plan(500, {"a": 200, "b": 100}, 1, TWICE)
    assert (plan.size, plan.short) == (300, {"population": 200})


def test_each_stratum_by_itself() -> None:
    plan = per_stratum_plan(150, {"a": 1000, "b": 80, "c": 150}, TWICE)
    assert plan.strata == {"a": 150, "b": 80, "c": 150}
    assert (plan.size, plan.short, plan.cost.items) == (380, {"b": 70}, 380)


@pytest.mark.parametrize("needed", [1, 7, 333])
def test_the_named_items_are_those_of_a_reservation(needed: int) -> None:
    sizes = {"a": 500, "b": 100}
    plan = overall_plan(needed, sizes, 2, TWICE)
    items = [f"{name}{number}" for name, size in sizes.items() for number in range(size)]
    manifest = pd.DataFrame({"item_id": items, "stratum": [item[0] for item in items]})
    drawn = draw_holdout(manifest, size=plan.size, seed=1, min_per_stratum=2, named_items=30)
    assert len(drawn) == plan.cost.items == sum(plan.strata.values())
    assert int(drawn["named"].sum()) == plan.cost.doubly <= max(math.ceil(30 / 0.9), len(sizes))

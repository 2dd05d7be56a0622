"""Error rates, their labeled form and the cost of a decision, against counting."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from calib_pipeline.measurement.directional import (
    ABSTAINED,
    ACCEPTED,
    FAILED,
    REJECTED,
    CostFigures,
    Costs,
    cells,
    confusion_of,
    cost_shares,
    decided_summaries,
    decision_accuracy,
    decisions,
    error_rate,
    refusal_rate,
)
from calib_pipeline.measurement.figures import IntervalPlan
from calib_pipeline.statistics import Design, resample_sums

PLAN = IntervalPlan(2000, 0, 0.95)


def table(tp: int, fn: int, fp: int, tn: int, abstained: tuple[int, int] = (0, 0), failed: int = 0) -> np.ndarray:
    """Cells of items by reference and decision; ``abstained`` on accepted and on rejected items."""
    rows = (
        [(1, ACCEPTED)] * tp + [(1, REJECTED)] * fn + [(0, ACCEPTED)] * fp + [(0, REJECTED)] * tn
        + [(1, ABSTAINED)] * abstained[0] + [(0, ABSTAINED)] * abstained[1] + [(0, FAILED)] * failed
    )  # fmt: skip
    reference, decided = np.array(rows).T
    return cells(reference.astype(float), decisions(decided))


def test_both_forms_of_both_rates_by_counting() -> None:
    """70 accepted rightly, 10 wrongly rejected, 20 refused; 6 let through, 34 stopped, 10 refused."""
    per_item = table(70, 10, 6, 34, (20, 10))
    design = Design.simple(len(per_item))
    expected = {
        "false_accept_decided": (6, 40),
        "false_accept_labeled": (16, 50),
        "false_reject_decided": (10, 80),
        "false_reject_labeled": (30, 100),
        "let_through": (6, 50),
    }
    for name, (wrong, of) in expected.items():
        estimate = error_rate(name, per_item, design, 0.95)
        assert (estimate.value, estimate.n) == (pytest.approx(wrong / of), of)
        assert (estimate.low, estimate.high) == pytest.approx(proportion_confint(wrong, of, method="wilson"))


@pytest.mark.parametrize("abstained", [(0, 0), (3, 0), (0, 5), (20, 10)])
def test_the_labeled_form_is_the_decided_form_blended_with_failure(abstained: tuple[int, int]) -> None:
    per_item = table(50, 10, 7, 33, abstained)
    design = Design.simple(len(per_item))
    for side, refused, decided in (("reject", abstained[0], 60), ("accept", abstained[1], 40)):
        of_decided = error_rate(f"false_{side}_decided", per_item, design, 0.95).value
        of_labeled = error_rate(f"false_{side}_labeled", per_item, design, 0.95).value
        share = refused / (decided + refused)
        assert of_labeled == pytest.approx(of_decided * (1 - share) + share)
        assert of_labeled >= of_decided


def test_a_rate_over_an_empty_slice_is_undefined_and_says_so() -> None:
    estimate = error_rate("false_accept_decided", table(10, 2, 0, 0), Design.simple(12), 0.95)
    assert estimate.value is None
    assert "undefined" in str(estimate.note)


def test_failures_and_abstentions_are_counted_apart() -> None:
    confusion = confusion_of(table(5, 1, 2, 8, (1, 2), failed=3).sum(axis=0))
    assert (confusion.abstained_positive, confusion.abstained_negative, confusion.failed_negative) == (1, 2, 3)


def test_youden_is_sensitivity_plus_specificity_minus_one() -> None:
    per_item = table(80, 20, 10, 90)
    figure = decided_summaries(per_item, Design.simple(200), PLAN)["youden_j"]
    assert figure.estimate.value == pytest.approx(0.7)
    assert (figure.estimate.high - figure.estimate.low) / 3.92 == pytest.approx(0.05, rel=0.15)


def test_accuracy_of_decisions_is_wilson_over_the_decided() -> None:
    estimate = decision_accuracy(table(40, 5, 5, 30, (10, 10)), Design.simple(100), 0.95)
    assert estimate.value == pytest.approx(70 / 80)
    assert (estimate.low, estimate.high) == pytest.approx(proportion_confint(70, 80, method="wilson"))


def test_the_cost_of_a_decision_charges_refusals_to_the_error_of_their_class() -> None:
    per_item = table(60, 10, 5, 20, (3, 2))
    figures = CostFigures({"scorer": cost_shares(per_item)}, Design.simple(100), Costs(4, 1), PLAN)
    assert figures.expected_cost("scorer").estimate.value == pytest.approx((4 * 7 + 13) / 100)
    assert figures.trivial_cost("scorer", "accept all") == pytest.approx(4 * 27 / 100)
    assert figures.trivial_cost("scorer", "reject all") == pytest.approx(73 / 100)
    for trivial in ("accept all", "reject all"):
        saved = figures.instead_of("scorer", trivial).estimate.value
        assert saved == pytest.approx((4 * 7 + 13) / 100 - figures.trivial_cost("scorer", trivial))


def test_the_rare_costly_error_that_no_resample_draws_is_in_the_interval() -> None:
    """No false accept among 60: the bootstrap knows nothing of one, the limits of the cell do."""
    per_item = table(40, 2, 0, 18)
    design = Design.simple(60)
    drawn = resample_sums(cost_shares(per_item), design, resamples=2000, seed=0) @ [100, 1, 0, 0] / 60
    assert np.quantile(drawn, 0.975) < 0.15
    figure = CostFigures({"scorer": cost_shares(per_item)}, design, Costs(100, 1), PLAN).expected_cost("scorer")
    assert figure.gate is not None
    assert figure.gate.high > 5
    assert figure.estimate.high > 5
    assert figure.estimate.low >= 0


def test_strata_are_weighted_to_the_population() -> None:
    """Two strata of 50 rows each that stand for 900 and 100 items, with rates of 0.1 and 0.5."""
    per_item = np.concatenate([table(0, 0, 5, 45), table(0, 0, 25, 25)])
    weights = np.repeat([18.0, 2.0], 50)
    design = Design.of(weights=weights, strata=np.repeat(["a", "b"], 50), n=100)
    assert error_rate("false_accept_decided", per_item, design, 0.95).value == pytest.approx(0.9 * 0.1 + 0.1 * 0.5)


def test_refusals_are_counted_by_class_with_the_weights_and_groups_of_the_design() -> None:
    """Refusals that come in whole groups, in a stratum that stands for a tenth of the population."""
    per_item = np.concatenate([table(0, 0, 0, 40), table(0, 0, 0, 20, (0, 20))])
    design = Design.of(
        weights=np.repeat([9.0, 1.0], 40), strata=np.repeat(["a", "b"], 40), group=np.repeat(np.arange(16), 5), n=80
    )
    rate = refusal_rate("abstained_rate", ABSTAINED, 0, per_item, design, 0.95)
    assert rate.value == pytest.approx(0.1 * 0.5)
    unclustered = refusal_rate("abstained_rate", ABSTAINED, 0, per_item, Design(design.weights, design.strata), 0.95)
    assert rate.high - rate.low > 1.5 * (unclustered.high - unclustered.low)
    empty = refusal_rate("failed_rate", FAILED, 1, per_item, design, 0.95)
    assert (empty.value, empty.note) == (None, "undefined: no item that the reference accepts")


def test_the_limits_of_a_cost_combine_those_of_its_two_cells() -> None:
    """Zou and Donner (2008): Σ c·p ± √Σ c²(p - l)², with Wilson's limits l of each cell."""
    per_item = table(150, 9, 1, 140)
    figure = CostFigures({"scorer": cost_shares(per_item)}, Design.simple(300), Costs(50, 1), PLAN).expected_cost(
        "scorer"
    )
    let_through, held = (proportion_confint(wrong, 300, method="wilson") for wrong in (1, 9))
    cost = (50 * 1 + 9) / 300
    reach = np.hypot(50 * (let_through[1] - 1 / 300), held[1] - 9 / 300)
    assert figure.gate is not None
    assert (figure.estimate.value, figure.gate.high) == pytest.approx((cost, cost + reach))


def test_groups_widen_an_error_rate() -> None:
    """Errors that come in whole groups of ten carry the information of few items."""
    per_item = np.concatenate([table(0, 0, 10, 0) if group % 5 == 0 else table(0, 0, 0, 10) for group in range(40)])
    rows = error_rate("false_accept_decided", per_item, Design.simple(400), 0.95)
    grouped = Design.of(group=np.repeat(np.arange(40), 10), n=400)
    clustered = error_rate("false_accept_decided", per_item, grouped, 0.95)
    assert clustered.value == rows.value
    assert clustered.high - clustered.low > 2.5 * (rows.high - rows.low)

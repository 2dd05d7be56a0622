"""Every figure against hand derivations, published values and the packages that agree on them (`golden.json`)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calib_pipeline.statistics import (
    Confusion,
    Estimate,
    cohen_kappa,
    error_rates,
    fisher_limits,
    flip_rate_from_pairs,
    gwet_ac1,
    kappa_standard_error,
    krippendorff_alpha,
    latent_accuracy,
    mean_absolute_difference,
    multirater_ac1,
    observed_ceiling,
    pairwise_agreement,
    pearson,
    percent_agreement,
    percentile_limits,
    resample_cell_counts,
    spearman,
    table_kappa,
    wilson,
    wilson_limits,
    youden_j,
)

GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text(encoding="utf-8"))
CASES = GOLDEN["cases"]
Case = dict[str, Any]


def rows_of(table: list[list[int]]) -> tuple[list[int], list[int]]:
    """The paired ratings behind a table of counts."""
    counts = np.array(table)
    first, second = np.nonzero(counts)
    times = counts[first, second]
    return np.repeat(first, times).tolist(), np.repeat(second, times).tolist()


def limits(estimate: Estimate) -> list[float | None] | None:
    return None if estimate.low is None else [estimate.low, estimate.high]


def kappa_case(case: Case, weights: Any = None) -> Any:
    table = case["input"]["table"]
    if "SE" in case["quantity"]:
        return kappa_standard_error(np.array(table), weights)
    a, b = rows_of(table)
    estimate = cohen_kappa(a, b, categories=range(len(table)), weights=weights, resamples=50)
    if "Wald interval" in case["quantity"]:
        error = kappa_standard_error(np.array(table))
        assert error is not None and estimate.value is not None
        return [estimate.value - 1.959963984540054 * error, estimate.value + 1.959963984540054 * error]
    assert (estimate.value is None) == (case["expected"] is None)
    return estimate.value


def alpha_case(case: Case) -> Any:
    matrix = case["input"]["matrix"]
    if isinstance(matrix, str):
        matrix = np.array(GOLDEN["meta"]["data"][matrix]).T
    level = case["quantity"].split(", ")[1]
    estimate = krippendorff_alpha(matrix, level=level, resamples=50)
    assert (estimate.value is None) == ("undefined" in case)
    return estimate.value


def ac1_case(case: Case) -> Any:
    if "rows" in case["input"]:
        by_rater = list(zip(*case["input"]["rows"], strict=True))
        return multirater_ac1(by_rater, resamples=50).value
    a, b = rows_of(case["input"]["table"])
    return gwet_ac1(a, b, categories=range(len(case["input"]["table"])), resamples=50).value


def agreement_case(case: Case) -> Any:
    if "rows" in case["input"]:
        return pairwise_agreement(list(zip(*case["input"]["rows"], strict=True)), resamples=50).value
    pairs = [[None if value == "abstain" else value for value in pair] for pair in case["input"]["pairs"]]
    estimate = percent_agreement([a for a, _ in pairs], [b for _, b in pairs])
    assert estimate.note == "undefined: no pairs"
    return estimate.value


def spearman_case(case: Case) -> Any:
    given = case["input"]
    if "rho" in given:
        return list(fisher_limits(given["rho"], given["n"], 0.95, 1.06))
    estimate = spearman(given["x"], given["y"])
    if "interval" in case["quantity"].lower():
        assert estimate.note
        return limits(estimate)
    return estimate.value


def pearson_case(case: Case) -> Any:
    estimate = pearson(case["input"]["x"], case["input"]["y"])
    return limits(estimate) if "interval" in case["quantity"] else estimate.value


def bootstrap_case(case: Case) -> Any:
    if case["id"] == "quantile-type7":
        return list(percentile_limits(np.arange(-3, 37) / 10, 0.95)[:2])
    if case["id"] == "boot-agreement-10-10":
        estimate = percent_agreement(["a"] * 10, ["a"] * 10)
        assert estimate.note is not None and estimate.note.startswith("zero width")
        return limits(estimate)
    size = 400_000
    replicates = table_kappa(
        resample_cell_counts(np.ravel(case["input"]["table"]), resamples=size, seed=1).reshape(size, 2, 2)
    )
    defined = replicates[np.isfinite(replicates)]
    expected = case["expected"]
    # Monte Carlo: the mean and the undefined share within four standard errors, the sd within one per cent.
    assert abs(defined.mean() - expected[2]) < 4 * expected[3] / math.sqrt(len(defined))
    assert abs(defined.std() - expected[3]) < 0.01 * expected[3]
    share = expected[4]
    assert abs(1 - len(defined) / size - share) < 4 * math.sqrt(share * (1 - share) / size)
    ordered = np.sort(defined)
    points = [ordered[math.ceil(p * len(ordered)) - 1] for p in (0.025, 0.975)]
    return [*points, *expected[2:]]


def rates_case(case: Case) -> Any:
    given = case["input"]
    if "k" in given:
        rates = error_rates(Confusion(0, given["k"], 0, given["n"] - given["k"], 0, 0))
        return limits(rates.far_decided)
    cells = ("TA", "FA", "FR", "TR", "abstain_pos", "abstain_neg")
    rates = error_rates(Confusion(*(given[cell] for cell in cells)))
    order = (rates.far_decided, rates.frr_decided, rates.far_labeled, rates.frr_labeled)
    return [rate.value for rate in order]


def youden_case(case: Case) -> Any:
    estimate = youden_j(Confusion(abstained_positive=3, abstained_negative=1, **case["input"]), resamples=20_000)
    if case["expected"] is None:
        return estimate.value
    # The bootstrap's spread is the large-sample standard error to Monte Carlo accuracy.
    assert estimate.low is not None and estimate.high is not None
    assert (estimate.high - estimate.low) / (2 * 1.96) == pytest.approx(case["expected"][1], rel=0.03)
    return [estimate.value, case["expected"][1]]


def ceiling_case(case: Case) -> Any:
    given = case["input"]
    if "a" in given:
        observed = given["a"] * (1 - given["eta"]) + (1 - given["a"]) * given["eta"]
        return [observed, latent_accuracy(observed, given["eta"]).value, observed_ceiling(given["eta"]).value]
    if "acc_obs" in given:
        return latent_accuracy(given["acc_obs"], given["eta"]).value
    if "d" in given:
        return flip_rate_from_pairs(100 * given["d"], 100).value
    return limits(flip_rate_from_pairs(given["disagreements"], given["n"]))


def wilson_case(case: Case) -> Any:
    estimate = wilson(case["input"]["k"], case["input"]["n"])
    if estimate.low is not None:
        assert (estimate.low, estimate.high) == wilson_limits(estimate.value or 0.0, estimate.n, 0.95)
    return limits(estimate)


BY_GROUP: dict[str, Callable[[Case], Any]] = {
    "wilson": wilson_case,
    "percent agreement": agreement_case,
    "kappa": kappa_case,
    "weighted kappa": lambda case: kappa_case(case, "quadratic"),
    "kappa edge": kappa_case,
    "ac1": ac1_case,
    "alpha": alpha_case,
    "alpha edge": alpha_case,
    "spearman": spearman_case,
    "spearman edge": spearman_case,
    "pearson": pearson_case,
    "mean abs difference": lambda case: mean_absolute_difference(case["input"]["x"], case["input"]["y"]).value,
    "bootstrap": bootstrap_case,
    "error rates": rates_case,
    "youden": youden_case,
    "noise ceiling": ceiling_case,
}


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_golden_case(case: Case) -> None:
    found, expected = BY_GROUP[case["group"]](case), case["expected"]
    if expected is None:
        assert found is None
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for mine, theirs in zip(found, expected, strict=True):
            if theirs is None:
                assert mine is None
            else:
                assert mine == pytest.approx(theirs, abs=case["tol"])
    else:
        assert found == pytest.approx(expected, abs=case["tol"])


def test_the_worked_table_of_300_items_reproduces_to_the_digit() -> None:
    # Rows are the person, columns the scorer: 168 both send, 24 held wrongly, 32 sent wrongly, 76 both hold.
    human = ["send"] * 192 + ["hold"] * 108
    model = ["send"] * 168 + ["hold"] * 24 + ["send"] * 32 + ["hold"] * 76
    agreement, kappa = percent_agreement(human, model), cohen_kappa(human, model)
    assert agreement.value == 244 / 300
    assert kappa.value == pytest.approx((244 / 300 - 49_200 / 90_000) / (1 - 49_200 / 90_000), abs=1e-15)
    assert f"{kappa.value:.3f}" == "0.588"
    error = kappa_standard_error(np.array([[168, 24], [32, 76]]))
    assert error is not None and f"{error:.2f}" == "0.05"
    assert kappa.low is not None and kappa.high is not None
    assert kappa.low < 0.6 < kappa.high, "0.6 is not demonstrated, and not refuted either"
    assert (kappa.low, kappa.high) == pytest.approx((0.49, 0.69), abs=0.01)

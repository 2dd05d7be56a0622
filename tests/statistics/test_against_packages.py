"""Every statistic against an implementation by other hands, on data with ties, gaps and unused values."""

from __future__ import annotations

import warnings

import krippendorff
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest, pearsonr, rankdata, spearmanr
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, confusion_matrix
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

from calib_pipeline.statistics import (
    Design,
    cohen_kappa,
    confusion,
    kappa_standard_error,
    krippendorff_alpha,
    pearson,
    spearman,
    weighted_spearman,
    wilson,
    youden_j,
)

SEEDS = range(6)


def ratings(seed: int, raters: int = 2, n: int = 80, values: int = 4) -> NDArray[np.int64]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, values + 1, n)
    return np.where(rng.random((raters, n)) < 0.6, truth, rng.integers(1, values + 1, (raters, n)))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_is_scikit_learns(seed: int, weights: str | None) -> None:
    a, b = ratings(seed)
    expected = cohen_kappa_score(a, b, labels=[1, 2, 3, 4, 5], weights=weights)
    assert cohen_kappa(a, b, categories=[1, 2, 3, 4, 5], weights=weights, resamples=1).value == pytest.approx(expected)


def test_an_unused_level_keeps_its_place_on_the_scale() -> None:
    a, b = [1, 1, 2, 5, 5, 2, 1, 5], [1, 2, 2, 5, 1, 2, 1, 5]
    declared = cohen_kappa(a, b, categories=[1, 2, 3, 4, 5], weights="quadratic").value
    assert declared == pytest.approx(cohen_kappa_score(a, b, labels=[1, 2, 3, 4, 5], weights="quadratic"))
    assert declared != pytest.approx(cohen_kappa_score(a, b, weights="quadratic")), "ranks of the labels seen differ"
    assert cohen_kappa(a, b, weights="quadratic").value == pytest.approx(declared), "whole numbers span their range"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_the_standard_error_of_kappa_is_statsmodels(seed: int, weights: str | None) -> None:
    a, b = ratings(seed)
    table = confusion_matrix(a, b)
    wt = {None: None, "linear": "linear", "quadratic": "quadratic"}[weights]
    assert kappa_standard_error(table, weights) == pytest.approx(cohens_kappa(table, wt=wt).std_kappa)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("kind", ["whole", "gaps", "fine", "fine and unequal"])
def test_alpha_is_krippendorffs(seed: int, level: str, kind: str) -> None:
    rng = np.random.default_rng(seed)
    if kind.startswith("fine"):
        matrix = np.round(np.abs(rng.normal(5, 2, 60) + rng.normal(size=(4, 60))), 2)
    else:
        matrix = ratings(seed, raters=4, values=6).astype(float) ** 2
    if kind != "whole":
        matrix[rng.random(matrix.shape) < (0.5 if kind == "fine and unequal" else 0.25)] = np.nan
    estimate = krippendorff_alpha(matrix, level=level, resamples=30)
    assert estimate.value == pytest.approx(krippendorff.alpha(matrix, level_of_measurement=level), abs=1e-12)
    assert estimate.low is not None and estimate.high is not None


def test_alpha_of_weighted_units_is_alpha_of_units_repeated() -> None:
    matrix = ratings(3, raters=3, n=40).astype(float)
    times = np.random.default_rng(0).integers(1, 4, 40)
    repeated = np.repeat(matrix, times, axis=1)
    for level in ("nominal", "ordinal", "interval"):
        weighted = krippendorff_alpha(matrix, level=level, sample_weights=times, resamples=5).value
        # The weights count 40 units, the repeats 40 times their mean: only the small-sample term differs.
        pairable = {"weighted": 3 * 40, "repeated": 3 * times.sum()}
        scale = (pairable["weighted"] - 1) / pairable["weighted"] * pairable["repeated"] / (pairable["repeated"] - 1)
        expected = 1 - (1 - krippendorff.alpha(repeated, level_of_measurement=level)) * scale
        assert weighted == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_alpha_of_text_is_alpha_of_its_codes(seed: int) -> None:
    matrix = ratings(seed, raters=3)
    names = {1: "poor", 2: "fair", 3: "good", 4: "best"}
    text = [[names[value] for value in row] for row in matrix.tolist()]
    text[0][5] = None  # type: ignore[call-overload]
    coded = matrix.astype(float)
    coded[0, 5] = np.nan
    estimate = krippendorff_alpha(text, level="ordinal", categories=list(names.values()), resamples=5)
    assert estimate.value == pytest.approx(krippendorff.alpha(coded, level_of_measurement="ordinal"))


@pytest.mark.parametrize("seed", SEEDS)
def test_correlations_are_scipys(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 6, 50).astype(float)
    y = x + np.round(rng.normal(size=50) * 2)
    expected = pearsonr(x, y)
    found = pearson(x, y)
    assert found.value == pytest.approx(expected.statistic)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert spearman(x, y).value == pytest.approx(spearmanr(x, y).statistic)


@pytest.mark.parametrize("seed", SEEDS)
def test_weighted_correlations_are_statsmodels_and_those_of_repeated_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, weights = rng.integers(0, 6, 50).astype(float), rng.integers(1, 5, 50)
    y = x + np.round(rng.normal(size=50) * 2)
    expected = DescrStatsW(np.column_stack([x, y]), weights).corrcoef[0, 1]
    assert pearson(x, y, sample_weights=weights).value == pytest.approx(expected)
    repeated = spearmanr(np.repeat(x, weights), np.repeat(y, weights)).statistic
    assert spearman(x, y, sample_weights=weights).value == pytest.approx(repeated)
    counts = np.stack([weights, np.ones(50), rng.integers(0, 3, 50)])
    ranks = [np.corrcoef(rankdata(np.repeat(x, row)), rankdata(np.repeat(y, row)))[0, 1] for row in counts.astype(int)]
    assert weighted_spearman(x, y, counts) == pytest.approx(ranks)


@pytest.mark.parametrize(("k", "n"), [(0, 7), (1, 7), (7, 7), (40, 300), (299, 300)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.9975])
def test_wilson_is_scipys_and_statsmodels(k: int, n: int, level: float) -> None:
    found = wilson(k, n, level=level)
    interval = binomtest(k, n).proportion_ci(level, method="wilson")
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=1e-12)
    assert (found.low, found.high) == pytest.approx(proportion_confint(k, n, 1 - level, "wilson"), abs=1e-12)
    assert (k > 0 or found.low == 0.0) and (k < n or found.high == 1.0), "exact at the ends"


@pytest.mark.parametrize("seed", SEEDS)
def test_the_confusion_and_youden_are_scikit_learns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.choice(["pass", "fail"], 90, p=[0.7, 0.3])
    said = np.where(rng.random(90) < 0.75, truth, rng.choice(["pass", "fail"], 90))
    found = confusion(truth, said, positive="pass")
    tn, fp, fn, tp = confusion_matrix(truth, said, labels=["fail", "pass"]).ravel()
    assert (found.tn, found.fp, found.fn, found.tp) == (tn, fp, fn, tp)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = balanced_accuracy_score(truth, said, adjusted=True)
    assert youden_j(found, resamples=1).value == pytest.approx(expected)


def test_design_weights_of_one_change_nothing() -> None:
    a, b = ratings(1)
    plain, weighted = cohen_kappa(a, b), cohen_kappa(a, b, sample_weights=np.full(80, 7.0))
    assert plain == weighted
    assert Design.of(np.full(80, 7.0), n=80).plain

"""Comparators: the constant, the base rate, and heuristics that are neither handicapped nor flattered."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from calib_pipeline.statistics import (
    Design,
    base_rate,
    cross_fitted_line,
    cross_fitted_map,
    folds_by_hash,
    majority_value,
    table_kappa,
)


def hot(codes: NDArray[np.intp], size: int) -> NDArray[np.float64]:
    return np.eye(size)[codes]


def ids(n: int) -> list[str]:
    return [f"item-{row}" for row in range(n)]


def kappa(reference: NDArray[np.float64], codes: NDArray[np.intp], weights: str | None = None) -> float:
    table = reference.T @ hot(codes, reference.shape[1])
    return float(table_kappa(table, weights))  # type: ignore[arg-type]


def test_the_majority_and_base_rate_count_ties_and_weights() -> None:
    reference = np.array([[1, 0], [0.5, 0.5], [0, 1]])
    assert base_rate(reference, Design.simple(3)).tolist() == [0.5, 0.5]
    assert majority_value(reference, Design.simple(3)) == 0, "the first of equals"
    weighted = Design.of([1, 1, 4], n=3)
    assert base_rate(reference, weighted) == pytest.approx([1.5 / 6, 4.5 / 6])
    assert majority_value(reference, weighted) == 1


def test_folds_belong_to_the_id_alone() -> None:
    names = ids(2000)
    folds = folds_by_hash(names, seed=7)
    assert folds.tolist() == folds_by_hash(names[::-1], seed=7)[::-1].tolist()
    assert (folds != folds_by_hash(names, seed=8)).mean() > 0.7
    assert np.bincount(folds, minlength=5).min() > 330, "about 400 in each of five"
    assert folds_by_hash(["group"] * 4, seed=0).std() == 0
    with pytest.raises(ValueError, match="at least 2"):
        folds_by_hash(names, seed=0, folds=1)


def test_a_cut_is_found_in_either_direction() -> None:
    rng = np.random.default_rng(0)
    feature = rng.normal(size=300)
    truth = (feature > 0.4).astype(np.intp)
    folds = folds_by_hash(ids(300), 0)
    for sign in (1.0, -1.0):
        codes = cross_fitted_map(sign * feature, hot(truth, 2), Design.simple(300), folds, ordered=False)
        assert (codes == truth).mean() > 0.98


def test_an_items_own_label_never_reaches_its_prediction() -> None:
    rng = np.random.default_rng(1)
    feature, truth = rng.normal(size=120), rng.integers(0, 3, 120)
    folds = folds_by_hash(ids(120), 0)
    for size, ordered in ((2, False), (3, False), (3, True)):
        labels = truth % size
        before = cross_fitted_map(feature, hot(labels, size), Design.simple(120), folds, ordered=ordered)
        changed = labels.copy()
        changed[folds == 2] = (changed[folds == 2] + 1) % size
        after = cross_fitted_map(feature, hot(changed, size), Design.simple(120), folds, ordered=ordered)
        assert (before[folds == 2] == after[folds == 2]).all()


def test_noise_is_not_flattered() -> None:
    # In-sample, the best of 400 cuts through noise reaches a kappa well above 0; cross-fitted it must not.
    kappas = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        feature, truth = rng.normal(size=200), rng.integers(0, 2, 200)
        codes = cross_fitted_map(feature, hot(truth, 2), Design.simple(200), folds_by_hash(ids(200), 0), ordered=False)
        kappas.append(kappa(hot(truth, 2), codes))
    assert np.mean(kappas) < 0.02


def test_an_ordered_map_is_not_handicapped_by_shrinking_to_the_middle() -> None:
    rng = np.random.default_rng(2)
    feature = rng.normal(size=1500)
    latent = 0.5 * feature + rng.normal(size=1500)
    truth = np.digitize(latent, np.quantile(latent, [0.2, 0.4, 0.6, 0.8]))
    folds = folds_by_hash(ids(1500), 0)
    for sign in (1.0, -1.0):
        codes = cross_fitted_map(sign * feature, hot(truth, 5), Design.simple(1500), folds, ordered=True)
        fitted = kappa(hot(truth, 5), codes, "quadratic")
        rho = np.corrcoef(np.argsort(np.argsort(feature)), truth)[0, 1]
        assert fitted > 0.9 * rho, "quadratic kappa of a map with the reference's own shares is about rho"
        direction = np.corrcoef(sign * feature, codes)[0, 1] * sign
        assert direction > 0.8


def test_an_unordered_map_takes_the_most_frequent_value_of_each_bin() -> None:
    rng = np.random.default_rng(3)
    feature = rng.integers(0, 4, 400).astype(float)
    truth = np.array([2, 0, 1, 0])[feature.astype(int)]
    codes = cross_fitted_map(feature, hot(truth, 3), Design.simple(400), folds_by_hash(ids(400), 0), ordered=False)
    assert (codes == truth).all()


def test_missing_constant_and_lonely_features_fall_back_to_the_majority() -> None:
    truth = np.array([1] * 30 + [0] * 10)
    folds = folds_by_hash(ids(40), 0)
    for size, ordered in ((2, False), (3, True), (3, False)):
        for feature in (np.full(40, np.nan), np.zeros(40)):
            codes = cross_fitted_map(feature, hot(truth, size), Design.simple(40), folds, ordered=ordered)
            assert (codes == 1).all()
        one_fold = cross_fitted_map(np.zeros(40), hot(truth, size), Design.simple(40), np.zeros(40), ordered=ordered)
        assert (one_fold == 1).all()
    partly = np.where(np.arange(40) % 2 == 0, np.nan, truth.astype(float))
    codes = cross_fitted_map(partly, hot(truth, 2), Design.simple(40), folds, ordered=False)
    assert (codes[1::2] == truth[1::2]).all() and (codes[::2] == 1).all()


def test_sampling_weights_reach_the_fit() -> None:
    feature = np.repeat([0.0, 1.0], 100)
    truth = np.tile([0, 1], 100)
    up = np.where(feature == truth, 9.0, 1.0)
    folds = folds_by_hash(ids(200), 0)
    with_weights = cross_fitted_map(feature, hot(truth, 2), Design.of(up, n=200), folds, ordered=False)
    against = cross_fitted_map(feature, hot(truth, 2), Design.of(1 / up, n=200), folds, ordered=False)
    assert (with_weights == feature).all() and (against == 1 - feature).all()


def test_a_line_is_fitted_on_the_other_folds() -> None:
    rng = np.random.default_rng(4)
    feature = rng.normal(size=150)
    target = 3 - 2 * feature
    folds = folds_by_hash(ids(150), 0)
    design = Design.of(rng.random(150) + 0.1, n=150)
    assert cross_fitted_line(feature, target, design, folds) == pytest.approx(target)
    gaps = feature.copy()
    gaps[::10] = np.nan
    predicted = cross_fitted_line(gaps, target, design, folds)
    others = folds != folds[0]
    assert predicted[0] == pytest.approx(np.average(target[others], weights=design.weights[others]))
    flat = cross_fitted_line(np.ones(150), target, design, folds)
    assert flat[0] == pytest.approx(predicted[0])
    changed = np.where(folds == 1, target + 100, target)
    assert cross_fitted_line(feature, changed, design, folds)[folds == 1] == pytest.approx(target[folds == 1])

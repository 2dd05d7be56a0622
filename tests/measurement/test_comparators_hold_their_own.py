"""Comparators: each is what it says, neither handicapped nor flattered."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from declared_studies import drawn, sheet, study
from sklearn.dummy import DummyClassifier
from sklearn.metrics import cohen_kappa_score

from calib_pipeline.measurement.comparators import (
    CONSTANT,
    RANDOM,
    comparator_blocks,
    comparator_decisions,
    cross_fitted_answers,
    feature,
    is_length,
    raw_column_blocks,
)
from calib_pipeline.measurement.directional import ACCEPTED, REJECTED
from calib_pipeline.measurement.figures import Block
from calib_pipeline.measurement.measures import measure_of
from calib_pipeline.measurement.reference import Labels, fold_labels

NAMES = {"binary": ["0", "1"], "nominal": ["a", "b", "c"], "ordinal": ["0", "1", "2", "3"]}
SHARES = {"binary": [0.35, 0.65], "nominal": [0.5, 0.3, 0.2], "ordinal": [0.1, 0.2, 0.4, 0.3]}


def labeled(scale: str, truth: np.ndarray, group: list[str | None] | None = None, prefix: str = "item") -> Labels:
    """One label an item, the truth itself."""
    items = [f"{prefix}-{number:04d}" for number in range(len(truth))]
    values = truth.tolist() if scale == "numbers" else [NAMES[scale][code] for code in truth]
    frame = sheet({item: [value] for item, value in zip(items, values, strict=True)}, scale)
    return fold_labels(study(scale), drawn(items, group=group), frame, {"all": len(items)})


def value(block: Block, statistic: str) -> float:
    flat = block.contributions.reshape(len(block.contributions), -1)
    return float(block.measure.value(statistic, flat.sum(axis=0)))


def draw(scale: str, n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.choice(len(SHARES[scale]), n, p=SHARES[scale])


@pytest.mark.parametrize("scale", ["binary", "nominal", "ordinal"])
def test_the_constant_is_the_most_frequent_value(scale: str) -> None:
    truth = draw(scale, 80, 1)
    blocks = comparator_blocks(study(scale), labeled(scale, truth), measure_of(study(scale).scale), {})
    dummy = DummyClassifier(strategy="most_frequent").fit(np.zeros((80, 1)), truth)
    assert value(blocks[CONSTANT], "percent_agreement") == pytest.approx(dummy.score(np.zeros((80, 1)), truth))
    assert value(blocks[CONSTANT], "cohen_kappa") == pytest.approx(0)


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["binary", "nominal", "ordinal"])
def test_random_is_the_expectation_over_draws_at_the_base_rate(scale: str) -> None:
    truth = draw(scale, 60, 2)
    block = comparator_blocks(study(scale), labeled(scale, truth), measure_of(study(scale).scale), {})[RANDOM]
    rng = np.random.default_rng(0)
    draws = rng.choice(truth, (5000, 60))
    agreed = (draws == truth).mean(axis=1)
    assert value(block, "percent_agreement") == pytest.approx(agreed.mean(), abs=5 * agreed.std() / np.sqrt(5000))
    kappas = [cohen_kappa_score(truth, drawn_once) for drawn_once in draws[:200]]
    assert value(block, "cohen_kappa") == pytest.approx(0, abs=1e-12)
    assert np.mean(kappas) == pytest.approx(0, abs=5 * np.std(kappas) / np.sqrt(200))


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "statistic"), [("binary", "cohen_kappa"), ("ordinal", "quadratic_kappa")])
def test_a_column_of_noise_carries_no_signal_on_average(scale: str, statistic: str) -> None:
    """Cut on the items themselves, noise would always have a positive κ; cut on other folds it has none."""
    found, flattered = [], []
    for seed in range(60):
        truth = draw(scale, 60, seed)
        labels = labeled(scale, truth, prefix=f"world-{seed}")
        noise = np.random.default_rng([seed, 1]).normal(size=60)
        answers = cross_fitted_answers(study(scale), labels, noise)
        block = comparator_blocks(study(scale), labels, measure_of(study(scale).scale), {"noise": answers})["noise"]
        found.append(value(block, statistic))
        cuts = [(noise > at).astype(int) for at in np.sort(noise)]
        flattered.append(max(abs(cohen_kappa_score(truth >= len(SHARES[scale]) // 2, cut)) for cut in cuts[10:-10:13]))
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found)) < 3.5 * error + 0.02
    assert np.mean(flattered) > 0.1


def test_a_column_that_tells_all_is_not_handicapped() -> None:
    for scale, statistic in (("binary", "cohen_kappa"), ("ordinal", "quadratic_kappa")):
        truth = draw(scale, 120, 3)
        column = 2.0 * truth + np.random.default_rng(1).uniform(0, 1, 120)
        labels = labeled(scale, truth)
        for sign in (1, -1):
            answers = cross_fitted_answers(study(scale), labels, sign * column)
            block = comparator_blocks(study(scale), labels, measure_of(study(scale).scale), {"all": answers})["all"]
            assert value(block, statistic) > 0.97


@pytest.mark.slow
def test_a_cut_on_other_folds_loses_little_against_the_best_cut_there_is() -> None:
    """A real heuristic, over 40 worlds: within 0.03 of the κ that the best cut of the population has."""
    lost = []
    for seed in range(40):
        truth = draw("binary", 200, seed)
        words = np.random.default_rng([seed, 2]).normal(size=200) + 1.5 * truth
        labels = labeled("binary", truth, prefix=f"world-{seed}")
        answers = cross_fitted_answers(study(), labels, words)
        lost.append(cohen_kappa_score(truth, words > 0.53) - cohen_kappa_score(truth, answers.astype(int)))
    assert -0.01 < np.mean(lost) < 0.03


def test_items_of_a_group_are_predicted_from_other_groups() -> None:
    """A column that names the group would tell every label in it, were other items of the group fitted on."""
    rng = np.random.default_rng(5)
    group = np.repeat(np.arange(40), 5)
    truth = rng.integers(0, 2, 40)[group]
    labels = labeled("binary", truth, group=[f"group-{number:02d}" for number in group])
    answers = cross_fitted_answers(study(), labels, group + rng.uniform(0, 0.5, 200))
    assert abs(cohen_kappa_score(truth, answers.astype(int))) < 0.35


def test_numbers_are_predicted_by_the_line_of_the_other_folds() -> None:
    rng = np.random.default_rng(8)
    truth = rng.normal(50, 15, 150).clip(0, 100).round(2)
    labels = labeled("numbers", truth)
    words = truth + rng.normal(0, 10, 150)
    answers = cross_fitted_answers(study("numbers"), labels, words)
    slope, intercept = np.polyfit(words, truth, 1)
    assert np.abs(answers - (slope * words + intercept)).max() < 3
    missing = np.where(np.arange(150) < 5, np.nan, words)
    assert cross_fitted_answers(study("numbers"), labels, missing)[:5] == pytest.approx(truth.mean(), abs=3)


def test_decisions_of_comparators_are_shares_of_acceptance() -> None:
    truth = draw("ordinal", 50, 4)
    labels = labeled("ordinal", truth)
    answers = {"words": np.where(np.arange(50) % 2, 3.0, 0.0)}
    decided = comparator_decisions(study("ordinal"), labels, answers)
    most_frequent = np.bincount(truth).argmax()
    assert (decided[CONSTANT][:, ACCEPTED] == float(most_frequent >= 2)).all()
    assert decided[RANDOM][:, ACCEPTED] == pytest.approx((truth >= 2).mean())
    assert decided["words"][:, ACCEPTED].tolist() == [0.0, 1.0] * 25
    for name in decided:
        assert (decided[name][:, ACCEPTED] + decided[name][:, REJECTED]).tolist() == pytest.approx([1.0] * 50)


def test_association_is_read_off_the_raw_column_with_the_sign_that_suits_it() -> None:
    truth = draw("ordinal", 90, 6)
    labels = labeled("ordinal", truth)
    column = -1.0 * truth + np.random.default_rng(4).normal(size=90)
    blocks = raw_column_blocks(study("ordinal"), labels, "spearman", {"words": column})
    expected = abs(pd.Series(truth).corr(pd.Series(column), method="spearman"))
    assert value(blocks["words"], "spearman") == pytest.approx(expected)
    assert raw_column_blocks(study("ordinal"), labels, "quadratic_kappa", {"words": column}) == {}


def test_a_column_is_read_by_item_and_what_is_no_number_is_missing() -> None:
    labels = labeled("binary", np.array([0, 1, 1]))
    manifest = pd.DataFrame({"item_id": ["item-0002", "item-0000", "item-0001"], "words": ["7", "five", None]})
    found = feature(manifest, labels, "words")
    assert found[2] == 7
    assert np.isnan(found[:2]).all()


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("words", True),
        ("text_words", True),
        ("n-steps", True),
        ("Token.Count", True),
        ("tokens", True),
        ("swords", False),
    ],
)
def test_what_counts_as_a_length(column: str, expected: bool) -> None:
    assert is_length(column) == expected

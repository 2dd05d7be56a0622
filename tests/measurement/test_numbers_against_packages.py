"""Pairs of numbers against scipy, krippendorff and loops over people."""

from __future__ import annotations

from itertools import permutations

import krippendorff
import numpy as np
import pytest
from declared_studies import drawn, sheet, study
from scipy import stats

from calib_pipeline.measurement import continuous
from calib_pipeline.measurement.alpha import ALPHA, alpha_block
from calib_pipeline.measurement.measures import RangeMeasure
from calib_pipeline.measurement.reference import Labels, fold_labels

SPAN = 100.0
MEASURE = RangeMeasure()


@pytest.fixture
def people() -> list[list[float]]:
    """30 items with one to four numbers each, some of them equal."""
    rng = np.random.default_rng(11)
    return [
        list(np.round(np.clip(rng.normal(50 + 3 * (item - 15), 8, rng.integers(1, 5)), 0, 100))) for item in range(30)
    ]


@pytest.fixture
def labels(people: list[list[float]]) -> Labels:
    items = [f"item-{number:02d}" for number in range(len(people))]
    frame = sheet(dict(zip(items, people, strict=True)), "numbers")
    return fold_labels(study("numbers"), drawn(items), frame, {"all": len(items)})


def value(statistic: str, contributions: np.ndarray, weights: np.ndarray | None = None) -> float:
    weights = np.ones(len(contributions)) if weights is None else weights
    return float(MEASURE.value(statistic, weights @ contributions))


def test_a_scorer_against_the_reference_in_all_four_statistics(labels: Labels) -> None:
    rng = np.random.default_rng(2)
    answers = np.round(np.clip(labels.numbers + rng.normal(2, 9, labels.n), 0, 100))
    every = np.arange(labels.n)
    found = continuous.pair_contributions(labels.numbers, answers, every, labels.design.weights, span=SPAN)
    apart = np.abs(labels.numbers - answers)
    assert value("within_tolerance", found) == pytest.approx((apart <= 10).mean())
    assert value("mean_absolute_difference", found) == pytest.approx(apart.mean())
    assert value("pearson", found) == pytest.approx(stats.pearsonr(labels.numbers, answers).statistic)
    assert value("spearman", found) == pytest.approx(stats.spearmanr(labels.numbers, answers).statistic)


def test_exactly_a_tenth_of_the_range_apart_is_within_tolerance() -> None:
    found = continuous.pair_contributions(
        np.array([0.1, 0.3]), np.array([0.2, 0.41]), np.arange(2), np.ones(2), span=1.0
    )
    assert found[:, continuous.WITHIN].tolist() == [1, 0]


def test_weights_count_as_so_many_items() -> None:
    """Whole weights give the figures of a sample in which each item stands that often."""
    rng = np.random.default_rng(6)
    x, y = rng.normal(50, 10, 40).round(), rng.normal(50, 10, 40).round()
    y = np.round((x + y) / 2)
    times = rng.integers(1, 5, 40)
    weighted = continuous.pair_contributions(x, y, np.arange(40), times.astype(float), span=SPAN)
    repeated = stats.spearmanr(np.repeat(x, times), np.repeat(y, times)).statistic
    assert value("spearman", weighted, times.astype(float)) == pytest.approx(repeated)
    pearson = stats.pearsonr(np.repeat(x, times), np.repeat(y, times)).statistic
    assert value("pearson", weighted, times.astype(float)) == pytest.approx(pearson)


def test_people_one_to_one_over_ordered_pairs_of_distinct_people(people: list[list[float]], labels: Labels) -> None:
    found = continuous.people_one_to_one(labels, SPAN)
    expected, differences = [], []
    for numbers in people:
        pairs = list(permutations(numbers, 2))
        expected.append(np.mean([abs(a - b) <= 10 for a, b in pairs]) if pairs else 0.0)
        differences.append(np.mean([abs(a - b) for a, b in pairs]) if pairs else 0.0)
    assert found[:, continuous.WITHIN] == pytest.approx(expected)
    assert found[:, continuous.DIFFERENCE] == pytest.approx(differences)
    assert found[:, 0].tolist() == [float(len(numbers) > 1) for numbers in people]


def test_people_against_the_mean_of_the_others_and_a_scorer_likewise(people: list[list[float]], labels: Labels) -> None:
    answers = np.linspace(5, 95, labels.n)
    of_people = continuous.people_against_others(labels, SPAN)
    of_scorer = continuous.pair_contributions(
        continuous.mean_of_others(labels),
        answers[labels.label_items],
        labels.label_items,
        labels.design.weights,
        span=SPAN,
    )
    for row, (numbers, answer) in enumerate(zip(people, answers, strict=True)):
        others = [np.mean(numbers[:left] + numbers[left + 1 :]) for left in range(len(numbers)) if len(numbers) > 1]
        own = [abs(mean - number) for mean, number in zip(others, numbers, strict=False)]
        assert of_people[row, continuous.DIFFERENCE] == pytest.approx(np.mean(own) if own else 0.0)
        assert of_scorer[row, continuous.DIFFERENCE] == pytest.approx(
            np.mean([abs(mean - answer) for mean in others]) if others else 0.0
        )


def test_a_refusal_is_the_end_of_the_range_farthest_from_the_reference() -> None:
    reference = np.array([10.0, 90.0, 50.0, 40.0])
    given = np.array([np.nan, np.nan, np.nan, 41.0])
    assert continuous.worst_answer(reference, given, 0, 100).tolist() == [100, 0, 0, 41]


def test_alpha_of_numbers_is_that_of_the_krippendorff_package(people: list[list[float]], labels: Labels) -> None:
    block = alpha_block(labels, ordered=False)
    most = max(len(numbers) for numbers in people)
    ratings = np.full((most, len(people)), np.nan)
    for item, numbers in enumerate(people):
        ratings[: len(numbers), item] = numbers
    expected = krippendorff.alpha(ratings, level_of_measurement="interval")
    assert float(block.measure.value(ALPHA, block.contributions.sum(axis=0))) == pytest.approx(expected)


@pytest.mark.parametrize(("scale", "metric"), [("nominal", "nominal"), ("ordinal", "ordinal")])
def test_alpha_of_levels_is_that_of_the_krippendorff_package(scale: str, metric: str) -> None:
    rng = np.random.default_rng(9)
    levels = ["a", "b", "c"] if scale == "nominal" else ["0", "1", "2", "3"]
    items = [f"item-{number:02d}" for number in range(40)]
    truth = rng.integers(0, len(levels), 40)
    given = {
        item: [
            levels[int(t if rng.random() < 0.7 else rng.integers(0, len(levels)))] for _ in range(rng.integers(1, 5))
        ]
        for item, t in zip(items, truth, strict=True)
    }
    folded = fold_labels(study(scale), drawn(items), sheet(given, scale), {"all": 40})
    block = alpha_block(folded, ordered=metric == "ordinal")
    counts = folded.counts
    expected = krippendorff.alpha(value_counts=counts, level_of_measurement=metric)
    assert float(block.measure.value(ALPHA, block.contributions.reshape(40, -1).sum(axis=0))) == pytest.approx(expected)


def test_the_best_constant_lies_within_tolerance_of_the_most_items() -> None:
    rng = np.random.default_rng(1)
    numbers, weights = rng.uniform(0, 100, 60), rng.uniform(0.5, 2, 60)
    best = continuous.best_constant(numbers, weights, SPAN)
    reached = weights[np.abs(numbers - best) <= 10 + 1e-9].sum()
    tried = max(weights[np.abs(numbers - at) <= 10].sum() for at in np.linspace(0, 100, 20_001))
    assert reached == pytest.approx(tried)


def test_random_answers_are_the_expectation_over_draws() -> None:
    rng = np.random.default_rng(3)
    numbers, weights = rng.normal(50, 15, 50).clip(0, 100), rng.uniform(0.5, 2, 50)
    found = continuous.random_contributions(numbers, weights, SPAN)
    draws = rng.choice(numbers, (4000, 50), p=weights / weights.sum())
    within = np.average((np.abs(draws - numbers) <= 10).mean(axis=0), weights=weights)
    apart = np.average(np.abs(draws - numbers).mean(axis=0), weights=weights)
    error = 4 / np.sqrt(4000)
    assert value("within_tolerance", found, weights) == pytest.approx(within, abs=0.1 * error)
    assert value("mean_absolute_difference", found, weights) == pytest.approx(apart, abs=5 * error)
    assert value("pearson", found, weights) == pytest.approx(0, abs=1e-9)
    # Exactly, by summing over all answers that could be drawn:
    share = weights / weights.sum()
    every = np.abs(numbers[:, None] - numbers[None, :])
    assert found[:, continuous.WITHIN] == pytest.approx((every <= 10) @ share)
    assert found[:, continuous.DIFFERENCE] == pytest.approx(every @ share)

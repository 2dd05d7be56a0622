"""Joint tables of labels and answers against loops over people, written from the definitions."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from calib_pipeline.measurement import pairs
from calib_pipeline.measurement.reference import CONSENSUS, each_label, majority, median
from calib_pipeline.statistics import table_kappa, table_percent_agreement

LEVELS = 4


@pytest.fixture
def counts() -> np.ndarray:
    """40 items with one to six labels on four values."""
    rng = np.random.default_rng(3)
    return np.array([rng.multinomial(m, [0.4, 0.3, 0.2, 0.1]) for m in rng.integers(1, 7, 40)], dtype=float)


def labels_of(row: np.ndarray) -> list[int]:
    return [level for level, count in enumerate(row) for _ in range(int(count))]


def test_a_majority_keeps_its_ties() -> None:
    assert majority(np.array([[2.0, 2.0, 1.0], [0.0, 3.0, 1.0], [0.0, 0.0, 0.0]])).tolist() == [
        [0.5, 0.5, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0],
    ]


def test_a_median_is_the_middle_label_and_an_even_one_is_half_each(counts: np.ndarray) -> None:
    for row, share in zip(counts, median(counts), strict=True):
        ordered = labels_of(row)
        low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
        expected = np.zeros(LEVELS)
        expected[low] += 0.5
        expected[high] += 0.5
        assert share.tolist() == expected.tolist()


def test_people_one_to_one_is_the_mean_over_ordered_pairs(counts: np.ndarray) -> None:
    for row, joint in zip(counts, pairs.people_one_to_one(counts), strict=True):
        expected = np.zeros((LEVELS, LEVELS))
        ordered = list(permutations(labels_of(row), 2))
        for first, second in ordered:
            expected[first, second] += 1 / len(ordered)
        assert joint == pytest.approx(expected)


@pytest.mark.parametrize("rule", ["majority", "median", "single"])
def test_people_against_others_leaves_out_one_person_at_a_time(counts: np.ndarray, rule: str) -> None:
    consensus = CONSENSUS[rule]
    for row, joint in zip(counts, pairs.people_against_others(counts, consensus), strict=True):
        people = labels_of(row)
        expected = np.zeros((LEVELS, LEVELS))
        for left_out, own in enumerate(people):
            others = np.bincount(people[:left_out] + people[left_out + 1 :], minlength=LEVELS)[None].astype(float)
            if len(people) > 1:
                expected[:, own] += consensus(others)[0] / len(people)
        assert joint == pytest.approx(expected)


def test_a_scorer_meets_the_consensus_of_all_but_one_as_people_do(counts: np.ndarray) -> None:
    rng = np.random.default_rng(5)
    codes = rng.integers(-1, LEVELS, len(counts))
    found = pairs.against_others(counts, majority, pairs.one_hot(codes, LEVELS))
    for row, code, joint in zip(counts, codes, found, strict=True):
        people = labels_of(row)
        expected = np.zeros((LEVELS, LEVELS + 1))
        for left_out in range(len(people)):
            others = np.bincount(people[:left_out] + people[left_out + 1 :], minlength=LEVELS)[None].astype(float)
            if len(people) > 1:
                expected[:, code] += majority(others)[0] / len(people)
        assert joint == pytest.approx(expected)


def test_one_label_is_the_expectation_over_which_annotator_one_had(counts: np.ndarray) -> None:
    answers = pairs.one_hot(np.full(len(counts), 2), LEVELS)
    joint = pairs.against_one_label(counts, answers)
    assert joint[:, :, 2] == pytest.approx(each_label(counts))


@pytest.mark.parametrize("ordered", [False, True])
def test_a_refusal_counts_as_much_as_the_worst_answer(ordered: bool) -> None:
    """Refusing an item is never better than answering it wrongly, in any statistic of the scale."""
    rng = np.random.default_rng(8)
    truth = rng.integers(0, LEVELS, 200)
    answer = np.where(rng.random(200) < 0.8, truth, rng.integers(0, LEVELS, 200))
    refused = rng.random(200) < 0.2
    shares = np.eye(LEVELS)[truth]
    base = shares.sum(axis=0)
    with_refusals = pairs.against_reference(shares, pairs.one_hot(np.where(refused, -1, answer), LEVELS))
    charged = pairs.labeled(with_refusals, ordered=ordered, base=base).sum(axis=0)
    weights = "quadratic" if ordered else None
    floor = float(table_kappa(charged, weights))
    for wrong in range(LEVELS):
        mistaken = np.where(refused, np.where(truth == wrong, (truth + 1) % LEVELS, wrong), answer)
        table = pairs.against_reference(shares, np.eye(LEVELS)[mistaken]).sum(axis=0)
        assert floor <= float(table_kappa(table, weights)) + 1e-12
    right = ~refused & (answer == truth)
    assert float(table_percent_agreement(charged)) == pytest.approx(right.mean())
    assert pairs.decided(with_refusals).sum() == pytest.approx((~refused).sum())

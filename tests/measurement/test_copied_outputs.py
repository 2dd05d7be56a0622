"""A scorer that is a copy of people's labels is reported; one that is merely good is left alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calib_pipeline.measurement.copied_outputs import copied_outputs
from calib_pipeline.statistics import consensus_flip_rate, flip_rate_from_pairs

N = 200
NOBODY = (np.zeros(0, dtype=bool), np.zeros(0, dtype=bool))


def answers(rng: np.random.Generator, truth: np.ndarray, right: float, values: int = 2) -> np.ndarray:
    other = (truth + rng.integers(1, values, len(truth))) % values
    return np.where(rng.random(len(truth)) < right, truth, other)


def sheet(people: list[np.ndarray]) -> pd.DataFrame:
    rows = [
        (f"i{item:03}", f"p{person}", str(value))
        for person, said in enumerate(people)
        for item, value in enumerate(said)
    ]
    return pd.DataFrame(rows, columns=["item_id", "annotator_id", "value"])


def outputs(said: np.ndarray) -> dict[str, str]:
    return {f"i{item:03}": str(value) for item, value in enumerate(said)}


def test_a_copy_of_one_annotator_is_named_with_its_chance() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, N)
    people = [answers(rng, truth, 0.7) for _ in range(3)]
    [found] = copied_outputs(sheet(people), outputs(people[1]), NOBODY, None)
    alone = int(np.sum((people[1] != people[0]) & (people[1] != people[2])))
    assert (found.source, found.equal, found.n) == ("annotator p1", alone, alone)
    # all three stood alone somewhere, and each was looked at
    assert found.probability == pytest.approx(3 * 0.8**alone)


@pytest.mark.parametrize("rights", [(0.95, 0.85, 0.75), (0.7, 0.7, 0.7), (0.9, 0.9, 0.9, 0.6)])
@pytest.mark.parametrize("values", [2, 4])
def test_a_scorer_that_knows_the_truth_is_no_copy(values: int, rights: tuple[float, ...]) -> None:
    suspected = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, values, N)
        people = [answers(rng, truth, right, values) for right in rights]
        suspected += bool(copied_outputs(sheet(people), outputs(truth), NOBODY, None))
    assert suspected <= 1


def test_a_scorer_that_knows_the_truth_does_not_equal_a_noisy_reference() -> None:
    suspected = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 2, 2 * N)
        people = np.array([answers(rng, truth, right) for right in (0.95, 0.85, 0.75)])
        differ = np.mean([np.mean(people[one] != people[other]) for one, other in ((0, 1), (0, 2), (1, 2))])
        eta = flip_rate_from_pairs(float(differ) * 3 * N, 3 * N).value
        assert eta is not None
        decided = (people.sum(axis=0) >= 2, truth.astype(bool))
        suspected += bool(copied_outputs(sheet([]), {}, decided, consensus_flip_rate(eta, 3).value))
    assert suspected <= 1


def test_a_copy_of_the_reference_is_found_where_the_reference_errs() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, N)
    people = np.array([answers(rng, truth, 0.8) for _ in range(3)])
    majority = people.sum(axis=0) >= 2
    flips = consensus_flip_rate(0.2, 3).value
    assert flips is not None
    of_nobody = sheet([])
    [found] = copied_outputs(of_nobody, {}, (majority, majority.copy()), flips)
    assert (found.source, found.equal, found.n) == ("the reference", N, N)
    assert found.probability == pytest.approx((1 - flips / 2) ** N)
    assert copied_outputs(of_nobody, {}, (majority, truth.astype(bool)), flips) == ()
    assert copied_outputs(of_nobody, {}, (majority, majority.copy()), None) == ()


def test_people_who_agree_on_all_tell_nothing() -> None:
    truth = np.random.default_rng(4).integers(0, 2, N)
    assert copied_outputs(sheet([truth, truth]), outputs(truth), (truth == 1, truth == 1), 0.0) == ()


def test_two_people_never_stand_alone() -> None:
    rng = np.random.default_rng(5)
    people = [answers(rng, np.zeros(N, dtype=int), 0.6) for _ in range(2)]
    assert copied_outputs(sheet(people), outputs(people[0]), NOBODY, None) == ()

"""The chance of a run of equal answers, against enumeration, published figures and simulation."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from calib_pipeline.statistics.answer_runs import chance_of_run, longest_run


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("length", range(8))
def test_the_chance_is_that_of_every_sequence_counted(length: int, rate: float) -> None:
    trials = 7
    counted = 0.0
    for sequence in product([False, True], repeat=trials):
        runs = [len(run) for run in "".join("1" if one else "0" for one in sequence).split("0")]
        if max(runs) >= length:
            counted += float(np.prod([rate if one else 1 - rate for one in sequence]))
    assert chance_of_run(trials, length, rate) == pytest.approx(counted, abs=1e-12)


def test_a_fair_coin_shows_seven_in_a_row_in_a_hundred_as_often_as_is_known() -> None:
    """0.3175 is the textbook figure for a run of seven heads in 100 tosses."""
    assert chance_of_run(100, 7, 0.5) == pytest.approx(0.3175, abs=5e-5)


def test_the_chance_is_what_a_simulation_gives() -> None:
    rng = np.random.default_rng(3)
    longest = [longest_run(rng.random(200) < 0.8).length for _ in range(2000)]
    for length in (15, 25, 35):
        share = float(np.mean([one >= length for one in longest]))
        assert share == pytest.approx(chance_of_run(200, length, 0.8), abs=4 * np.sqrt(0.25 / 2000))


def test_the_longest_run_is_found_with_the_rate_outside_of_it() -> None:
    equal = np.array([0, 1, 1, 0, 1, 1, 1, 1, 0, 1], dtype=bool)
    run = longest_run(equal)
    assert (run.start, run.length, run.trials, run.equal_elsewhere) == (4, 4, 10, 3)
    assert run.rate == pytest.approx((3 + 1) / (6 + 2))
    assert run.probability == chance_of_run(10, 4, 0.5)


@pytest.mark.parametrize(("equal", "length", "chance"), [([], 0, 1.0), ([False] * 5, 0, 1.0), ([True] * 3, 3, 0.125)])
def test_the_ends_are_defined(equal: list[bool], length: int, chance: float) -> None:
    run = longest_run(np.array(equal, dtype=bool))
    assert (run.length, run.probability) == (length, pytest.approx(chance))


@pytest.mark.parametrize(("trials", "length", "rate"), [(-1, 1, 0.5), (1, -1, 0.5), (1, 1, 1.5), (1, 1, float("nan"))])
def test_what_is_no_chance_is_refused(trials: int, length: int, rate: float) -> None:
    with pytest.raises(ValueError):
        chance_of_run(trials, length, rate)

"""Each rule on what a gate reads, by a judge whom the naive choice would have let through."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from climbs import in_memory, reserved
from made_up_project import world_of

from calib_pipeline.climb import Climb
from calib_pipeline.measurement.directional import ACCEPTED
from calib_pipeline.measurement.figures import Block, Figures, IntervalPlan
from calib_pipeline.measurement.measures import LevelMeasure
from calib_pipeline.measurement.pairs import against_reference, decided, one_hot
from calib_pipeline.statistics import Design

LUCKY = 2
"""A seed whose best guesser of twenty beats every comparator at 95 %."""


def row(result: Climb, asset: str, name: str, **where: str) -> pd.Series:
    rows = result.evidence[asset].rows
    rows = rows[rows["name"] == name]
    for column, value in where.items():
        rows = rows[rows[column] == value]
    assert len(rows) == 1, rows
    return rows.iloc[0]


def test_the_unchanged_world_climbs() -> None:
    assert in_memory(world_of()).stopped_at is None


def test_a_judge_that_answers_only_the_easy_third() -> None:
    """All labeled items: right wherever it answers, it answers on the items on which all three people agree."""
    world = world_of()
    world.study["agreement"]["min_pairs"] = 30
    given = world.labels.groupby("item_id")["value"].agg(list).reindex(world.scores["item_id"])
    easy = given.map(lambda values: len(set(values)) == 1).to_numpy() & (np.arange(420) % 3 == 0)
    world.scores["value"] = np.where(easy, given.map(lambda values: values[0]), "abstain")
    result = in_memory(world)
    answered = row(result, "scorer_agreement", "agreement", scope="decided", statistic="cohen_kappa")
    assert (answered["value"], answered["gate_low"] > 0.5) == (1, True)
    assert result.stopped_at == "scorer_agreement"
    assert "lost" in str(result.reason)


def test_the_luckiest_of_twenty_judges_that_guess() -> None:
    """The bound at the level that the number of configurations demands: publishing the best of a grid is a search."""
    world = world_of()
    rng = np.random.default_rng(LUCKY)
    guesses = [rng.choice(["fail", "pass"], 420) for _ in range(20)]
    drawn = world.items["item_id"].isin(set(reserved(world)["item_id"])).to_numpy()
    truth = np.array(["fail", "pass"])[world.truth]
    world.scores["value"] = max(guesses, key=lambda guess: (guess == truth)[drawn].mean())
    alone = in_memory(world)
    assert alone.verdicts["scorer_agreement"].holds
    among_twenty = in_memory(world, configurations=20)
    assert among_twenty.stopped_at == "scorer_agreement"
    assert "not yet demonstrated" in str(among_twenty.reason)
    difference = row(among_twenty, "scorer_agreement", "difference", scope="constant majority")
    assert difference["gate_level"] == pytest.approx(1 - 0.05 / 20)
    assert difference["gate_resamples"] == 40_000  # 50 replicates beyond each limit
    assert difference["level"] == 0.95


def test_a_rare_costly_error_that_no_replicate_shows() -> None:
    """The safer of two intervals: with no error seen, a bootstrap's upper limit of its rate is 0."""
    world = world_of()
    world.study["decision"]["cost_false_accept"]["value"] = 50
    passes = world.labels.groupby("item_id")["value"].agg(lambda values: set(values) == {"pass"})
    world.scores["value"] = np.where(passes.reindex(world.scores["item_id"]), "pass", "fail")
    result = in_memory(world)
    assert row(result, "scorer_agreement", "confusion", scope="fp")["value"] == 0
    cost = row(result, "threshold_check", "expected_cost")
    assert bootstrap_of_cost(result, false_accept=50, false_reject=1) < cost["bar"] < cost["gate_high"]
    assert result.stopped_at == "threshold_check"
    assert "not yet demonstrated" in str(result.reason)


def bootstrap_of_cost(result: Climb, *, false_accept: float, false_reject: float) -> float:
    """The upper limit at 95 % that a percentile bootstrap of the rows would give."""
    rows = result.evidence["scorer_agreement"].tables["rows"]
    accepted, weight = rows["reference_accepted"].to_numpy(), rows["weight"].to_numpy()
    passed = (rows["scorer_decision"] == ACCEPTED).to_numpy()
    cost = np.where(passed, false_accept * (1 - accepted), false_reject * accepted)
    rng = np.random.default_rng(0)
    drawn = (rng.integers(0, len(rows), len(rows)) for _ in range(2000))
    return float(np.quantile([np.average(cost[draw], weights=weight[draw]) for draw in drawn], 0.975))


def test_perfect_agreement_on_ten_items() -> None:
    """No interval of zero width: what all replicates of ten items show is not what the population is."""
    codes = np.arange(10) % 2
    joint = decided(against_reference(np.eye(2)[codes], one_hot(codes, 2)))
    judge = {"judge": Block(joint, LevelMeasure(2, ordered=False))}
    figures = Figures(judge, Design.simple(10), IntervalPlan(2000, 0, 0.95), {"judge"})
    # Wilson's lower limit of 10 in 10 is 0.7225; at chance agreement 0.5 that is a κ of 0.445.
    for statistic, low in {"percent_agreement": 0.7225, "cohen_kappa": 0.4449}.items():
        figure = figures.figure("judge", statistic)
        assert (figure.estimate.value, figure.estimate.low, figure.estimate.high) == (1, 1, 1)
        assert figure.gate is not None
        assert figure.gate.low == pytest.approx(low, abs=1e-4)


def test_four_big_groups() -> None:
    """Two hundred rows of four conversations are four observations, however narrow their interval is."""
    world = world_of(strata={"all": 200})
    world.study["holdout"] |= {"size": 200}
    assert in_memory(world).stopped_at is None
    world.items["group"] = [f"conversation {number % 4}" for number in range(200)]
    result = in_memory(world)
    assert result.stopped_at == "human_ceiling"
    assert "over 4 groups" in str(result.reason)


def test_a_straddle_says_how_many_labels_would_decide_it() -> None:
    """Positive and not yet demonstrated is not a loss: widths shrink with the root of n."""
    world = world_of()
    rng = np.random.default_rng(3)
    right = rng.random(420) < 0.56
    world.scores["value"] = np.array(["fail", "pass"])[np.where(right, world.truth, 1 - world.truth)]
    result = in_memory(world)
    assert result.stopped_at == "scorer_agreement"
    difference = row(result, "scorer_agreement", "difference", scope="constant majority")
    assert difference["gate_low"] <= 0 < difference["value"]
    assert difference["text"] == "not yet demonstrated"
    width = difference["value"] - difference["gate_low"]
    # A second attempt is read at 97.5 %: z = 2.241 instead of 1.960.
    wanted = math.ceil(150 * (2.241403 / 1.959964) ** 2 * (width / difference["value"]) ** 2)
    assert difference["note"] == (
        f"at the present estimate {wanted} labels decide it, all of unspent items (150 did not): "
        "add items to the population, which has 420, and then raise holdout.size"
    )
    assert "not yet demonstrated" in str(result.reason)


def test_a_ceiling_that_straddles_its_floor_says_so_too() -> None:
    world = world_of()
    """The level at which people are read answers for no attempts, so that the next set is read as this one is."""
    value = row(in_memory(world), "human_ceiling", "ceiling")
    world.study["ceiling"]["floor"] = round(float(value["value"] + value["gate_low"]) / 2, 3)
    result = in_memory(world)
    assert result.stopped_at == "human_ceiling"
    assert "not yet demonstrated" in str(result.reason)
    ceiling = row(result, "human_ceiling", "ceiling")
    narrower = (ceiling["value"] - ceiling["gate_low"]) / (ceiling["value"] - ceiling["bar"])
    wanted = math.ceil(ceiling["n"] * narrower**2)
    next_step = result.verdicts["human_ceiling"].reasons[0].next_step
    assert f"{wanted} labels decide it, all of unspent items ({ceiling['n']:g} did not)" in next_step

"""How often the ladder promotes a scorer that has not earned it, and one that has; and what its intervals cover.

Run ``python bench/promotion.py --worlds 1000``. Each world is a made-up population whose figures are known (`worlds`).
A scorer at a boundary (no better than a heuristic, exactly at its budget, exactly at its floor) should be promoted in
at most 2.5 % of the worlds, half of 1 - 0.95, and a clearly good one in at least 90 % at n = 400. Rates stand with
their Monte Carlo standard error; a bar counts as missed where the rate lies more than two of these beyond it.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby
from typing import Any, Literal

import numpy as np
from rich.console import Console
from rich.progress import Progress
from worlds import NumberWorld, Stratum, World, flips, neighbours, reader

from calib_pipeline.climb import climb

MOST_UNEARNED = 0.025
LEAST_EARNED = 0.9
PROCESSES = 2
CHUNK = 10

LENGTHS = np.array([[0.55, 0.3, 0.15], [0.15, 0.3, 0.55]])
"""The distribution of the length column where the truth is 0 and where it is 1."""

Kind = Literal["unearned", "earned", "coverage"]


@dataclass(frozen=True)
class Scenario:
    """Worlds of one kind, and what is expected of the ladder in them. ``configurations`` is the m of the gates."""

    name: str
    kind: Kind
    world: World | NumberWorld
    configurations: int = 1


@dataclass
class Tally:
    """What happened in the worlds of a scenario.

    ``intervals`` counts by figure: all intervals, those above the truth and those below it.
    """

    worlds: int = 0
    promoted: int = 0
    stops: Counter[str] = field(default_factory=Counter)
    intervals: dict[tuple[str, str, str], Counter[str]] = field(default_factory=dict)

    def interval(self, figure: tuple[str, str, str], low: float, high: float, truth: float) -> None:
        counts = self.intervals.setdefault(figure, Counter())
        counts.update(all=1, above=int(truth < low), below=int(truth > high))

    def add(self, other: Tally) -> None:
        self.worlds += other.worlds
        self.promoted += other.promoted
        self.stops.update(other.stops)
        for figure, counts in other.intervals.items():
            self.intervals.setdefault(figure, Counter()).update(counts)


def binary(
    n: int,
    scorer: Any,
    *,
    prevalence: float = 0.5,
    noise: float = 0.1,
    **options: Any,
) -> World:
    """A world of two values in one stratum."""
    stratum = Stratum(1.0, (1 - prevalence, prevalence), scorer)
    return World(n, (stratum,), flips(noise), LENGTHS, **options)


def as_good_as_length(world: World) -> World:
    """The world with a scorer that reads exactly as well as the best cut of the length column, with its own errors."""
    return replace(world, strata=tuple(replace(part, scorer=world.heuristic()) for part in world.strata))


def at_budget(world: World, false_accept: float, false_reject: float) -> World:
    """The world with a budget that is exactly the scorer's expected cost."""
    costs = {
        "cost_false_accept": {"value": false_accept, "because": "simulated"},
        "cost_false_reject": {"value": false_reject, "because": "simulated"},
    }
    world = replace(world, declared={"decision": costs})
    return replace(world, declared={"decision": costs | {"budget": world.cost()}})


def as_cheap_as_accepting_all(world: World) -> World:
    """The world with costs at which acting on the scorer costs exactly what letting everything through costs."""
    cells = world.cells()
    right_rejects, wrong_rejects = cells[0, 0], cells[1, 0] + cells[1, 2]
    costs = {
        "cost_false_accept": {"value": 1.0, "because": "simulated"},
        "cost_false_reject": {"value": right_rejects / wrong_rejects, "because": "simulated"},
    }
    return replace(world, declared={"decision": costs})


def at_floor(world: World | NumberWorld, statistic: str) -> World | NumberWorld:
    """The world with a floor at exactly the scorer's figure."""
    floor = {"statistic": statistic, "at_least": world.figure(statistic), "convention": True, "stands_for": "simulated"}
    declared = {**world.declared, "decision": {"floor": floor}}
    return replace(world, declared=declared)


def ordinal(n: int, right: float, **options: Any) -> World:
    """A world of five ordered values; three people an item."""
    length = np.array([[0.6, 0.3, 0.1], [0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5], [0.1, 0.3, 0.6]])
    stratum = Stratum(1.0, (0.1, 0.2, 0.3, 0.25, 0.15), neighbours(5, right))
    people = neighbours(5, 0.75)[:, :5]
    declared = {"reference": {"kind": "anchor", "consensus": "median"}}
    return World(n, (stratum,), people, length, annotators=3, ordered=True, declared=declared, **options)


def stratified(n: int, common: Any, rare: Any, **options: Any) -> World:
    """A world of a common and a rare stratum; the rare one is sampled beyond its share."""
    strata = (Stratum(0.85, (0.4, 0.6), common), Stratum(0.15, (0.6, 0.4), rare))
    return World(n, strata, flips(0.1), LENGTHS, times=2, min_per_stratum=n // 4, **options)


@cache
def scenarios() -> tuple[Scenario, ...]:
    """Every kind of world that is climbed."""
    return tuple(_scenarios())


def _scenarios() -> Iterator[Scenario]:
    good, poor = reader(0.93, 0.93), reader(0.5, 0.5)
    for n in (100, 200, 400):
        same = as_good_as_length(binary(n, good))
        yield Scenario(f"as good as a length check, n = {n}", "unearned", same)
    skewed = as_good_as_length(binary(200, good, prevalence=0.85))
    yield Scenario("as good as a length check, prevalence 0.85, n = 200", "unearned", skewed)
    same = as_good_as_length(binary(200, good))
    half = replace(same, copies_feature=same.best_cut())
    yield Scenario("half a copy of a length check, n = 200", "unearned", half)
    noisy = as_good_as_length(binary(200, good, noise=0.2, annotators=3))
    yield Scenario("as good as a length check, noisy labels, n = 200", "unearned", noisy)
    strata = as_good_as_length(stratified(200, good, good))
    yield Scenario("as good as a length check, strata, n = 200", "unearned", strata)
    groups = as_good_as_length(binary(200, good, group_size=4, sticky=0.5, times=2))
    yield Scenario("as good as a length check, groups of 4, n = 200", "unearned", groups)
    grid = replace(as_good_as_length(binary(200, good)), candidates=20)
    yield Scenario("best of 20 as good as a length check, m = 20, n = 200", "unearned", grid, configurations=20)
    yield Scenario("no better than chance, n = 200", "unearned", binary(200, poor))

    for n in (100, 200, 400):
        yield Scenario(f"at its budget, n = {n}", "unearned", at_budget(binary(n, good), 1, 1))
    rare = at_budget(binary(200, reader(0.98, 0.97), prevalence=0.9, noise=0.03), 20, 1)
    yield Scenario("at its budget, rare costly errors, n = 200", "unearned", rare)
    groups = at_budget(binary(200, good, group_size=4, sticky=0.5, times=2), 1, 1)
    yield Scenario("at its budget, groups of 4, n = 200", "unearned", groups)
    strata = at_budget(stratified(200, good, reader(0.75, 0.75)), 2, 1)
    yield Scenario("at its budget, strata, n = 200", "unearned", strata)
    for n in (100, 400):
        cheap = as_cheap_as_accepting_all(binary(n, good))
        yield Scenario(f"as cheap as accepting all, n = {n}", "unearned", cheap)

    for n in (100, 200, 400):
        yield Scenario(f"kappa at its floor, n = {n}", "unearned", at_floor(binary(n, good), "cohen_kappa"))
    better = reader(0.98, 0.98)
    close = at_floor(binary(200, better, noise=0.03), "cohen_kappa")
    yield Scenario("kappa at a floor of 0.90, n = 200", "unearned", close)
    skewed = at_floor(binary(200, better, prevalence=0.85, noise=0.03), "cohen_kappa")
    yield Scenario("kappa at its floor, prevalence 0.85, n = 200", "unearned", skewed)
    yield Scenario(
        "kappa at its floor, refusals, n = 200",
        "unearned",
        at_floor(binary(200, reader(0.95, 0.95, 0.06)), "cohen_kappa"),
    )
    groups = at_floor(binary(200, good, group_size=4, sticky=0.5, times=2), "cohen_kappa")
    yield Scenario("kappa at its floor, groups of 4, n = 200", "unearned", groups)
    strata = at_floor(stratified(200, good, reader(0.85, 0.85)), "cohen_kappa")
    yield Scenario("kappa at its floor, strata, n = 200", "unearned", strata)
    for statistic in ("percent_agreement", "gwet_ac1"):
        yield Scenario(f"{statistic} at its floor, n = 200", "unearned", at_floor(binary(200, good), statistic))
    for statistic in ("quadratic_kappa", "krippendorff_alpha", "spearman"):
        yield Scenario(f"ordinal {statistic} at its floor, n = 200", "unearned", at_floor(ordinal(200, 0.8), statistic))
    for statistic in ("within_tolerance", "pearson", "spearman"):
        floor = at_floor(NumberWorld(200), statistic)
        yield Scenario(f"continuous {statistic} at its floor, n = 200", "unearned", floor)

    for n in (100, 200, 400):
        kind: Kind = "earned" if n == 400 else "coverage"
        yield Scenario(f"good, n = {n}", kind, binary(n, good))
        yield Scenario(f"good, prevalence 0.85, n = {n}", kind, binary(n, better, prevalence=0.85, noise=0.05))
        yield Scenario(f"good, refusals, n = {n}", kind, binary(n, reader(0.95, 0.95, 0.05)))
        yield Scenario(f"good, strata, n = {n}", kind, stratified(n, good, reader(0.85, 0.85)))
        if n > 100:
            yield Scenario(f"good, groups of 4, n = {n}", kind, binary(n, good, group_size=4, sticky=0.5, times=2))
        yield Scenario(f"good, ordinal, n = {n}", kind, ordinal(n, 0.85))
        yield Scenario(f"good, continuous, n = {n}", kind, NumberWorld(n))


def climb_worlds(job: tuple[int, int, int, int]) -> tuple[int, Tally]:
    """Climb the worlds ``first`` to ``last`` of a scenario; each has a seed of its own, whatever the chunks."""
    place, seed, first, last = job
    scenario = scenarios()[place]
    study = scenario.world.study()
    truths = {} if scenario.kind == "unearned" else scenario.world.truths()
    tally = Tally()
    for index in range(first, last):
        rng = np.random.default_rng([seed, place, index])
        climbed = climb(study, *scenario.world.tables(rng), configurations=scenario.configurations)
        tally.worlds += 1
        tally.promoted += climbed.stopped_at is None
        tally.stops[climbed.stopped_at or "promoted"] += 1
        for evidence in climbed.evidence.values():
            rows = evidence.rows
            figures = zip(rows["name"], rows["scope"], rows["statistic"], rows["low"], rows["high"], strict=True)
            for name, scope, statistic, low, high in figures:
                if (name, scope, statistic) in truths and not math.isnan(low):
                    tally.interval((name, scope, statistic), low, high, truths[name, scope, statistic])
    return place, tally


def sweep(worlds: int, seed: int, only: str | None, console: Console) -> Iterator[tuple[Scenario, Tally]]:
    """Climb so many worlds of every scenario, on two processes; each scenario is there as soon as it has ended."""
    chosen = [place for place, scenario in enumerate(scenarios()) if only is None or only in scenario.name]
    jobs = [(place, seed, first, min(first + CHUNK, worlds)) for place in chosen for first in range(0, worlds, CHUNK)]
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    context = multiprocessing.get_context("spawn")
    with (
        Progress(console=console, disable=not console.is_terminal, transient=True) as progress,
        context.Pool(PROCESSES) as pool,
    ):
        task = progress.add_task("climbing", total=len(chosen) * worlds)
        for place, results in groupby(pool.imap(climb_worlds, jobs), key=lambda result: result[0]):
            tally = Tally()
            for _, part in results:
                tally.add(part)
                progress.advance(task, part.worlds)
            yield scenarios()[place], tally


def standard_error(rate: float, worlds: int) -> float:
    """Monte Carlo standard error of a rate; of one world's worth where the rate is 0 or 1."""
    kept = min(max(rate, 1 / (worlds + 2)), 1 - 1 / (worlds + 2))
    return math.sqrt(kept * (1 - kept) / worlds)


def finding(scenario: Scenario, tally: Tally) -> dict[str, Any]:
    """A scenario's rate with standard error, whether it keeps its bar, and what its intervals cover."""
    rate = tally.promoted / tally.worlds
    error = standard_error(rate, tally.worlds)
    kept = {
        "unearned": rate - 2 * error <= MOST_UNEARNED,
        "earned": rate + 2 * error >= LEAST_EARNED,
        "coverage": True,
    }[scenario.kind]
    coverage = []
    for (name, scope, statistic), counts in tally.intervals.items():
        intervals, missed = counts["all"], counts["above"] + counts["below"]
        covered = 1 - missed / intervals
        coverage.append(
            {
                "name": name,
                "scope": scope,
                "statistic": statistic,
                "intervals": intervals,
                "covered": covered,
                "standard_error": standard_error(covered, intervals),
                "above_the_truth": counts["above"] / intervals,
                "below_the_truth": counts["below"] / intervals,
            }
        )
    return {
        "scenario": scenario.name,
        "kind": scenario.kind,
        "worlds": tally.worlds,
        "promoted": rate,
        "standard_error": error,
        "keeps_its_bar": kept,
        "stops": dict(tally.stops),
        "coverage": coverage,
    }


def say_promotion(one: dict[str, Any]) -> None:
    """Print a scenario's rate for people."""
    bars = {"unearned": f"at most {MOST_UNEARNED:.1%}", "earned": f"at least {LEAST_EARNED:.0%}", "coverage": ""}
    verdict = ("kept" if one["keeps_its_bar"] else "MISSED") if bars[one["kind"]] else ""
    sys.stdout.write(
        f"  {one['scenario']:<58}{100 * one['promoted']:7.2f} +- {100 * one['standard_error']:.2f}"
        f"  {bars[one['kind']]:<14}{verdict:<7} {_stops(one['stops'])}\n"
    )
    sys.stdout.flush()


def say_coverage(found: list[dict[str, Any]]) -> None:
    """Print for people what the intervals of all scenarios cover."""
    by_figure: dict[str, list[tuple[float, float, str]]] = {}
    for one in found:
        for figure in one["coverage"]:
            what = f"{figure['name']} {figure['statistic']} ({figure['scope']})"
            by_figure.setdefault(what, []).append((figure["covered"], figure["standard_error"], one["scenario"]))
    sys.stdout.write("\ncoverage of the published 95 % intervals, in %: lowest, highest, and where it is lowest\n")
    for what, rates in by_figure.items():
        (low, low_error, where), (high, _, _) = min(rates), max(rates)
        sys.stdout.write(f"  {what:<74}{100 * low:6.1f} +- {100 * low_error:.1f}{100 * high:7.1f}   {where}\n")


def _stops(stops: dict[str, int]) -> str:
    return ", ".join(f"{asset} {count}" for asset, count in sorted(stops.items()) if asset != "promoted")


def main() -> int:
    """Run the sweep; 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=200, help="worlds of each scenario (default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the worlds (default: 1)")
    parser.add_argument("--only", help="only scenarios whose name contains this")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    given = parser.parse_args()
    found = []
    if not given.json:
        sys.stdout.write("promoted, in % of the worlds, with the Monte Carlo standard error\n")
    for scenario, tally in sweep(given.worlds, given.seed, given.only, Console(stderr=True)):
        found.append(finding(scenario, tally))
        if not given.json:
            say_promotion(found[-1])
    if given.json:
        sys.stdout.write(json.dumps(found, indent=1) + "\n")
    else:
        say_coverage(found)
    return 0 if all(one["keeps_its_bar"] for one in found) else 1


if __name__ == "__main__":
    raise SystemExit(main())

"""The simulation reads of each sample what a gate reads, and agrees with a count over every sample there is."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from calib_pipeline.measurement.figures import Block, Figures, IntervalPlan
from calib_pipeline.measurement.measures import LevelMeasure
from calib_pipeline.measurement.pairs import against_reference
from calib_pipeline.planning.simulated_power import KappaSimulation
from calib_pipeline.statistics import Design, items_to_tell, joint_of_kappa


@pytest.mark.parametrize(("statistic", "weights"), [("cohen_kappa", None), ("quadratic_kappa", "quadratic")])
def test_the_limits_are_the_closed_forms_of_a_gate(statistic, weights):
    joint = joint_of_kappa([1, 2, 1], 0.6)
    simulation = KappaSimulation(joint, 0.4, 0.95, samples=3, seed=5, weights=weights)
    tables = np.random.default_rng([5, 90]).multinomial(90, joint.ravel(), 3).reshape(3, 3, 3)
    for table, (low, high) in zip(tables, simulation.limits(90), strict=True):
        first, second = np.repeat(np.indices((3, 3)).reshape(2, -1), table.ravel(), axis=1)
        block = Block(against_reference(np.eye(3)[first], np.eye(3)[second]), LevelMeasure(3, ordered=True))
        figures = Figures({"judge": block}, Design.simple(90), IntervalPlan(200, 0, 0.95), {"judge"})
        forms = figures._closed_forms("judge", statistic, figures._point("judge", statistic), 0.95)
        assert len(forms) == (2 if weights is None else 1)
        assert low == pytest.approx(min(form[0] for form in forms.values()), abs=1e-6)
        assert high == pytest.approx(max(form[1] for form in forms.values()), abs=1e-6)


def every_sample(joint, n, simulation):
    """The probability of all samples of n items whose interval excludes the value, one by one."""
    total = 0.0
    for counts in itertools.product(range(n + 1), repeat=3):
        if sum(counts) <= n:
            table = [*counts, n - sum(counts)]
            chance = math.factorial(n) * math.prod(
                share**count / math.factorial(count) for share, count in zip(joint.ravel(), table, strict=True)
            )
            total += chance * excludes(simulation, np.array(table).reshape(2, 2), n)
    return total


def excludes(simulation, table, n):
    class Drawn:
        def multinomial(self, *_):
            return table.reshape(1, 4)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(np.random, "default_rng", lambda _: Drawn())
        limits = list(simulation.limits(n))
    return any(low > simulation.against for low, _ in limits)


def test_the_simulated_power_is_that_of_every_sample_there_is():
    joint = joint_of_kappa([2, 1], 0.8)
    simulation = KappaSimulation(joint, 0.2, 0.95, samples=20_000, seed=1)
    found = simulation.power(14)
    exact = every_sample(joint, 14, simulation)
    assert abs(found.power - exact) < 4 * math.sqrt(exact * (1 - exact) / 20_000)
    assert 0.05 < exact < 0.95 and found.low <= found.power <= found.high


def test_the_same_seed_gives_the_same_power_and_samples_without_kappa_count_against_it():
    joint = joint_of_kappa([30, 1], 0.5)
    simulation = KappaSimulation(joint, 0.2, 0.95, samples=500, seed=2)
    assert simulation.power(10) == simulation.power(10)
    assert simulation.power(10).undefined > 250
    assert simulation.power(10).power < 0.5
    assert KappaSimulation(joint, 0.2, 0.95, samples=500, seed=3).power(60) != simulation.power(60)


@pytest.mark.parametrize(("kappa", "against"), [(0.65, 0.55), (0.55, 0.65)])
def test_the_number_found_reaches_the_power_and_a_clearly_smaller_one_does_not(kappa, against):
    joint = joint_of_kappa([1, 1], kappa)
    simulation = KappaSimulation(joint, against, 0.95, samples=2000, seed=0)
    analytic = items_to_tell(joint, against, power=0.8, level=0.95)
    found = simulation.items_for(0.8, analytic)
    assert found is not None and found.power >= 0.8
    assert simulation.power(round(found.n * 0.85)).power < 0.8
    assert 0.8 * analytic < found.n < 1.4 * analytic


def test_no_number_is_below_the_fewest_pairs_that_have_an_interval():
    simulation = KappaSimulation(joint_of_kappa([1, 1], 0.9), 0.1, 0.8, samples=200, seed=0)
    found = simulation.items_for(0.01, 200)
    assert found is not None and found.n == 4


def test_what_a_million_items_do_not_show_is_no_number():
    simulation = KappaSimulation(joint_of_kappa([1, 1], 0.5001), 0.5, 0.95, samples=50, seed=0)
    assert simulation.items_for(0.8, 900_000) is None

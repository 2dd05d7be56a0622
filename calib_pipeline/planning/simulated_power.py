"""How often the interval that a gate reads of κ excludes a value, in samples drawn from joint shares that are assumed.

The interval is the safer of two that a gate reads: linearisation, and for unweighted κ the one that Wilson's limits of
the agreement imply. The bootstrap is left out, since it would be drawn anew in every sample.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from calib_pipeline.measurement.figures import FEWEST_PAIRS
from calib_pipeline.measurement.linearised import disagreement_limits
from calib_pipeline.measurement.reference import Floats
from calib_pipeline.statistics import (
    implied_kappa_limits,
    table_chance,
    table_kappa,
    table_kappa_error,
    table_percent_agreement,
    wilson,
)
from calib_pipeline.statistics.contingency import KappaWeights

MOST_ITEMS = 1_000_000
"""More are not searched."""


@dataclass(frozen=True)
class SimulatedPower:
    """How many of ``samples`` samples of ``n`` items excluded the value.

    ``low`` and ``high`` are Wilson's 95 % limits of the power, which say what the number of samples leaves open.
    ``undefined`` samples had no κ, and count as such that did not exclude it.
    """

    n: int
    power: float
    low: float
    high: float
    undefined: int
    samples: int
    seed: int


@dataclass(frozen=True)
class KappaSimulation:
    """Samples of items with joint shares ``joint`` (K, K), and the interval of κ that is read of each.

    A sample of n items is the same whatever else is simulated: its seed is (``seed``, n).
    """

    joint: Floats
    against: float
    level: float
    samples: int
    seed: int
    weights: KappaWeights = None

    def power(self, n: int) -> SimulatedPower:
        """How often the interval of a sample of n items excludes ``against``, on the side of the true κ."""
        true = float(table_kappa(self.joint, self.weights))
        limits = list(self.limits(n))
        beyond = sum(low > self.against if true > self.against else high < self.against for low, high in limits)
        around = wilson(beyond, self.samples)
        assert around.value is not None and around.low is not None and around.high is not None
        undefined = self.samples - len(limits)
        return SimulatedPower(n, around.value, around.low, around.high, undefined, self.samples, self.seed)

    def limits(self, n: int) -> Iterator[tuple[float, float]]:
        """The interval of each sample of n items that has a κ."""
        size = len(self.joint)
        rng = np.random.default_rng([self.seed, n])
        tables = rng.multinomial(n, self.joint.ravel() / self.joint.sum(), self.samples).reshape(-1, size, size)
        kappas = table_kappa(tables, self.weights)
        # Linearisation estimates the spread among n items, as a sample variance does.
        errors = table_kappa_error(tables, self.weights) * math.sqrt(n / max(n - 1, 1))
        agreed, chance = table_percent_agreement(tables), table_chance(tables)
        for kappa, error, observed, expected in zip(kappas, errors, agreed, chance, strict=True):
            if math.isnan(kappa):
                continue
            low, high = disagreement_limits(float(kappa), float(error), self.level, -1.0)
            if self.weights is None:
                of_wilson = implied_kappa_limits(float(observed), float(expected), n, self.level)
                low, high = min(low, of_wilson[0]), max(high, of_wilson[1])
            yield low, high

    def items_for(self, power: float, near: int) -> SimulatedPower | None:
        """The smallest n found whose simulated power reaches ``power``, searched from ``near`` by halving.

        It is known up to the error of the simulation; None where a million items do not reach it.
        """
        enough = self.power(max(near, FEWEST_PAIRS))
        while enough.power < power:
            if enough.n > MOST_ITEMS:
                return None
            enough = self.power(math.ceil(enough.n * 1.5))
        few = max(enough.n // 2, FEWEST_PAIRS - 1)
        while few >= FEWEST_PAIRS and (less := self.power(few)).power >= power:
            enough, few = less, max(few // 2, FEWEST_PAIRS - 1)
        while enough.n - few > max(1, enough.n // 200):
            between = self.power((enough.n + few) // 2)
            if between.power >= power:
                enough = between
            else:
                few = between.n
        return enough

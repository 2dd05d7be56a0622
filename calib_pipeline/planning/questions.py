"""The three questions of a plan, each with the items that it needs: how narrow, which of two κ, and past a bar."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from calib_pipeline.planning.simulated_power import KappaSimulation, SimulatedPower
from calib_pipeline.statistics import (
    clearing_power,
    items_for_half_width,
    items_to_clear,
    items_to_tell,
    joint_of_kappa,
    kappa_power,
)
from calib_pipeline.statistics.contingency import KappaWeights

CURVE = tuple(step / 8 for step in range(2, 15))
"""The points of a power curve, as multiples of the items needed."""


@dataclass(frozen=True)
class PowerAt:
    """The power of n items: ``computed`` exactly or by a formula, and ``simulated`` where there is a simulation."""

    n: int
    computed: float
    simulated: SimulatedPower | None = None


@dataclass(frozen=True)
class Answer:
    """How many items a question needs.

    Attributes
    ----------
    computed
        By count or formula; None where no number is known to be enough.
    simulated
        The smallest n at which the simulation reaches the power; None where there is no simulation, or it does not.
    check
        The simulated power of the computed n.
    """

    computed: int | None
    simulated: SimulatedPower | None = None
    check: SimulatedPower | None = None
    simulates: bool = False

    @property
    def needed(self) -> int | None:
        """The larger of both numbers; None where one is not known."""
        if self.computed is None or (self.simulates and self.simulated is None):
            return None
        return max(self.computed, self.simulated.n if self.simulated is not None else 0)


class PowerQuestion(Protocol):
    """A question whose answer is a chance."""

    def power_at(self, n: int) -> PowerAt:
        """The power of n items."""


@dataclass(frozen=True)
class HalfWidth:
    """How many items until a proportion's interval reaches so far to each side."""

    rate: float
    half_width: float
    level: float

    @property
    def words(self) -> str:
        return f"proportion {self.rate:g} ± {self.half_width:g}"

    def answer(self) -> Answer:
        """By Wilson's interval."""
        return Answer(items_for_half_width(self.rate, self.half_width, self.level))


@dataclass(frozen=True)
class ClearProportion:
    """How many items until the interval of a proportion lies beyond a bar."""

    rate: float
    bar: float
    level: float
    power: float

    @property
    def words(self) -> str:
        side = "above" if self.rate > self.bar else "below"
        return f"proportion {self.rate:g} {side} {self.bar:g}"

    def answer(self) -> Answer:
        """By the binomial distribution."""
        return Answer(items_to_clear(self.rate, self.bar, power=self.power, level=self.level))

    def power_at(self, n: int) -> PowerAt:
        """Exactly."""
        return PowerAt(n, float(clearing_power(self.rate, n, self.bar, self.level)))


@dataclass(frozen=True)
class TellKappa:
    """How many items until the interval of a κ excludes another.

    ``shares`` are those of the values of the scale, ``weights`` None or "quadratic"; ``samples`` and ``seed`` are the
    simulation's.
    """

    kappa: float
    against: float
    level: float
    power: float
    shares: tuple[float, ...]
    weights: KappaWeights
    samples: int
    seed: int

    @property
    def words(self) -> str:
        name = "quadratic κ" if self.weights == "quadratic" else "κ"
        side = "above" if self.kappa > self.against else "below"
        return f"{name} {self.kappa:g} {side} {self.against:g}"

    def answer(self) -> Answer:
        """By the standard error, and by simulation."""
        joint = joint_of_kappa(self.shares, self.kappa)
        computed = items_to_tell(joint, self.against, power=self.power, level=self.level, weights=self.weights)
        simulation = self._simulation()
        found = simulation.items_for(self.power, computed)
        return Answer(computed, found, simulation.power(computed), simulates=True)

    def power_at(self, n: int) -> PowerAt:
        """By the standard error, and by simulation."""
        joint = joint_of_kappa(self.shares, self.kappa)
        computed = kappa_power(joint, n, self.against, level=self.level, weights=self.weights)
        return PowerAt(n, computed, self._simulation().power(n))

    def _simulation(self) -> KappaSimulation:
        joint = joint_of_kappa(self.shares, self.kappa)
        return KappaSimulation(joint, self.against, self.level, self.samples, self.seed, self.weights)


Question = HalfWidth | ClearProportion | TellKappa


def power_curve(question: PowerQuestion, needed: int) -> Sequence[PowerAt]:
    """The power from a quarter of the items needed to nearly twice as many."""
    return [question.power_at(n) for n in sorted({max(4, math.ceil(needed * share)) for share in CURVE})]

"""From the items that a question needs to the sample that gives them, stratum by stratum, and to its labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from calib_pipeline.sampling import SHARE_OF_NAMED, allocation


@dataclass(frozen=True)
class LabelCost:
    """Labels of a sample: each item once, and the ``doubly`` labeled ones by ``annotators`` people.

    ``all_by_each`` is what it costs where every annotator labels every item.
    """

    items: int
    doubly: int
    annotators: int

    @property
    def labels(self) -> int:
        return self.items + self.doubly * (self.annotators - 1)

    @property
    def all_by_each(self) -> int:
        return self.items * self.annotators


@dataclass(frozen=True)
class SamplePlan:
    """A sample of a population.

    Attributes
    ----------
    size
        Items to ask for: what `holdout.size` would be.
    strata
        Items that each stratum gives.
    effective
        The size of a simple random sample that says as much: Kish's (Σw)²/Σw², since a stratum that is raised to a
        minimum weighs less.
    short
        Strata, or the population, with the items that they lack; empty where there are enough.
    cost
        The labels.
    """

    size: int
    strata: Mapping[str, int]
    effective: float
    short: Mapping[str, int]
    cost: LabelCost


@dataclass(frozen=True)
class Labeling:
    """Who labels: ``annotators`` people, and on at least ``doubly`` items all of them."""

    annotators: int
    doubly: int

    def cost(self, strata: Mapping[str, int]) -> LabelCost:
        """The labels of a sample; the reservation names more items than are needed, since some come back unlabeled."""
        named = allocation(strata, math.ceil(self.doubly / SHARE_OF_NAMED), 1) if self.doubly else {}
        return LabelCost(sum(strata.values()), sum(named.values()), self.annotators)


def overall_plan(needed: int, sizes: Mapping[str, int], min_per_stratum: int, labeling: Labeling) -> SamplePlan:
    """A sample of the whole population that says as much as ``needed`` items drawn at random, or more.

    What a small stratum is raised by comes on top of its proportional share.

    Parameters
    ----------
    sizes
        Items of the population in each stratum; empty where nothing is known of it, and then nothing is short.
    """
    if not sizes:
        return SamplePlan(needed, {}, float(needed), {}, labeling.cost({"all": needed}))
    total = sum(sizes.values())
    size = min(needed, total)
    strata = allocation(sizes, size, min_per_stratum)
    short = {"population": needed - total} if needed > total else {}
    return SamplePlan(size, strata, effective_size(sizes, strata), short, labeling.cost(strata))


def per_stratum_plan(needed: int, sizes: Mapping[str, int], labeling: Labeling) -> SamplePlan:
    """A sample in which every stratum by itself has ``needed`` items, as far as it has as many."""
    strata = {name: min(needed, size) for name, size in sizes.items()}
    short = {name: needed - size for name, size in sizes.items() if size < needed}
    return SamplePlan(sum(strata.values()), strata, effective_size(sizes, strata), short, labeling.cost(strata))


def effective_size(sizes: Mapping[str, int], strata: Mapping[str, int]) -> float:
    """Kish's effective n of items that weigh N_h/n_h, of the strata that give any."""
    squares = sum(sizes[name] ** 2 / count for name, count in strata.items() if count)
    represented = sum(sizes[name] for name, count in strata.items() if count)
    return represented**2 / squares if squares else 0.0

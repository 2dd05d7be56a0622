"""How the rows of a sample were drawn: weights, strata, groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.statistics.coding import MISSING, Labels, code_together

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Design:
    """How the rows were drawn, and so how they are drawn again.

    Attributes
    ----------
    weights : (n,) float
        Sampling weight of each row (N_h / n_h), mean 1 when made by `of` or `simple`.
    strata : (n,) int
        Stratum of each row; resampling stays within strata.
    group : (n,) int or None
        Group of each row (a conversation, a source): rows of a group are drawn together. None: each row by itself.
    """

    weights: Floats
    strata: Ints
    group: Ints | None = None

    @classmethod
    def simple(cls, n: int) -> Design:
        """A simple random sample of `n` rows."""
        return cls(np.ones(n), np.zeros(n, dtype=np.intp))

    @classmethod
    def of(
        cls,
        weights: Any = None,
        strata: Labels | None = None,
        group: Labels | None = None,
        *,
        n: int,
    ) -> Design:
        """A design from labels of any hashable kind.

        Parameters
        ----------
        weights : (n,) float, optional
            Positive sampling weights in any unit; scaled to mean 1.
        strata, group : (n,) hashables, optional
            Stratum and group of each row.
        n : int
            Number of rows.

        Raises
        ------
        ValueError
            A column has another length than `n`, a weight is not a positive number, a stratum or group is missing, or
            a group lies in two strata.
        """
        scaled = np.ones(n) if weights is None else _scaled(np.asarray(weights, dtype=np.float64), n)
        coded_strata = np.zeros(n, dtype=np.intp) if strata is None else _coded("strata", strata, n)
        coded_group = None if group is None else _coded("group", group, n)
        design = cls(scaled, coded_strata, coded_group)
        if coded_group is not None and n:
            _refuse_split_groups(coded_group, coded_strata)
        return design

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.weights)

    @cached_property
    def plain(self) -> bool:
        """True for equal weights, one stratum and no groups."""
        return self.group is None and self.equally_weighted and not (self.n and self.strata.any())

    @cached_property
    def equally_weighted(self) -> bool:
        """True when every row weighs the same."""
        return self.n == 0 or bool((self.weights == self.weights[0]).all())

    @cached_property
    def unit(self) -> Ints:
        """(n,) int: the resampled unit of each row, coded 0..groups-1."""
        if self.group is None:
            return np.arange(self.n)
        return np.unique(self.group, return_inverse=True)[1].astype(np.intp, copy=False)

    @cached_property
    def groups(self) -> int:
        """Number of resampled units: of groups where there are groups, else of rows."""
        return self.n if self.group is None or self.n == 0 else int(self.unit.max()) + 1

    @cached_property
    def unit_strata(self) -> tuple[Ints, ...]:
        """For each stratum that has rows, the units that belong to it."""
        if self.group is None:
            stratum = self.strata
        else:
            stratum = np.zeros(self.groups, dtype=np.intp)
            stratum[self.unit] = self.strata
        if len(stratum) == 0:
            return ()
        if not (stratum != stratum[0]).any():
            return (np.arange(len(stratum)),)
        order = np.argsort(stratum, kind="stable")
        return tuple(np.split(order, np.flatnonzero(np.diff(stratum[order])) + 1))

    @property
    def resampled(self) -> str:
        """What a replicate draws, in words."""
        drawn = "rows" if self.group is None else "groups"
        return f"{drawn} within strata" if len(self.unit_strata) > 1 else drawn

    def subset(self, mask: NDArray[Any]) -> Design:
        """The design of the rows that `mask` keeps, at the weights they have."""
        return Design(self.weights[mask], self.strata[mask], None if self.group is None else self.group[mask])

    def unit_totals(self, contributions: Floats) -> Floats:
        """(groups, c): the weighted sums of `contributions` (n, c) over the rows of each resampled unit."""
        weighted = contributions * self.weights[:, None] if (self.weights != 1).any() else contributions
        if self.group is None:
            return weighted
        totals = np.empty((self.groups, weighted.shape[1]))
        for column in range(weighted.shape[1]):
            totals[:, column] = np.bincount(self.unit, weights=weighted[:, column], minlength=self.groups)
        return totals


def effective_n(influence: NDArray[Any], design: Design) -> float:
    """The size of a simple random sample that would be as informative.

    Kish's (Σw)²/Σw², divided where there are groups by the design effect of the clustering,
    max(1, G/(G-1) · Σ_g(Σ w u)² / Σ(w u)²), u being the statistic's influence values. Where every u is 0 the data say
    nothing about the clustering, and the worst case is taken: Kish's formula over the group totals of the weights.

    Parameters
    ----------
    influence : (n,) float
        Influence of each row on the statistic (for a proportion: indicator minus proportion).
    design : Design
        How the rows were drawn.

    References
    ----------
    Kish, L. (1965). Survey Sampling. Wiley. Chapters 8 and 11.
    """
    if design.n == 0:
        return 0.0
    weights = design.weights
    kish = float(weights.sum() ** 2 / (weights @ weights))
    if design.group is None:
        return kish
    scores = weights * np.asarray(influence, dtype=np.float64)
    spread = float(scores @ scores)
    groups = design.groups
    largest = float(np.abs(influence).max())
    if groups < 2 or largest <= 1e-12 or spread == 0.0:
        totals = np.bincount(design.unit, weights=weights)
        return float(totals.sum() ** 2 / (totals @ totals))
    between = np.bincount(design.unit, weights=scores)
    clustering = groups / (groups - 1) * float(between @ between) / spread
    return kish / max(1.0, clustering)


def _scaled(weights: Floats, n: int) -> Floats:
    if weights.shape != (n,):
        raise ValueError(f"weights must have one value for each of the {n} rows. Got shape {weights.shape}.")
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        row = int(np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))[0])
        raise ValueError(f"weights must be positive numbers. Got {weights[row]} at row {row}; leave such rows out.")
    return weights if n == 0 or (weights == 1).all() else weights / weights.mean()


def _coded(name: str, labels: Labels, n: int) -> Ints:
    if len(labels) != n:
        raise ValueError(f"{name} must have one value for each of the {n} rows. Got {len(labels)}.")
    (codes,), _ = code_together([labels])
    if (codes == MISSING).any():
        row = int(np.flatnonzero(codes == MISSING)[0])
        raise ValueError(f"{name} must be given for every row. Row {row} has none.")
    return codes


def _refuse_split_groups(group: Ints, strata: Ints) -> None:
    home = np.zeros(int(group.max()) + 1, dtype=np.intp)
    home[group[::-1]] = strata[::-1]
    split = np.flatnonzero(home[group] != strata)
    if split.size:
        raise ValueError(
            f"group must lie within one stratum: the group of row {int(split[0])} has rows in two strata. "
            "Groups are drawn within strata; give its rows one stratum."
        )

"""Estimates with their published interval and with what a gate reads, all from one resampling of the same rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.evidence.evidence import GateInterval
from calib_pipeline.measurement.linearised import disagreement_limits, influence, standard_error
from calib_pipeline.measurement.measures import (
    CORRELATIONS,
    PROPORTIONS,
    Measure,
    RangeMeasure,
    correlation_influence,
)
from calib_pipeline.measurement.reference import Floats
from calib_pipeline.statistics import (
    Design,
    Estimate,
    effective_n,
    fisher_limits,
    implied_kappa_limits,
    percentile_limits,
    resample_sums,
    weighted_sums,
    wilson_limits,
)
from calib_pipeline.statistics.intervals import critical_value
from calib_pipeline.statistics.paired import mover_difference

FEWEST_PAIRS = 4
REPLICATES_BEYOND_A_LIMIT = 50
BOOTSTRAP = "percentile bootstrap"


@dataclass(frozen=True)
class IntervalPlan:
    """How intervals are made: published at ``level``, read by gates at 1 - (1 - level)/m."""

    resamples: int
    seed: int
    level: float
    attempts: int = 1

    @property
    def gate_level(self) -> float:
        return 1 - (1 - self.level) / self.attempts

    @property
    def gate_resamples(self) -> int:
        """Enough replicates that 50 lie beyond each limit."""
        needed = math.ceil(round(2 * REPLICATES_BEYOND_A_LIMIT / (1 - self.gate_level), 6))
        return max(self.resamples, needed)


@dataclass(frozen=True)
class Block:
    """Pairs under one name: contributions (n, ...) and the statistics that are functions of their sums."""

    contributions: Floats
    measure: Measure


@dataclass(frozen=True)
class Figure:
    """An estimate, the interval that a gate reads, and the number of units that were resampled."""

    estimate: Estimate
    gate: GateInterval | None
    units: int


class Figures:
    """The statistics of named blocks, resampled together so that their differences are paired.

    Parameters
    ----------
    blocks
        By name, over the rows of ``design``.
    gated
        The blocks whose figures a gate reads at its own level.
    """

    def __init__(self, blocks: Mapping[str, Block], design: Design, plan: IntervalPlan, gated: set[str]) -> None:
        self._design = design
        self._plan = plan
        self._measures = {name: block.measure for name, block in blocks.items()}
        self._blocks = {name: _flat(block.contributions) for name, block in blocks.items()}
        self._present = {name: _has_pair(block) for name, block in self._blocks.items()}
        self._sums = {name: weighted_sums(block, design) for name, block in self._blocks.items()}
        self._replicates = self._resampled(set(self._blocks), plan.resamples)
        same = plan.gate_resamples == plan.resamples
        self._gate_replicates = self._replicates if same else self._resampled(gated, plan.gate_resamples)
        self._values: dict[tuple[str, str, bool], Floats] = {}

    def _resampled(self, names: set[str], resamples: int) -> dict[str, Floats]:
        kept = sorted(names & set(self._blocks))
        if not kept or self._design.n == 0:
            return {}
        together = np.concatenate([self._blocks[name] for name in kept], axis=1)
        sums = resample_sums(together, self._design, resamples=resamples, seed=self._plan.seed)
        ends = np.cumsum([self._blocks[name].shape[1] for name in kept])
        return dict(zip(kept, np.split(sums, ends[:-1], axis=1), strict=True))

    def sums(self, block: str) -> Floats:
        """(c,) the weighted sums of a block."""
        return self._sums[block]

    def figure(self, block: str, statistic: str) -> Figure:
        """A statistic of a block with both its intervals."""
        present = self._present[block]
        n, units = int(present.sum()), self._design.subset(present).groups if present.any() else 0
        value = self._point(block, statistic) if n else math.nan
        if not math.isfinite(value):
            return Figure(Estimate(statistic, None, n=n, note=_why_undefined(statistic, n)), None, units)
        if n < FEWEST_PAIRS:
            note = f"no interval on {n} pairs: more than three are needed"
            return Figure(Estimate(statistic, value, n=n, note=note), None, units)
        if statistic in CORRELATIONS:
            return self._correlation(block, statistic, value, n, units)
        replicates = self._drawn(block, statistic)
        low, high, survivors = percentile_limits(replicates, self._plan.level)
        estimate = Estimate(
            statistic, value, low, high, n, self._plan.level, BOOTSTRAP, self._plan.resamples, survivors,
            self._plan.seed, self._design.resampled, bootstrap_caveat(low, high),
        )  # fmt: skip
        return Figure(estimate, self._gate(block, statistic, value), units)

    def _gate(self, block: str, statistic: str, value: float) -> GateInterval | None:
        if block not in self._gate_replicates:
            return None
        level = self._plan.gate_level
        replicates = self._drawn(block, statistic, for_gate=True)
        low, high, survivors = percentile_limits(replicates, level)
        method = BOOTSTRAP
        others = self._closed_forms(block, statistic, value, level)
        if low is not None and high is not None and others:
            low, high = _safest((low, high), *others.values())
            method = f"safest of {BOOTSTRAP}, {' and '.join(others)}"
        return GateInterval(low, high, level, method, len(replicates), survivors)

    def _closed_forms(self, block: str, statistic: str, value: float, level: float) -> dict[str, tuple[float, float]]:
        """By method the intervals that need no replicates; they know what a bootstrap cannot draw."""
        found = {}
        of_agreement = self._by_wilson(block, statistic, value, level)
        if of_agreement is not None:
            found["Wilson"] = of_agreement
        error = standard_error(self._influence(block, statistic), self._design)
        if math.isfinite(error):
            lowest = 0.0 if statistic in PROPORTIONS else -1.0
            found["linearisation"] = disagreement_limits(value, error, level, lowest)
        return found

    def _influence(self, block: str, statistic: str) -> Floats:
        measure, rows, sums = self._measures[block], self._blocks[block], self._sums[block]
        if isinstance(measure, RangeMeasure) and statistic in CORRELATIONS:
            moments, weights = measure.moments(statistic, rows, sums), self._design.weights
            return np.asarray(correlation_influence(moments, weights) / weights.sum())
        return influence(lambda at: measure.value(statistic, at), rows, sums, self._design)

    def _by_wilson(self, block: str, statistic: str, value: float, level: float) -> tuple[float, float] | None:
        if statistic not in PROPORTIONS and statistic != "cohen_kappa":
            return None
        measure, present, sums = self._measures[block], self._present[block], self._sums[block]
        agreement = measure.agreement_of_rows(statistic, self._blocks[block][present])
        kappa = statistic == "cohen_kappa"
        observed = float(measure.value("percent_agreement", sums)) if kappa else value
        n_eff = effective_n(agreement - observed, self._design.subset(present))
        if kappa:
            return implied_kappa_limits(observed, measure.chance(sums), n_eff, level)
        return wilson_limits(observed, n_eff, level)

    def _correlation(self, block: str, statistic: str, value: float, n: int, units: int) -> Figure:
        present = self._present[block]
        design = self._design.subset(present)
        moments = self._measures[block].moments(statistic, self._blocks[block][present], self._sums[block])
        n_eff = effective_n(correlation_influence(moments, design.weights), design)
        numerator = CORRELATIONS[statistic]
        low, high = fisher_limits(value, n_eff, self._plan.level, numerator)
        note = f"at |r| = 1 the interval is the point: {value:g}" if low == high and low is not None else None
        if low is None:
            note = "no interval: fewer than four effective pairs"
        estimate = Estimate(
            statistic, value, low, high, n, self._plan.level, "Fisher z", resampled=self._design.resampled, note=note
        )
        return Figure(estimate, self._gate_of_correlation(block, statistic, value, n_eff), units)

    def _gate_of_correlation(self, block: str, statistic: str, value: float, n_eff: float) -> GateInterval | None:
        if block not in self._gate_replicates:
            return None
        level, method = self._plan.gate_level, "Fisher z"
        low, high = fisher_limits(value, n_eff, level, CORRELATIONS[statistic])
        others = self._closed_forms(block, statistic, value, level)
        if low is not None and high is not None and others:
            low, high = _safest((low, high), *others.values())
            method = f"safest of Fisher z and {' and '.join(others)}"
        return GateInterval(low, high, level, method, None, None)

    def difference(self, block: str, comparator: str, statistic: str, *, at_least_zero: bool) -> Figure:
        """The paired difference of a statistic between two blocks; a comparator's may count as at least 0."""
        theirs = self._point(comparator, statistic)
        value = self._point(block, statistic) - (float(np.fmax(theirs, 0.0)) if at_least_zero else theirs)
        n, units = self._design.n, self._design.groups
        if not math.isfinite(value):
            return Figure(Estimate(statistic, None, n=n, note=_why_undefined(statistic, n)), None, units)
        if n < FEWEST_PAIRS:
            return Figure(Estimate(statistic, value, n=n, note="no interval on three or fewer pairs"), None, units)

        def replicates(for_gate: bool) -> Floats:
            theirs = self._drawn(comparator, statistic, for_gate=for_gate)
            mine = self._drawn(block, statistic, for_gate=for_gate)
            return np.asarray(mine - (np.fmax(theirs, 0.0) if at_least_zero else theirs))

        low, high, survivors = percentile_limits(replicates(for_gate=False), self._plan.level)
        estimate = Estimate(
            statistic, value, low, high, n, self._plan.level, f"paired {BOOTSTRAP}", self._plan.resamples,
            survivors, self._plan.seed, self._design.resampled,
        )  # fmt: skip
        if block not in self._gate_replicates or comparator not in self._gate_replicates:
            return Figure(estimate, None, units)
        level = self._plan.gate_level
        gate_replicates = replicates(for_gate=True)
        gate_low, gate_high, gate_survivors = percentile_limits(gate_replicates, level)
        method = f"paired {BOOTSTRAP}"
        others = self._closed_differences(block, comparator, statistic, value, at_least_zero)
        if gate_low is not None and gate_high is not None and others:
            gate_low, gate_high = _safest((gate_low, gate_high), *others.values())
            method = f"safest of paired {BOOTSTRAP}, {' and '.join(others)}"
        gate = GateInterval(gate_low, gate_high, level, method, len(gate_replicates), gate_survivors)
        return Figure(estimate, gate, units)

    def _closed_differences(
        self, block: str, comparator: str, statistic: str, value: float, at_least_zero: bool
    ) -> dict[str, tuple[float, float]]:
        found = {}
        combined = self._mover(block, comparator, statistic, at_least_zero)
        if combined is not None:
            found["MOVER"] = combined
        moved = self._influence(block, statistic)
        if not at_least_zero or self._point(comparator, statistic) > 0:
            moved = moved - self._influence(comparator, statistic)
        error = standard_error(moved, self._design)
        if math.isfinite(error):
            reach = critical_value(self._plan.gate_level) * error
            found["linearisation"] = (value - reach, value + reach)
        return found

    def _point(self, block: str, statistic: str) -> float:
        return float(self._measures[block].value(statistic, self._sums[block]))

    def _drawn(self, block: str, statistic: str, *, for_gate: bool = False) -> Floats:
        """(B,) the statistic in every replicate; worked out once, since several figures read it."""
        source = self._gate_replicates if for_gate else self._replicates
        key = (block, statistic, source is not self._replicates)
        if key not in self._values:
            self._values[key] = np.asarray(self._measures[block].value(statistic, source[block]))
        return self._values[key]

    def _mover(self, block: str, comparator: str, statistic: str, at_least_zero: bool) -> tuple[float, float] | None:
        """The difference's limits from those of both sides: of the closed forms here, of the bootstrap there."""
        level, value = self._plan.gate_level, self._point(block, statistic)
        closed = self._closed_forms(block, statistic, value, level)
        theirs = self._drawn(comparator, statistic, for_gate=True)
        own = self._drawn(block, statistic, for_gate=True)
        point = self._point(comparator, statistic)
        if at_least_zero:
            theirs, point = np.fmax(theirs, 0.0), float(np.fmax(point, 0.0))
        low, high, _ = percentile_limits(theirs, level)
        if low is None or high is None or not closed:
            return None
        mine = _safest(*closed.values())
        limits = (min(low, point), max(high, point))
        return mover_difference((value, *mine), (point, *limits), _correlation(own, theirs))


def _safest(*limits: tuple[float, float]) -> tuple[float, float]:
    return min(low for low, _ in limits), max(high for _, high in limits)


def bootstrap_caveat(low: float | None, high: float | None) -> str | None:
    """What must be said beside percentile limits that are missing, or that have no width."""
    if low is None:
        return "no interval: the statistic is undefined in every resample"
    return (
        "zero width: every resample gave the same value, which says nothing of the uncertainty" if low == high else None
    )


def _flat(contributions: Floats) -> Floats:
    return contributions.reshape(len(contributions), math.prod(contributions.shape[1:]))


def _has_pair(block: Floats) -> NDArray[np.bool_]:
    return np.asarray(np.abs(block).sum(axis=1) > 0)


def _correlation(first: Floats, second: Floats) -> float:
    defined = np.isfinite(first) & np.isfinite(second)
    a, b = first[defined], second[defined]
    if len(a) < FEWEST_PAIRS or np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def _why_undefined(statistic: str, n: int) -> str:
    if n == 0:
        return "undefined: there are no pairs"
    if statistic in CORRELATIONS:
        return "undefined: one side does not vary"
    return "undefined: a single value appears throughout"

"""The two errors of a decision, each over its own labeled slice, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from calib_pipeline.evidence.evidence import GateInterval
from calib_pipeline.measurement.figures import BOOTSTRAP, FEWEST_PAIRS, Figure, IntervalPlan, bootstrap_caveat
from calib_pipeline.measurement.linearised import standard_error
from calib_pipeline.measurement.reference import Floats
from calib_pipeline.statistics import (
    Confusion,
    Design,
    Estimate,
    effective_n,
    mover_sum,
    percentile_limits,
    resample_sums,
    wilson_limits,
)
from calib_pipeline.statistics.intervals import critical_value

REJECTED, ACCEPTED, ABSTAINED, FAILED = range(4)
"""What acting on an answer does with an item: the columns of the (n, 4) decisions."""

RATES = ("false_accept_decided", "false_accept_labeled", "false_reject_decided", "false_reject_labeled", "let_through")


def decisions(codes: np.ndarray) -> Floats:
    """(n, 4) decisions from codes 0 to 3."""
    return np.asarray(np.eye(4)[np.asarray(codes, dtype=np.int64)])


def cells(accepted: Floats, decided: Floats) -> Floats:
    """(n, 2, 4) what each item adds to the table of reference (rejected, accepted) and decision."""
    return np.asarray(np.einsum("nr,nd->nrd", np.stack([1 - accepted, accepted], axis=1), decided))


def people_cells(joint: Floats) -> Floats:
    """(n, 2, 4) cells from people's dichotomised pairs (n, 2, 2): people neither abstain nor fail."""
    return np.concatenate([joint, np.zeros_like(joint)], axis=2)


def confusion_of(table: Floats) -> Confusion:
    """The confusion table, positive meaning accepted, from the (2, 4) sums of cells."""
    return Confusion(
        tp=float(table[1, ACCEPTED]),
        fp=float(table[0, ACCEPTED]),
        fn=float(table[1, REJECTED]),
        tn=float(table[0, REJECTED]),
        abstained_positive=float(table[1, ABSTAINED]),
        abstained_negative=float(table[0, ABSTAINED]),
        failed_positive=float(table[1, FAILED]),
        failed_negative=float(table[0, FAILED]),
    )


def error_rate(name: str, per_item: Floats, design: Design, level: float) -> Estimate:
    """A directional error rate with Wilson's interval at the effective size of its slice.

    The labeled form charges a refusal as a failure, r_labeled = r_decided (1 - s) + s, on both slices; ``let_through``
    counts only what passed wrongly.
    """
    row, wrong = (0, ACCEPTED) if name.startswith(("false_accept", "let_through")) else (1, REJECTED)
    slice_of_row = per_item[:, row]
    error = slice_of_row[:, wrong]
    counted = slice_of_row[:, :2].sum(axis=1) if name.endswith("decided") else slice_of_row.sum(axis=1)
    if name.endswith("labeled"):
        error = error + slice_of_row[:, 2:].sum(axis=1)
    side = "rejects" if row == 0 else "accepts"
    form = "decided" if name.endswith("decided") else "labeled"
    return _rate(name, error, counted, design, level, f"no {form} item that the reference {side}")


def refusal_rate(name: str, column: int, row: int, per_item: Floats, design: Design, level: float) -> Estimate:
    """The share of a class (0 rejected, 1 accepted) on which the scorer abstained, or failed."""
    side = "rejects" if row == 0 else "accepts"
    counted = per_item[:, row].sum(axis=1)
    return _rate(name, per_item[:, row, column], counted, design, level, f"no item that the reference {side}")


def decision_accuracy(per_item: Floats, design: Design, level: float) -> Estimate:
    """The share of decided items on which decision and reference agree, with Wilson's interval at effective n."""
    right = per_item[:, 0, REJECTED] + per_item[:, 1, ACCEPTED]
    return _rate("decision_accuracy", right, per_item[:, :, :2].sum(axis=(1, 2)), design, level, "nothing was decided")


def _rate(name: str, hits: Floats, counted: Floats, design: Design, level: float, empty: str) -> Estimate:
    """Weighted hits (n,) over what each item counts (n,), which may be a share of it."""
    present = counted > 0
    if not present.any():
        return Estimate(name, None, n=0, level=level, note=f"undefined: {empty}")
    n = float(counted.sum())
    sliced = design.subset(present)
    weighted = Design(sliced.weights * counted[present], sliced.strata, sliced.group)
    rate = float(sliced.weights @ hits[present] / weighted.weights.sum())
    n_eff = min(n, effective_n(hits[present] / counted[present] - rate, weighted))
    low, high = wilson_limits(rate, n_eff, level)
    return Estimate(name, rate, low, high, n, level, "Wilson at effective n")


SUMMARIES: tuple[Literal["sensitivity", "specificity", "youden_j"], ...] = ("sensitivity", "specificity", "youden_j")


def decided_summaries(per_item: Floats, design: Design, plan: IntervalPlan) -> dict[str, Figure]:
    """Sensitivity, specificity and Youden's J, their sum less 1, of decided items, from one percentile bootstrap."""
    flat = per_item.reshape(len(per_item), 8)
    n = int((per_item[:, :, :2].sum(axis=(1, 2)) > 0).sum())
    point = design.weights @ flat
    drawn = resample_sums(flat, design, resamples=plan.resamples, seed=plan.seed) if n >= FEWEST_PAIRS else None
    return {statistic: _summary(statistic, point, drawn, n, design, plan) for statistic in SUMMARIES}


def _summary(statistic: str, point: Floats, drawn: Floats | None, n: int, design: Design, plan: IntervalPlan) -> Figure:
    value = float(_of_cells(statistic, point))
    if not math.isfinite(value):
        return Figure(Estimate(statistic, None, n=n, note="undefined: one of the two slices is empty"), None, n)
    if drawn is None:
        return Figure(Estimate(statistic, value, n=n, note="no interval on three or fewer pairs"), None, n)
    low, high, survivors = percentile_limits(_of_cells(statistic, drawn), plan.level)
    estimate = Estimate(
        statistic, value, low, high, n, plan.level, BOOTSTRAP, plan.resamples, survivors, plan.seed, design.resampled,
        bootstrap_caveat(low, high),
    )  # fmt: skip
    return Figure(estimate, None, design.groups)


def _of_cells(statistic: str, sums: Floats) -> Floats:
    table = sums.reshape(*sums.shape[:-1], 2, 4)
    with np.errstate(invalid="ignore", divide="ignore"):
        specificity = table[..., 0, REJECTED] / table[..., 0, :2].sum(axis=-1)
        sensitivity = table[..., 1, ACCEPTED] / table[..., 1, :2].sum(axis=-1)
    by_name = {"sensitivity": sensitivity, "specificity": specificity, "youden_j": sensitivity + specificity - 1}
    return np.asarray(by_name[statistic])


SAFEST_COST = f"safest of {BOOTSTRAP}, MOVER over Wilson and linearisation"


@dataclass(frozen=True)
class Costs:
    """What each error costs: letting a bad item through, holding a good one back."""

    false_accept: float
    false_reject: float


def cost_shares(per_item: Floats) -> Floats:
    """(n, 4) false accepts, false rejects, true rejects, true accepts; a refusal is charged as its class's error."""
    refused = per_item[:, :, 2:].sum(axis=2)
    return np.stack(
        [
            per_item[:, 0, ACCEPTED] + refused[:, 0],
            per_item[:, 1, REJECTED] + refused[:, 1],
            per_item[:, 0, REJECTED],
            per_item[:, 1, ACCEPTED],
        ],
        axis=1,
    )


class CostFigures:
    """Expected cost an item of acting on answers, and paired differences, from one resampling of the same rows.

    A bootstrap misses rare costly errors, and varies too little where a stratum gives few items. So what is published
    and what a gate reads reaches as far as it, as the Wilson limits of the two cells combined (MOVER), and as the
    standard error of the mean.

    Parameters
    ----------
    shares
        `cost_shares` (n, 4) by name of who answers.
    """

    def __init__(self, shares: Mapping[str, Floats], design: Design, costs: Costs, plan: IntervalPlan) -> None:
        self._shares, self._design, self._costs, self._plan = shares, design, costs, plan
        together = np.concatenate(list(shares.values()), axis=1)
        self._replicates = self._by_name(resample_sums(together, design, resamples=plan.resamples, seed=plan.seed))
        self._gate_replicates = self._replicates
        if plan.gate_resamples != plan.resamples:
            drawn = resample_sums(together, design, resamples=plan.gate_resamples, seed=plan.seed)
            self._gate_replicates = self._by_name(drawn)

    def _by_name(self, sums: Floats) -> dict[str, Floats]:
        return dict(zip(self._shares, np.split(sums, len(self._shares), axis=1), strict=True))

    def expected_cost(self, name: str) -> Figure:
        """c_FA · p_FA + c_FR · p_FR, p being shares of all labeled items."""
        weights = np.array([self._costs.false_accept, self._costs.false_reject, 0.0, 0.0])
        return self._combination("expected_cost", name, weights)

    def instead_of(self, name: str, trivial: Literal["accept all", "reject all"]) -> Figure:
        """The change in cost from letting everything through, or nothing, to acting on the answers."""
        accept_all = np.array([0.0, self._costs.false_reject, -self._costs.false_accept, 0.0])
        reject_all = np.array([self._costs.false_accept, 0.0, 0.0, -self._costs.false_reject])
        return self._combination("cost_difference", name, accept_all if trivial == "accept all" else reject_all)

    def trivial_cost(self, name: str, trivial: Literal["accept all", "reject all"]) -> float:
        """What letting everything through, or nothing, costs an item."""
        share = self._design.weights @ self._shares[name] / self._design.weights.sum()
        if trivial == "accept all":
            return float(self._costs.false_accept * (share[0] + share[2]))
        return float(self._costs.false_reject * (share[1] + share[3]))

    def saving(self, name: str, other: str) -> Figure:
        """The paired difference in expected cost between two who answer; negative means the first is cheaper."""
        weights = np.array([self._costs.false_accept, self._costs.false_reject, 0.0, 0.0])

        def of(mine: Floats, theirs: Floats) -> Floats:
            return np.asarray((mine @ weights - theirs @ weights) / mine.sum(axis=-1))

        point = float(of(self._design.weights @ self._shares[name], self._design.weights @ self._shares[other]))
        replicates = of(self._replicates[name], self._replicates[other])
        return Figure(self._estimate("expected_cost_difference", point, replicates), None, self._design.groups)

    def _estimate(self, statistic: str, point: float, replicates: Floats) -> Estimate:
        plan, n = self._plan, self._design.n
        if n < FEWEST_PAIRS:
            return Estimate(statistic, point, n=n, note="no interval on three or fewer items")
        low, high, survivors = percentile_limits(replicates, plan.level)
        return Estimate(
            statistic, point, low, high, n, plan.level, BOOTSTRAP, plan.resamples, survivors, plan.seed,
            self._design.resampled,
        )  # fmt: skip

    def _combination(self, statistic: str, name: str, weights: Floats) -> Figure:
        sums = self._design.weights @ self._shares[name]
        point = float(sums @ weights / sums.sum())

        def replicates(source: dict[str, Floats]) -> Floats:
            return np.asarray(source[name] @ weights / source[name].sum(axis=1))

        drawn = replicates(self._replicates)
        estimate = self._estimate(statistic, point, drawn)
        if estimate.low is None:
            return Figure(estimate, None, self._design.groups)
        plan = self._plan
        low, high, _ = self._limits(name, weights, point, drawn, plan.level)
        estimate = replace(estimate, low=low, high=high, method=SAFEST_COST)
        drawn = replicates(self._gate_replicates)
        low, high, survivors = self._limits(name, weights, point, drawn, plan.gate_level)
        gate = GateInterval(low, high, plan.gate_level, SAFEST_COST, len(drawn), survivors)
        return Figure(estimate, gate, self._design.groups)

    def _limits(
        self, name: str, weights: Floats, point: float, replicates: Floats, level: float
    ) -> tuple[float | None, float | None, int]:
        """Limits that reach as far as the bootstrap's and those in closed form, and the replicates that survived."""
        low, high, survivors = percentile_limits(replicates, level)
        if low is None or high is None:
            return None, None, survivors
        shares, design = self._shares[name], self._design
        means = design.weights @ shares / design.weights.sum()
        parts = []
        for cell in np.flatnonzero(weights):
            n_eff = effective_n(shares[:, cell] - means[cell], design)
            parts.append((float(weights[cell]), float(means[cell]), *wilson_limits(means[cell], n_eff, level)))
        rare = mover_sum(parts)
        reach = critical_value(level) * standard_error((shares @ weights - point) / design.weights.sum(), design)
        least, most = float(weights.min()), float(weights.max())
        low, high = max(least, min(low, rare[0], point - reach)), min(most, max(high, rare[1], point + reach))
        return low, high, survivors

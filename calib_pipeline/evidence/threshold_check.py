"""Whether acting on the scorer is worth it: its expected cost against the budget and against using no scorer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from calib_pipeline.evidence.evidence import Evidence, EvidenceRows
from calib_pipeline.evidence.holdout_reservation import stamp
from calib_pipeline.evidence.next_steps import LABEL_MORE, Sampling, labels_wanted, longer_next_time
from calib_pipeline.evidence.scorer_agreement import LABELED
from calib_pipeline.measurement.directional import CostFigures, Costs, cells, cost_shares, decisions
from calib_pipeline.measurement.figures import Figure, IntervalPlan
from calib_pipeline.measurement.reference import design_of

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.studies.study import Study

TRIVIAL: tuple[Literal["accept all", "reject all"], ...] = ("accept all", "reject all")


UNCLEARABLE = "improve the scorer, or decide otherwise: more labels do not clear this"


def threshold_check(
    study: Study,
    strata: Mapping[str, int],
    agreement: pd.DataFrame,
    rows_table: pd.DataFrame,
    m: int,
    digests: Mapping[str, str | None],
) -> Evidence:
    """Evidence of the decision's cost.

    Parameters
    ----------
    strata
        Items of the population in each stratum.
    agreement
        The evidence of `scorer_agreement`, whose figures a declared floor reads.
    rows_table
        Its row table: reference and decision of every labeled item.
    m
        How many attempts the gate's level answers for.
    """
    rows = EvidenceRows("threshold_check")
    stamp(rows, digests)
    decision = study.decision
    costs = Costs(decision.cost_false_accept.value, decision.cost_false_reject.value)
    plan = IntervalPlan(study.bootstrap.resamples, study.bootstrap.seed, study.bootstrap.level, m)
    rows.fact("gates", decision.gates.what)
    rows.fact("blocking", "yes" if decision.gates.blocking else "no")
    rows.fact("reversible", "yes" if decision.gates.reversible else "no")
    rows.count("cost_false_accept", costs.false_accept, note=decision.cost_false_accept.because)
    rows.count("cost_false_reject", costs.false_reject, note=decision.cost_false_reject.because)
    rows.fact("refusals", "charged to the error of their class")

    design = design_of(rows_table, np.asarray(rows_table["weight"], dtype=float))
    per_item = cells(
        np.asarray(rows_table["reference_accepted"], dtype=float), decisions(np.asarray(rows_table["scorer_decision"]))
    )
    figures = CostFigures({"scorer": cost_shares(per_item)}, design, costs, plan)
    trivial = {name: figures.trivial_cost("scorer", name) for name in TRIVIAL}
    cheaper = min(trivial, key=lambda name: trivial[name])
    for name in TRIVIAL:
        rows.count("trivial_cost", trivial[name], scope=name, n=design.n)
    if decision.budget is not None:
        rows.count("budget", decision.budget, bar=trivial[cheaper], text=cheaper)

    cost = figures.expected_cost("scorer")
    sampling = Sampling("holdout.size", sum(strata.values()), longer_next_time(plan))
    against_budget = "no budget declared" if decision.budget is None else _standing(cost, decision.budget)
    _add(rows, "expected_cost", cost, sampling, scope="scorer", bar=decision.budget, standing=against_budget)
    for name in TRIVIAL:
        difference = figures.instead_of("scorer", name)
        _add(rows, "cost_difference", difference, sampling, scope=name, bar=0.0, standing=_standing(difference, 0.0))
    if decision.floor is not None:
        _floor(rows, study, agreement, sampling)
    return rows.build()


def _add(
    rows: EvidenceRows,
    name: str,
    figure: Figure,
    sampling: Sampling,
    *,
    scope: str,
    bar: float | None,
    standing: str,
) -> None:
    estimate, gate = figure.estimate, figure.gate
    if bar is not None and standing != "cleared":
        note = UNCLEARABLE if standing == "missed" else LABEL_MORE
        if standing == "not yet demonstrated":
            assert estimate.value is not None and gate is not None and gate.low is not None and gate.high is not None
            clears = estimate.value < bar
            note = _wanted(estimate.value, gate.low, gate.high, bar, estimate.n, clears=clears, sampling=sampling)
        estimate = replace(estimate, note=note)
    rows.figure(name, estimate, scope=scope, bar=bar, gate=gate, units=figure.units, text=standing)


def _standing(figure: Figure, bar: float) -> str:
    """How a cost whose upper bound must stay at or below a bar stands to it."""
    gate = figure.gate
    if figure.estimate.value is None or gate is None or gate.low is None or gate.high is None:
        return "undefined"
    if gate.high < bar or (bar > 0 and gate.high == bar):
        return "cleared"
    return "missed" if gate.low >= bar else "not yet demonstrated"


def _wanted(value: float, low: float, high: float, bar: float, n: float, *, clears: bool, sampling: Sampling) -> str:
    wanted = labels_wanted(value, low, high, bar, n, clears=clears, sampling=sampling)
    return wanted or "the estimate lies on the bar: no number of labels decides it"


def _floor(rows: EvidenceRows, study: Study, agreement: pd.DataFrame, sampling: Sampling) -> None:
    """A declared coefficient floor; it adds to the cost and never replaces it."""
    floor = study.decision.floor
    assert floor is not None
    kind = "a convention" if floor.convention else "a requirement"
    rows.fact("floor_kind", f"{kind}, standing for: {floor.stands_for}")
    asked = agreement[
        (agreement["name"] == "agreement")
        & (agreement["scope"] == LABELED)
        & (agreement["statistic"] == floor.statistic)
    ]
    if asked.empty:
        rows.count(
            "floor", None, scope=LABELED, bar=floor.at_least, text="undefined", note="run scorer_agreement again"
        )
        return
    row = {str(key): value for key, value in asked.iloc[0].to_dict().items()}
    value, low, high = (
        None if math.isnan(row[column]) else row[column] for column in ("value", "gate_low", "gate_high")
    )
    note = row["note"]
    if value is None or low is None or high is None:
        standing = "undefined"
    elif low >= floor.at_least:
        standing = "cleared"
    elif high < floor.at_least:
        standing, note = "missed", UNCLEARABLE
    else:
        standing, clears = "not yet demonstrated", value >= floor.at_least
        note = _wanted(value, low, high, floor.at_least, row["n"], clears=clears, sampling=sampling)
    rows.row(row | {"name": "floor", "bar": floor.at_least, "text": standing, "note": note})

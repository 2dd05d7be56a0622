"""What the scorer is worth against people: the one rung on which labels meet its outputs."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from calib_pipeline.evidence.evidence import Evidence, EvidenceRows, fact, figure
from calib_pipeline.evidence.holdout_reservation import stamp
from calib_pipeline.evidence.next_steps import Sampling, labels_wanted, longer_next_time, values_wanted
from calib_pipeline.measurement import continuous, pairs
from calib_pipeline.measurement.comparators import (
    comparator_blocks,
    comparator_decisions,
    raw_column_blocks,
)
from calib_pipeline.measurement.copied_outputs import copied_outputs
from calib_pipeline.measurement.directional import (
    ABSTAINED,
    ACCEPTED,
    FAILED,
    RATES,
    REJECTED,
    CostFigures,
    Costs,
    cells,
    confusion_of,
    cost_shares,
    decided_summaries,
    decision_accuracy,
    decisions,
    error_rate,
    refusal_rate,
)
from calib_pipeline.measurement.figures import Block, Figure, Figures, IntervalPlan
from calib_pipeline.measurement.measures import LOWER_IS_BETTER, LevelMeasure, RangeMeasure, measure_of
from calib_pipeline.measurement.reference import Floats, Labels, fold_labels
from calib_pipeline.statistics import Estimate, latent_accuracy

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.studies.study import Study

DECIDED = "decided"
LABELED = "all labeled items"
ONE_LABEL = "one other label"
THE_OTHERS = "the consensus of the others"
LEAVES_OUT = "scorer rerun variance, judge selection, prompt phrasing"
FEWEST_USABLE_PAIRS = 10


@dataclass(frozen=True)
class Opening:
    """How the set was opened. ``configurations`` and ``attempts`` make m; ``head`` is the ledger's at the opening."""

    purpose: str
    why: str | None
    configurations: int
    attempts: int
    head: str | None

    @property
    def m(self) -> int:
        """How many attempts a gate's level answers for."""
        return max(1, self.configurations + self.attempts)


def opening_in(agreement: pd.DataFrame) -> Opening:
    """The opening of which evidence of ``scorer_agreement`` tells."""
    return Opening(
        fact(agreement, "opening") or "none",
        None,
        int(figure(agreement, "configurations_registered") or 0),
        int(figure(agreement, "earlier_attempts") or 0),
        fact(agreement, "ledger_head"),
    )


@dataclass(frozen=True)
class Readiness:
    """Whether enough is scored to open the set, told from ids and statuses alone."""

    labeled: int
    decided: int
    failed: int

    @property
    def scored_share(self) -> float | None:
        return None if self.labeled == 0 else 1 - self.failed / self.labeled

    def enough(self, study: Study) -> bool:
        share = self.scored_share
        return share is not None and share >= study.agreement.min_scored and self.decided >= study.agreement.min_pairs


def readiness(labeled_ids: set[str], scores: pd.DataFrame) -> Readiness:
    """Count what is scored among the labeled items; no value is looked at."""
    known = dict(zip(scores["item_id"].tolist(), scores["status"].tolist(), strict=True))
    statuses = Counter(known.get(item, "error") for item in labeled_ids)
    return Readiness(len(labeled_ids), statuses["scored"], statuses["error"])


def scorer_agreement(
    study: Study,
    strata: Mapping[str, int],
    drawn: pd.DataFrame,
    labels: pd.DataFrame,
    comparators: pd.DataFrame,
    ceiling: pd.DataFrame,
    scores: pd.DataFrame,
    panel: Mapping[str, pd.DataFrame],
    opening: Opening | None,
    digests: Mapping[str, str | None],
) -> Evidence:
    """Evidence of the scorer's agreement with people.

    Parameters
    ----------
    drawn, labels
        The reserved items and their usable labels.
    comparators
        The comparators' answers, as `baseline_comparators` stores them.
    ceiling
        The evidence of `human_ceiling`, for the flip rate of the reference.
    scores
        ``item_id, status, reason, code, number, confidence, explanation`` of the scorer's outputs.
    panel
        The same of other scorers, by id: measured at the same opening, without a status of their own.
    opening
        How the set was opened; None where it was not, since too little is scored.
    """
    rows = EvidenceRows("scorer_agreement")
    stamp(rows, digests)
    ready = readiness(set(labels["item_id"]), scores)
    rows.count("scored_share", ready.scored_share, bar=study.agreement.min_scored, n=ready.labeled)
    rows.count("decided_pairs", ready.decided, bar=study.agreement.min_pairs, n=ready.labeled)
    for reason, count in sorted(_outputs_not_compared(scores).items()):
        rows.count("outputs_not_compared", count, scope=reason, n=len(scores))
    if opening is None:
        rows.fact("opening", "none", note="too little is scored to open it")
        return rows.build()
    rows.fact("opening", opening.purpose, note=opening.why)
    rows.fact("ledger_head", opening.head)
    if opening.purpose == "refused":
        return rows.build()
    rows.count("configurations_registered", opening.configurations)
    rows.count("earlier_attempts", opening.attempts)

    plan = IntervalPlan(study.bootstrap.resamples, study.bootstrap.seed, study.bootstrap.level, opening.m)
    rows.count("gate_level", plan.gate_level, text=f"1 - (1 - {plan.level:g}) / {opening.m}")
    rows.fact("interval_leaves_out", LEAVES_OUT)
    met = Meeting.of(study, strata, drawn, labels, comparators, scores)
    _composition(rows, met)
    blocks = met.blocks()
    beaten = met.comparator_blocks()
    gated = {LABELED, DECIDED, *beaten}
    figures = Figures(blocks | beaten, met.labels.design, plan, gated)
    for scope in blocks:
        for statistic in met.measure.statistics:
            _add(rows, "agreement", figures.figure(scope, statistic), scope=scope)
    _per_stratum(rows, study, met, plan)
    _directional(rows, met, plan)
    eta = _reference_flip_rate(ceiling)
    _against_label_noise(rows, met, eta, plan)
    _copies(rows, met, eta)
    _panel(rows, met, panel, plan)
    sampling = Sampling("holdout.size", sum(strata.values()), longer_next_time(plan))
    _differences(rows, met, figures, sorted(beaten), plan, sampling)
    rows.table("rows", met.rows())
    return rows.build()


def outputs_on(labels: Labels, scores: pd.DataFrame) -> pd.DataFrame:
    """A scorer's outputs in the order of the labeled items; an item without one has failed."""
    outputs = scores.set_index("item_id").reindex(labels.items["item_id"]).reset_index()
    outputs["status"] = outputs["status"].fillna("error")
    return outputs


def _outputs_not_compared(scores: pd.DataFrame) -> Counter[str]:
    """How many of the reserved items have no verdict, by reason."""
    told = zip(scores["status"], scores["reason"], strict=True)
    return Counter(str(reason or status) for status, reason in told if status != "scored")


@dataclass(frozen=True)
class Meeting:
    """Labels and outputs side by side, on the labeled items in the order of ``labels.items``."""

    study: Study
    labels: Labels
    outputs: pd.DataFrame
    answers: Mapping[str, Floats]
    features: Mapping[str, Floats]
    own_labels: pd.DataFrame

    @classmethod
    def of(
        cls,
        study: Study,
        strata: Mapping[str, int],
        drawn: pd.DataFrame,
        labels: pd.DataFrame,
        comparators: pd.DataFrame,
        scores: pd.DataFrame,
    ) -> Meeting:
        folded = fold_labels(study, drawn, labels, dict(strata))
        beside = comparators.set_index("item_id").reindex(folded.items["item_id"])

        def columns(prefix: str) -> dict[str, Floats]:
            return {
                str(name).removeprefix(prefix): np.asarray(beside[name], dtype=float)
                for name in beside
                if str(name).startswith(prefix)
            }

        return cls(study, folded, outputs_on(folded, scores), columns("answer: "), columns("feature: "), labels)

    @cached_property
    def measure(self) -> LevelMeasure | RangeMeasure:
        return measure_of(self.study.scale)

    @cached_property
    def scored(self) -> np.ndarray:
        return np.asarray(self.outputs["status"] == "scored")

    @cached_property
    def codes(self) -> np.ndarray:
        """(n,) levels, -1 where the scorer refused or failed."""
        return np.where(self.scored, self.outputs["code"].fillna(-1), -1).astype(np.int64)

    @cached_property
    def numbers(self) -> Floats:
        """(n,) numbers of a continuous scale, NaN where the scorer refused or failed."""
        return np.where(self.scored, self.outputs["number"].astype(float), np.nan)

    def blocks(self) -> dict[str, Block]:
        """The pairs of scorer and people in every form in which they are compared."""
        labels, measure = self.labels, self.measure
        if isinstance(measure, LevelMeasure):
            answers = pairs.one_hot(self.codes, measure.levels)
            joints = {
                LABELED: pairs.against_reference(labels.shares, answers),
                ONE_LABEL: pairs.against_one_label(labels.counts, answers),
                THE_OTHERS: pairs.against_others(labels.counts, labels.consensus, answers),
            }
            base = labels.design.weights @ labels.shares
            ordered = bool(self.study.scale.ordered)
            charged = {
                name: Block(pairs.labeled(joint, ordered=ordered, base=base), measure) for name, joint in joints.items()
            }
            return {DECIDED: Block(pairs.decided(joints[LABELED]), measure)} | charged
        low, high = self.study.scale.range or (0.0, 0.0)
        span, every = high - low, np.arange(labels.n)
        numbers, weights = self.numbers, labels.design.weights
        of_reference = continuous.worst_answer(labels.numbers, numbers, low, high)
        one = continuous.worst_answer(labels.label_numbers, numbers[labels.label_items], low, high)
        others = continuous.mean_of_others(labels)
        of_others = continuous.worst_answer(others, numbers[labels.label_items], low, high)
        given = {
            DECIDED: (labels.numbers, numbers, every),
            LABELED: (labels.numbers, of_reference, every),
            ONE_LABEL: (labels.label_numbers, one, labels.label_items),
            THE_OTHERS: (others, of_others, labels.label_items),
        }
        return {
            name: Block(continuous.pair_contributions(x, y, item, weights, span=span), measure)
            for name, (x, y, item) in given.items()
        }

    def comparator_blocks(self) -> dict[str, Block]:
        """The pairs of every comparator; for ρ and r a heuristic stands with its raw column."""
        fitted = comparator_blocks(self.study, self.labels, self.measure, self.answers)
        return fitted | raw_column_blocks(self.study, self.labels, self.study.headline, self.features)

    @cached_property
    def decision_codes(self) -> np.ndarray:
        """(n,) what acting on the output does: rejected, accepted, abstained, failed."""
        status = np.asarray(self.outputs["status"])
        accepts_number = self.study.accepts_number
        if accepts_number is None:
            accepted = np.asarray([*self.study.accepted_levels, False])[self.codes]
        else:
            accepted = np.array([bool(np.isfinite(x)) and accepts_number(float(x)) for x in self.numbers])
        decided = np.where(accepted, ACCEPTED, REJECTED)
        return np.where(status == "abstained", ABSTAINED, np.where(status == "scored", decided, FAILED))

    @cached_property
    def cells(self) -> Floats:
        """(n, 2, 4) reference and decision of every item."""
        return cells(self.labels.accepted, decisions(self.decision_codes))

    def shares(self) -> dict[str, Floats]:
        """Cost shares of the scorer and of every comparator."""
        given = comparator_decisions(self.study, self.labels, self.answers)
        others = {name: cost_shares(cells(self.labels.accepted, decided)) for name, decided in given.items()}
        return {"scorer": cost_shares(self.cells)} | others

    def rows(self) -> pd.DataFrame:
        """The row table that every figure recomputes from."""
        import pandas as pd

        labels, levels = self.labels, self.study.scale.levels
        values, hesitation = self._of_items("value"), self._of_items("confidence")
        ids = labels.items["item_id"]
        if levels is None:
            reference = [f"{number:.12g}" for number in labels.numbers]
            verdict = [None if math.isnan(number) else f"{number:.12g}" for number in self.numbers]
        else:
            reference = [
                json.dumps({levels[level]: round(float(share[level]), 12) for level in np.flatnonzero(share)})
                for share in labels.shares
            ]
            verdict = [None if code < 0 else levels[code] for code in self.codes]
        return pd.DataFrame(
            {
                "item_id": ids,
                "stratum": labels.items["stratum"],
                "group": labels.items["group"],
                "weight": labels.design.weights,
                "human_labels": [values[item] for item in ids],
                "human_confidence": [hesitation[item] for item in ids],
                "reference": reference,
                "reference_accepted": labels.accepted,
                "scorer_label": verdict,
                "scorer_status": self.outputs["status"],
                "scorer_decision": self.decision_codes,
                "scorer_confidence": self.outputs["confidence"].astype("float64"),
                "scorer_explanation": self.outputs["explanation"],
                "rubric_version": self.study.rubric.version,
            }
        )

    def _of_items(self, column: str) -> dict[str, str]:
        """The cells of a label column by item, as JSON lists."""
        given: defaultdict[str, list[str]] = defaultdict(list)
        for item, cell in zip(self.own_labels["item_id"].tolist(), self.own_labels[column].tolist(), strict=True):
            cells = given[item]
            if isinstance(cell, str):
                cells.append(cell)
        return {item: json.dumps(sorted(cells)) for item, cells in given.items()}


def _add(rows: EvidenceRows, name: str, figure: Figure, *, scope: str) -> None:
    rows.figure(name, figure.estimate, scope=scope, gate=figure.gate, units=figure.units)


def _composition(rows: EvidenceRows, met: Meeting) -> None:
    """Sample size, class balance, confusion table, abstention and failure by class."""
    labels = met.labels
    rows.count("labeled_items", labels.n)
    if labels.design.group is not None:
        rows.count("labeled_groups", labels.design.groups)
    rows.count("undecided_share", labels.undecided if labels.n else None, n=labels.n)
    levels = met.study.scale.levels
    if levels is not None and labels.n:
        weights = labels.design.weights / labels.design.weights.sum()
        for level, share in zip(levels, weights @ labels.shares, strict=True):
            rows.count("class_share", float(share), scope=level, n=float(labels.shares[:, levels.index(level)].sum()))
    per_item = met.cells
    weight = labels.design.weights
    accepted = float(weight @ labels.accepted / weight.sum()) if labels.n else None
    rows.count("prevalence", accepted, n=labels.n, text="share of items that the reference accepts")
    table = confusion_of(per_item.sum(axis=0))
    for cell in ("tp", "fp", "fn", "tn"):
        rows.count("confusion", getattr(table, cell), scope=cell)
    status = {"abstained": ABSTAINED, "failed": FAILED}
    for name, column in status.items():
        for side, row in (("accepted", 1), ("rejected", 0)):
            of_class = float(per_item[:, row].sum())
            count = float(per_item[:, row, column].sum())
            rows.count(name, count, scope=side, n=of_class)
            name_of_rate, published = f"{name}_rate", met.study.bootstrap.level
            rate = refusal_rate(name_of_rate, column, row, per_item, labels.design, published)
            rows.figure(name_of_rate, rate, scope=side)


def _per_stratum(rows: EvidenceRows, study: Study, met: Meeting, plan: IntervalPlan) -> None:
    block = met.blocks()[LABELED]
    for stratum in sorted(set(met.labels.items["stratum"])):
        inside = np.asarray(met.labels.items["stratum"] == stratum)
        part = Block(block.contributions[inside], block.measure)
        figures = Figures({LABELED: part}, met.labels.design.subset(inside), plan, set())
        _add(rows, "agreement_of_stratum", figures.figure(LABELED, study.headline), scope=stratum)


def _directional(rows: EvidenceRows, met: Meeting, plan: IntervalPlan) -> None:
    design = met.labels.design
    for rate in RATES:
        rows.figure("error_rate", error_rate(rate, met.cells, design, plan.level), scope="scorer")
    for summary in decided_summaries(met.cells, design, plan).values():
        _add(rows, "error_rate", summary, scope="scorer")


def _reference_flip_rate(ceiling: pd.DataFrame) -> float | None:
    noise = ceiling[(ceiling["name"] == "label_noise") & (ceiling["statistic"] == "reference_flip_rate")]
    return None if noise.empty or math.isnan(noise.iloc[0]["value"]) else float(noise.iloc[0]["value"])


def _copies(rows: EvidenceRows, met: Meeting, eta: float | None) -> None:
    """Outputs that look copied from people's labels are a warning and no bar; without them no row is written."""
    outputs = met.outputs[met.scored]
    reference, decided = met.labels.accepted, met.decision_codes
    both = np.isin(reference, (0.0, 1.0)) & np.isin(decided, (ACCEPTED, REJECTED))
    found = copied_outputs(
        met.own_labels if met.study.annotation.annotators == "persons" else met.own_labels[:0],
        dict(zip(outputs["item_id"], outputs["value"], strict=True)),
        (reference[both] == 1.0, decided[both] == ACCEPTED),
        eta,
    )
    for one in found:
        note = (
            f"at the best {one.most:.1%} without a look at the labels; by chance with probability {one.probability:.1e}"
        )
        rows.count("outputs_like_labels", one.equal, scope=one.source, n=one.n, text=one.where, note=note)


def _against_label_noise(rows: EvidenceRows, met: Meeting, eta: float | None, plan: IntervalPlan) -> None:
    """Accuracy against the latent truth if errors were independent, with a warning where the labels are exhausted."""
    accuracy = decision_accuracy(met.cells, met.labels.design, plan.level)
    rows.figure("decision_accuracy", accuracy, scope="scorer")
    if eta is None or accuracy.value is None:
        rows.count("latent_accuracy", None, scope="scorer", note="undefined: the reference's flip rate is unmeasured")
        return
    rows.figure("latent_accuracy", latent_accuracy(accuracy, eta), scope="scorer")


def _panel(rows: EvidenceRows, met: Meeting, panel: Mapping[str, pd.DataFrame], plan: IntervalPlan) -> None:
    for scorer_id, scores in panel.items():
        beside = replace(met, outputs=outputs_on(met.labels, scores))
        blocks = {scope: block for scope, block in beside.blocks().items() if scope in (DECIDED, LABELED)}
        figures = Figures(blocks, met.labels.design, plan, set())
        for scope in blocks:
            for statistic in met.measure.statistics:
                _add(rows, "panel_agreement", figures.figure(scope, statistic), scope=f"{scorer_id}: {scope}")


def _differences(
    rows: EvidenceRows, met: Meeting, figures: Figures, comparators: list[str], plan: IntervalPlan, sampling: Sampling
) -> None:
    """The paired difference to every comparator, which the gate reads; agreement and cost beside it."""
    study = met.study
    costs = Costs(study.decision.cost_false_accept.value, study.decision.cost_false_reject.value)
    cost_figures = CostFigures(met.shares(), met.labels.design, costs, plan)
    simple = "percent_agreement" if study.scale.levels is not None else "within_tolerance"
    assert study.headline not in LOWER_IS_BETTER
    for name in comparators:
        figure = figures.difference(LABELED, name, study.headline, at_least_zero=True)
        rows.figure(
            "difference",
            _advised(figure, met, sampling),
            scope=name,
            gate=figure.gate,
            units=figure.units,
            text=_verdict(figure),
        )
        if simple != study.headline:
            beside = figures.difference(LABELED, name, simple, at_least_zero=False)
            rows.figure("difference_beside", beside.estimate, scope=name, units=beside.units)
        rows.figure("difference_beside", cost_figures.saving("scorer", name).estimate, scope=name)


def _verdict(figure: Figure) -> str:
    estimate, gate = figure.estimate, figure.gate
    if estimate.value is None or gate is None or gate.low is None or gate.high is None:
        return "undefined"
    if gate.low > 0:
        return "beaten"
    return "lost" if estimate.value <= 0 or gate.high <= 0 else "not yet demonstrated"


def _advised(figure: Figure, met: Meeting, sampling: Sampling) -> Estimate:
    """The difference with what to do next as its note, where the comparator is not beaten."""
    estimate, gate = figure.estimate, figure.gate
    if estimate.value is None:
        return replace(estimate, note=f"{estimate.note}: {values_wanted(met.study, met.labels)}")
    verdict = _verdict(figure)
    if verdict == "lost":
        return replace(estimate, note="candidate for removal: it carries no more signal than this comparator")
    if verdict == "not yet demonstrated" and gate is not None and gate.low is not None and gate.high is not None:
        wanted = labels_wanted(estimate.value, gate.low, gate.high, 0.0, estimate.n, clears=True, sampling=sampling)
        return replace(estimate, note=wanted)
    return estimate

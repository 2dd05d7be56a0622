"""How far people agree with each other on the items named in advance: the most that agreement with them can show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from calib_pipeline.digests import digest_frame
from calib_pipeline.evidence.evidence import Evidence, EvidenceRows
from calib_pipeline.evidence.holdout_reservation import stamp
from calib_pipeline.evidence.named_items import count_named_items
from calib_pipeline.evidence.next_steps import LABEL_MORE, Sampling, labels_wanted, values_wanted
from calib_pipeline.measurement import continuous, pairs
from calib_pipeline.measurement.alpha import ALPHA, alpha_block
from calib_pipeline.measurement.directional import RATES, decided_summaries, error_rate, people_cells
from calib_pipeline.measurement.figures import Block, Figure, Figures, IntervalPlan
from calib_pipeline.measurement.measures import LevelMeasure, measure_of
from calib_pipeline.measurement.reference import Labels, fold_labels, majority, population_weights
from calib_pipeline.measurement.reference import design_of as design_of_items
from calib_pipeline.statistics import Estimate, consensus_flip_rate, flip_rate_from_pairs

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.studies.study import Study

ONE_OTHER = "one other label"
THE_OTHERS = "the consensus of the others"
MOST_PERSONS_SHOWN = 5
FEWEST_SHARED_ITEMS = 30
OBSERVED_CEILING = "observed_ceiling"
HIDDEN_FLIPS = "unequal difficulty of the items hides flips"


def human_ceiling(
    study: Study,
    strata: Mapping[str, int],
    drawn: pd.DataFrame,
    labels: pd.DataFrame,
    repeats: pd.DataFrame,
    digests: Mapping[str, str | None],
) -> Evidence:
    """Evidence of the human ceiling.

    Parameters
    ----------
    drawn
        The reserved items, ``named`` marking those to be labeled by several people.
    labels
        Usable labels, one an annotator and item.
    repeats
        Second and later labels of the same person on the same item: they stand beside η and never replace it.
    """
    rows = EvidenceRows("human_ceiling")
    stamp(rows, digests)
    independent = _independent(labels)
    everyone = fold_labels(study, drawn, independent, dict(strata))
    named = np.asarray(everyone.items["named"], dtype=bool)
    doubled = named & (everyone.annotators >= max(study.ceiling.min_annotators, 2))
    _coverage(rows, study, drawn, everyone, doubled)
    ceiling = everyone.subset(doubled)
    if ceiling.n:
        weights = population_weights(ceiling.items, dict(strata))
        ceiling = _redesigned(ceiling, weights)
    rows.fact("computed_from", digest_frame(labels))
    rows.count("labels_that_saw_others", len(labels) - len(independent))

    plan = IntervalPlan(study.bootstrap.resamples, study.bootstrap.seed, study.bootstrap.level)
    measure = measure_of(study.scale)
    by_alpha = _alpha_is_the_ceiling(study, independent, ceiling)
    rows.fact("ceiling_statistic", ALPHA if by_alpha else study.headline, note=by_alpha)
    blocks = _people_blocks(study, ceiling, measure)
    figures = Figures(blocks, ceiling.design, plan, set(blocks))
    gated = figures.figure("alpha", ALPHA) if by_alpha else figures.figure(ONE_OTHER, study.headline)
    _gated(rows, study, ceiling, gated, Sampling("ceiling.min_items", sum(strata.values())))
    for scope in (ONE_OTHER, THE_OTHERS):
        for statistic in measure.statistics:
            _add(rows, "human_agreement", figures.figure(scope, statistic), scope=scope)
    _add(rows, "human_agreement", figures.figure("alpha", ALPHA), scope="all labels of an item")
    _per_stratum(rows, study, ceiling, measure, plan, by_alpha is not None)
    _directional(rows, ceiling, plan)
    _label_noise(rows, study, everyone, figures)
    if by_alpha is None:
        _per_pair_of_people(rows, study, strata, drawn, independent, plan)
    _self_agreement(rows, independent, repeats)
    return rows.build()


def _independent(labels: pd.DataFrame) -> pd.DataFrame:
    """Labels by annotators who saw no other label, and adjudications, which serve the reference only."""
    return labels[labels["independent"] | (labels["role"] == "adjudicator")].reset_index(drop=True)


def _redesigned(labels: Labels, weights: np.ndarray) -> Labels:
    return replace(labels, design=design_of_items(labels.items, weights))


def _coverage(rows: EvidenceRows, study: Study, drawn: pd.DataFrame, everyone: Labels, doubled: np.ndarray) -> None:
    count_named_items(rows, study, named=int(drawn["named"].sum()), enough=int(doubled.sum()))
    strata = set(drawn["stratum"])
    covered = set(everyone.items["stratum"][doubled])
    missing = ", ".join(sorted(strata - covered)) or None
    rows.count("strata_covered", len(covered), bar=len(strata), text=missing)
    named_ids = set(drawn["item_id"][drawn["named"]])
    lacking = sorted(named_ids - set(everyone.items["item_id"][doubled]))
    rows.fact("items_to_label_again", ", ".join(lacking[:50]) or None, note=f"{len(lacking)} in all")


def _alpha_is_the_ceiling(study: Study, labels: pd.DataFrame, ceiling: Labels) -> str | None:
    """Why α is the ceiling and no figure is shown per annotator, or None where the pairs of people can be shown."""
    if study.annotation.annotators == "slots":
        return "annotator ids are slots and not persons"
    own = labels[labels["item_id"].isin(set(ceiling.items["item_id"])) & (labels["role"] != "adjudicator")]
    people = own["annotator_id"].nunique()
    if people > MOST_PERSONS_SHOWN:
        return f"{people} annotators: more than {MOST_PERSONS_SHOWN}"
    by_person = [set(items) for _, items in own.groupby("annotator_id")["item_id"]]
    shared = min((len(a & b) for a, b in combinations(by_person, 2)), default=0)
    if shared < FEWEST_SHARED_ITEMS:
        return f"a pair of annotators shares {shared} items: fewer than {FEWEST_SHARED_ITEMS}"
    return None


def _people_blocks(study: Study, labels: Labels, measure: object) -> dict[str, Block]:
    blocks = {"alpha": alpha_block(labels, ordered=bool(study.scale.ordered))}
    if isinstance(measure, LevelMeasure):
        blocks[ONE_OTHER] = Block(pairs.people_one_to_one(labels.counts), measure)
        blocks[THE_OTHERS] = Block(pairs.people_against_others(labels.counts, labels.consensus), measure)
    else:
        low, high = study.scale.range or (0.0, 0.0)
        number_measure = measure_of(study.scale)
        blocks[ONE_OTHER] = Block(continuous.people_one_to_one(labels, high - low), number_measure)
        blocks[THE_OTHERS] = Block(continuous.people_against_others(labels, high - low), number_measure)
    two = LevelMeasure(2, ordered=False)
    blocks["dichotomy"] = Block(pairs.people_one_to_one(labels.accepted_counts), two)
    return blocks


def _add(rows: EvidenceRows, name: str, figure: Figure, *, scope: str) -> None:
    rows.figure(name, figure.estimate, scope=scope, gate=figure.gate, units=figure.units)


def _gated(rows: EvidenceRows, study: Study, labels: Labels, figure: Figure, sampling: Sampling) -> None:
    """The figure that the gate reads, how it stands to the floor, and what to do where it does not clear it."""
    estimate, gate, floor = figure.estimate, figure.gate, study.ceiling.floor
    note: str | None
    if labels.n == 0:
        standing = "unknown"
        note = f"unknown: no named item has {max(study.ceiling.min_annotators, 2)} independent annotators"
    elif estimate.value is None:
        standing, note = "undefined", f"{estimate.note}: {values_wanted(study, labels)}"
    elif gate is None or gate.low is None or gate.high is None:
        standing, note = "undefined", LABEL_MORE
    elif gate.low > floor:
        standing, note = "cleared", estimate.note
    elif estimate.value <= floor or gate.high <= floor:
        standing, note = "missed", "sharpen the rubric and label again: below this floor two people read two rubrics"
    else:
        standing = "not yet demonstrated"
        note = labels_wanted(estimate.value, gate.low, gate.high, floor, estimate.n, clears=True, sampling=sampling)
    rows.figure(
        "ceiling", replace(estimate, note=note), scope="people", bar=floor, gate=gate, units=figure.units, text=standing
    )


def _per_stratum(
    rows: EvidenceRows, study: Study, labels: Labels, measure: object, plan: IntervalPlan, by_alpha: bool
) -> None:
    for stratum in sorted(set(labels.items["stratum"])):
        part = labels.subset(np.asarray(labels.items["stratum"] == stratum))
        blocks = _people_blocks(study, part, measure)
        figures = Figures(blocks, part.design, plan, set())
        figure = figures.figure("alpha", ALPHA) if by_alpha else figures.figure(ONE_OTHER, study.headline)
        _add(rows, "ceiling_of_stratum", figure, scope=stratum)


def _directional(rows: EvidenceRows, labels: Labels, plan: IntervalPlan) -> None:
    forms = {
        ONE_OTHER: pairs.people_one_to_one(labels.accepted_counts),
        THE_OTHERS: pairs.people_against_others(labels.accepted_counts, majority),
    }
    for scope, joint in forms.items():
        per_item = people_cells(joint)
        for rate in RATES:
            rows.figure("human_error_rate", error_rate(rate, per_item, labels.design, plan.level), scope=scope)
        figure = decided_summaries(per_item, labels.design, plan)["youden_j"]
        _add(rows, "human_error_rate", figure, scope=scope)


def _label_noise(rows: EvidenceRows, study: Study, everyone: Labels, figures: Figures) -> None:
    """η of one label from disagreeing pairs, of the reference as used, and the agreement no scorer can exceed."""
    agreement = figures.figure("dichotomy", "percent_agreement").estimate
    single = _through(agreement, "flip_rate", lambda agree: flip_rate_from_pairs(max(1 - agree, 0.0), 1.0).value)
    rows.figure("label_noise", single, scope="one label")
    # Where every label counts alike the reference is one label, however many an item has.
    folded = np.minimum(everyone.annotators, 1) if study.reference.consensus == "single" else everyone.annotators
    sizes, counts = np.unique(folded[folded > 0], return_counts=True)

    def of_reference(agree: float) -> float | None:
        eta = flip_rate_from_pairs(max(1 - agree, 0.0), 1.0).value
        if eta is None or not len(sizes):
            return None
        rates = [consensus_flip_rate(eta, int(size)).value or 0.0 for size in sizes]
        return float(np.average(rates, weights=counts))

    reference = _through(agreement, "reference_flip_rate", of_reference)
    rows.figure("label_noise", reference, scope="the reference as used")

    def ceiling(agree: float) -> float | None:
        eta = of_reference(agree)
        return None if eta is None else 1 - eta

    rows.figure("label_noise", _through(agreement, OBSERVED_CEILING, ceiling), scope="the reference as used")


def _through(agreement: Estimate, statistic: str, of: object) -> Estimate:
    assert callable(of)
    ends = [None if end is None else of(end) for end in (agreement.value, agreement.low, agreement.high)]
    if ends[0] is None:
        note = agreement.note or "undefined: people disagree on half of the pairs or more"
        return Estimate(statistic, None, n=agreement.n, note=note)
    limits = sorted(end for end in ends[1:] if end is not None)
    low, high = limits if len(limits) == 2 else (None, None)
    note = f"{'an upper' if statistic == OBSERVED_CEILING else 'a lower'} bound: {HIDDEN_FLIPS}"
    if low is None:
        note += "; no interval: it reaches into disagreement on half"
    method = f"{agreement.method} of the pairs' agreement, carried through" if low is not None else None
    return Estimate(
        statistic, ends[0], low, high, agreement.n, agreement.level, method, agreement.resamples, agreement.survivors,
        agreement.seed, agreement.resampled, note,
    )  # fmt: skip


def _per_pair_of_people(
    rows: EvidenceRows,
    study: Study,
    strata: Mapping[str, int],
    drawn: pd.DataFrame,
    labels: pd.DataFrame,
    plan: IntervalPlan,
) -> None:
    own = labels[labels["role"] != "adjudicator"]
    measure = measure_of(study.scale)
    for first, second in combinations(sorted(own["annotator_id"].unique()), 2):
        of_two = own[own["annotator_id"].isin([first, second])]
        folded = fold_labels(study, drawn[drawn["named"]], of_two, dict(strata))
        both = folded.subset(np.asarray(folded.annotators >= 2))
        if both.n == 0:
            continue
        figures = Figures(_people_blocks(study, both, measure), both.design, plan, set())
        _add(rows, "ceiling_of_pair", figures.figure(ONE_OTHER, study.headline), scope=f"{first} and {second}")


def _self_agreement(rows: EvidenceRows, labels: pd.DataFrame, repeats: pd.DataFrame) -> None:
    """How often people repeat themselves; it stands beside η and never replaces it."""
    keys = list(zip(labels["item_id"].tolist(), labels["annotator_id"].tolist(), strict=True))
    asked = set(zip(repeats["item_id"].tolist(), repeats["annotator_id"].tolist(), strict=True)).intersection(keys)
    first = defaultdict(list)
    for key, value in zip(keys, labels["value"].tolist(), strict=True):
        if key in asked:
            first[key].append(value)
    same = [
        value == before
        for item, person, value in repeats[["item_id", "annotator_id", "value"]].itertuples(index=False)
        for before in first[item, person]
    ]
    labeled = len(set(keys))
    rows.count("repeat_rate", len(asked) / labeled if labeled else None, n=labeled)
    note = None if same else "no one labeled an item twice: self-agreement is unmeasured"
    rows.count("self_agreement", sum(same) / len(same) if same else None, n=len(same), note=note)

"""The reference: people's labels of each item folded by the declared rule, ties kept at fractional weight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.statistics import Design

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.studies.study import Study

Floats = NDArray[np.float64]
Consensus = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Labels:
    """Labels of n items on a scale of K values (K = 0 on a continuous scale).

    ``counts`` (n, K) are labels by independent annotators, ``shares`` (n, K) the reference, rows summing to 1;
    ``numbers`` (n,) the reference of a continuous scale and ``label_items``/``label_numbers`` (L,) its single labels;
    ``accepted_counts`` (n, 2) the labels dichotomised (rejected, accepted) and ``accepted`` (n,) their majority, a tie
    at one half. ``design`` says how the items were drawn.
    """

    items: pd.DataFrame
    counts: Floats
    shares: Floats
    numbers: Floats
    label_items: NDArray[np.int64]
    label_numbers: Floats
    accepted_counts: Floats
    accepted: Floats
    design: Design
    consensus: Consensus

    @property
    def n(self) -> int:
        return len(self.items)

    @property
    def annotators(self) -> Floats:
        """(n,) independent labels of each item."""
        return np.asarray(self.accepted_counts.sum(axis=1))

    @property
    def undecided(self) -> float:
        """The share of items whose reference is a tie."""
        return float(np.mean((self.shares.max(axis=1) < 1) if self.shares.size else (self.accepted == 0.5)))

    def subset(self, keep: NDArray[np.bool_]) -> Labels:
        """The same labels on some of the items."""
        position = np.cumsum(keep) - 1
        of_kept = keep[self.label_items] if self.label_items.size else np.zeros(0, dtype=bool)
        return replace(
            self,
            items=self.items[keep].reset_index(drop=True),
            counts=self.counts[keep],
            shares=self.shares[keep],
            numbers=self.numbers[keep],
            label_items=position[self.label_items[of_kept]],
            label_numbers=self.label_numbers[of_kept],
            accepted_counts=self.accepted_counts[keep],
            accepted=self.accepted[keep],
            design=self.design.subset(keep),
        )


def majority(counts: Floats) -> Floats:
    """Plurality of each row of ``counts`` (n, K); the t values tied for first get 1/t each. A row of zeros stays so."""
    top = counts.max(axis=1, keepdims=True, initial=0.0)
    first = ((counts == top) & (top > 0)).astype(float)
    return np.asarray(first / np.maximum(first.sum(axis=1, keepdims=True), 1))


def median(counts: Floats) -> Floats:
    """Median of each row of ``counts`` (n, K) on ordered values; an even median between two values is half each."""
    total = counts.sum(axis=1, keepdims=True)
    below = counts.cumsum(axis=1)
    lower = np.argmax(2 * below >= total, axis=1)
    upper = np.argmax(2 * below > total, axis=1)
    shares = np.zeros_like(counts, dtype=float)
    rows = np.arange(len(counts))
    np.add.at(shares, (rows, lower), 0.5)
    np.add.at(shares, (rows, upper), 0.5)
    shares[total[:, 0] == 0] = 0
    return shares


def each_label(counts: Floats) -> Floats:
    """Every label counts alike: the expectation over which single annotator one had."""
    return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))


CONSENSUS: dict[str, Consensus] = {
    "majority": majority,
    "median": median,
    "mean": majority,
    "adjudicated": majority,
    "single": each_label,
}


def population_weights(items: pd.DataFrame, stratum_sizes: dict[str, int]) -> Floats:
    """(n,) N_h / n_h: how many items of the population each labeled item stands for."""
    labeled = items["stratum"].map(items.groupby("stratum").size())
    sizes = items["stratum"].map(stratum_sizes)
    return np.asarray(sizes / labeled, dtype=float)


def fold_labels(study: Study, drawn: pd.DataFrame, labels: pd.DataFrame, stratum_sizes: dict[str, int]) -> Labels:
    """The reference of the drawn items that carry a label.

    Parameters
    ----------
    drawn
        ``item_id, stratum, group, named`` of the reserved items.
    labels
        Usable labels: ``item_id, annotator_id, code, number, role``; one an annotator and item. Those of other items
        are left out.
    stratum_sizes
        Items of the population in each stratum.
    """
    scale = study.scale
    labels = labels[labels["item_id"].isin(set(drawn["item_id"]))]
    own = labels[labels["role"].fillna("annotator") != "adjudicator"]
    judged = labels[labels["role"].fillna("annotator") == "adjudicator"]
    items = drawn[drawn["item_id"].isin(set(labels["item_id"]))].sort_values("item_id", ignore_index=True)
    position = {item: index for index, item in enumerate(items["item_id"])}

    accept = accepted_labels(study, labels)
    accepted_counts = _counts(position, own, accept.loc[own.index].astype(int), 2)
    levels = len(scale.levels) if scale.levels is not None else 0
    rule = study.reference.consensus
    consensus = CONSENSUS[rule]
    counts = _counts(position, own, own["code"], levels)
    shares = consensus(counts)
    label_items = own["item_id"].map(position).to_numpy(dtype=np.int64)
    label_numbers = own["number"].to_numpy(dtype=float)
    numbers = _mean_number(position, own) if levels == 0 else np.full(len(items), np.nan)
    accepted = (each_label if rule == "single" else majority)(accepted_counts)
    if rule == "adjudicated":
        decided_counts = _counts(position, judged, judged["code"], levels)
        decided = np.isin(list(position), judged["item_id"].unique())
        unanimous = _single_valued(own, position)
        shares = np.where(decided[:, None], majority(decided_counts), np.where(unanimous[:, None], shares, 0.0))
        if levels == 0:
            numbers = np.where(decided, _mean_number(position, judged), np.where(unanimous, numbers, np.nan))
        judged_accepted = _counts(position, judged, accept.loc[judged.index].astype(int), 2)
        accepted = np.where(decided[:, None], majority(judged_accepted), np.where(unanimous[:, None], accepted, 0.0))
    folded = Labels(
        items=items,
        counts=counts,
        shares=shares,
        numbers=numbers,
        label_items=label_items,
        label_numbers=label_numbers,
        accepted_counts=accepted_counts,
        accepted=accepted[:, 1],
        design=Design.simple(len(items)),
        consensus=consensus,
    )
    has_reference = (accepted.sum(axis=1) > 0) & ((shares.sum(axis=1) > 0) if levels else np.isfinite(numbers))
    folded = folded.subset(has_reference)
    return replace(folded, design=design_of(folded.items, population_weights(folded.items, stratum_sizes)))


def design_of(items: pd.DataFrame, weights: Floats) -> Design:
    """How the items were drawn: their weights, strata and groups."""
    grouped = items["group"].notna().any()
    return Design.of(
        weights=weights,
        strata=items["stratum"].to_numpy(),
        group=items["group"].where(items["group"].notna(), items["item_id"]).to_numpy() if grouped else None,
        n=len(items),
    )


def accepted_labels(study: Study, frame: pd.DataFrame) -> pd.Series[Any]:
    """For every row with ``code`` and ``number``: whether ``decision.accept`` lets the item through."""
    accepts_number = study.accepts_number
    if accepts_number is not None:
        return frame["number"].map(accepts_number).astype(bool)
    accepted = np.asarray(study.accepted_levels)
    return frame["code"].map(lambda code: bool(accepted[code])).astype(bool)


def _mean_number(position: dict[str, int], labels: pd.DataFrame) -> Floats:
    return np.asarray(labels.groupby("item_id")["number"].mean().reindex(list(position)), dtype=float)


def _single_valued(labels: pd.DataFrame, position: dict[str, int]) -> NDArray[np.bool_]:
    values = labels.assign(value=labels["code"].where(labels["number"].isna(), labels["number"]))
    return np.asarray(values.groupby("item_id")["value"].nunique().reindex(list(position)) == 1)


def _counts(position: dict[str, int], labels: pd.DataFrame, codes: Any, levels: int) -> Floats:
    counts = np.zeros((len(position), levels))
    if levels and len(labels):
        rows = labels["item_id"].map(position).to_numpy(dtype=np.int64)
        np.add.at(counts, (rows, np.asarray(codes, dtype=np.int64)), 1.0)
    return counts

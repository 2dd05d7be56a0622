"""The reference: people's labels of each item folded by the declared rule, ties kept at fractional weight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.statistics import Design

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.studies.study import Study

Floats = NDArray[np.float64]
Consensus = Callable[[Floats], Floats]
FEWEST_UNITS_OF_A_STRATUM = 5


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
    strata = items["stratum"].tolist()
    labeled = Counter(strata)
    return np.array([stratum_sizes[stratum] / labeled[stratum] for stratum in strata], dtype=float)


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
    items = drawn[drawn["item_id"].isin(set(labels["item_id"]))].sort_values("item_id", ignore_index=True)
    position = {item: index for index, item in enumerate(items["item_id"].tolist())}
    place = np.array([position.get(item, -1) for item in labels["item_id"].tolist()], dtype=np.int64)
    adjudicator = np.asarray(labels["role"] == "adjudicator")
    sheet = _Sheet(
        len(items),
        0 if study.scale.levels is None else len(study.scale.levels),
        place,
        labels["code"].to_numpy(dtype=np.int64),
        labels["number"].to_numpy(dtype=float),
        accepted_labels(study, labels),
    )
    own, judged = sheet.of(~adjudicator & (place >= 0)), sheet.of(adjudicator & (place >= 0))
    rule = study.reference.consensus
    consensus = CONSENSUS[rule]
    shares, numbers = consensus(own.counts), own.mean_number
    accepted = (each_label if rule == "single" else majority)(own.accepted_counts)
    if rule == "adjudicated":
        decided = judged.labeled
        shares = np.where(decided[:, None], majority(judged.counts), shares)
        numbers = np.where(decided, judged.mean_number, numbers)
        accepted = np.where(decided[:, None], majority(judged.accepted_counts), accepted)
    folded = Labels(
        items=items,
        counts=own.counts,
        shares=shares,
        numbers=numbers,
        label_items=own.place,
        label_numbers=own.number,
        accepted_counts=own.accepted_counts,
        accepted=accepted[:, 1],
        design=Design.simple(len(items)),
        consensus=consensus,
    )
    has_reference = accepted.sum(axis=1) > 0
    if not has_reference.all():
        folded = folded.subset(has_reference)
    return replace(folded, design=design_of(folded.items, population_weights(folded.items, stratum_sizes)))


@dataclass(frozen=True)
class _Sheet:
    """Labels by the place (L,) of their item among ``items``, on a scale of ``levels`` values (0: of numbers)."""

    items: int
    levels: int
    place: NDArray[np.int64]
    code: NDArray[np.int64]
    number: Floats
    accepts: NDArray[np.bool_]

    def of(self, kept: NDArray[np.bool_]) -> _Sheet:
        return replace(
            self, place=self.place[kept], code=self.code[kept], number=self.number[kept], accepts=self.accepts[kept]
        )

    @property
    def labeled(self) -> NDArray[np.bool_]:
        """(n,) whether an item has a label."""
        return np.bincount(self.place, minlength=self.items) > 0

    @property
    def counts(self) -> Floats:
        """(n, K) how many labels give each value."""
        return self._table(self.code, self.levels) if self.levels else np.zeros((self.items, 0))

    @property
    def accepted_counts(self) -> Floats:
        """(n, 2) how many labels reject and accept."""
        return self._table(self.accepts.astype(np.int64), 2)

    @property
    def mean_number(self) -> Floats:
        """(n,) mean of an item's numbers, NaN without any."""
        with np.errstate(invalid="ignore"):
            return np.asarray(
                np.bincount(self.place, self.number, self.items) / np.bincount(self.place, minlength=self.items)
            )

    def _table(self, codes: NDArray[np.int64], width: int) -> Floats:
        cells = np.bincount(self.place * width + codes, minlength=self.items * width)
        return cells.reshape(self.items, width).astype(float)


def design_of(items: pd.DataFrame, weights: Floats) -> Design:
    """How the items were drawn: their weights, strata and groups.

    Drawn again within a stratum of n units, a figure varies by (n - 1)/n of what it should: not at all for one unit.
    So strata of fewer than 5 units are drawn again together; the weights stay those of each.
    """
    grouped = bool(items["group"].notna().any())
    group = items["group"].where(items["group"].notna(), items["item_id"]).tolist() if grouped else None
    strata = items["stratum"].tolist()
    units = Counter(stratum for stratum, _ in set(zip(strata, group or items["item_id"].tolist(), strict=True)))
    few = {stratum for stratum, size in units.items() if size < FEWEST_UNITS_OF_A_STRATUM}
    return Design.of(
        weights=weights,
        strata=["" if stratum in few else stratum for stratum in strata],
        group=group,
        n=len(items),
    )


def accepted_labels(study: Study, labels: pd.DataFrame) -> NDArray[np.bool_]:
    """For every row with ``code`` and ``number``: whether ``decision.accept`` lets the item through."""
    accepts_number = study.accepts_number
    if accepts_number is not None:
        return np.array([accepts_number(number) for number in labels["number"].tolist()], dtype=bool)
    accepted = np.asarray(study.accepted_levels, dtype=bool)
    return np.take(accepted, labels["code"].to_numpy(dtype=np.int64))

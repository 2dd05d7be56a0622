"""The 2×2 table of a decision, its error rates in both forms, and Youden's J."""

from __future__ import annotations

import math
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from calib_pipeline.statistics.bootstrap import bootstrap_estimate
from calib_pipeline.statistics.coding import Labels, is_missing
from calib_pipeline.statistics.estimate import Estimate, undefined
from calib_pipeline.statistics.intervals import mover_sum, wilson, wilson_limits
from calib_pipeline.statistics.resampling import resample_cell_counts


@dataclass(frozen=True)
class Confusion:
    """Counts of a decision against its reference; positive means "let through". Counts may be fractional.

    Attributes
    ----------
    tp, fp, fn, tn : float
        Decided items: the letter pair is the scorer's decision, right or wrong.
    abstained_positive, abstained_negative : float
        Items that the scorer answered with "cannot determine", by reference class.
    failed_positive, failed_negative : float
        Items on which the scorer erred or whose output is missing, by reference class.

    Raises
    ------
    ValueError
        A count is negative or not finite.
    """

    tp: float
    fp: float
    fn: float
    tn: float
    abstained_positive: float
    abstained_negative: float
    failed_positive: float = 0.0
    failed_negative: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            count = getattr(self, field.name)
            if not (math.isfinite(count) and count >= 0):
                raise ValueError(f"{field.name} must be a count of 0 or more. Got {count!r}.")

    @property
    def decided(self) -> float:
        """Items that the scorer decided."""
        return self.tp + self.fp + self.fn + self.tn

    @property
    def labeled_positive(self) -> float:
        """All items whose reference is positive."""
        return self.tp + self.fn + self.abstained_positive + self.failed_positive

    @property
    def labeled_negative(self) -> float:
        """All items whose reference is negative."""
        return self.fp + self.tn + self.abstained_negative + self.failed_negative

    @property
    def prevalence(self) -> float | None:
        """Share of all labeled items whose reference is positive; None without items."""
        total = self.labeled_positive + self.labeled_negative
        return self.labeled_positive / total if total > 0 else None


@dataclass(frozen=True)
class ErrorRates:
    """Both directional error rates in both forms, and the share let through; each with its Wilson interval.

    Attributes
    ----------
    far_decided, frr_decided : Estimate
        False accepts over decided fail-labeled items, false rejects over decided pass-labeled items.
    far_labeled, frr_labeled : Estimate
        The same over all items of the slice, a refusal or failure charged as an error.
    let_through : Estimate
        False accepts over all fail-labeled items.
    """

    far_decided: Estimate
    far_labeled: Estimate
    frr_decided: Estimate
    frr_labeled: Estimate
    let_through: Estimate


def confusion(
    reference: Labels,
    scorer: Labels,
    *,
    positive: Any,
    failed: Labels | None = None,
    sample_weights: Any = None,
) -> Confusion:
    """Count a scorer's decisions against the reference.

    Parameters
    ----------
    reference : (n,) labels
        None leaves the item.
    scorer : (n,) labels
        None: the scorer abstained, or failed where `failed` says so.
    positive : hashable, or a set, frozenset, list or tuple of hashables
        The value or values that let an item through.
    failed : (n,) bool, optional
        Items on which the scorer erred or gave nothing.
    sample_weights : (n,) float, optional
        What each item counts, as given (they are not rescaled).

    Raises
    ------
    ValueError
        Columns of unequal length.
    """
    columns = [reference, scorer, *(column for column in (failed, sample_weights) if column is not None)]
    if len({len(column) for column in columns}) != 1:
        raise ValueError(f"columns must have the same length. Got {[len(column) for column in columns]}.")
    accepted = frozenset(positive) if isinstance(positive, AbstractSet | list | tuple) else frozenset([positive])
    erred = [False] * len(reference) if failed is None else [bool(value) for value in failed]
    amounts = [1.0] * len(reference) if sample_weights is None else [float(value) for value in sample_weights]
    cells = dict.fromkeys((field.name for field in fields(Confusion)), 0.0)
    for truth, said, gone, amount in zip(reference, scorer, erred, amounts, strict=True):
        if is_missing(truth):
            continue
        side = "positive" if truth in accepted else "negative"
        if gone:
            cells[f"failed_{side}"] += amount
        elif is_missing(said):
            cells[f"abstained_{side}"] += amount
        else:
            decided = said in accepted
            cells[("t" if decided == (truth in accepted) else "f") + ("p" if decided else "n")] += amount
    return Confusion(**cells)


def error_rates(confusion: Confusion, *, level: float = 0.95) -> ErrorRates:
    """Both error rates of a decision, decided and labeled, with Wilson intervals.

    The labeled form is decided · (1 - s) + s, s being the share of that slice abstained or failed, on both slices: a
    refusal costs the caller what a wrong answer would have cost. `let_through` stands beside it: the share of
    fail-labeled items that got through.

    Parameters
    ----------
    confusion : Confusion
    level : float
        Confidence level.

    Returns
    -------
    ErrorRates
        An estimate is None with a note where its slice is empty.
    """
    c = confusion
    refused_negative = c.abstained_negative + c.failed_negative
    refused_positive = c.abstained_positive + c.failed_positive
    rates = {
        "far_decided": (c.fp, c.fp + c.tn, "no decided fail-labeled items"),
        "far_labeled": (c.fp + refused_negative, c.labeled_negative, "no fail-labeled items"),
        "frr_decided": (c.fn, c.fn + c.tp, "no decided pass-labeled items"),
        "frr_labeled": (c.fn + refused_positive, c.labeled_positive, "no pass-labeled items"),
        "let_through": (c.fp, c.labeled_negative, "no fail-labeled items"),
    }
    return ErrorRates(**{name: _rate(name, k, n, why, level) for name, (k, n, why) in rates.items()})


def youden_j(confusion: Confusion, *, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> Estimate:
    """Youden's J, sensitivity + specificity - 1, on the decided items (Youden 1950).

    The interval is a percentile bootstrap over the decided items where the counts are whole. Fractional counts name no
    items to draw; their interval combines the Wilson limits of the two rates (MOVER).

    Parameters
    ----------
    confusion : Confusion
    level : float
        Confidence level.
    resamples, seed : int
        Replicates and seed of the bootstrap.

    Returns
    -------
    Estimate
        Value None with a note where no decided item of one class is there.
    """
    c = confusion
    n = c.decided
    positive, negative = c.tp + c.fn, c.fp + c.tn
    if positive <= 0 or negative <= 0:
        missing = "pass-labeled" if positive <= 0 else "fail-labeled"
        return undefined("youden_j", f"undefined: no decided {missing} items", n=n, level=level)
    sensitivity, specificity = c.tp / positive, c.tn / negative
    value = sensitivity + specificity - 1.0
    counts = np.array([c.tp, c.fn, c.fp, c.tn], dtype=np.float64)
    if (counts == np.round(counts)).all():

        def replicate() -> Any:
            drawn = resample_cell_counts(counts.astype(np.int64), resamples=resamples, seed=seed)
            with np.errstate(invalid="ignore", divide="ignore"):
                return drawn[:, 0] / (drawn[:, 0] + drawn[:, 1]) + drawn[:, 3] / (drawn[:, 2] + drawn[:, 3]) - 1.0

        return bootstrap_estimate(
            "youden_j",
            value,
            replicate,
            n=n,
            level=level,
            resamples=resamples,
            seed=seed,
            resampled="rows",
            why_undefined="undefined: one class",
        )
    low, high = mover_sum(
        [
            (1.0, sensitivity, *wilson_limits(sensitivity, positive, level)),
            (1.0, specificity, *wilson_limits(specificity, negative, level)),
        ]
    )
    method = "MOVER of Wilson limits"
    return Estimate("youden_j", value, max(-1.0, low - 1.0), min(1.0, high - 1.0), n=n, level=level, method=method)


def _rate(name: str, k: float, n: float, why_empty: str, level: float) -> Estimate:
    if n <= 0:
        return undefined(name, f"undefined: {why_empty}", level=level)
    return replace(wilson(k, n, level=level), statistic=name)

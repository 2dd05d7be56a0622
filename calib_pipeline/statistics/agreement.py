"""Agreement of paired raters on a scale of values: percent agreement, Cohen's κ, Gwet's AC1."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.statistics.bootstrap import bootstrap_estimate
from calib_pipeline.statistics.coding import Labels
from calib_pipeline.statistics.contingency import (
    KappaWeights,
    joint_table,
    table_ac1,
    table_kappa,
    table_percent_agreement,
)
from calib_pipeline.statistics.design import Design
from calib_pipeline.statistics.estimate import Estimate, undefined
from calib_pipeline.statistics.pairs import CodedPairs, code_pairs
from calib_pipeline.statistics.resampling import resample_cell_counts, resample_sums

Floats = NDArray[np.float64]

NO_PAIRS = "undefined: no pairs"
ONE_CLASS = "undefined: one class (both sides use one and the same value throughout)"
ONE_VALUE = "undefined: the scale has one value"

_WIDEST_INTEGER_SCALE = 1000


def percent_agreement(
    a: Labels,
    b: Labels,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    sample_weights: Any = None,
    strata: Labels | None = None,
    group: Labels | None = None,
) -> Estimate:
    """Share of pairs with equal values.

    Parameters
    ----------
    a, b : (n,) labels
        Any hashables; None (missing, abstained) leaves the pair.
    level : float
        Confidence level of the percentile bootstrap.
    resamples, seed : int
        Replicates B, and the seed of their generator.
    sample_weights : (n,) float, optional
        Sampling weights, N_h / n_h.
    strata, group : (n,) hashables, optional
        Strata to draw within, and groups to draw together.

    Raises
    ------
    ValueError
        Columns of unequal length, or an impossible design or level.
    """
    pairs = code_pairs(a, b, sample_weights=sample_weights, strata=strata, group=group)
    return _of_table("percent_agreement", pairs, table_percent_agreement, level, resamples, seed, NO_PAIRS)


def cohen_kappa(
    a: Labels,
    b: Labels,
    *,
    categories: Iterable[Hashable] | None = None,
    weights: KappaWeights = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    sample_weights: Any = None,
    strata: Labels | None = None,
    group: Labels | None = None,
) -> Estimate:
    """Cohen's κ, chance-corrected agreement (Cohen 1960); weighted κ (Cohen 1968) with `weights`.

    Parameters
    ----------
    a, b : (n,) labels
        Any hashables; None (missing, abstained) leaves the pair.
    categories : iterable, optional
        The scale in its order, unused values included. Weighted κ needs it unless the labels are whole numbers, whose
        scale then runs from the smallest to the largest.
    weights : None, "linear" or "quadratic"
        How disagreement grows with the distance of the positions on the scale.
    level, resamples, seed, sample_weights, strata, group
        As in `percent_agreement`.

    Returns
    -------
    Estimate
        Value None with a note where both sides use one and the same value throughout: chance agreement is then 1.

    Raises
    ------
    ValueError
        Columns of unequal length, a label that is not among the categories, weights on labels without an order.
    """
    if weights is not None and categories is None:
        categories = _integer_scale(a, b)
    pairs = code_pairs(a, b, categories=categories, sample_weights=sample_weights, strata=strata, group=group)
    name = "cohen_kappa" if weights is None else f"{weights}_kappa"
    return _of_table(name, pairs, lambda t: table_kappa(t, weights), level, resamples, seed, ONE_CLASS)


def gwet_ac1(
    a: Labels,
    b: Labels,
    *,
    categories: Iterable[Hashable] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    sample_weights: Any = None,
    strata: Labels | None = None,
    group: Labels | None = None,
) -> Estimate:
    """Gwet's AC1 (Gwet 2008), which unlike κ does not fall when one value dominates.

    Parameters
    ----------
    categories : iterable, optional
        The scale; its size enters the chance term. Without it: the values that occur.
    a, b, level, resamples, seed, sample_weights, strata, group
        As in `percent_agreement`.

    Raises
    ------
    ValueError
        As in `cohen_kappa`.
    """
    pairs = code_pairs(a, b, categories=categories, sample_weights=sample_weights, strata=strata, group=group)
    return _of_table("gwet_ac1", pairs, table_ac1, level, resamples, seed, ONE_VALUE)


def resampled_tables(pairs: CodedPairs, *, resamples: int, seed: int) -> Floats:
    """(B, K, K) bootstrap replicates of the joint table of coded pairs."""
    size = len(pairs.values)
    cells = pairs.first * size + pairs.second
    counts = np.bincount(cells, minlength=size * size)
    if pairs.design.plain:
        drawn = resample_cell_counts(counts, resamples=resamples, seed=seed)
    else:
        filled = np.flatnonzero(counts)
        one_hot = (cells[:, None] == filled[None, :]).astype(np.float64)
        drawn = np.zeros((resamples, size * size))
        drawn[:, filled] = resample_sums(one_hot, pairs.design, resamples=resamples, seed=seed)
    return drawn.reshape(resamples, size, size)


def _of_table(
    name: str,
    pairs: CodedPairs,
    statistic: Callable[[Floats], Floats],
    level: float,
    resamples: int,
    seed: int,
    why_undefined: str,
) -> Estimate:
    design: Design = pairs.design
    if design.n == 0:
        return undefined(name, NO_PAIRS, level=level)
    table = joint_table(pairs.first, pairs.second, len(pairs.values), None if design.plain else design.weights)
    return bootstrap_estimate(
        name,
        float(statistic(table)),
        lambda: statistic(resampled_tables(pairs, resamples=resamples, seed=seed)),
        n=design.n,
        level=level,
        resamples=resamples,
        seed=seed,
        resampled=design.resampled,
        why_undefined=why_undefined,
    )


def _integer_scale(a: Labels, b: Labels) -> list[int]:
    try:
        numbers = np.concatenate([np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)])
    except (TypeError, ValueError):
        numbers = np.array([0.5])
    if any(isinstance(value, str) for value in (*a[:1], *b[:1])):
        numbers = np.array([0.5])
    numbers = numbers[~np.isnan(numbers)]
    if numbers.size == 0:
        return [0, 1]
    if (numbers != np.round(numbers)).any() or np.ptp(numbers) > _WIDEST_INTEGER_SCALE:
        raise ValueError(
            "weights need the order of the values. Give categories=[...] with the whole scale in order, "
            "unused values included."
        )
    return list(range(int(numbers.min()), int(numbers.max()) + 1))

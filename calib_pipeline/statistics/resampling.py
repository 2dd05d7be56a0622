"""Bootstrap replicates of weighted sums, without looping over replicates.

A statistic that is a function of sums over rows (κ of its table, α of its coincidences, r of its moments) needs only
the sums of each replicate. Rows with the same contribution are exchangeable, so how often each *distinct* contribution
is drawn is one multinomial draw per replicate: the same distribution as drawing rows with replacement (Efron 1979), at
a cost that does not grow with the number of rows. Where nearly all contributions differ, the rows are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.statistics.design import Design
from calib_pipeline.statistics.exact_sums import on_grid

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

SCHEME = "multinomial over distinct contributions, within strata"

_ROWS_PER_PATTERN = 8
_CELLS_AT_ONCE = 4_000_000
_CELLS_IN_CACHE = 32_768


def resample_sums(contributions: NDArray[Any], design: Design, *, resamples: int, seed: int) -> Floats:
    """Weighted column sums of every bootstrap replicate.

    Within each stratum, units (rows, or groups where the design has them) are drawn with replacement, as many as there
    are. Columns that must be compared in the same replicate belong into one call. The replicates depend on what the
    rows contribute, not on their order.

    Parameters
    ----------
    contributions : (n, ...) float
        What each row adds to each sum; the design's weights are applied here.
    design : Design
        How the rows were drawn.
    resamples : int
        Number of replicates, B.
    seed : int
        Seed of ``numpy.random.default_rng``.

    Returns
    -------
    (B, ...) float
    """
    rows = np.asarray(contributions, dtype=np.float64)
    if len(rows) != design.n:
        raise ValueError(f"contributions must have the design's {design.n} rows. Got {len(rows)}.")
    trailing = rows.shape[1:]
    columns = math.prod(trailing)
    totals = on_grid(design.unit_totals(rows.reshape(design.n, columns)), design.groups)
    rng = np.random.default_rng(seed)
    sums = np.zeros((resamples, columns))
    for units in design.unit_strata:
        block = totals if len(units) == len(totals) else totals[units]
        codes, patterns = distinct_rows(block)
        _add_stratum(sums, codes, patterns, rng)
    return sums.reshape(resamples, *trailing)


def resample_pattern_sums(
    pattern: Ints, contributions: NDArray[Any], design: Design, *, resamples: int, seed: int
) -> Floats:
    """`resample_sums` where each row's contribution is already known by its number.

    Parameters
    ----------
    pattern : (n,) int
        Which of the contributions each row adds.
    contributions : (p, ...) float
        The distinct contributions.
    design, resamples, seed
        As in `resample_sums`.

    Returns
    -------
    (B, ...) float
    """
    if not design.plain:
        return resample_sums(contributions[pattern], design, resamples=resamples, seed=seed)
    trailing = contributions.shape[1:]
    sums = np.zeros((resamples, math.prod(trailing)))
    if design.n:
        patterns = np.asarray(contributions, dtype=np.float64).reshape(len(contributions), -1) * design.weights[0]
        _add_stratum(sums, pattern, on_grid(patterns, design.n), np.random.default_rng(seed))
    return sums.reshape(resamples, *trailing)


def resample_cell_counts(counts: NDArray[Any], *, resamples: int, seed: int) -> Floats:
    """Replicates of a table of whole counts: B multinomial draws of its total at its shares.

    Parameters
    ----------
    counts : (c,) int
        Rows in each cell.

    Returns
    -------
    (B, c) float
    """
    rng = np.random.default_rng(seed)
    filled = np.flatnonzero(counts)
    if filled.size == len(counts):
        return _multinomial(counts, resamples, rng)
    drawn = np.zeros((resamples, len(counts)))
    if filled.size:
        drawn[:, filled] = _multinomial(counts[filled], resamples, rng)
    return drawn


def resample_count_chunks(design: Design, *, resamples: int, seed: int) -> Iterator[Floats]:
    """Row multiplicities times weights of the replicates, a block of replicates at a time.

    For statistics that are no function of sums. The blocks are (b, n) and together hold `resamples` rows; their size
    is bounded, so that memory does not grow with B.
    """
    rng = np.random.default_rng(seed)
    weights = design.weights
    block = max(1, _CELLS_AT_ONCE // max(1, design.n))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        multiplicity = np.empty((size, design.groups))
        for units in design.unit_strata:
            counts = np.empty((size, len(units)))
            _count_draws(counts, np.arange(len(units)), rng)
            multiplicity[:, units] = counts
        rows = multiplicity if design.group is None else multiplicity[:, design.unit]
        yield rows if (weights == 1).all() else rows * weights


def resample_counts(design: Design, *, resamples: int, seed: int) -> Floats:
    """(B, n) row multiplicities times weights; see `resample_count_chunks` for large n."""
    blocks = list(resample_count_chunks(design, resamples=resamples, seed=seed))
    return np.concatenate(blocks) if blocks else np.zeros((0, design.n))


def percentile_limits(replicates: NDArray[Any], level: float) -> tuple[float | None, float | None, int]:
    """Percentile limits over the replicates in which the statistic is defined.

    Parameters
    ----------
    replicates : (B,) float
        NaN and infinite replicates are undefined: dropped, never clamped.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    low, high : float or None
        Quantiles (1-level)/2 and (1+level)/2, numpy's default (linear, type 7); None without survivors.
    survivors : int
        Number of replicates behind the limits.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie between 0 and 1. Got {level}; 0.95 is usual.")
    finite = np.isfinite(replicates)
    survivors = int(np.count_nonzero(finite))
    if survivors == 0:
        return None, None, 0
    kept = replicates if survivors == len(replicates) else replicates[finite]
    tail = (1.0 - level) / 2.0
    places = [tail * (survivors - 1), (1.0 - tail) * (survivors - 1)]
    below = [min(math.floor(place), survivors - 1) for place in places]
    above = [min(place + 1, survivors - 1) for place in below]
    ordered = np.partition(kept, sorted({*below, *above}))
    low, high = (
        _between(float(ordered[lower]), float(ordered[upper]), place - lower)
        for lower, upper, place in zip(below, above, places, strict=True)
    )
    return low, high, survivors


def distinct_rows(rows: Floats) -> tuple[Ints, Floats]:
    """Number the distinct rows of a matrix.

    Parameters
    ----------
    rows : (n, c) float

    Returns
    -------
    codes : (n,) int
        Number of each row's pattern.
    patterns : (p, c) float
    """
    if len(rows) <= 1 or rows.shape[1] == 0:
        return np.zeros(len(rows), dtype=np.intp), rows[:1]
    keys = _row_keys(np.ascontiguousarray(rows))
    _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    patterns = rows[first]
    if not (patterns[codes] == rows).all():
        patterns, codes = np.unique(rows, axis=0, return_inverse=True)
    return codes.reshape(-1).astype(np.intp, copy=False), patterns


def _row_keys(rows: Floats) -> NDArray[np.uint64]:
    bits = rows.view(np.uint64)
    folded = bits ^ (bits >> np.uint64(26)) ^ (bits >> np.uint64(52))
    multipliers = np.random.default_rng(rows.shape[1]).integers(0, 2**64 - 1, rows.shape[1], np.uint64) | np.uint64(1)
    return np.asarray((folded * multipliers).sum(axis=1, dtype=np.uint64))


def _add_stratum(sums: Floats, codes: Ints, patterns: Floats, rng: np.random.Generator) -> None:
    units, distinct = len(codes), len(patterns)
    resamples = len(sums)
    if distinct == 1:
        sums += units * patterns[0]
        return
    few = distinct * _ROWS_PER_PATTERN <= units
    present = np.bincount(codes, minlength=distinct)
    in_order = np.repeat(np.arange(distinct), present)
    block = max(1, min(resamples, _CELLS_AT_ONCE // distinct))
    drawn = np.empty((block, distinct))
    for start in range(0, resamples, block):
        counts = drawn[: min(block, resamples - start)]
        if few:
            counts[:] = _multinomial(present, len(counts), rng)
        else:
            _count_draws(counts, in_order, rng)
        sums[start : start + block] += counts @ patterns


def _count_draws(counts: Floats, codes: Ints, rng: np.random.Generator) -> None:
    """Fill each row of `counts` (b, p) with how often each code comes up in as many draws as there are codes.

    The codes 0..p-1 are sorted, so that the replicates do not depend on the order of the rows.
    """
    units, distinct = len(codes), counts.shape[1]
    each_once = distinct == units and bool((codes == np.arange(units)).all())
    narrow = np.uint16 if units <= 2**16 else np.uint32
    block = max(1, _CELLS_IN_CACHE // units)
    offsets = (np.arange(block) * distinct)[:, None]
    for start in range(0, len(counts), block):
        rows = min(block, len(counts) - start)
        places = rng.integers(0, units, size=(rows, units), dtype=narrow)
        drawn = places.astype(np.intp) if each_once else codes[places]
        drawn += offsets[:rows]
        counts[start : start + rows] = np.bincount(drawn.ravel(), minlength=rows * distinct).reshape(rows, distinct)


def _multinomial(counts: NDArray[Any], resamples: int, rng: np.random.Generator) -> Floats:
    total = int(counts.sum())
    return rng.multinomial(total, counts / total, size=resamples).astype(np.float64)


def _between(lower: float, upper: float, share: float) -> float:
    if share >= 0.5:
        return upper - (upper - lower) * (1.0 - share)
    return lower + (upper - lower) * share

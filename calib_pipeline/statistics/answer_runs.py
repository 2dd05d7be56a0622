"""Runs of equal answers between two annotators: how long the longest is, and how likely so long a one is by chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class AnswerRun:
    """The longest run of equal answers of a pair.

    Attributes
    ----------
    start, length
        Where it begins among the trials, and how long it is.
    trials
        Items that both answered, in the order in which they were answered.
    equal_elsewhere
        Equal answers among the trials outside of the run.
    rate
        Their share, with one equal and one unequal answer added: (equal_elsewhere + 1) / (trials - length + 2).
    probability
        Chance of a run at least so long at that rate, if answers were equal or not independently of each other.
    """

    start: int
    length: int
    trials: int
    equal_elsewhere: int
    rate: float
    probability: float


def longest_run(equal: NDArray[np.bool_]) -> AnswerRun:
    """The longest run of True, the first of several, and its chance.

    Parameters
    ----------
    equal
        (n,) whether the two answers to an item are equal, in the order of answering.

    Raises
    ------
    ValueError
        When ``equal`` is not one-dimensional.
    """
    equal = np.asarray(equal, dtype=bool)
    if equal.ndim != 1:
        raise ValueError(f"equal has {equal.ndim} dimensions; 1 is needed")
    edges = np.flatnonzero(np.diff(np.concatenate([[False], equal, [False]]).astype(np.int8)))
    starts, lengths = edges[::2], edges[1::2] - edges[::2]
    best = int(np.argmax(lengths)) if len(lengths) else 0
    start, length = (int(starts[best]), int(lengths[best])) if len(lengths) else (0, 0)
    elsewhere = int(equal.sum()) - length
    rate = (elsewhere + 1) / (len(equal) - length + 2)
    return AnswerRun(start, length, len(equal), elsewhere, rate, chance_of_run(len(equal), length, rate))


def chance_of_run(trials: int, length: int, rate: float) -> float:
    """Probability of a run of at least ``length`` successes in independent trials.

    With q(n) the chance of none in n trials: q(n) = q(n - 1) - (1 - p) p^L q(n - L - 1), and q(n) = 1 for n < L, q(L) =
    1 - p^L (Feller 1968, chapter XIII).

    Raises
    ------
    ValueError
        When a count is negative or the rate no probability.
    """
    if trials < 0 or length < 0 or not 0 <= rate <= 1:
        raise ValueError(f"no runs of {length} in {trials} trials at a rate of {rate}")
    if length == 0:
        return 1.0
    if length > trials:
        return 0.0
    without = [1.0] * length + [1.0 - rate**length]
    step = (1.0 - rate) * rate**length
    for n in range(length + 1, trials + 1):
        without.append(without[n - 1] - step * without[n - length - 1])
    return min(max(1.0 - without[trials], 0.0), 1.0)

"""Noise of the labels themselves: how often a recorded label differs from the truth, and the ceiling that sets."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from calib_pipeline.statistics.estimate import Estimate, undefined
from calib_pipeline.statistics.intervals import wilson_limits

LOWER_BOUND = "a lower bound: items of unequal difficulty hide flips that the annotators share"
SELF_AGREEMENT = "agreement with oneself: stands beside the flip rate from pairs and never replaces it"
CORRELATED_NOISE = (
    "assumes that scorer and annotators err independently; where both stumble over the same items, true accuracy is "
    "lower than this"
)
EXHAUSTED = "anchor exhausted or errors shared: the observed accuracy is at or above the ceiling that the labels set"


def flip_rate_from_pairs(disagreements: float, pairs: float, *, level: float = 0.95) -> Estimate:
    """Flip rate η of one label from pairs of independent annotators on a dichotomy: η = (1 - √(1 - 2d)) / 2.

    Two labels of one item disagree when exactly one of them is flipped, so d = 2η(1 - η).

    Parameters
    ----------
    disagreements, pairs : float
        Disagreeing pairs and all pairs; fractional counts are allowed.
    level : float
        Confidence level of Wilson's interval of d, whose limits are carried over; the upper limit stops at 1/2.

    Returns
    -------
    Estimate
        Value None with a note without pairs, and where d exceeds 1/2: no flip rate explains that.

    Raises
    ------
    ValueError
        The counts are impossible.
    """
    return _flip_rate("flip_rate_from_pairs", disagreements, pairs, level, LOWER_BOUND)


def flip_rate_from_repeats(disagreements: float, repeats: float, *, level: float = 0.95) -> Estimate:
    """Flip rate η from items that one annotator labeled twice; a person repeats their own misreadings.

    Parameters and errors as in `flip_rate_from_pairs`, `repeats` being the number of repeated items.
    """
    return _flip_rate("flip_rate_from_repeats", disagreements, repeats, level, f"{SELF_AGREEMENT}; {LOWER_BOUND}")


def consensus_flip_rate(eta: float | Estimate, m: int) -> Estimate:
    """Flip rate of a majority of `m` annotators who flip independently at `eta`.

    Σ over j > m/2 of C(m, j) η^j (1 - η)^(m - j), a tie counting half. For even m that equals the value for m - 1, and
    for odd m it is the regularised incomplete beta function I_η((m+1)/2, (m+1)/2).

    Parameters
    ----------
    eta : float or Estimate
        Flip rate of one label in [0, 1]; limits of an estimate are carried over (the map is increasing).
    m : int
        Annotators per item, at least 1.

    Raises
    ------
    ValueError
        `eta` is no probability, or `m` is below 1.
    """
    from scipy.special import betainc

    if m < 1:
        raise ValueError(f"m must be at least 1. Got {m}.")
    half = (m + 1) // 2
    return _carried("consensus_flip_rate", eta, lambda rate: float(betainc(half, half, rate)), LOWER_BOUND)


def observed_ceiling(eta: float | Estimate) -> Estimate:
    """The highest accuracy that can be observed against labels with flip rate `eta`: 1 - η.

    Parameters
    ----------
    eta : float or Estimate
        Flip rate of the reference as used; limits of an estimate are carried over.

    Raises
    ------
    ValueError
        `eta` is no probability.
    """
    return _carried(
        "observed_ceiling", eta, lambda rate: 1.0 - rate, "an upper bound, since the flip rate is a lower one"
    )


def latent_accuracy(observed: float | Estimate, eta: float | Estimate) -> Estimate:
    """Accuracy against the latent truth, (observed - η) / (1 - 2η), if the errors are independent (Bross 1954).

    Parameters
    ----------
    observed : float or Estimate
        Accuracy against the recorded labels; limits of an estimate are carried over with η held at its estimate.
    eta : float or Estimate
        Flip rate of the recorded labels.

    Returns
    -------
    Estimate
        The raw value, which can leave [0, 1]; the note says what that means. None at η of 1/2 or more.

    Raises
    ------
    ValueError
        An argument is no probability.
    """
    rate = _probability("eta", eta)
    accuracy = _probability("observed", observed)
    source = observed if isinstance(observed, Estimate) else Estimate("observed", accuracy)
    if rate is None or accuracy is None:
        return undefined("latent_accuracy", "undefined: observed accuracy or flip rate is undefined")
    if rate >= 0.5:
        return undefined("latent_accuracy", "undefined: not identifiable at a flip rate of 1/2 or more", n=source.n)

    def invert(value: float) -> float:
        return (value - rate) / (1.0 - 2.0 * rate)

    note = CORRELATED_NOISE
    if accuracy >= 1.0 - rate - 1e-12:
        note = f"{EXHAUSTED}; {CORRELATED_NOISE}"
    if source.low is None or source.high is None:
        return Estimate("latent_accuracy", invert(accuracy), n=source.n, note=note)
    return replace(
        source,
        statistic="latent_accuracy",
        value=invert(accuracy),
        low=invert(source.low),
        high=invert(source.high),
        method=f"{source.method}, carried over with the flip rate held at its estimate",
        note=note,
    )


def _flip_rate(name: str, disagreements: float, pairs: float, level: float, note: str) -> Estimate:
    if not (math.isfinite(disagreements) and math.isfinite(pairs) and -1e-9 <= disagreements <= pairs + 1e-9):
        raise ValueError(f"disagreements must lie between 0 and the {pairs} pairs. Got {disagreements}.")
    if pairs <= 0:
        return undefined(name, "undefined: no item was labeled twice", level=level)
    share = min(max(disagreements / pairs, 0.0), 1.0)
    if share > 0.5:
        why = "undefined: the labels disagree more often than two coins would"
        return undefined(name, why, n=pairs, level=level)
    low, high = (_from_disagreement(limit) for limit in wilson_limits(share, pairs, level))
    method = "Wilson score, carried over"
    return Estimate(name, _from_disagreement(share), low, high, n=pairs, level=level, method=method, note=note)


def _from_disagreement(share: float) -> float:
    return (1.0 - math.sqrt(max(0.0, 1.0 - 2.0 * share))) / 2.0


def _carried(name: str, eta: float | Estimate, through: Callable[[float], float], note: str) -> Estimate:
    rate = _probability("eta", eta)
    if rate is None:
        return undefined(name, "undefined: the flip rate is undefined")
    if not isinstance(eta, Estimate) or eta.low is None or eta.high is None:
        return Estimate(name, through(rate), n=eta.n if isinstance(eta, Estimate) else 0.0, note=note)
    low, high = sorted((through(eta.low), through(eta.high)))
    return replace(eta, statistic=name, value=through(rate), low=low, high=high, note=note)


def _probability(name: str, value: float | Estimate) -> float | None:
    number = value.value if isinstance(value, Estimate) else value
    if number is not None and not 0.0 <= number <= 1.0:
        raise ValueError(f"{name} must lie between 0 and 1. Got {number}.")
    return number

"""How fast the agreement statistics are, against the packages that people reach for.

Run ``python bench/agreement_speed.py``; it needs scikit-learn and krippendorff. Loops of the packages that would take
minutes are run over a few replicates and extrapolated, and the line says so. Quote ratios to one digit.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import krippendorff
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score

from calib_pipeline.statistics import cohen_kappa, krippendorff_alpha

RESAMPLES = 2000
LEVELS = ("nominal", "ordinal")


def seconds(call: Callable[[], object], times: int) -> float:
    """Wall time of the fastest of `times` calls, after one that warms up: what a busy machine disturbs least."""
    call()
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        spent.append(time.perf_counter() - start)
    return min(spent)


def kappa_pairs(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two raters on a binary scale who agree about as often as people do."""
    rng = np.random.default_rng(20)
    a = rng.integers(0, 2, n)
    return a, np.where(rng.random(n) < 0.8, a, 1 - a)


def rating_matrix(units: int, missing: float) -> NDArray[np.float64]:
    """Five raters on five values, with a share of labels missing as NaN."""
    rng = np.random.default_rng(21)
    truth = rng.integers(1, 6, units)
    ratings = np.where(rng.random((5, units)) < 0.6, truth, rng.integers(1, 6, (5, units))).astype(np.float64)
    ratings[rng.random(ratings.shape) < missing] = np.nan
    return ratings


def kappa_loop(a: NDArray[np.int64], b: NDArray[np.int64], replicates: int) -> None:
    """scikit-learn's κ on rows drawn with replacement, replicate by replicate."""
    rng = np.random.default_rng(0)
    for _ in range(replicates):
        rows = rng.integers(0, len(a), len(a))
        cohen_kappa_score(a[rows], b[rows])


def alpha_loop(ratings: NDArray[np.float64], level: str, replicates: int) -> None:
    """krippendorff's α on units drawn with replacement, replicate by replicate."""
    rng = np.random.default_rng(0)
    for _ in range(replicates):
        units = rng.integers(0, ratings.shape[1], ratings.shape[1])
        krippendorff.alpha(ratings[:, units], level_of_measurement=level)


def report(what: str, ours: float, theirs: float, note: str, target: float) -> bool:
    """Print one comparison and whether it reaches its target ratio."""
    ratio = theirs / ours
    verdict = "reached" if ratio >= target else "MISSED"
    sys.stdout.write(
        f"{what}\n  here {ours * 1e3:10.2f} ms   there {theirs * 1e3:12.2f} ms ({note})"
        f"   {ratio:8.1f}x, wanted {target:g}x: {verdict}\n"
    )
    return ratio >= target


def main() -> int:
    """Run the comparisons; 1 if one of them misses its target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="run the packages' loops in full instead of extrapolating")
    full = parser.parse_args().full
    reached = []

    a, b = kappa_pairs(500)
    share = 1 if full else 10
    reached.append(
        report(
            f"kappa with its {RESAMPLES}-replicate interval, n = 500, against scikit-learn looped",
            seconds(lambda: cohen_kappa(a, b, resamples=RESAMPLES), 101),
            share * seconds(lambda: kappa_loop(a, b, RESAMPLES // share), 3),
            "in full" if full else f"{RESAMPLES // share} replicates, times {share}",
            1000,
        )
    )
    ratings = rating_matrix(10_000, 0.3)
    share = 1 if full else 100
    for level in LEVELS:
        reached.append(
            report(
                f"{level} alpha with its interval, 10,000 units x 5 raters, 30 % missing, against krippendorff looped",
                seconds(lambda level=level: krippendorff_alpha(ratings, level=level, resamples=RESAMPLES), 7),
                share * seconds(lambda level=level: alpha_loop(ratings, level, RESAMPLES // share), 3),
                "in full" if full else f"{RESAMPLES // share} replicates, times {share}",
                100,
            )
        )
    million = rating_matrix(200_000, 0.0)
    reached.append(
        report(
            "one nominal alpha on a million labels, interval of one replicate, against krippendorff",
            seconds(lambda: krippendorff_alpha(million, level="nominal", resamples=1), 9),
            seconds(lambda: krippendorff.alpha(million, level_of_measurement="nominal"), 9),
            "one alpha",
            2,
        )
    )
    return 0 if all(reached) else 1


if __name__ == "__main__":
    raise SystemExit(main())

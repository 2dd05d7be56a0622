"""Flip rates and ceilings; the confusion table of a decision."""

from __future__ import annotations

import math
import subprocess
import sys
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_pipeline.statistics import (
    Confusion,
    Estimate,
    confusion,
    consensus_flip_rate,
    error_rates,
    flip_rate_from_pairs,
    flip_rate_from_repeats,
    latent_accuracy,
    observed_ceiling,
    within_tolerance,
    youden_j,
)


@pytest.mark.parametrize("m", range(1, 9))
@pytest.mark.parametrize("eta", [0.0, 0.07, 0.3, 0.5, 1.0])
def test_a_majority_flips_as_counting_every_outcome_says(m: int, eta: float) -> None:
    expected = 0.0
    for flips in product([0, 1], repeat=m):
        share = sum(flips) / m
        expected += math.prod(eta if flip else 1 - eta for flip in flips) * (
            1.0 if share > 0.5 else 0.5 * (share == 0.5)
        )
    found = consensus_flip_rate(eta, m)
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.note is not None and "lower bound" in found.note


def test_a_large_panel_does_not_overflow() -> None:
    assert consensus_flip_rate(0.4, 20_001).value == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(ValueError, match="m must be at least 1"):
        consensus_flip_rate(0.1, 0)


def test_limits_are_carried_through_in_their_order() -> None:
    eta = flip_rate_from_pairs(18, 100)
    majority, ceiling = consensus_flip_rate(eta, 3), observed_ceiling(eta)
    assert eta.low is not None and eta.high is not None and eta.value is not None
    for estimate in (majority, ceiling):
        assert None not in (estimate.low, estimate.value, estimate.high)
        assert estimate.low < estimate.value < estimate.high  # type: ignore[operator]
        assert estimate.n == 100 and estimate.level == 0.95
    assert (ceiling.low, ceiling.high) == (1 - eta.high, 1 - eta.low)
    assert majority.value is not None and majority.value < eta.value


def test_flip_rates_say_what_they_are() -> None:
    pairs, repeats = flip_rate_from_pairs(8, 25), flip_rate_from_repeats(8, 25)
    assert pairs.value == repeats.value == pytest.approx(0.2)
    assert pairs.note is not None and pairs.note.startswith("a lower bound")
    assert repeats.note is not None and "never replaces it" in repeats.note and "lower bound" in repeats.note
    assert flip_rate_from_pairs(0, 0).note == "undefined: no item was labeled twice"
    assert flip_rate_from_pairs(60, 100).value is None, "no flip rate explains more than one half"
    wide = flip_rate_from_pairs(9, 20)
    assert wide.high == 0.5, "the upper limit stops where the map ends"
    with pytest.raises(ValueError, match="disagreements must lie between 0 and the 4 pairs"):
        flip_rate_from_pairs(5, 4)


@given(a=st.floats(0, 1), eta=st.floats(0, 0.45))
def test_latent_accuracy_inverts_independent_noise(a: float, eta: float) -> None:
    observed = a * (1 - eta) + (1 - a) * eta
    found = latent_accuracy(observed, eta)
    assert found.value == pytest.approx(a, abs=1e-9)
    assert found.note is not None and "err independently" in found.note


def test_latent_accuracy_at_the_ceiling_says_that_the_anchor_is_exhausted() -> None:
    assert "anchor exhausted or errors shared" in (latent_accuracy(0.9, 0.1).note or "")
    assert "anchor exhausted or errors shared" not in (latent_accuracy(0.89, 0.1).note or "")
    above = latent_accuracy(0.95, 0.1)
    assert above.value is not None and above.value > 1, "the raw value shows that something is off"
    assert latent_accuracy(0.5, 0.5).value is None and latent_accuracy(0.5, 0.5).note
    measured = Estimate("percent_agreement", 0.8, 0.7, 0.88, n=90, level=0.95, method="Wilson score")
    latent = latent_accuracy(measured, 0.1)
    assert (latent.low, latent.high) == pytest.approx((0.6 / 0.8, 0.78 / 0.8))
    assert latent.n == 90 and latent.method is not None and "held at its estimate" in latent.method
    unknown = flip_rate_from_pairs(0, 0)
    assert latent_accuracy(measured, unknown).value is None
    assert observed_ceiling(unknown).value is None and observed_ceiling(unknown).note
    with pytest.raises(ValueError, match="eta must lie between 0 and 1"):
        observed_ceiling(1.5)


def test_the_confusion_counts_refusals_by_class() -> None:
    reference = ["pass", "pass", "pass", "fail", "fail", "fail", None, "pass", "fail"]
    scorer = ["pass", "fail", None, "pass", "fail", None, "pass", None, None]
    failed = [False, False, False, False, False, False, False, True, True]
    table = confusion(reference, scorer, positive="pass", failed=failed)
    assert table == Confusion(1, 1, 1, 1, 1, 1, 1, 1)
    assert table.labeled_positive == table.labeled_negative == 4
    assert table.decided == 4 and table.prevalence == 0.5
    assert Confusion(0, 0, 0, 0, 0, 0).prevalence is None


def test_several_values_let_an_item_through_and_weights_count() -> None:
    table = confusion([5, 4, 1, 2], [4, 2, 5, 1], positive={4, 5}, sample_weights=[0.5, 1.5, 2.0, 3.0])
    assert table == Confusion(tp=0.5, fp=2.0, fn=1.5, tn=3.0, abstained_positive=0, abstained_negative=0)
    with pytest.raises(ValueError, match="same length"):
        confusion([1], [1, 2], positive=1)
    with pytest.raises(ValueError, match="fp must be a count of 0 or more"):
        Confusion(1, -1, 0, 0, 0, 0)


def test_both_slices_take_refusals_and_let_through_stands_beside_them() -> None:
    rates = error_rates(Confusion(tp=70, fp=6, fn=10, tn=34, abstained_positive=15, abstained_negative=4,
                                  failed_positive=5, failed_negative=6))  # fmt: skip
    assert rates.far_labeled.value == pytest.approx(0.15 * (1 - 10 / 50) + 10 / 50) == pytest.approx(16 / 50)
    assert rates.frr_labeled.value == pytest.approx(0.125 * (1 - 20 / 100) + 20 / 100)
    assert rates.let_through.value == pytest.approx(6 / 50)
    assert rates.far_labeled.n == 50 and rates.far_decided.n == 40
    assert rates.far_labeled.method == "Wilson score" and rates.far_labeled.statistic == "far_labeled"
    empty = error_rates(Confusion(3, 0, 1, 0, 0, 0))
    assert empty.far_labeled.value is None and empty.far_labeled.note == "undefined: no fail-labeled items"
    assert empty.let_through.value is None and empty.frr_decided.value == 0.25


def test_youden_names_the_empty_class() -> None:
    one = youden_j(Confusion(5, 0, 1, 0, 2, 3))
    assert one.value is None and one.note == "undefined: no decided fail-labeled items"
    few = youden_j(Confusion(1, 0, 1, 1, 9, 9))
    assert few.value == 0.5 and few.low is None and few.note == "no interval: three or fewer pairs"


def test_the_edge_of_the_tolerance_is_inside() -> None:
    # 0.4 - 0.3 is 0.10000000000000003 in binary.
    assert within_tolerance([0.4, 0.4], [0.3, 0.29], span=1.0).value == 0.5
    assert within_tolerance([80], [60], span=200).value == 1.0
    with pytest.raises(ValueError, match="span and share must be positive"):
        within_tolerance([1], [1], span=0)


def test_importing_the_statistics_loads_nothing_heavy() -> None:
    heavy = ["scipy", "pandas", "pandera", "dagster", "sqlalchemy", "rich", "pydantic", "statistics"]
    code = f"import sys, calib_pipeline.statistics; print([name for name in {heavy} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"

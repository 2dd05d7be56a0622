"""What a simpler choice would have let through, worked out beside what the ladder does."""

from __future__ import annotations

import numpy as np
import pytest
from declared_studies import brought, evidence_row, study
from sklearn.metrics import cohen_kappa_score

from calib_pipeline.climb import climb
from calib_pipeline.evidence.evidence import evidence_frame
from calib_pipeline.schemas.gate import Rows, sound_interval

LABELED = "all labeled items"
SOUND = {
    "name": "figure", "gate_low": 0.5, "gate_high": 0.7, "gate_resamples": 2000, "gate_survivors": 2000,
    "resampled": "groups within strata", "units": 30,
}  # fmt: skip


def floor(at_least: float, statistic: str = "cohen_kappa") -> dict[str, object]:
    return {
        "floor": {"statistic": statistic, "at_least": at_least, "convention": True, "stands_for": "the test's decision"}
    }


def lower_bound(reference: np.ndarray, answers: np.ndarray) -> float:
    """The 2.5 % quantile of κ over rows drawn again, each row alike: what anyone would write down first."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(reference), (400, len(reference)))
    return float(np.quantile([cohen_kappa_score(reference[rows], answers[rows]) for rows in drawn], 0.025))


def words(n: int) -> list[int]:
    return [5 + (7 * number) % 11 for number in range(n)]


def test_dropping_the_items_on_which_people_disagree() -> None:
    """A judge that is right on the clear items and guesses on the others."""
    rng = np.random.default_rng(2)
    truth, hard = rng.integers(0, 2, 200), np.arange(200) % 3 == 0
    second = np.where(hard, 1 - truth, truth)
    judged = np.where(hard, rng.integers(0, 2, 200), truth)
    items = [f"item-{number:03d}" for number in range(200)]
    labels = {item: [a, b] for item, a, b in zip(items, truth, second, strict=True)}
    tables = brought(labels, dict(zip(items, judged, strict=True)), words=words(200))
    assert lower_bound(truth[~hard], judged[~hard]) == 1

    result = climb(study(holdout={"size": 200}, decision=floor(0.8)), *tables)
    kappa = evidence_row(result.evidence["scorer_agreement"].rows, "agreement", scope=LABELED, statistic="cohen_kappa")
    assert kappa["value"] == pytest.approx(2 / 3, abs=0.01)
    assert evidence_row(result.evidence["scorer_agreement"].rows, "undecided_share")["value"] == pytest.approx(67 / 200)
    assert result.stopped_at == "threshold_check"
    assert "the declared floor of 0.8: missed" in str(result.reason)


def test_counting_a_sampled_row_as_a_row_of_the_population() -> None:
    """Right on a rare stratum that was sampled whole, mostly wrong on the common one that the population is made of."""
    rng = np.random.default_rng(4)
    strata = np.repeat(["common", "rare"], [900, 100])
    truth = rng.integers(0, 2, 1000)
    wrong = (strata == "common") & (rng.random(1000) < 0.3)
    items = [f"item-{number:04d}" for number in range(1000)]
    labels = {item: [value, value] for item, value in zip(items, truth, strict=True)}
    answers = dict(zip(items, np.where(wrong, 1 - truth, truth), strict=True))
    tables = brought(labels, answers, words=words(1000), stratum=list(strata))
    holdout = {"size": 150, "min_per_stratum": 100}
    result = climb(study(holdout=holdout, decision=floor(0.5)), *tables)

    rows = result.evidence["scorer_agreement"].tables["rows"]
    assert rows["stratum"].value_counts().to_dict() == {"common": 135, "rare": 100}
    as_rows = lower_bound(
        rows["reference_accepted"].to_numpy().astype(int), rows["scorer_label"].astype(int).to_numpy()
    )
    assert as_rows > 0.5
    kappa = evidence_row(result.evidence["threshold_check"].rows, "floor")
    assert kappa["gate_low"] < 0.5 < as_rows
    assert result.stopped_at == "threshold_check"
    for_population = 0.9 * (1 - 2 * wrong[strata == "common"].mean()) + 0.1
    assert kappa["value"] == pytest.approx(for_population, abs=0.1)


def test_a_bootstrap_over_the_replicates_that_happen_to_be_defined() -> None:
    """Two items of a hundred carry all that κ is made of; in an eighth of the replicates neither is drawn."""
    items = [f"item-{number:03d}" for number in range(100)]
    truth = {item: "3" if number < 2 else "0" for number, item in enumerate(items)}
    labels: dict[str, list[str]] = {item: [value, value] for item, value in truth.items()}
    labels["item-001"] = ["3", "2"]
    tables = brought(labels, truth, words=words(100))
    named_all = {"ceiling": {"min_items": 90, "floor": 0.5, "because": "made up"}, "holdout": {"size": 100}}
    result = climb(study("ordinal", **named_all), *tables)
    ceiling = evidence_row(result.evidence["human_ceiling"].rows, "ceiling")
    assert ceiling["low"] > 0.5
    assert ceiling["gate_survivors"] / ceiling["gate_resamples"] == pytest.approx(1 - 0.98**100, abs=0.03)
    assert result.stopped_at == "human_ceiling"
    reasons = {reason.condition for reason in result.verdicts["human_ceiling"].reasons}
    assert "interval_is_sound" in reasons


def test_ignoring_that_refusals_cost_what_a_wrong_answer_costs() -> None:
    """A judge that refuses what it would get wrong has no decided error at all."""
    rng = np.random.default_rng(9)
    truth = rng.integers(0, 2, 200)
    refused = rng.random(200) < 0.3
    items = [f"item-{number:03d}" for number in range(200)]
    labels = {item: [value, value] for item, value in zip(items, truth, strict=True)}
    answers = {item: "abstain" if left else value for item, value, left in zip(items, truth, refused, strict=True)}
    budget = {"budget": 0.2, **floor(0.3)}
    result = climb(study(holdout={"size": 200}, decision=budget), *brought(labels, answers, words=words(200)))
    rows = result.evidence["scorer_agreement"].rows
    decided = evidence_row(rows, "error_rate", scope="scorer", statistic="false_accept_decided")
    assert decided["value"] == 0
    assert decided["high"] < 0.06
    assert result.stopped_at == "threshold_check"
    cost = evidence_row(result.evidence["threshold_check"].rows, "expected_cost")
    assert cost["value"] == pytest.approx(refused.mean())


@pytest.mark.parametrize(
    ("change", "sound"),
    [
        ({}, True),
        ({"gate_high": 0.5}, False),
        ({"gate_low": None}, False),
        ({"gate_survivors": 1900}, True),
        ({"gate_survivors": 1899}, False),
        ({"gate_survivors": None}, False),
        ({"units": 29}, False),
        ({"units": None}, False),
        ({"units": 4, "resampled": "rows"}, True),
        ({"gate_resamples": None, "gate_survivors": None, "resampled": "rows"}, True),
    ],
)
def test_an_interval_that_a_gate_may_read(change: dict[str, object], sound: bool) -> None:
    """It has width, 95 % of its replicates if it has any, and 30 groups where groups are drawn."""
    rows = Rows(evidence_frame([SOUND | change]), np.array([0]))
    assert sound_interval(rows).tolist() == [sound]

"""What people's labels say of each other: the ceiling, the two errors, and the noise of the reference, by counting."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from declared_studies import brought, evidence_row, study
from sklearn.metrics import cohen_kappa_score

from calib_pipeline.climb import Climb, climb

N = 120
PEOPLE = 3


@pytest.fixture(scope="module")
def labels() -> np.ndarray:
    """(120, 3) labels of people who flip one value in ten."""
    rng = np.random.default_rng(12)
    truth = rng.integers(0, 2, N)
    return np.where(rng.random((N, PEOPLE)) < 0.1, 1 - truth[:, None], truth[:, None])


@pytest.fixture(scope="module")
def climbed(labels: np.ndarray) -> Climb:
    items = [f"item-{number:03d}" for number in range(N)]
    rng = np.random.default_rng(1)
    answers = np.where(rng.random(N) < 0.9, labels[:, 0], 1 - labels[:, 0])
    tables = brought(
        {item: list(row) for item, row in zip(items, labels, strict=True)},
        dict(zip(items, answers, strict=True)),
        words=[4 + number % 9 for number in range(N)],
    )
    named_all = {"min_items": 108, "floor": 0.0, "because": "made up"}
    return climb(study(ceiling=named_all, holdout={"size": N}), *tables)


def ceiling(climbed: Climb, name: str, **where: str) -> pd.Series:
    return evidence_row(climbed.evidence["human_ceiling"].rows, name, **where)


def test_agreement_of_people_is_the_mean_over_pairs_of_them(climbed: Climb, labels: np.ndarray) -> None:
    pairs = list(combinations(range(PEOPLE), 2))
    agree = np.mean([(labels[:, a] == labels[:, b]).mean() for a, b in pairs])
    one_other = ceiling(climbed, "human_agreement", scope="one other label", statistic="percent_agreement")
    assert one_other["value"] == pytest.approx(agree)
    both_ways = [np.concatenate([labels[:, a], labels[:, b]]) for a, b in pairs]
    turned = [np.concatenate([labels[:, b], labels[:, a]]) for a, b in pairs]
    kappa = cohen_kappa_score(np.concatenate(both_ways), np.concatenate(turned))
    assert ceiling(climbed, "ceiling")["value"] == pytest.approx(kappa)


def test_each_pair_of_people_is_shown(climbed: Climb, labels: np.ndarray) -> None:
    for a, b in combinations(range(PEOPLE), 2):
        found = ceiling(climbed, "ceiling_of_pair", scope=f"person-{a} and person-{b}")
        both = np.concatenate([labels[:, a], labels[:, b]]), np.concatenate([labels[:, b], labels[:, a]])
        assert found["value"] == pytest.approx(cohen_kappa_score(*both))


def test_the_two_errors_of_one_person_against_another(climbed: Climb, labels: np.ndarray) -> None:
    wrong = sum(((labels[:, a] == 0) & (labels[:, b] == 1)).sum() for a in range(3) for b in range(3) if a != b)
    rejected = 2 * (labels == 0).sum()
    found = ceiling(climbed, "human_error_rate", scope="one other label", statistic="false_accept_decided")
    assert found["value"] == pytest.approx(wrong / rejected)
    assert found["value"] == pytest.approx(
        ceiling(climbed, "human_error_rate", scope="one other label", statistic="false_accept_labeled")["value"]
    )


def test_the_flip_rate_of_a_label_and_of_the_reference(climbed: Climb, labels: np.ndarray) -> None:
    """η from the share of disagreeing pairs; a majority of three is wrong where two or three of them flip."""
    apart = np.mean([(labels[:, a] != labels[:, b]).mean() for a, b in combinations(range(PEOPLE), 2)])
    eta = (1 - math.sqrt(1 - 2 * apart)) / 2
    single = ceiling(climbed, "label_noise", scope="one label")
    assert single["value"] == pytest.approx(eta)
    assert single["low"] < eta < single["high"]
    of_majority = 3 * eta**2 * (1 - eta) + eta**3
    reference = ceiling(climbed, "label_noise", statistic="reference_flip_rate")
    assert reference["value"] == pytest.approx(of_majority)
    observable = ceiling(climbed, "label_noise", statistic="observed_ceiling")
    assert observable["value"] == pytest.approx(1 - of_majority)
    assert (observable["low"], observable["high"]) == pytest.approx((1 - reference["high"], 1 - reference["low"]))
    assert reference["note"].startswith("a lower bound: ")
    assert observable["note"].startswith("an upper bound: ")


def test_a_reference_of_single_labels_is_as_noisy_as_a_label(labels: np.ndarray) -> None:
    items = [f"item-{number:03d}" for number in range(N)]
    tables = brought(
        {item: list(row) for item, row in zip(items, labels, strict=True)},
        dict(zip(items, labels[:, 0], strict=True)),
        words=[4 + number % 9 for number in range(N)],
    )
    rows = climb(study(reference={"consensus": "single"}, holdout={"size": N}), *tables).evidence["human_ceiling"].rows
    single = evidence_row(rows, "label_noise", scope="one label")["value"]
    assert evidence_row(rows, "label_noise", statistic="reference_flip_rate")["value"] == pytest.approx(single)


def test_accuracy_behind_the_noise_carries_its_caveat(climbed: Climb) -> None:
    rows = climbed.evidence["scorer_agreement"].rows
    accuracy = evidence_row(rows, "decision_accuracy")["value"]
    eta = ceiling(climbed, "label_noise", statistic="reference_flip_rate")["value"]
    latent = evidence_row(rows, "latent_accuracy")
    assert latent["value"] == pytest.approx((accuracy - eta) / (1 - 2 * eta))
    assert "independent" in latent["note"]


def test_alpha_stands_in_for_people_who_are_slots() -> None:
    rng = np.random.default_rng(3)
    items = [f"item-{number:03d}" for number in range(60)]
    truth = rng.integers(0, 2, 60)
    given = {item: list(np.where(rng.random(4) < 0.1, 1 - t, t)) for item, t in zip(items, truth, strict=True)}
    tables = brought(given, dict(zip(items, truth, strict=True)), words=[4 + number % 9 for number in range(60)])
    slots = {"annotators": "slots", "blind": {"to": ["output", "confidence", "difficulty"], "by": "made up"}}
    rows = climb(study(annotation=slots, holdout={"size": 60}), *tables).evidence["human_ceiling"].rows
    assert evidence_row(rows, "ceiling")["statistic"] == "krippendorff_alpha"
    assert "slots" in evidence_row(rows, "ceiling_statistic")["note"]
    assert (rows["name"] == "ceiling_of_pair").sum() == 0

"""The worked example of 300 drafts, send or hold, through the real rungs: 168, 24 held, 32 sent wrongly, 76."""

from __future__ import annotations

import math
from statistics import NormalDist

import pandas as pd
import pytest

from calib_pipeline.climb import Climb, climb
from calib_pipeline.studies.study import Study

COUNTS = {("send", "send"): 168, ("send", "hold"): 24, ("hold", "send"): 32, ("hold", "hold"): 76}


@pytest.fixture(scope="module")
def climbed() -> Climb:
    rows = [pair for pair, count in COUNTS.items() for _ in range(count)]
    ids = [f"draft-{number:03d}" for number in range(300)]
    items = pd.DataFrame({"item_id": ids, "words": [5 + number % 7 for number in range(300)]})
    labels = [
        {"item_id": item, "annotator_id": person, "value": human}
        for item, (human, _) in zip(ids, rows, strict=True)
        for person in ("ana", "bo")
    ]
    scores = pd.DataFrame({"item_id": ids, "scorer_id": "judge", "value": [verdict for _, verdict in rows]})
    study = Study.model_validate(
        {
            "study": "subject-lines",
            "dimension": "fit-to-send",
            "scale": {"kind": "binary", "positive": "send", "negative": "hold"},
            "rubric": {"version": "1", "text": "rubric.md"},
            "reference": {"kind": "anchor", "consensus": "majority"},
            "scorer": {"id": "judge", "kind": "table"},
            "holdout": {"role": "holdout", "size": 300, "seed": 1, "prior_access": "none: drawn for this example"},
            "annotation": {"blind": {"to": ["output", "confidence", "difficulty"], "by": "item and rubric only"}},
            "ceiling": {"min_items": 50, "floor": 0.1, "because": "below this two people read two rubrics"},
            "baselines": {"heuristics": [{"column": "words"}]},
            "agreement": {"min_pairs": 100},
            "decision": {
                "gates": {"what": "sends or holds a draft", "blocking": False, "reversible": True},
                "accept": ["send"],
                "cost_false_accept": {"value": 1, "because": "a bad subject line reaches the inbox"},
                "cost_false_reject": {"value": 1, "because": "a reviewer reads it"},
                "floor": {
                    "statistic": "cohen_kappa",
                    "at_least": 0.6,
                    "convention": True,
                    "stands_for": "letting it change what a customer sees",
                },
            },
            "data": {"populations": ["drafts"], "annotations": "annotations.csv", "scores": "scores.csv"},
        }
    )
    return climb(study, items, pd.DataFrame(labels), scores)


def row(climbed: Climb, asset: str, **where: str) -> pd.Series:
    rows = climbed.evidence[asset].rows
    for column, value in where.items():
        rows = rows[rows[column] == value]
    assert len(rows) == 1
    return rows.iloc[0]


def test_the_figures_of_the_sources(climbed: Climb) -> None:
    where = {"name": "agreement", "scope": "all labeled items"}
    agreement = row(climbed, "scorer_agreement", statistic="percent_agreement", **where)
    kappa = row(climbed, "scorer_agreement", statistic="cohen_kappa", **where)
    assert agreement["value"] == pytest.approx(244 / 300)
    chance = (192 * 200 + 108 * 100) / 300**2
    assert kappa["value"] == pytest.approx((244 / 300 - chance) / (1 - chance))
    assert f"{kappa['value']:.3f}" == "0.588"
    assert (kappa["low"], kappa["high"]) == pytest.approx((0.49, 0.69), abs=0.01)
    confusion = {cell: row(climbed, "scorer_agreement", name="confusion", scope=cell)["value"] for cell in ("tp", "fn")}
    assert confusion == {"tp": 168, "fn": 24}
    rates = {
        name: row(climbed, "scorer_agreement", name="error_rate", statistic=name)["value"]
        for name in ("false_accept_decided", "false_reject_decided", "youden_j")
    }
    assert rates == pytest.approx(
        {"false_accept_decided": 32 / 108, "false_reject_decided": 24 / 192, "youden_j": 168 / 192 + 76 / 108 - 1}
    )


def test_an_interval_that_straddles_the_bar_does_not_pass_it(climbed: Climb) -> None:
    floor = row(climbed, "threshold_check", name="floor")
    assert (floor["text"], floor["bar"]) == ("not yet demonstrated", 0.6)
    assert climbed.stopped_at == "threshold_check"
    assert "cohen kappa is 0.588" in str(climbed.reason)
    assert "not yet demonstrated" in str(climbed.reason)


def test_it_says_how_many_labels_would_decide_it(climbed: Climb) -> None:
    """The upper limit must come down to the bar: its distance shrinks with the root of the number of labels.

    The set that they are of is read as a second attempt, at 97.5 %.
    """
    floor = row(climbed, "threshold_check", name="floor")
    longer = (NormalDist().inv_cdf(1 - 0.025 / 2) / NormalDist().inv_cdf(1 - 0.05 / 2)) ** 2
    wanted = 300 * longer * ((floor["gate_high"] - floor["value"]) / (0.6 - floor["value"])) ** 2
    labels = math.ceil(wanted)
    assert f"{labels} labels decide it, all of unspent items (300 did not), and against the scorer" in floor["note"]


def test_no_set_was_reserved(climbed: Climb) -> None:
    assert not climbed.reserved
    assert "no record" in climbed.note

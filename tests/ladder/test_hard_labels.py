"""Labels on which other tools report what was never shown: refusals, a single class, a single annotator."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import numpy as np
import pandas as pd
import pytest
from climbs import Folder, folder_of, in_memory
from made_up_project import LABELED_AT, World, study_of, world_of

from calib_pipeline.evidence.evidence import figure


def fifty_items() -> World:
    """15 fails and 35 passes, two people who agree, and a judge that is right wherever it answers.

    It abstains on 8 of the fails and on 2 of the passes (vibrantlabsai/ragas issues 2980 and 2992: a faithfulness of
    50 % reported as 90 %, since what the judge would not judge was left out).
    """
    ids = [f"it-{number:03d}" for number in range(50)]
    value = np.where(np.arange(50) < 15, "fail", "pass")
    items = pd.DataFrame({"item_id": ids, "stratum": "all", "words": np.random.default_rng(6).integers(5, 90, 50)})
    sheets = [
        pd.DataFrame({"item_id": ids, "annotator_id": who, "value": value, "labeled_at": LABELED_AT})
        for who in ("ana", "bo")
    ]
    abstained = set(range(8)) | {20, 30}
    outputs = [("abstain" if number in abstained else said) for number, said in enumerate(value)]
    scores = pd.DataFrame({"item_id": ids, "scorer_id": "judge-1", "value": outputs})
    study = study_of()
    study["holdout"] |= {"size": 50}
    study["ceiling"] |= {"min_items": 30}
    study["agreement"] = {"min_pairs": 30, "min_scored": 0.9}
    return World("binary", items, (np.arange(50) >= 15).astype(int), pd.concat(sheets), scores, study)


def row(folder: Folder, asset: str, name: str, **where: str) -> pd.Series:
    """The one evidence row of a name."""
    rows = folder.evidence(asset)
    rows = rows[rows["name"] == name]
    for column, value in where.items():
        rows = rows[rows[column] == value]
    assert len(rows) == 1, rows
    return rows.iloc[0]


def test_a_judge_does_not_gain_by_refusing(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    folder = folder_of(fifty_items(), tmp_path, instance)
    run = folder.climb()
    assert (run.status, run.asset, run.rung) == ("stopped", "threshold_check", "threshold")
    assert "acting on the scorer costs 0.5200 an item" in str(run.reason)  # (8 · 3 + 2 · 1) / 50
    assert folder.records() == []

    agreement = "scorer_agreement"
    assert row(folder, agreement, "decided_pairs")[["value", "n"]].tolist() == [40, 50]
    assert row(folder, agreement, "abstained", scope="rejected")[["value", "n"]].tolist() == [8, 15]
    assert row(folder, agreement, "abstained", scope="accepted")[["value", "n"]].tolist() == [2, 35]

    # On what it answered it is perfect, and that is labeled as such; on all labeled items refusals count against it.
    answered = row(folder, agreement, "agreement", scope="decided", statistic="percent_agreement")
    assert (answered["value"], answered["n"]) == (1.0, 40)
    everything = row(folder, agreement, "agreement", scope="all labeled items", statistic="percent_agreement")
    assert (everything["value"], everything["n"]) == (pytest.approx(0.8), 50)

    def rate(statistic: str) -> float:
        return float(row(folder, agreement, "error_rate", statistic=statistic)["value"])

    assert rate("false_accept_decided") == 0
    assert rate("false_accept_labeled") == pytest.approx(8 / 15)
    assert rate("false_reject_decided") == 0
    assert rate("false_reject_labeled") == pytest.approx(2 / 35)


def test_the_same_answers_without_refusals_would_have_passed() -> None:
    world = fifty_items()
    world.scores["value"] = np.array(["fail", "pass"])[world.truth]
    assert in_memory(world).stopped_at is None


def test_a_single_class_shows_nothing_and_says_how_many_labels_would(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    world = fifty_items()
    world.labels["value"] = world.scores["value"] = "pass"
    folder = folder_of(world, tmp_path, instance)
    run = folder.climb()
    assert (run.status, run.asset, run.rung) == ("stopped", "human_ceiling", "ceiling")
    assert "cohen kappa undefined [undefined, undefined]" in str(run.reason)
    assert "undefined: a single value appears throughout: not earned: none of the 34 labeled items is fail" in str(
        run.next_step
    )
    # Wilson's upper limit of 0 in 34 is 10.2 %, and 10 / 0.102 = 99 items are expected to show ten fails.
    assert str(run.next_step).endswith("at most 10.2 % of the population is, so label at least 99 items to see 10")
    for statistic in ("cohen_kappa", "krippendorff_alpha"):
        rows = folder.evidence("human_ceiling")
        shown = rows[rows["statistic"] == statistic]
        assert shown["value"].isna().all()
        assert shown[["low", "high", "gate_low", "gate_high"]].isna().all(axis=None)

    # Percent agreement is defined, and perfect; it is what saying "pass" to everything reaches.
    world.study["agreement"]["headline"] = "percent_agreement"
    again = in_memory(world)
    assert again.stopped_at == "scorer_agreement"
    first = again.verdicts["scorer_agreement"].reasons[0]
    assert "percent agreement beyond that of constant majority: 0.000" in first.sentence
    assert first.next_step == "candidate for removal: it carries no more signal than this comparator"
    rows = again.evidence["scorer_agreement"].rows
    kappa = rows[(rows["name"] == "agreement") & (rows["statistic"] == "cohen_kappa")]
    assert kappa["value"].isna().all()
    assert set(kappa["note"]) == {"undefined: a single value appears throughout"}
    assert figure(rows, "class_share", "pass") == 1
    assert figure(rows, "class_share", "fail") == 0


def test_one_annotator_has_no_ceiling(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    world = world_of()
    world.labels = world.labels[world.labels["annotator_id"] == "ana"]
    folder = folder_of(world, tmp_path, instance)
    run = folder.climb()
    assert (run.status, run.asset, run.rung) == ("stopped", "human_ceiling", "ceiling")
    assert "0 of the 67 named items have 2 independent annotators; 60 are needed" in str(run.reason)
    rows = folder.evidence("human_ceiling")
    unknown = rows[rows["name"].isin(["ceiling", "ceiling_of_stratum", "human_agreement", "label_noise"])]
    assert unknown["value"].isna().all()
    ceiling = row(folder, "human_ceiling", "ceiling")
    assert ceiling["note"] == "unknown: no named item has 2 independent annotators"


def test_labels_that_saw_each_other_are_no_second_annotator() -> None:
    world = world_of()
    world.labels["saw_other_labels"] = np.where(world.labels["annotator_id"] == "ana", "false", "true")
    result = in_memory(world)
    assert result.stopped_at == "human_ceiling"
    assert "0 of the 67 named items have 2 independent annotators" in str(result.reason)


def test_one_person_labeling_twice_is_no_second_annotator() -> None:
    world = world_of()
    alone = world.labels[world.labels["annotator_id"] == "ana"].assign(repeat="1")
    world.labels = pd.concat([alone, alone.assign(repeat="2")], ignore_index=True)
    result = in_memory(world)
    assert result.stopped_at == "human_ceiling"
    assert "0 of the 67 named items have 2 independent annotators" in str(result.reason)
    assert figure(result.evidence["human_ceiling"].rows, "repeat_rate") == 1
    assert figure(result.evidence["human_ceiling"].rows, "self_agreement") == 1

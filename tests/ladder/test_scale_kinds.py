"""All five kinds of scale climb end to end, and every way of folding labels into a reference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
import pandas as pd
import pytest
from climbs import RUNGS, Folder, folder_of, in_memory, reserved
from made_up_project import LEVELS, World, world_of
from sklearn.metrics import cohen_kappa_score

from calib_pipeline.climb import climb
from calib_pipeline.evidence.evidence import fact, figure

pytestmark = pytest.mark.slow

STATISTICS = {
    "binary": ["percent_agreement", "cohen_kappa", "gwet_ac1"],
    "categorical": ["percent_agreement", "cohen_kappa", "gwet_ac1"],
    "pairwise": ["percent_agreement", "cohen_kappa", "gwet_ac1"],
    "ordinal": [
        "percent_agreement", "cohen_kappa", "gwet_ac1", "quadratic_kappa", "krippendorff_alpha", "spearman"
    ],
    "continuous": ["within_tolerance", "mean_absolute_difference", "pearson", "spearman"],
}  # fmt: skip


def record_of(folder: Folder, study: str = "judge") -> dict[str, Any]:
    """The one record of a study."""
    [entry] = [entry for entry in folder.records() if entry.study == study]
    found = folder.ladder.archive.read(entry.record_id)
    assert found is not None
    return found


@pytest.mark.parametrize("kind", ["categorical", "ordinal", "continuous"])
def test_a_scale_climbs_to_its_record_and_stops_where_the_judge_guesses(
    kind: str, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    climbs_to_its_record_or_stops(world_of(kind), tmp_path, instance)


def climbs_to_its_record_or_stops(world: World, root: Path, instance: dg.DagsterInstance) -> Folder:
    """To a record, in the statistics of its scale; and to none where the judge guesses."""
    folder = folder_of(world, root, instance)
    run = folder.climb()
    assert (run.status, run.materialized) == ("ok", RUNGS), run
    agreement = folder.evidence("scorer_agreement")
    decided = agreement[(agreement["name"] == "agreement") & (agreement["scope"] == "decided")]
    assert decided["statistic"].tolist() == STATISTICS[world.kind]
    people = folder.evidence("human_ceiling")
    beside = people[(people["name"] == "human_agreement") & (people["scope"] == "one other label")]
    assert beside["statistic"].tolist() == STATISTICS[world.kind]
    study = folder.project.studies["judge"]
    stated = decided.set_index("statistic")["value"][study.headline]
    assert stated == pytest.approx(headline_of(world, folder, study.headline), abs=1e-9)
    assert record_of(folder)["headline"]["statistic"] == study.headline

    rng = np.random.default_rng(8)
    levels = LEVELS.get(world.kind) or [f"{number:.1f}" for number in rng.uniform(0, 100, 50)]
    guesses = world.scores.assign(value=rng.choice(levels, len(world.scores)))
    guessing = climb(study, world.items, world.labels, guesses)
    assert guessing.stopped_at == "scorer_agreement"
    assert study.headline.replace("_", " ") in str(guessing.reason)
    return folder


def drawn_for(folder: Folder) -> pd.DataFrame:
    """The items of the project's set with their strata."""
    held = fact(folder.evidence("holdout_reservation"), "holdout_set")
    assert held is not None
    items = folder.ladder.ledger.items(held)
    return pd.DataFrame({"item_id": [item.item_id for item in items], "stratum": [item.stratum for item in items]})


def headline_of(world: World, folder: Folder, headline: str) -> float:
    """The headline by another way: consensus by pandas, κ by scikit-learn, weights from the drawn shares."""
    drawn = drawn_for(folder)
    weight = drawn["stratum"].map(world.items["stratum"].value_counts() / drawn["stratum"].value_counts())
    given = world.labels.groupby("item_id")["value"].agg(list).reindex(drawn["item_id"])
    said = world.scores.set_index("item_id")["value"].reindex(drawn["item_id"])
    if headline == "within_tolerance":
        mean = given.map(lambda values: np.mean([float(value) for value in values]))
        near = (mean - said.astype(float)).abs() <= 0.1 * 100
        return float(np.average(near, weights=weight))
    position = {level: code for code, level in enumerate(LEVELS[world.kind])}
    rows = []
    for values, answer, share in zip(given, said, weight, strict=True):
        codes = [position[value] for value in values]
        counts = pd.Series(codes).value_counts()
        if headline == "quadratic_kappa":
            top = [int(np.median(codes))]
        else:
            top = counts.index[counts == counts.max()].tolist()
        rows += [(code, position[answer], share / len(top)) for code in top]
    people, judge, weights = zip(*rows, strict=True)
    kind = "quadratic" if headline == "quadratic_kappa" else None
    return float(cohen_kappa_score(people, judge, weights=kind, sample_weight=weights))


# Groups


def test_a_pairwise_scale_of_conversations_that_are_drawn_and_resampled_whole(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    world = world_of("pairwise")
    world.items["group"] = world.items["stratum"] + "-" + (world.items.groupby("stratum").cumcount() // 2).astype(str)
    folder = climbs_to_its_record_or_stops(world, tmp_path, instance)
    reservation = folder.evidence("holdout_reservation")
    drawn = set(drawn_for(folder)["item_id"])
    whole = world.items.groupby("group")["item_id"].agg(lambda ids: len(set(ids) & drawn))
    assert set(whole) == {0, 2}
    assert figure(reservation, "reserved_groups") == (whole == 2).sum()
    agreement = folder.evidence("scorer_agreement")
    resampled = agreement[agreement["name"] == "difference"]
    assert resampled["resampled"].str.startswith("groups").all()
    assert (resampled["units"] == (whole == 2).sum()).all()


# How labels become a reference


def test_an_adjudicator_decides_where_people_differ_and_is_no_annotator(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    world = world_of()
    world.study["reference"]["consensus"] = "adjudicated"
    differ = world.labels.groupby("item_id")["value"].nunique() == 2
    truth = dict(zip(world.items["item_id"], np.array(LEVELS["binary"])[world.truth], strict=True))
    decided = [{"item_id": item, "annotator_id": "dee", "value": truth[item]} for item in differ.index[differ]]
    world.labels["role"] = "annotator"
    judged = pd.DataFrame(decided).assign(labeled_at=world.labels["labeled_at"].iloc[0], role="adjudicator")
    people = world.labels
    world.labels = pd.concat([people, judged], ignore_index=True)
    folder = folder_of(world, tmp_path, instance)
    run = folder.climb()
    assert run.status == "ok", run
    agreement = folder.evidence("scorer_agreement")
    assert figure(agreement, "labeled_items") == 150
    assert figure(agreement, "undecided_share") == 0
    rows = folder.ladder.store.get_table(str(fact(agreement, "table", "rows")))
    for item, reference in zip(rows["item_id"], rows["reference"], strict=True):
        assert not differ[item] or json.loads(reference) == {truth[item]: 1.0}
    assert figure(folder.evidence("annotations"), "annotators") == 3
    pairs = folder.evidence("human_ceiling")
    assert pairs[pairs["name"] == "ceiling_of_pair"]["scope"].tolist() == ["ana and bo", "ana and cy", "bo and cy"]

    alone = people[people["annotator_id"] == "ana"]
    everyone = pd.DataFrame(
        [{"item_id": item, "annotator_id": "dee", "value": truth[item]} for item in alone["item_id"]]
    )
    world.labels = pd.concat([alone, everyone.assign(role="adjudicator", labeled_at=judged["labeled_at"].iloc[0])])
    alone_with_a_judge = in_memory(world)
    assert alone_with_a_judge.stopped_at == "human_ceiling"
    assert "0 of the 67 named items have 2 independent annotators" in str(alone_with_a_judge.reason)


def test_a_single_label_stands_for_whoever_one_had() -> None:
    world = world_of()
    world.study["reference"]["consensus"] = "single"
    result = in_memory(world)
    assert result.stopped_at is None
    agreement = result.evidence["scorer_agreement"]
    given = world.labels.groupby("item_id")["value"].agg(list)
    drawn = reserved(world)["item_id"]
    undecided = np.mean([len(set(given[item])) > 1 for item in drawn])
    assert figure(agreement.rows, "undecided_share") == pytest.approx(undecided)
    rows = agreement.tables["rows"].set_index("item_id")
    split = next(item for item in drawn if len(set(given[item])) > 1)
    shares = json.loads(rows["reference"][split])
    assert shares == {value: pytest.approx(given[split].count(value) / 3) for value in set(given[split])}


def test_slots_are_no_persons() -> None:
    """Where ids are columns and not persons α is the ceiling, and no figure is shown per annotator."""
    world = world_of()
    world.study["annotation"]["annotators"] = "slots"
    result = in_memory(world)
    assert result.stopped_at is None
    ceiling = result.evidence["human_ceiling"].rows
    gated = ceiling[ceiling["name"] == "ceiling"]
    assert gated["statistic"].tolist() == ["krippendorff_alpha"]
    assert "ceiling_of_pair" not in set(ceiling["name"])

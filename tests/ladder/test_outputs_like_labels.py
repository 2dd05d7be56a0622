"""A scorer that is a copy of people's labels is told of beside the status of its ladder."""

from __future__ import annotations

import numpy as np
from climbs import in_memory
from made_up_project import POPULATION, world_of

from calib_pipeline.cell import Cell
from calib_pipeline.status.standing import Standing
from calib_pipeline.status.suspicions import suspicions


def test_a_copy_is_told_with_its_chance_and_a_good_judge_is_not() -> None:
    world = world_of()
    rng = np.random.default_rng(7)
    flipped = world.labels["value"].map({"pass": "fail", "fail": "pass"})
    world.labels["value"] = flipped.where(rng.random(len(world.labels)) < 0.15, world.labels["value"])
    world.study["holdout"]["size"] = 300
    copied = world.labels[world.labels["annotator_id"] == "cy"]
    said = dict(zip(copied["item_id"], copied["value"], strict=True))
    world.scores["value"] = world.scores["item_id"].map(said).fillna("pass")
    rows = in_memory(world).evidence["scorer_agreement"].rows
    told = rows[rows["name"] == "outputs_like_labels"].set_index("scope")
    assert list(told.index) == ["annotator cy"]
    assert told.loc["annotator cy", "value"] == told.loc["annotator cy", "n"] > 40
    [sentence] = suspicions(Standing(Cell("judge", POPULATION), {"scorer_agreement": rows}, {}, None))
    assert "outputs equal annotator cy on" in sentence and "items where nobody else says the same" in sentence
    assert "outputs_like_labels" not in set(in_memory(world_of()).evidence["scorer_agreement"].rows["name"])

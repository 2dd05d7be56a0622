"""A panel meets the labels at the opening or never: who joins it later asks for items that nobody has looked at."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pandas as pd
import pytest
from climbs import Folder
from made_up_project import World

PROBE = {"id": "probe", "kind": "table", "config": {"says": "pass"}}


def with_panel(world: World, folder: Folder, value: str = "pass") -> None:
    world.study["panel"] = [PROBE]
    own = world.scores[world.scores["scorer_id"] != "probe"]
    world.scores = pd.concat([own, own.assign(scorer_id="probe", value=value)], ignore_index=True)
    world.write(folder.root)


def opened(folder: Folder) -> list[str]:
    return [str(event.holdout_id) for event in folder.events() if event.event == "opened"]


def test_a_member_that_joins_after_the_opening_meets_none_of_its_labels(climbed: Folder, world: World) -> None:
    [first] = opened(climbed)
    with_panel(world, climbed)
    run = climbed.climb()
    # the next set, of which nobody has labels
    assert run.status == "stopped" and run.asset == "annotations", run
    assert opened(climbed) == [first]
    assert "panel_agreement" not in set(climbed.evidence("scorer_agreement")["name"])
    assert len(climbed.records()) == 1


@pytest.mark.slow
def test_other_outputs_of_a_member_are_no_repeat(world: World, tmp_path: Path, instance: dg.DagsterInstance) -> None:
    folder = Folder(tmp_path, instance)
    with_panel(world, folder)
    assert folder.climb().status == "ok"
    assert "panel_agreement" in set(folder.evidence("scorer_agreement")["name"])
    [first] = opened(folder)
    with_panel(world, folder, "fail")
    assert folder.climb().asset == "annotations"
    assert opened(folder) == [first]
    with_panel(world, folder)
    run = folder.climb()
    assert run.status == "ok", run
    assert len(folder.records()) == 1

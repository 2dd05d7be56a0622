"""A population of which most items are spent for the tone of answers, before anyone asks what they resolve."""

from __future__ import annotations

import copy

import dagster as dg
import numpy as np
import pandas as pd
from climbs import Folder, folder_of
from made_up_project import LABELED_AT, PEOPLE, POPULATION, World, seen, world_of

STRATA = {"billing": 50, "login": 50, "shipping": 60}
TONE = f"tone@{POPULATION}.g1"
WHY = "a polite answer can leave the ticket unresolved, and a rude one can settle it"
RUBRIC = "An answer is polite when nobody who reads it would take offence.\n"


def spent_for_tone(size: int = 150) -> World:
    """A world with a study of the tone of answers, by a rubric and labels of its own, on the same tickets."""
    world = world_of(strata=STRATA)
    world.study["holdout"]["size"] = size
    del world.study["decision"]["budget"]
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 2, len(world.items))
    write_labels(world, "tone.csv", {who: seen(rng, world.kind, truth) for who in PEOPLE})
    world.beside["rubrics/tone.md"] = RUBRIC
    tone = copy.deepcopy(world.study) | {"study": "tone", "dimension": "tone"}
    tone["rubric"] = {"version": "1", "text": "rubrics/tone.md"}
    tone["scorer"]["config"]["prompt"] = "is it polite?"
    tone["data"]["annotations"] = "data/{population}/tone.csv"
    world.others = [tone]
    return world


def write_labels(world: World, name: str, said: dict[str, list[str]]) -> None:
    """A sheet of labels of every item, by person, among the world's files."""
    sheets = [
        pd.DataFrame(
            {"item_id": world.items["item_id"], "annotator_id": who, "value": values, "labeled_at": LABELED_AT}
        )
        for who, values in said.items()
    ]
    world.beside[f"data/{POPULATION}/{name}"] = pd.concat(sheets).to_csv(index=False)


def another_construct(world: World, why: str = WHY) -> None:
    """Declare the tone of an answer to be another construct than whether it resolved the ticket."""
    world.study["holdout"]["other_constructs"] = {"tone": why}


def opened_for_tone(world: World, root: object, instance: dg.DagsterInstance) -> Folder:
    """The project after the labels of the tone have met outputs."""
    folder = folder_of(world, root, instance)  # type: ignore[arg-type]
    folder.climb("tone")
    assert [event.holdout_id for event in folder.events() if event.event == "opened"] == [TONE]
    return folder

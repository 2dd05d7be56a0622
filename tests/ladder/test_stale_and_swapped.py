"""Evidence that is not the one which was made, or was made of something else, is refused before its gate is asked."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
from climbs import RUNGS, Folder, Run, folder_of
from gate_case import declare, with_row
from made_up_project import POPULATION, World, world_of
from sweeps import swept

from calib_pipeline.evidence_store import parquet_bytes
from calib_pipeline.ladder import Ladder

RUN_AGAIN = f"Next: run `calib run --study judge --population {POPULATION}`"


def refused(run: Run, said: str) -> None:
    """The run refused to load, made nothing, and is told as a ladder that stopped."""
    assert (run.status, run.materialized) == ("failed", [])
    assert "Failure" in run.error
    assert said in run.error
    assert RUN_AGAIN in run.error
    assert run.tags["calib/status"] == "stopped"
    assert said in run.tags["calib/reason"]


# Swapped by hand


@pytest.mark.parametrize("asset", swept(RUNGS[:-1], "holdout_reservation", "scorer_agreement"))
def test_another_valid_file_in_its_place_is_refused(asset: str, climbed: Folder) -> None:
    below = RUNGS[RUNGS.index(asset) + 1]
    rows = climbed.evidence(asset)
    better = with_row(rows, str(rows["name"].iloc[-1]), text="something better")
    climbed.evidence_file(asset).write_bytes(parquet_bytes(better))
    refused(climbed.run_alone(below), f"the evidence of {asset} on disk is not the newest that the ledger has (event ")


def test_the_file_of_another_cell_is_refused(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    world = world_of()
    other = world.study | {"study": "rival", "agreement": {"min_pairs": 90}}
    world.others.append(other)
    folder = folder_of(world, tmp_path, instance)
    for study in ("judge", "rival"):
        assert folder.run_alone("holdout_reservation", "annotations", study=study).status == "ok"
    assert folder.run_alone("human_ceiling").status == "ok"
    shutil.copy(folder.evidence_file("annotations", study="rival"), folder.evidence_file("annotations"))
    refused(folder.run_alone("human_ceiling"), "the evidence of annotations on disk is not the newest")


def test_an_older_file_of_the_same_cell_is_refused(climbed: Folder, world: World) -> None:
    file = climbed.evidence_file("annotations")
    older = file.read_bytes()
    world.labels["note"] = "second reading"
    world.write(climbed.root)
    assert climbed.run_alone("annotations").status == "ok"
    assert file.read_bytes() != older
    file.write_bytes(older)
    refused(climbed.run_alone("human_ceiling"), "it was swapped, or a run was interrupted")


def test_a_file_that_is_no_table_or_is_gone_is_refused(climbed: Folder) -> None:
    file = climbed.evidence_file("human_ceiling")
    said = "the evidence of human_ceiling for study 'judge' on 'tickets-2026-01' is in the ledger and not on disk"
    file.write_bytes(b"PAR1 and then nothing")
    refused(climbed.run_alone("baseline_comparators"), said)
    file.unlink()
    refused(climbed.run_alone("baseline_comparators"), said)


def test_a_rung_that_was_never_made_is_missing(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    folder = folder_of(world_of(), tmp_path, instance)
    assert folder.run_alone("holdout_reservation").status == "ok"
    refused(folder.run_alone("human_ceiling"), "there is no evidence of annotations for study 'judge'")


def test_a_row_table_swapped_by_hand_is_refused(climbed: Folder) -> None:
    """Evidence names its row tables by digest; a better table under the same name is not the one that it names."""
    named = climbed.evidence("scorer_agreement")
    digest = named[(named["name"] == "table") & (named["scope"] == "rows")]["text"].iloc[0]
    path = Path(climbed.project.store) / "tables" / f"{digest}.parquet"
    rows = pd.read_parquet(path)
    path.write_bytes(parquet_bytes(rows.assign(scorer_decision=(rows["reference_accepted"] > 0.5).astype(int))))
    run = climbed.run_alone("threshold_check")
    assert (run.status, run.materialized) == ("failed", [])
    assert "is not the table that its name says: run the rung that wrote it again" in run.error


# Made of something else than what is declared now


def _other_rubric(world: World) -> None:
    world.rubric = "A ticket is resolved when an agent says so.\n"


def _other_outputs(world: World) -> None:
    world.scores["value"] = "pass"


def _one_item_more(world: World) -> None:
    row = {"item_id": "t9999", "stratum": "login", "words": 12, "urgent": 0}
    world.items = pd.concat([world.items, pd.DataFrame([row])], ignore_index=True)


CHANGES: dict[str, tuple[Callable[[World], None], str]] = {
    "rubric text": (_other_rubric, "rubric"),
    "rubric version": (declare("rubric", "version", to="2"), "configuration"),
    "prompt": (declare("scorer", "config", "prompt", to="p-2"), "configuration"),
    "model": (declare("scorer", "config", "model", to="m-2"), "configuration"),
    "outputs": (_other_outputs, "scores"),
    "cost": (declare("decision", "cost_false_accept", "value", to=2), "plan"),
    "floor": (declare("ceiling", "floor", to=0.2), "plan"),
    "bootstrap seed": (declare("bootstrap", "seed", to=6), "plan"),
    "items": (_one_item_more, "population"),
}


ONE_A_PART = ("rubric text", "prompt", "outputs", "cost", "items")
"""The other changes are of a part that one of these changes too."""


@pytest.mark.parametrize("change", swept(CHANGES, *ONE_A_PART))
def test_evidence_made_of_something_else_is_stale(change: str, climbed: Folder, world: World) -> None:
    alter, part = CHANGES[change]
    alter(world)
    world.write(climbed.root)
    run = climbed.run_alone("annotations")
    refused(run, "the evidence of holdout_reservation is stale: ")
    assert part in stale_parts(run)
    assert "from holdout_reservation on" in run.error


def test_evidence_of_a_set_that_serves_no_more_is_stale(climbed: Folder) -> None:
    ledger = climbed.ladder.ledger
    [header] = ledger.sets()
    ledger.mark_fitted(header.holdout_id, everyone=True, reason="the set was used to write the rubric")
    run = climbed.run_alone("threshold_check")
    refused(run, "the evidence of holdout_reservation is stale: ")
    assert stale_parts(run) == ["set"]


def test_a_rung_made_again_makes_those_below_stale(climbed: Folder, world: World) -> None:
    world.labels["note"] = "second reading"
    world.write(climbed.root)
    assert climbed.run_alone("annotations").status == "ok"
    run = climbed.run_alone("baseline_comparators")
    refused(run, "the evidence of human_ceiling is stale: the evidence of annotations changed since it was made")


def stale_parts(run: Run) -> list[str]:
    """The parts that a refusal names."""
    listed = run.tags["calib/reason"].partition(" is stale: ")[2].removesuffix(" changed since it was made")
    return listed.split(", ")


# Interrupted


def _dies(patch: pytest.MonkeyPatch, at: str) -> None:
    """The process ends between the evidence file of an asset and its entry in the ledger."""
    enter = Ladder.stored

    def stored(ladder: Ladder, cell: Any, evidence: Any) -> None:
        if evidence.asset == at:
            raise OSError("no space left on device")
        enter(ladder, cell, evidence)

    patch.setattr(Ladder, "stored", stored)


@pytest.mark.slow
def test_a_file_that_the_ledger_does_not_know_is_refused_and_a_new_run_mends_it(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    asset = "scorer_agreement"
    folder = folder_of(world_of(), tmp_path, instance)
    with pytest.MonkeyPatch.context() as patch:
        _dies(patch, asset)
        run = folder.climb()
    assert (run.status, run.tags["calib/status"]) == ("fault", "climbing")
    assert folder.evidence_file(asset).exists()
    below = RUNGS[RUNGS.index(asset) + 1]
    refused(folder.run_alone(below), f"the ledger knows no evidence of {asset}")

    again = folder.climb()
    assert again.status == "ok", again
    assert [event.event for event in folder.events()].count("opened") == 1
    assert len(folder.records()) == 1


def test_a_file_newer_than_the_ledger_is_refused(climbed: Folder, world: World) -> None:
    world.labels["note"] = "second reading"
    world.write(climbed.root)
    with pytest.MonkeyPatch.context() as patch:
        _dies(patch, "annotations")
        assert climbed.run_alone("annotations").status == "failed"
    refused(climbed.run_alone("human_ceiling"), "it was swapped, or a run was interrupted")
    assert climbed.run_alone("annotations").status == "ok"


@pytest.mark.slow
def test_a_run_that_dies_after_the_opening_is_an_exact_repeat(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    from calib_pipeline import ladder

    folder = folder_of(world_of(), tmp_path, instance)
    with pytest.MonkeyPatch.context() as patch:

        def dies(*_: Any) -> None:
            raise MemoryError("killed")

        patch.setattr(ladder, "scorer_agreement", dies)
        assert folder.climb_to("scorer_agreement").status == "failed"
    opened = [event for event in folder.events() if event.event == "opened"]
    assert len(opened) == 1

    again = folder.climb_to("scorer_agreement")
    assert again.status == "ok", again
    assert [event for event in folder.events() if event.event == "opened"] == opened

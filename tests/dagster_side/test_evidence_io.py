"""Evidence is whole or absent, on any filesystem, and only the right evidence is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from answers_project import write_tables

from calib_pipeline.cell import Cell
from calib_pipeline.dagster_side.climbing import climb_cell
from calib_pipeline.evidence_store import EvidenceStore
from calib_pipeline.ladder import Ladder

BELOW = ["annotations"]


def test_evidence_lies_where_the_store_says_and_reads_back_as_it_was_made(climbed):
    ladder = Ladder(climbed.project, "")
    cell = Cell(study="rule", population="spring")
    assert climbed.run(["holdout_reservation"]).success
    made = ladder.holdout_reservation(cell)
    rows = ladder.store.read_evidence("holdout_reservation", "spring", "rule")
    assert rows is not None
    assert rows.equals(made.rows)
    newest = ladder.ledger.newest_evidence("rule", "spring", "holdout_reservation")
    assert newest is not None
    assert (newest.digest, newest.holds) == (made.digest, True)
    assert [path.name for path in climbed.evidence("holdout_reservation").parent.iterdir()] == ["rule.parquet"]


def test_a_write_that_breaks_leaves_what_was_there(climbed, monkeypatch):
    path = climbed.evidence("holdout_reservation")
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError("no space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(Path, "replace", full)
        assert not climbed.run(["holdout_reservation"]).success
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["rule.parquet"]
    assert climbed.tags() == {"calib/status": "climbing"}
    assert climbed.run(BELOW).success


@pytest.mark.slow
def test_the_ladder_climbs_on_another_filesystem(fresh):
    fresh.store = "memory://small-project/store"
    result = climb_cell(fresh.project, Cell(study="rule", population="spring"), fresh.instance)
    assert result.status == "ok", result
    rows = EvidenceStore(fresh.store).read_evidence("published_record", "spring", "rule")
    assert rows is not None
    assert fresh.run(["threshold_check"]).success
    assert not (fresh.root / ".calib" / "store").exists()


def test_missing_evidence_is_refused_in_a_sentence(fresh):
    assert not fresh.run(BELOW).success
    assert "there is no evidence of holdout_reservation" in fresh.error()
    assert "Next: run `calib run --study rule --population spring`" in fresh.error()
    assert fresh.tags()["calib/status"] == "stopped"
    [failure] = fresh.log[-1].get_step_failure_events()
    metadata = failure.step_failure_data.user_failure_data.metadata
    assert metadata["kind"].value == "missing"
    assert metadata["asset"].value == "holdout_reservation"


@pytest.mark.parametrize("damage", ["older", "cut", "deleted"])
def test_evidence_that_the_ledger_does_not_know_is_refused(climbed, damage):
    path = climbed.evidence("holdout_reservation")
    if damage == "older":
        rows = EvidenceStore(climbed.project.store).read_evidence("holdout_reservation", "spring", "rule")
        assert rows is not None
        rows.loc[rows["name"] == "reserved_items", "value"] = 121.0
        rows.to_parquet(path, index=False)
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:100])
    else:
        path.unlink()
    assert not climbed.run(BELOW).success
    [failure] = climbed.log[-1].get_step_failure_events()
    assert failure.step_failure_data.user_failure_data.metadata["kind"].value == "interrupted"
    assert "Next: run `calib run" in climbed.error()
    assert climbed.materialized() == []
    assert climbed.tags()["calib/status"] == "stopped"


@pytest.mark.parametrize("part", ["configuration", "plan", "rubric", "population"])
def test_evidence_made_under_another_declaration_is_refused_as_stale(climbed, part):
    study = climbed.root / "studies" / "rule.yaml"
    if part == "configuration":
        study.write_text(study.read_text().replace("version: 1", "version: 2"))
    elif part == "plan":
        study.write_text(study.read_text() + "agreement: {min_pairs: 61}\n")
    elif part == "rubric":
        (climbed.root / "rubric.md").write_text("Is the answer helpful to a child?\n")
    else:
        write_tables(climbed.root, "spring", size=164)
    assert not climbed.run(["threshold_check"]).success
    for failure in climbed.log[-1].get_step_failure_events():
        metadata = failure.step_failure_data.user_failure_data.metadata
        assert metadata["kind"].value == "stale"
    assert "is stale" in climbed.error()
    assert climbed.materialized() == []
    assert climbed.tags()["calib/status"] == "stopped"


def test_a_range_of_cells_is_refused_in_a_sentence(climbed):
    ends = {"dagster/asset_partition_range_start": "spring|rule", "dagster/asset_partition_range_end": "spring|rule"}
    assert not climbed.run(["holdout_reservation"], key=None, tags=ends).success
    assert "evidence is kept cell by cell" in climbed.error()

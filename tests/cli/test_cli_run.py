"""``calib run``: what it says, what it leaves, and which code it ends with."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from small_project import ALONE, FEW, FITTED, GOOD, NOISE, POPULATION, RESERVED, SIZE, reserved_ids

from calib_pipeline.cell import Cell
from calib_pipeline.cli import climbing, run
from calib_pipeline.cli.climbing import Climbed, Fault
from calib_pipeline.cli.status import read_statuses
from calib_pipeline.studies.project import load_project


def test_the_first_run_says_how_each_ladder_ended(climbed):
    said = climbed.said
    assert said.code == 3
    assert f"{GOOD} on {POPULATION}: record published" in said.err
    assert f"{ALONE} on {POPULATION}: stopped at ceiling (human_ceiling)" in said.err
    assert f"{FITTED} on {POPULATION}: stopped at holdout (holdout_reservation)" in said.err
    assert f"{NOISE} on {POPULATION}: stopped at baseline (scorer_agreement)" in said.err


def test_a_run_prints_our_messages_only(climbed):
    said = climbed.said.out + climbed.said.err
    for word in ("Traceback", "dagster", "STEP_", "Warning", "\x1b"):
        assert word not in said


def test_a_run_prints_the_counts_and_they_add_up(climbed):
    [line] = [line for line in climbed.said.out.splitlines() if line.startswith(f"{GOOD} on {POPULATION}: received")]
    assert (
        f"received {2 * SIZE}, usable {2 * RESERVED}, scored {RESERVED}, errored 0, abstained 0, unsupported 0" in line
    )
    assert f"{2 * (SIZE - RESERVED)} not reserved labels" in line


def test_a_run_ends_with_the_status(climbed, calib):
    status = calib("status", "--project", climbed.root)
    assert status.code == climbed.said.code
    assert climbed.said.out.endswith(status.out)


def test_studies_that_cannot_earn_a_status_get_a_diagnostic_record(climbed, calib):
    records = json.loads(calib("record", "list", "--project", climbed.root, "--json").out)
    assert {(record["study"], record["kind"]) for record in records} == {
        (GOOD, "measurement"),
        (FITTED, "diagnostic"),
        (FEW, "diagnostic"),
    }


@pytest.mark.usefixtures("quick_dagster")
def test_an_identical_second_run_changes_nothing_and_says_so(own_copy, calib):
    before = json.loads(calib("record", "list", "--project", own_copy, "--json").out)
    said = calib("run", "--study", GOOD, "--project", own_copy)
    assert said.code == 0
    assert "nothing changed" in said.out
    assert json.loads(calib("record", "list", "--project", own_copy, "--json").out) == before


@pytest.mark.usefixtures("quick_dagster")
@pytest.mark.slow
def test_json_of_a_run_is_the_status_with_what_the_run_adds(own_copy, calib):
    path = own_copy / "data" / POPULATION / "alone.csv"
    labels = pd.read_csv(path)
    labels.iloc[: SIZE // 2].to_csv(path, index=False)
    said = calib("run", "--study", ALONE, "--project", own_copy, "--json")
    [cell] = json.loads(said.out)
    assert said.code == 3
    assert (cell["study"], cell["stopped_at"], cell["changed"], cell["fault"]) == (ALONE, "annotations", True, None)
    assert cell["counts"]["received"] == SIZE // 2
    assert set(cell["counts"]) == {"received", "usable", "scored", "errored", "abstained", "unsupported"}


@pytest.mark.usefixtures("quick_dagster")
def test_labels_that_cannot_be_read_are_a_fault_and_what_was_made_stays(own_copy, calib):
    (own_copy / "data" / POPULATION / "alone.csv").unlink()
    said = calib("run", "--study", ALONE, "--project", own_copy)
    assert said.code == 1
    assert "REVIEW_UNAVAILABLE" in said.err and "alone.csv" in said.err
    assert f"{ALONE}  {POPULATION}" in said.out.replace("    ", "  ")


@pytest.mark.usefixtures("quick_dagster")
def test_a_first_run_without_labels_reserves_and_says_what_to_label(declared, calib):
    (declared / "data" / POPULATION / "annotations.csv").unlink()
    (declared / "data" / POPULATION / "scores.csv").unlink()
    assert calib("run", "--study", GOOD, "--project", declared).code == 1
    said = calib("status", "--study", GOOD, "--project", declared)
    assert said.code == 3
    assert f"there are no labels of its {RESERVED} items to read" in said.out
    assert f"next: have them labeled (`calib show {GOOD} {POPULATION}` lists them)" in said.out
    shown = calib("show", GOOD, POPULATION, "--project", declared).out
    items = pd.read_csv(declared / "data" / POPULATION / "items.csv")
    listed = {line.strip() for line in shown.splitlines()}
    assert f"Reserved items without a label ({RESERVED}):" in listed
    assert listed & set(items["item_id"]) == set(reserved_ids(items))


def test_the_worst_of_several_cells_decides(climbed, calib, monkeypatch):
    cells = [Cell(GOOD, POPULATION), Cell(ALONE, POPULATION)]
    statuses = read_statuses(load_project(climbed.root), cells)

    def results(*faults):
        ended = [Climbed(cell, "", fault, None) for cell, fault in zip(cells, faults, strict=True)]
        return lambda *_, **__: (ended, statuses)

    unusable, gone = Fault("scores.csv: a row too many", 2), Fault("REVIEW_UNAVAILABLE: labels.csv is gone", 1)
    for faults, code in [((None, None), 3), ((gone, None), 1), ((gone, unusable), 2), ((None, unusable), 2)]:
        monkeypatch.setattr(climbing, "climb_all", results(*faults))
        said = calib("run", "--project", climbed.root)
        assert said.code == code
        assert all(fault.message in said.err for fault in faults if fault is not None)
        assert ("nothing changed" in said.out) is (code == 3)


def test_changes_are_new_or_different_figures():
    before = {("s", "p", "annotations"): "1", ("t", "p", "annotations"): "1"}
    after = {("s", "p", "annotations"): "1", ("t", "p", "annotations"): "2", ("u", "p", "record"): "3"}
    assert run.changes(before, after) == {("t", "p"), ("u", "p")}


def test_a_project_without_studies_has_nothing_to_run(declared, calib):
    for path in (declared / "studies").iterdir():
        path.unlink()
    said = calib("run", "--project", declared)
    assert said.code == 2
    assert "no study is declared" in said.err

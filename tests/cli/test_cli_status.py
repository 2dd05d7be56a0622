"""``calib status`` and ``calib show``: the contract's JSON, the lines for people, and all that makes them stale."""

from __future__ import annotations

import io
import json
import re
import shutil
from contextlib import redirect_stdout
from pathlib import Path

import pandas as pd
import pytest
from small_project import (
    ALONE,
    FEW,
    FITTED,
    GOOD,
    NOISE,
    POPULATION,
    RESERVED,
    Climbed,
    studies,
    study_named,
    write_study,
)
from sweeps import swept

from calib_pipeline.cell import Cell
from calib_pipeline.cli.main import main
from calib_pipeline.evidence_store import EvidenceStore
from calib_pipeline.schemas import GATES, RUNGS
from calib_pipeline.status.own_account import blocked, brought
from calib_pipeline.status.standing import open_ladder
from calib_pipeline.studies.project import load_project

ALL = {
    GOOD: ("calibrated", None),
    NOISE: ("candidate_for_removal", "scorer_agreement"),
    ALONE: ("uncalibrated", "human_ceiling"),
    FITTED: ("uncalibrated", "holdout_reservation"),
    FEW: ("insufficient_data", "annotations"),
}


def status_of(calib, root: Path, study: str = GOOD) -> dict:
    [cell] = json.loads(calib("status", "--study", study, "--project", root, "--json").out)
    return cell


@pytest.fixture(scope="session")
def found(climbed: Climbed) -> dict[str, dict]:
    """The status of every study of the climbed project, as JSON."""
    out = io.StringIO()
    with redirect_stdout(out):
        assert main(["status", "--project", str(climbed.root), "--json"]) == 3
    return {cell["study"]: cell for cell in json.loads(out.getvalue())}


def test_json_has_the_keys_of_the_contract(found):
    for cell in found.values():
        assert list(cell) == ["study", "population", "status", "stopped_at", "claim", "record_id", "rungs"]
        assert [rung["rung"] for rung in cell["rungs"]] == list(RUNGS)
        for rung in cell["rungs"]:
            assert set(rung) == {"rung", "state", "reason", "next"}
            assert (rung["state"] == "holds") is (rung["reason"] is None)
            assert rung["state"] in ("holds", "fails", "unresolved")


def test_each_status_and_where_it_stopped(found):
    assert {study: (cell["status"], cell["stopped_at"]) for study, cell in found.items()} == ALL


def test_the_claim_is_that_of_the_record(found):
    assert found[GOOD]["claim"].startswith("Accurate at cohen kappa")
    assert found[FITTED]["claim"].endswith("on the data that shaped it.")
    assert found[FITTED]["record_id"] is not None
    assert found[NOISE]["claim"] is None and found[NOISE]["record_id"] is None


@pytest.mark.parametrize(
    ("study", "states"),
    [
        (GOOD, ["holds", "holds", "holds", "holds", "holds"]),
        (NOISE, ["holds", "fails", "unresolved", "unresolved", "unresolved"]),
        (ALONE, ["fails", "unresolved", "unresolved", "unresolved", "unresolved"]),
        (FITTED, ["unresolved", "unresolved", "fails", "unresolved", "unresolved"]),
        (FEW, ["fails", "fails", "unresolved", "unresolved", "unresolved"]),
    ],
)
def test_the_rungs_as_people_see_them(found, study, states):
    assert [rung["state"] for rung in found[study]["rungs"]] == states


def test_a_rung_below_a_stop_is_marked_when_it_is_blocked_on_its_own_account(own_copy, calib):
    study = next(study for study in studies() if study["study"] == ALONE)
    study["baselines"] = {"heuristics": [{"column": "politeness"}]}
    write_study(own_copy, study)
    rungs = {rung["rung"]: rung for rung in status_of(calib, own_copy, ALONE)["rungs"]}
    assert rungs["ceiling"]["state"] == "fails"
    assert rungs["baseline"]["state"] == "fails"
    assert "no heuristic is a length or step count" in rungs["baseline"]["reason"]
    assert "heuristic politeness has 0 distinct value(s)" in rungs["baseline"]["reason"]


@pytest.mark.parametrize("study", [ALONE, GOOD])
def test_what_the_named_items_need_is_told_alike_by_the_rung_and_before_it(climbed, study):
    project, cell = load_project(climbed.root), Cell(study, POPULATION)
    rows = EvidenceStore(project.store).read_evidence("human_ceiling", POPULATION, study)
    conditions = ("enough_named_items", "share_of_named_items")
    told = [reason for reason in GATES["human_ceiling"].judge(rows).reasons if reason.condition in conditions]
    ladder = open_ladder(project)
    tables = brought(project, ladder, cell)
    before = [reason for reason in blocked(project.studies[study], tables) if reason.condition in conditions]
    ladder.ledger.close()
    assert before == told and len(told) == (2 if study == ALONE else 0)


def test_only_calibrated_ladders_exit_with_zero(climbed, calib):
    assert calib("status", "--study", GOOD, "--project", climbed.root).code == 0
    assert calib("status", "--study", NOISE, "--project", climbed.root).code == 3
    assert calib("show", GOOD, POPULATION, "--project", climbed.root).code == 0
    assert calib("show", NOISE, POPULATION, "--project", climbed.root).code == 3


def test_a_line_for_people_has_the_headline_beside_people_and_the_best_comparator(climbed, calib):
    said = calib("status", "--study", GOOD, "--project", climbed.root).out.splitlines()
    assert said[0].split("  ")[0] == "study"
    cells = [cell.strip() for cell in said[1].split("  ") if cell.strip()]
    assert cells[:4] == [GOOD, POPULATION, "calibrated", "record"]
    assert cells[4].startswith("cohen kappa 0.") and cells[6].startswith("random at the base rate")
    assert re.fullmatch(r"0\.\d{3} \[0\.\d{3}, 0\.\d{3}\] \(scorer 0\.\d{3}\)", cells[5])
    shown = calib("show", GOOD, POPULATION, "--project", climbed.root).out
    against = "people, and in brackets the scorer, each against the consensus of the others"
    assert f"cohen kappa of {against}: {cells[5]}." in shown.splitlines()
    everything = calib("status", "--project", climbed.root).out.splitlines()
    assert [f"the column of people: {against}" in line for line in everything].count(True) == 1


def test_kappa_never_stands_without_prevalence_and_the_confusion_table(climbed, calib):
    for command in (["status"], ["show", GOOD, POPULATION], ["record", "list"], ["show", FITTED, POPULATION]):
        said = calib(*command, "--project", climbed.root).out
        assert "kappa" in said
        assert "prevalence 0." in said and all(cell in said for cell in ("TP ", "FP ", "FN ", "TN "))


def test_a_stopped_line_says_why_and_what_next(climbed, calib):
    said = calib("status", "--study", ALONE, "--project", climbed.root).out
    assert "stopped at ceiling (human_ceiling): 0 of the 56 named items have 2 independent annotators" in said
    assert "next: have more of the named items labeled by a second person" in said
    assert "\x1b" not in said


def test_reading_the_status_writes_nothing(own_copy, calib):
    before = {
        path: path.stat().st_mtime_ns for path in own_copy.rglob("*") if path.is_file() and "ledger" not in path.name
    }
    ledger = calib("holdout", "log", "--project", own_copy, "--json").out
    calib("status", "--project", own_copy)
    calib("show", GOOD, POPULATION, "--project", own_copy)
    after = {
        path: path.stat().st_mtime_ns for path in own_copy.rglob("*") if path.is_file() and "ledger" not in path.name
    }
    assert after == before
    assert calib("holdout", "log", "--project", own_copy, "--json").out == ledger


def test_a_project_that_was_never_climbed(declared, calib):
    good, fitted = status_of(calib, declared), status_of(calib, declared, FITTED)
    assert (good["status"], fitted["status"]) == ("uncalibrated", "uncalibrated")
    assert good["rungs"][0]["reason"] == "never climbed"
    assert "calib run --study good" in good["rungs"][0]["next"]
    assert fitted["rungs"][2]["state"] == "fails"
    assert not (declared / ".calib").exists()


CHANGES = {
    "rubric": lambda root, study: (root / "rubrics" / "kind.md").write_text("A reply is kind when it helps.\n"),
    "model": lambda root, study: study["scorer"]["config"].update(model="m-other"),
    "prompt": lambda root, study: study["scorer"]["config"].update(prompt="p-2"),
    "evidence selection": lambda root, study: study["scorer"]["config"].update(evidence_selection="last turn"),
    "decision": lambda root, study: study["decision"]["cost_false_accept"].update(value=3),
    "population": lambda root, study: (root / "data" / POPULATION / "items.csv").open("a").write("r999,5\n"),
}


@pytest.mark.parametrize("part", swept(CHANGES, "rubric", "model", "population"))
def test_what_changed_makes_the_record_stale_and_is_named(own_copy, calib, found, part):
    record_id = found[GOOD]["record_id"]
    study = study_named(GOOD)
    CHANGES[part](own_copy, study)
    write_study(own_copy, study)
    cell = status_of(calib, own_copy)
    assert (cell["status"], cell["record_id"]) == ("stale", record_id)
    assert cell["claim"].startswith("Accurate at")
    assert cell["rungs"][0]["state"] == "unresolved"
    said = calib("show", GOOD, POPULATION, "--project", own_copy)
    assert said.code == 3
    assert f"{part} changed" in said.out


def test_a_change_that_is_taken_back_leaves_nothing_stale(own_copy, calib):
    rubric = own_copy / "rubrics" / "kind.md"
    text = rubric.read_text()
    rubric.write_text("Another rubric.\n")
    assert status_of(calib, own_copy)["status"] == "stale"
    rubric.write_text(text)
    assert status_of(calib, own_copy)["status"] == "calibrated"


@pytest.mark.parametrize(
    "asset", swept(["holdout_reservation", "human_ceiling", "published_record"], "human_ceiling", "published_record")
)
def test_evidence_that_was_swapped_by_hand_is_stale(own_copy, calib, asset):
    path = own_copy / ".calib" / "store" / "evidence" / asset / POPULATION
    shutil.copy(path.parent.parent / "annotations" / POPULATION / f"{GOOD}.parquet", path / f"{GOOD}.parquet")
    cell = status_of(calib, own_copy)
    assert (cell["status"], cell["stopped_at"]) == ("stale", asset)


@pytest.mark.parametrize("content", [b"", b"no parquet", None], ids=["empty", "broken", "gone"])
def test_evidence_that_cannot_be_read_is_stale_and_no_fault(own_copy, calib, content):
    path = own_copy / ".calib" / "store" / "evidence" / "human_ceiling" / POPULATION / f"{GOOD}.parquet"
    path.unlink() if content is None else path.write_bytes(content)
    cell = status_of(calib, own_copy)
    assert (cell["status"], cell["stopped_at"]) == ("stale", "human_ceiling")


UNREADABLE = {"empty": "", "broken": "a,b\n1\n", "gone": None}


@pytest.mark.parametrize("table", ["items.csv", "annotations.csv", "scores.csv"])
@pytest.mark.parametrize("how", swept(UNREADABLE, "gone"))
def test_a_table_that_cannot_be_read_does_not_break_the_status(own_copy, calib, table, how):
    content = UNREADABLE[how]
    path = own_copy / "data" / POPULATION / table
    path.unlink() if content is None else path.write_text(content)
    for study in (GOOD, FITTED):
        said = calib("status", "--study", study, "--project", own_copy)
        assert said.err == ""
        if table != "annotations.csv":
            assert said.code == 3 and f"{study}  " in said.out and "  stale  " in said.out


def test_a_record_whose_file_is_gone_is_not_calibrated(own_copy, calib, found):
    record_id = found[GOOD]["record_id"]
    (own_copy / ".calib" / "store" / "records" / POPULATION / GOOD / f"{record_id}.json").unlink()
    cell = status_of(calib, own_copy)
    assert (cell["status"], cell["stopped_at"], cell["record_id"]) == ("stale", "published_record", None)


def test_a_set_that_was_spent_since_is_told_on_the_holdout_rung(own_copy, calib):
    [holdout] = json.loads(calib("holdout", "list", "--project", own_copy, "--json").out)
    calib(
        "holdout",
        "mark-fitted",
        holdout["holdout_id"],
        "--everyone",
        "--reason",
        "used for the prompt",
        "--project",
        own_copy,
    )
    cell = status_of(calib, own_copy, ALONE)
    holdout_rung = cell["rungs"][2]
    assert holdout_rung["state"] == "fails"
    assert "used for the prompt" in holdout_rung["reason"]


def test_show_as_json_is_the_stored_evidence(climbed, calib):
    said = calib("show", GOOD, POPULATION, "--project", climbed.root, "--json")
    tables = json.loads(said.out)
    assert list(tables) == list(GATES)
    store = EvidenceStore(str(climbed.root / ".calib" / "store"))
    for asset, rows in tables.items():
        stored = store.read_evidence(asset, POPULATION, GOOD)
        assert stored is not None
        back = pd.DataFrame(rows, columns=stored.columns).astype(stored.dtypes.to_dict())
        pd.testing.assert_frame_equal(back.where(back.notna(), None), stored.where(stored.notna(), None))
    assert "NaN" not in said.out


def test_show_lists_the_items_to_label(climbed, calib):
    alone = calib("show", ALONE, POPULATION, "--project", climbed.root).out
    assert "Named items that need 2 independent annotators (56):" in alone
    few = calib("show", FEW, POPULATION, "--project", climbed.root).out
    assert f"Reserved items without a label ({RESERVED - 5}):" in few
    assert re.search(r"label \d+ more of the reserved items, and \d+ named items need 2 independent annotators", few)


def test_show_never_shows_a_label_of_a_held_out_item(own_copy, calib):
    path = own_copy / "data" / POPULATION / "annotations.csv"
    labels = pd.read_csv(path)
    labels["value"] = labels["value"].replace({"yes": "yes ", "no": "no "})
    labels.to_csv(path, index=False)
    said = calib("show", GOOD, POPULATION, "--project", own_copy).out
    assert "prevalence" in said
    for item in labels["item_id"].unique():
        assert item not in said


def test_show_puts_every_statistic_beside_people_and_comparators(climbed, calib):
    said = calib("show", GOOD, POPULATION, "--project", climbed.root).out
    header = next(line for line in said.splitlines() if line.startswith("statistic"))
    for column in ("scorer", "people", "constant majority", "random at the base rate", "heuristic words"):
        assert column in header
    for statistic in ("cohen kappa", "gwet ac1", "percent agreement"):
        [line] = [one for one in said.splitlines() if one.startswith(statistic) and "one other label" in one]
        assert line.count("[") == 2


def test_show_of_a_diagnostic_shows_the_figures_of_its_record(climbed, calib):
    said = calib("show", FITTED, POPULATION, "--project", climbed.root).out
    assert "The figures are those of the diagnostic record." in said
    assert "Scorer, people and comparators" in said

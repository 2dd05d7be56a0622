"""``calib validate``: every fault with file, line, key and the nearest known one; and nothing runs over a fault."""

from __future__ import annotations

import json

import pytest
from small_project import GOOD, POPULATION, study_named, write_study

from calib_pipeline.cli import climbing


def damaged(root):
    """A study with a misspelled key, on the dimension of all the others."""
    study = study_named("typo")
    study["holdout"]["sise"] = study["holdout"].pop("size")
    write_study(root, study)


def test_faults_name_file_line_key_and_the_nearest_key(calib, declared):
    damaged(declared)
    said = calib("validate", "--project", declared)
    assert (said.code, said.out) == (2, "")
    assert "studies/typo.yaml:" in said.err
    assert "'holdout.sise'" in said.err and "did you mean 'size'?" in said.err.casefold()
    assert "study good is blocked: studies/typo.yaml declares the same dimension" in said.err


def test_faults_as_json(calib, declared):
    damaged(declared)
    said = calib("validate", "--project", declared, "--json")
    document = json.loads(said.out)
    assert (said.code, document["valid"]) == (2, False)
    assert {fault["where"].partition(":")[0] for fault in document["faults"]} == {"studies/typo.yaml"}
    assert set(document["blocked"]) == {"alone", "few", "fitted", "good", "noise"}


def test_a_wrong_project_file_as_json(calib, declared):
    (declared / "calib.yaml").write_text("populations: {replies-1: {item: a.csv}}\n")
    said = calib("validate", "--project", declared, "--json")
    assert said.code == 2
    assert any("items" in fault["message"] for fault in json.loads(said.out)["faults"])


def test_a_valid_project_says_who_can_never_be_calibrated(calib, declared):
    said = calib("validate", "--project", declared)
    assert said.code == 0
    assert "study fitted gets a diagnostic record and can never be calibrated: holdout.role is fitted" in said.out


@pytest.mark.parametrize("asked", [[], ["--study", "typo"], ["--study", GOOD], ["--population", "replies-1"]])
def test_nothing_runs_over_a_fault_that_touches_it(calib, declared, asked):
    damaged(declared)
    said = calib("run", *asked, "--project", declared)
    assert said.code == 2
    assert "typo" in said.err
    assert not (declared / ".calib").exists()


@pytest.mark.parametrize("wrong", ["study", "calib.yaml"])
def test_a_run_over_faults_prints_the_json_of_validate(calib, declared, wrong):
    if wrong == "study":
        damaged(declared)
    else:
        (declared / "calib.yaml").write_text("populations: {replies-1: {item: a.csv}}\n")
    ran, validated = (calib(command, "--project", declared, "--json") for command in ("run", "validate"))
    assert (ran.code, ran.out) == (2, validated.out)
    assert json.loads(ran.out)["valid"] is False


def test_a_study_of_another_dimension_runs_beside_a_fault(calib, declared, monkeypatch):
    damaged(declared)
    other = study_named("other")
    other["dimension"] = "length"
    write_study(declared, other)
    climbed = []
    monkeypatch.setattr(climbing, "climb_all", lambda _project, cells, *_, **__: climbed.extend(cells) or ([], []))
    said = calib("run", "--study", "other", "--project", declared)
    assert said.code == 0
    assert "they do not touch this one" in said.err
    assert [(cell.study, cell.population) for cell in climbed] == [("other", POPULATION)]


def test_status_shows_what_is_valid_and_exits_with_the_fault(calib, declared):
    damaged(declared)
    other = study_named("other")
    other["dimension"] = "length"
    write_study(declared, other)
    said = calib("status", "--project", declared, "--json")
    assert said.code == 2
    assert [cell["study"] for cell in json.loads(said.out)] == ["other"]
    assert "studies/typo.yaml" in said.err
    assert calib("status", "--study", "other", "--project", declared).code == 3

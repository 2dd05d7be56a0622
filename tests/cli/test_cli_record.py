"""``calib record``: listed, shown and verified by id or its beginning."""

from __future__ import annotations

import json

import pytest
from small_project import GOOD, POPULATION


@pytest.fixture
def record_id(climbed, calib):
    return next(
        record["record_id"]
        for record in json.loads(calib("record", "list", "--project", climbed.root, "--json").out)
        if record["study"] == GOOD
    )


def test_before_any_run_there_is_no_record(calib, declared):
    said = calib("record", "list", "--project", declared)
    assert (said.code, "no record yet" in said.out) == (0, True)
    assert json.loads(calib("record", "list", "--project", declared, "--json").out) == []


def test_show_prints_the_record(calib, climbed, record_id):
    said = calib("record", "show", record_id, "--project", climbed.root, "--json")
    file = climbed.root / ".calib" / "store" / "records" / POPULATION / GOOD / f"{record_id}.json"
    assert (said.code, json.loads(said.out)) == (0, json.loads(file.read_text()))


def test_show_for_people_has_what_a_claim_needs(calib, climbed, record_id):
    said = calib("record", "show", record_id[:8], "--project", climbed.root).out
    assert said.startswith("Accurate at cohen kappa")
    for needed in ("held out by declaration", "intervals leave out", "prevalence", "heuristic words", "people"):
        assert needed in said


@pytest.mark.parametrize("given", ["", "zz", "../../ledger"])
@pytest.mark.parametrize("action", ["show", "verify"])
def test_an_unknown_record_is_refused(calib, climbed, action, given):
    said = calib("record", action, given, "--project", climbed.root)
    assert (said.code, said.out) == (2, "")
    assert "calib record list" in said.err


def test_verify_passes_a_record_as_it_was_published(calib, climbed, record_id):
    said = calib("record", "verify", record_id, "--project", climbed.root, "--json")
    document = json.loads(said.out)
    assert (said.code, document["verified"], document["problems"]) == (0, True, [])
    assert document["record_id"] == record_id


def test_verify_fails_an_edited_record(calib, own_copy, record_id):
    file = own_copy / ".calib" / "store" / "records" / POPULATION / GOOD / f"{record_id}.json"
    record = json.loads(file.read_text())
    record["claim"] = record["claim"].replace("0.", "0.9", 1)
    file.write_text(json.dumps(record))
    said = calib("record", "verify", record_id, "--project", own_copy)
    assert (said.code, said.out) == (1, "")
    assert "problem: " in said.err and "does not verify" in said.err


def test_a_record_that_is_no_json_is_a_fault_and_no_crash(calib, own_copy, record_id):
    (own_copy / ".calib" / "store" / "records" / POPULATION / GOOD / f"{record_id}.json").write_text("{")
    assert calib("record", "verify", record_id, "--project", own_copy).code == 1
    assert calib("record", "show", record_id, "--project", own_copy).code == 1
    assert calib("status", "--study", GOOD, "--project", own_copy).code == 3

"""``calib audit``: the exit code says whether a record still rests on what it names, the text why."""

from __future__ import annotations

import json

import pytest
from small_project import GOOD, POPULATION


@pytest.fixture
def record_id(climbed, calib):
    records = json.loads(calib("record", "list", "--project", climbed.root, "--json").out)
    return next(record["record_id"] for record in records if record["study"] == GOOD)


def test_an_audit_can_be_read_from_the_reservation_on(calib, climbed, record_id):
    said = calib("audit", record_id[:8], "--project", climbed.root)
    assert (said.code, said.err) == (0, "")
    places = [
        said.out.index(words)
        for words in (
            "Accurate at cohen kappa",
            "reserved by ",
            "frozen by ",
            "labels seen until the opening: by ",
            "opened by ",
            "Until the record",
            "Since the record",
            "Digests",
            "Everything that the record rests on is there as it was.",
        )
    ]
    assert places == sorted(places)
    history = said.out[said.out.index("Until the record") :]
    for words in ("generation 1 for kindness: 120 items of replies-1", "people agree with each other (ceiling)"):
        assert words in history


def test_json_holds_every_event_and_digest(calib, climbed, record_id):
    document = json.loads(calib("audit", record_id, "--project", climbed.root, "--json").out)
    assert (document["record_id"], document["rests"], document["problems"]) == (record_id, True, [])
    assert document["events"][0]["event"] == "reserved"
    assert {one["stands"] for one in document["digests"]} == {"matches"}
    assert {"hash", "actor", "at", "said", "since_the_record"} <= set(document["events"][0])


def test_a_changed_sheet_is_told_and_is_no_fault(calib, own_copy, record_id):
    sheet = own_copy / "data" / POPULATION / "annotations.csv"
    sheet.write_text(sheet.read_text() + "\n")
    said = calib("audit", record_id, "--project", own_copy)
    assert said.code == 0
    assert f"data/{POPULATION}/annotations.csv has changed since; the record rests on the kept copy" in said.out


def test_a_missing_copy_is_a_fault(calib, own_copy, record_id):
    for copy in (own_copy / ".calib" / "store" / "inputs").iterdir():
        copy.unlink()
    said = calib("audit", record_id, "--project", own_copy)
    assert said.code == 1
    assert "problem: the kept copy of labels: " in said.err
    assert "The record no longer rests on what it names: 3 problems." in said.out


@pytest.mark.parametrize("content", ["{", '{"record_id": "x"}'])
def test_a_damaged_record_is_a_fault_with_a_sentence(calib, own_copy, record_id, content):
    file = own_copy / ".calib" / "store" / "records" / POPULATION / GOOD / f"{record_id}.json"
    file.write_text(content)
    said = calib("audit", record_id, "--project", own_copy)
    assert (said.code, "cannot be read" in said.err, "Error" in said.err) == (1, True, False)


def test_a_record_that_lost_a_field_is_a_fault_with_a_sentence(calib, own_copy, record_id):
    file = own_copy / ".calib" / "store" / "records" / POPULATION / GOOD / f"{record_id}.json"
    record = json.loads(file.read_text())
    del record["tables"]
    file.write_text(json.dumps(record))
    said = calib("audit", record_id, "--project", own_copy)
    assert (said.code, "was edited" in said.err, "Error" in said.err) == (1, True, False)


def test_without_its_ledger_nothing_can_be_audited(calib, own_copy, record_id):
    for file in (own_copy / ".calib").glob("ledger.db*"):
        file.unlink()
    said = calib("audit", record_id, "--project", own_copy)
    assert (said.code, "ledger" in said.err, "Error" in said.err) == (1, True, False)


def test_an_unknown_record_is_a_wrong_call(calib, climbed):
    said = calib("audit", "zz", "--project", climbed.root)
    assert (said.code, said.out) == (2, "")
    assert "calib record list" in said.err

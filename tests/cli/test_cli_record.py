"""``calib record``: listed, shown and verified by id or its beginning."""

from __future__ import annotations

import json
from datetime import datetime

import pandas as pd
import pytest
from small_project import ALONE, FEW, FITTED, GOOD, NOISE, POPULATION, study_named, write_study
from sweeps import swept


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


def _cut(file):
    file.write_bytes(file.read_bytes()[:500])


def _folder(file):
    file.unlink()
    file.mkdir()


def _edited(file):
    record = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(record | {"claim": "Accurate at everything", "headline": 3}), encoding="utf-8")


def _without(file):
    record = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({name: value for name, value in record.items() if name not in ("headline", "scorer")}))


UNREAD, EDITED = "cannot be read: it is empty, cut short, no text or no record", "was edited: it holds another record"
DAMAGES = {
    "cut short": (_cut, UNREAD),
    "empty": (lambda file: file.write_bytes(b""), UNREAD),
    "folder": (_folder, UNREAD),
    "no UTF-8": (lambda file: file.write_bytes(b'{"claim": "\xff"}'), UNREAD),
    "no record": (lambda file: file.write_text("[1]"), UNREAD),
    "nested without end": (lambda file: file.write_text("[" * 100_000), UNREAD),
    "edited": (_edited, EDITED),
    "fields removed": (_without, EDITED),
}


@pytest.mark.parametrize("kind", swept(DAMAGES, "edited"))
def test_a_record_file_that_is_not_what_was_published_is_told_by_every_command(calib, own_copy, record_id, kind):
    damage, words = DAMAGES[kind]
    file = own_copy / ".calib" / "store" / "records" / POPULATION / GOOD / f"{record_id}.json"
    damage(file)
    shown = calib("record", "show", record_id, "--project", own_copy)
    assert (shown.code, shown.out) == (1, "")
    assert f"calib: {file}: the record {words}" in shown.err and "Restore it from a copy" in shown.err
    assert words in json.loads(calib("record", "show", record_id, "--project", own_copy, "--json").out)["error"]
    listed = calib("record", "list", "--project", own_copy)
    assert listed.code == 1 and f"problem: the record file {file.name} {words}" in listed.err
    assert "Accurate at everything" not in listed.out
    assert calib("record", "verify", record_id, "--project", own_copy).code == 1
    custody = calib("holdout", "verify", "--project", own_copy)
    assert custody.code == 1 and f"problem: the record file {file.name} {words}" in custody.err
    status = calib("status", "--study", GOOD, "--project", own_copy)
    assert status.code == 3
    assert "the published record is in the ledger, and its file is missing, damaged or edited" in status.out
    board = calib("board", "--project", own_copy)
    assert board.code == 0
    page = (own_copy / ".calib" / "board.html").read_text(encoding="utf-8")
    assert "its file is missing, damaged or edited" in page and "Accurate at everything" not in page


@pytest.mark.slow
@pytest.mark.usefixtures("quick_dagster")
@pytest.mark.parametrize("kind", swept(["cut short", "edited"], "edited"))
def test_the_next_run_writes_a_damaged_record_again_as_it_was_published(calib, own_copy, record_id, kind):
    file = own_copy / ".calib" / "store" / "records" / POPULATION / GOOD / f"{record_id}.json"
    before = json.loads(file.read_text(encoding="utf-8"))
    DAMAGES[kind][0](file)
    assert calib("run", "--study", GOOD, "--project", own_copy).code == 0
    again = json.loads(file.read_text(encoding="utf-8"))
    events = json.loads(calib("holdout", "log", "--study", GOOD, "--project", own_copy, "--json").out)
    [published] = [one["at"] for one in events if one["event"] == "published"]
    assert again.pop("published_at") == datetime.fromisoformat(published).isoformat(timespec="seconds")
    assert again == {name: value for name, value in before.items() if name != "published_at"}
    assert calib("record", "verify", record_id, "--project", own_copy).code == 0


@pytest.mark.usefixtures("quick_dagster")
@pytest.mark.slow
def test_a_folder_in_the_place_of_a_record_breaks_the_next_run_with_its_name(calib, own_copy, record_id):
    file = own_copy / ".calib" / "store" / "records" / POPULATION / GOOD / f"{record_id}.json"
    _folder(file)
    said = calib("run", "--study", GOOD, "--project", own_copy)
    assert said.code == 1
    assert f"{file}: a folder stands where a file is needed. Move it away" in said.err


# Which record is current


@pytest.fixture
def measured_twice(calib, own_copy, record_id, quick_dagster):
    """The good study after its prompt changed, with labels for what is drawn then."""
    study = study_named(GOOD)
    study["scorer"]["config"]["prompt"] = "p-2"
    for other in (NOISE, ALONE, FITTED, FEW):
        (own_copy / "studies" / f"{other}.yaml").unlink()
    write_study(own_copy, study)
    data = own_copy / "data" / POPULATION
    for name in ("items", "annotations", "scores"):
        table = pd.read_csv(data / f"{name}.csv")
        more = table.assign(item_id="n" + table["item_id"])
        pd.concat([table, more]).to_csv(data / f"{name}.csv", index=False)
    said = calib("run", "--study", GOOD, "--project", own_copy)
    assert said.code == 0, said
    return own_copy


@pytest.mark.slow
def test_the_list_shows_current_records_and_the_history_keeps_the_place_of_what_was_superseded(
    calib, measured_twice, record_id
):
    said = calib("record", "list", "--project", measured_twice)
    assert said.code == 0
    assert record_id[:12] not in said.out
    assert "1 superseded: `calib record list --history`" in said.out

    [old, new] = [
        record
        for record in json.loads(calib("record", "list", "--project", measured_twice, "--json").out)
        if record["study"] == GOOD
    ]
    assert (old["record_id"], old["superseded_by"], old["current"]) == (record_id, new["record_id"], False)
    assert (new["superseded_by"], new["current"], new["generation"], new["status_then"]) == (
        None,
        True,
        2,
        "calibrated",
    )
    said = calib("record", "list", "--history", "--project", measured_twice).out
    line = next(line for line in said.splitlines() if line.startswith(record_id[:12]))
    assert line.split("  ")[-1].strip() == f"superseded by {new['record_id'][:12]}"
    for cell in (old["published_at"], "kindness@replies-1.g1", "calibrated"):
        assert cell in line
    current = next(line for line in said.splitlines() if line.startswith(new["record_id"][:12]))
    assert current.endswith("current")


def test_what_the_status_was_of_a_diagnostic_record(calib, climbed):
    records = json.loads(calib("record", "list", "--project", climbed.root, "--json").out)
    then = {record["study"]: record["status_then"] for record in records}
    assert then == {GOOD: "calibrated", FITTED: "uncalibrated", FEW: "insufficient_data"}


def test_without_a_ledger_the_records_are_listed_by_their_dates(calib, own_copy, record_id):
    for file in (own_copy / ".calib").glob("ledger.db*"):
        file.unlink()
    said = calib("record", "list", "--project", own_copy)
    assert (said.code, record_id[:12] in said.out) == (0, True)

"""A record that was tampered with, or rests on anything that was, does not verify."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
from climbs import RUNGS, Folder, folder_of
from gate_case import declare, with_row
from made_up_project import POPULATION, World, world_of
from sweeps import swept

from calib_pipeline.digests import digest_bytes
from calib_pipeline.errors import InputError
from calib_pipeline.evidence_store import parquet_bytes, read_parquet
from calib_pipeline.records.record import address
from calib_pipeline.records.verification import Verification, verify_record


def verified(folder: Folder) -> Verification:
    """The verification of the project's one record."""
    [entry] = folder.records()
    return verify_record(folder.project, entry.record_id)


def store_of(folder: Folder) -> Path:
    return Path(folder.project.store)


def record_file(folder: Folder) -> Path:
    [path] = (store_of(folder) / "records").glob("*/*/*.json")
    return path


def test_a_fresh_record_verifies(climbed_once: Folder) -> None:
    result = verified(climbed_once)
    assert (result.problems, result.notes) == ((), ())
    assert result.holds


@pytest.mark.parametrize("beginning", [8, 64])
@pytest.mark.slow
def test_a_record_is_found_by_the_beginning_of_its_id(beginning: int, climbed_once: Folder) -> None:
    [entry] = climbed_once.records()
    assert verify_record(climbed_once.project, entry.record_id[:beginning]).record_id == entry.record_id


def test_an_unknown_record_is_a_wrong_call(climbed_once: Folder) -> None:
    with pytest.raises(InputError, match="there is no record 'abc'"):
        verify_record(climbed_once.project, "abc")


# The record


def _headline(record: dict[str, Any]) -> None:
    record["headline"]["value"] = 0.99


def _statistic(record: dict[str, Any]) -> None:
    record["statistics"][0]["low"] = 0.99


def _claim(record: dict[str, Any]) -> None:
    record["claim"] = record["claim"].replace("0.932", "0.992")


def _state(record: dict[str, Any]) -> None:
    record["holdout"]["earlier_attempts"] = 3


def _decision(record: dict[str, Any]) -> None:
    record["declaration"]["study"]["decision"]["cost_false_accept"]["value"] = 1


def _evidence_row(record: dict[str, Any]) -> None:
    record["evidence"]["human_ceiling"][-1]["value"] = 1.0


def _no_statistics(record: dict[str, Any]) -> None:
    del record["statistics"]


def named(edit: Callable[[dict[str, Any]], None]) -> str:
    return edit.__name__.strip("_")


EDITS = [_headline, _statistic, _claim, _state, _decision, _evidence_row, _no_statistics]


@pytest.mark.parametrize("edit", swept(EDITS, _headline), ids=named)
def test_an_edited_record_fails(edit: Callable[[dict[str, Any]], None], climbed: Folder) -> None:
    file = record_file(climbed)
    record = json.loads(file.read_text(encoding="utf-8"))
    edit(record)
    file.write_text(json.dumps(record), encoding="utf-8")
    result = verified(climbed)
    assert "the record's content has another address than its name: it was edited" in result.problems
    # That it was edited is not all that is known: it is rebuilt, and what was edited is named.
    assert len(result.problems) > 1


@pytest.mark.parametrize("edit", swept([_headline, _decision, _no_statistics], _decision), ids=named)
def test_a_record_edited_with_its_address_fails(edit: Callable[[dict[str, Any]], None], climbed: Folder) -> None:
    """Whoever edits a record can also work out its new address, and rename it."""
    file = record_file(climbed)
    rows = file.with_name(f"{file.stem}.rows.parquet")
    record = json.loads(file.read_text(encoding="utf-8"))
    edit(record)
    record["record_id"] = address(record)
    file.unlink()
    rows.rename(rows.with_name(f"{record['record_id']}.rows.parquet"))
    file.with_name(f"{record['record_id']}.json").write_text(json.dumps(record), encoding="utf-8")
    problems = verify_record(climbed.project, record["record_id"]).problems
    assert "the ledger does not hold the publication of this record" in problems
    assert any(problem.startswith(("does not recompute: ", "the record lacks ")) for problem in problems)


def test_a_record_that_is_no_json_fails(climbed: Folder) -> None:
    record_file(climbed).write_text("{", encoding="utf-8")
    name = record_file(climbed).stem
    assert "is damaged" in verify_record(climbed.project, name).problems[0]


# What it rests on


@pytest.mark.parametrize("asset", swept(RUNGS[:-1], "scorer_agreement"))
def test_an_edited_evidence_file_fails(asset: str, climbed: Folder) -> None:
    rows = climbed.evidence(asset)
    number = rows["name"][rows["value"].notna()].iloc[-1]
    climbed.evidence_file(asset).write_bytes(parquet_bytes(with_row(rows, number, value=0.5)))
    [problem] = verified(climbed).problems
    assert problem.startswith(f"the evidence of {asset} on disk is not what the ledger has as event ")


def test_missing_evidence_fails(climbed: Folder) -> None:
    climbed.evidence_file("threshold_check").unlink()
    assert verified(climbed).problems == ("the evidence of threshold_check is not on disk",)


@pytest.mark.parametrize("name", swept(["reserved", "labels", "comparators", "rows"], "labels"))
def test_an_edited_row_table_fails(name: str, climbed: Folder) -> None:
    record = json.loads(record_file(climbed).read_text(encoding="utf-8"))
    path = store_of(climbed) / "tables" / f"{record['tables'][name]}.parquet"
    rows = read_parquet(path.read_bytes(), path.name)
    path.write_bytes(parquet_bytes(rows.iloc[1:]))
    [problem] = verified(climbed).problems
    assert problem.startswith(f"the row table {name} of ")
    assert "is not the table that its name says" in problem
    path.unlink()
    assert "is missing" in verified(climbed).problems[0]


@pytest.mark.slow
def test_an_edited_row_table_beside_the_record_fails(climbed: Folder) -> None:
    path = record_file(climbed).with_name(f"{record_file(climbed).stem}.rows.parquet")
    rows = read_parquet(path.read_bytes(), path.name)
    path.write_bytes(parquet_bytes(rows.assign(weight=1.0)))
    what = "the row table beside the record:"
    assert verified(climbed).problems == (f"{what} {path.name} is not the one that the record was made from",)
    path.unlink()
    assert verified(climbed).problems == (f"{what} {path} is missing: restore it from a copy",)


@pytest.mark.parametrize("name", swept(["manifest", "labels", "scores"], "labels"))
def test_an_edited_copy_of_a_brought_table_fails(name: str, climbed: Folder) -> None:
    record = json.loads(record_file(climbed).read_text(encoding="utf-8"))
    path = store_of(climbed) / "inputs" / record["inputs"][name]
    path.write_bytes(path.read_bytes().replace(b"t0001", b"t0901"))
    [problem] = verified(climbed).problems
    assert problem.endswith("is not the file that its name says")
    path.unlink()
    assert "is missing: the record cannot be recomputed without it" in verified(climbed).problems[0]


def test_other_labels_under_the_record_do_not_recompute(climbed: Folder) -> None:
    """A sheet that agrees better, put in the place of the one that was measured, with all digests put right."""
    file = record_file(climbed)
    record = json.loads(file.read_text(encoding="utf-8"))
    inputs = store_of(climbed) / "inputs"
    sheet = pd.read_csv(inputs / record["inputs"]["labels"], dtype=str)
    verdicts = pd.read_csv(inputs / record["inputs"]["scores"], dtype=str).set_index("item_id")["value"]
    sheet["value"] = sheet["item_id"].map(verdicts)
    content = sheet.to_csv(index=False).encode()
    (inputs / digest_bytes(content)).write_bytes(content)
    record["inputs"]["labels"] = digest_bytes(content)
    record["reference"]["labels_digest"] = digest_bytes(content)
    file.write_text(json.dumps(record), encoding="utf-8")
    problems = verified(climbed).problems
    assert any("does not recompute: scorer_agreement: agreement cohen_kappa" in problem for problem in problems)


@pytest.mark.slow
def test_a_brought_table_that_changed_since_is_a_note(climbed: Folder, world: World) -> None:
    """The record stands for the tables of its digests, of which it keeps copies."""
    world.labels["note"] = "read again"
    world.write(climbed.root)
    sheet = f"data/{POPULATION}/annotations.csv"
    result = verified(climbed)
    assert result.problems == ()
    assert result.notes == (f"{sheet} has changed since; the record rests on the kept copy of what it was",)
    (climbed.root / sheet).unlink()
    assert verified(climbed).notes == (f"{sheet} cannot be read any more; the record rests on the kept copy",)


@pytest.mark.slow
def test_evidence_made_again_since_is_a_note(climbed: Folder, world: World) -> None:
    world.labels["note"] = "read again"
    world.write(climbed.root)
    assert climbed.run_alone("annotations").status == "ok"
    result = verified(climbed)
    assert result.problems == ()
    assert "the evidence of annotations on disk is newer than this record" in result.notes


@pytest.mark.slow
def test_a_changed_declaration_does_not_touch_a_record(climbed: Folder, world: World) -> None:
    """A record holds its declaration: what is declared now may be another study."""
    declare("decision", "cost_false_accept", "value", to=2)(world)
    world.rubric = "another rubric"
    world.write(climbed.root)
    assert verified(climbed).problems == ()


# The ledger


def write_ledger(folder: Folder, statement: str, *parameters: object) -> None:
    """Write past the ledger's triggers, as someone with the file and a shell can."""
    with sqlite3.connect(folder.root / ".calib" / "ledger.db") as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(statement, parameters)
        for _, sql in triggers:
            connection.execute(sql)
    connection.close()


def test_an_edited_ledger_fails(climbed: Folder) -> None:
    [opened] = [event for event in climbed.events() if event.event == "opened"]
    write_ledger(climbed, "UPDATE events SET at = '2020-01-01T00:00:00+00:00' WHERE seq = ?", opened.seq)
    assert any(f"event {opened.seq} (opened) was edited" in problem for problem in verified(climbed).problems)
    refused = climbed.run_alone("holdout_reservation")
    assert (refused.status, refused.materialized) == ("failed", [])
    assert f"event {opened.seq} (opened) was edited" in refused.error


def test_a_ledger_cut_before_the_publication_fails(climbed: Folder) -> None:
    [published] = [event for event in climbed.events() if event.event == "published"]
    write_ledger(climbed, "DELETE FROM events WHERE seq >= ?", published.seq)
    assert verified(climbed).problems == ("the ledger does not hold the publication of this record",)


def test_a_ledger_cut_before_the_opening_fails(climbed: Folder) -> None:
    [opened] = [event for event in climbed.events() if event.event == "opened"]
    write_ledger(climbed, "DELETE FROM events WHERE seq >= ?", opened.seq)
    problems = verified(climbed).problems
    assert "the ledger does not hold the opening that the record names: its history was rewritten or cut" in problems
    assert "the ledger does not hold the publication of this record" in problems


@pytest.mark.slow
def test_a_ledger_that_was_started_again_fails(
    climbed: Folder, world: World, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    """The same project climbed from its beginning gives the same figures, and a ledger with other hashes."""
    for file in (climbed.root / ".calib").glob("ledger.db*"):
        file.unlink()
    [entry] = climbed.records()
    problems = verify_record(climbed.project, entry.record_id).problems
    assert "there is no ledger at" in problems[0]
    refused = climbed.run_alone("holdout_reservation")
    assert refused.status == "failed"
    assert "restore the ledger from a copy" in refused.error

    again = folder_of(world, tmp_path / "again", instance)
    assert again.climb_to("scorer_agreement").status == "ok"
    shutil.copy(again.root / ".calib" / "ledger.db", climbed.root / ".calib" / "ledger.db")
    assert any(
        "its history was rewritten or cut" in p for p in verify_record(climbed.project, entry.record_id).problems
    )


def test_an_edited_reservation_fails(climbed: Folder) -> None:
    """Items put in the place of others after the fact: the draw is repeated from the seed."""
    write_ledger(climbed, "UPDATE holdout_items SET item_id = 't9999' WHERE rank = 1 AND stratum = 'login'")
    assert any("its item rows were changed since" in problem for problem in verified(climbed).problems)


# A diagnostic record, and a second generation


@pytest.mark.slow
def test_a_diagnostic_record_verifies_and_fails_when_edited(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    world = world_of()
    world.study["holdout"]["role"] = "fitted"
    folder = folder_of(world, tmp_path, instance)
    assert folder.diagnose().status == "ok"
    assert verified(folder).problems == ()
    file = record_file(folder)
    file.write_text(file.read_text(encoding="utf-8").replace("on the data that shaped it", "on new data"), "utf-8")
    assert "does not recompute: the field claim" in verified(folder).problems


@pytest.mark.slow
def test_the_record_of_a_second_generation_verifies(measured_twice: Folder) -> None:
    first, second = measured_twice.records()
    assert verify_record(measured_twice.project, second.record_id).problems == ()
    older = verify_record(measured_twice.project, first.record_id)
    assert older.problems == ()
    assert any("is newer than this record" in note for note in older.notes)


def test_verification_writes_nothing(climbed: Folder) -> None:
    def everything() -> dict[str, str]:
        files = [path for path in sorted(climbed.root.rglob("*")) if path.is_file()]
        return {
            str(path): digest_bytes(path.read_bytes()) for path in files if not path.name.endswith(("-wal", "-shm"))
        }

    before, events = everything(), climbed.events()
    verified(climbed)
    assert everything() == before
    assert climbed.events() == events

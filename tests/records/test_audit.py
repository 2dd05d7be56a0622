"""An audit tells a record's history in order, and what it rests on that is gone; it computes nothing again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from climbs import Folder
from made_up_project import POPULATION

from calib_pipeline.chain import Chain
from calib_pipeline.evidence_store import parquet_bytes
from calib_pipeline.ledger import Opening, Registration, ReservedItem, SetDraw
from calib_pipeline.records.archive import RecordArchive, parsed_record
from calib_pipeline.records.audit import Audit, audit_record

SET = f"resolved@{POPULATION}.g1"


def audited(folder: Folder, at: int = 0) -> Audit:
    """The audit of one of the project's records, by its place."""
    archive = RecordArchive(folder.ladder.store.base)
    file = archive.file(folder.records()[at].record_id)
    assert file is not None
    record = parsed_record(file)
    assert record is not None
    return audit_record(folder.project, file, record)


def stands(audit: Audit) -> dict[str, str]:
    return {one.what: one.stands for one in audit.named}


def store_of(folder: Folder) -> Path:
    return Path(folder.project.store)


def test_a_fresh_record_rests_on_all_that_it_names(climbed_once: Folder) -> None:
    audit = audited(climbed_once)
    assert (audit.problems, set(stands(audit).values())) == ((), {"matches"})
    assert {
        "record",
        "opening in the ledger",
        "publication in the ledger",
        "kept copy of labels",
        "row table rows",
    } <= set(stands(audit))
    assert all(one.digest for one in audit.named)


def test_nothing_is_computed_again(climbed_once: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    def computes(_: Chain) -> None:
        raise AssertionError("an audit computes no rung")

    monkeypatch.setattr(Chain, "rungs", computes)
    assert audited(climbed_once).holds


def test_the_events_are_those_of_the_ledger_in_its_order(climbed_once: Folder) -> None:
    audit = audited(climbed_once)
    told = [one.event.event for one in audit.events if not one.since]
    assert [one.event.seq for one in audit.events] == sorted(one.event.seq for one in audit.events)
    assert told[:2] == ["reserved", "registered"]
    assert [event for event in told if event in ("labels_ingested", "read", "opened", "published")] == [
        "labels_ingested", "read", "read", "opened", "published",
    ]  # fmt: skip


def test_the_answers_name_who_when_and_for_what(climbed_once: Folder) -> None:
    audit = audited(climbed_once)
    events = {event.event: event for event in climbed_once.events()}
    said = "\n".join(audit.answers)
    for kind, verb in (("reserved", "reserved by"), ("registered", "frozen by"), ("opened", "opened by")):
        event = events[kind]
        assert f"{verb} {event.actor} on {event.at[:10]} (event {event.seq})" in said
    assert "in 2 reads and the opening" in said
    assert audit.answers[-1] == "since the record, nothing but runs of its own study"


@pytest.mark.slow
def test_runs_that_repeat_it_are_nothing_since(climbed: Folder) -> None:
    assert climbed.climb().status == "ok"
    audit = audited(climbed)
    assert {one.event.event for one in audit.events if one.since} == {"evidence", "read"}
    assert audit.answers[-1] == "since the record, nothing but runs of its own study"


# What happened to the items since


def test_an_export_is_told_and_refutes_nothing(climbed: Folder) -> None:
    climbed.ladder.ledger.record_export(SET, "A. Person", actor="clerk")
    audit = audited(climbed)
    assert audit.holds
    assert any(f"{SET} exported by clerk" in said and "for A. Person" in said for said in audit.answers)


def test_a_set_that_shaped_the_scorer_no_longer_carries_the_record(climbed: Folder) -> None:
    climbed.ladder.ledger.mark_fitted(SET, studies=["judge"], reason="the prompt was tuned on it")
    [problem] = audited(climbed).problems
    assert problem.startswith("the set was measured for this configuration, and is fitted now: ")
    assert "the prompt was tuned on it" in problem


def test_a_set_with_another_name_that_shares_items_is_told(climbed: Folder) -> None:
    """The same items under another dimension: what is done to them there is done to them."""
    ledger = climbed.ladder.ledger
    items = ledger.items(SET)[:3]
    other = tuple(ReservedItem(one.item_id, one.content_digest, "all", None, at, False) for at, one in enumerate(items))
    frozen = Registration("other", "c" * 64, "p" * 64)
    ledger.reserve(SetDraw("tone@x.g1", "tone", "x", "d" * 64, 1, 1, other), [], actor="someone")
    ledger.register("tone@x.g1", [frozen])
    ledger.open_set("tone@x.g1", Opening("other", "c" * 64, "p" * 64, "holdout", "l" * 64, "s" * 64, "diagnostic"))
    audit = audited(climbed)
    assert audit.shared == {"tone@x.g1": 3}
    assert [one.event.event for one in audit.events if one.event.holdout_id == "tone@x.g1"] == ["reserved", "opened"]
    assert any("tone@x.g1 reserved by someone" in said for said in audit.answers)


# What it rests on


def _edit_labels(folder: Folder) -> None:
    file = folder.root / "data" / POPULATION / "annotations.csv"
    file.write_text(file.read_text() + "\n", encoding="utf-8")


def _remove_labels(folder: Folder) -> None:
    (folder.root / "data" / POPULATION / "annotations.csv").unlink()


def _edit_rubric(folder: Folder) -> None:
    (folder.root / "rubrics" / "resolved.md").write_text("Resolved means paid.\n", encoding="utf-8")


@pytest.mark.parametrize("change", [_edit_labels, _remove_labels, _edit_rubric], ids=lambda edit: edit.__name__)
def test_what_people_brought_may_change(change: Callable[[Folder], None], climbed: Folder) -> None:
    change(climbed)
    audit = audited(climbed)
    assert audit.holds
    assert {"matches", "changed"} == set(stands(audit).values())


def test_a_study_that_is_gone_leaves_its_record(climbed: Folder) -> None:
    (climbed.root / "studies" / "judge.yaml").unlink()
    audit = audited(climbed)
    assert audit.holds
    assert stands(audit)["plan as declared"] == "changed"


def _remove_copy(folder: Folder) -> None:
    for file in (store_of(folder) / "inputs").iterdir():
        file.unlink()


def _alter_copy(folder: Folder) -> None:
    for file in (store_of(folder) / "inputs").iterdir():
        file.write_bytes(file.read_bytes() + b"\n")


def _remove_tables(folder: Folder) -> None:
    for file in (store_of(folder) / "tables").iterdir():
        file.unlink()


def _remove_evidence(folder: Folder) -> None:
    folder.evidence_file("human_ceiling").unlink()


def _swap_evidence(folder: Folder) -> None:
    rows = folder.evidence("human_ceiling")
    folder.evidence_file("human_ceiling").write_bytes(parquet_bytes(rows[1:]))


def _damage_evidence(folder: Folder) -> None:
    folder.evidence_file("human_ceiling").write_bytes(b"no table")


def _replace_rows(folder: Folder) -> None:
    [file] = (store_of(folder) / "records").glob("*/*/*.rows.parquet")
    file.write_bytes(parquet_bytes(pd.DataFrame({"item_id": ["t0000"]})))


def _edit_record(folder: Folder) -> None:
    [file] = (store_of(folder) / "records").glob("*/*/*.json")
    record = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(record | {"claim": "Accurate at 1."}), encoding="utf-8")


@pytest.mark.parametrize(
    ("harm", "what", "how"),
    [
        (_remove_copy, "kept copy of labels", "missing"),
        (_alter_copy, "kept copy of labels", "altered"),
        (_remove_tables, "row table labels", "missing"),
        (_remove_evidence, "evidence of human_ceiling", "missing"),
        (_swap_evidence, "evidence of human_ceiling", "altered"),
        (_damage_evidence, "evidence of human_ceiling", "altered"),
        (_replace_rows, "row table beside the record", "altered"),
        (_edit_record, "record", "altered"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_is_gone_or_altered_refutes(harm: Callable[[Folder], None], what: str, how: str, climbed: Folder) -> None:
    harm(climbed)
    audit = audited(climbed)
    assert stands(audit)[what] == how
    assert not audit.holds


@pytest.mark.slow
def test_a_record_that_was_superseded_names_the_next(measured_twice: Folder) -> None:
    first, second = measured_twice.records()
    audit = audited(measured_twice, 0)
    assert audit.superseded_by == second.record_id
    assert audited(measured_twice, 1).superseded_by is None
    # newer evidence stands in the place of the old, and the old record holds its own
    assert audit.holds, audit.problems
    assert stands(audit)["evidence of human_ceiling"] == "changed"
    assert first.record_id == audit.record_id

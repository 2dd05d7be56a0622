"""A set wears out under its policy: what that stops, what it leaves alone, and how the next generation is reached."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from cases_of_labels import a_set_to_be_opened_within_30_days, two_scorers_of_which_one_may_measure
from climbs import RUNGS, Folder, folder_of
from gate_case import declare
from made_up_project import POPULATION, World
from sweeps import swept

from calib_pipeline.evidence.evidence import fact
from calib_pipeline.ledger import uses
from calib_pipeline.records.archive import RecordArchive
from calib_pipeline.records.record import address
from calib_pipeline.records.verification import verify_record

FIRST, SECOND = f"resolved@{POPULATION}.g1", f"resolved@{POPULATION}.g2"
Later = Callable[[float], None]


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Later:
    """Set the clock that sets are held against so many days ahead."""
    return lambda days: monkeypatch.setattr(uses, "now", lambda: datetime.now(UTC) + timedelta(days=days))


@pytest.fixture(scope="module")
def aging_once(tmp_path_factory: pytest.TempPathFactory, instance: dg.DagsterInstance) -> Folder:
    folder = folder_of(a_set_to_be_opened_within_30_days(), tmp_path_factory.mktemp("aging"), instance)
    assert folder.run_alone("holdout_reservation").status == "ok"
    return folder


@pytest.fixture
def aging(aging_once: Folder, tmp_path: Path) -> Folder:
    """A reserved set that is to be opened within 30 days."""
    return aging_once.copied_to(tmp_path)


@pytest.fixture(scope="module")
def shared_once(tmp_path_factory: pytest.TempPathFactory, instance: dg.DagsterInstance) -> Folder:
    folder = folder_of(two_scorers_of_which_one_may_measure(), tmp_path_factory.mktemp("shared"), instance)
    assert folder.climb("rival").rung == "threshold"
    return folder


@pytest.fixture
def shared(shared_once: Folder, tmp_path: Path) -> Folder:
    """Two scorers on a set that one may measure, and the rival has."""
    return shared_once.copied_to(tmp_path)


def set_of(folder: Folder, study: str = "judge") -> str | None:
    return fact(folder.evidence("holdout_reservation", study=study), "holdout_set")


def record_of(folder: Folder) -> dict[str, object]:
    record = folder.ladder.archive.read(folder.records()[-1].record_id)
    assert record is not None
    return record


def test_a_set_that_is_too_old_stops_every_run_alike_and_draws_nothing(aging: Folder, later: Later) -> None:
    later(31)
    first = aging.climb()
    assert (first.status, first.asset, first.rung) == ("stopped", "holdout_reservation", "holdout")
    assert "--recheck" in str(first.next_step)
    files, events = aging.evidence_files(), aging.events()
    later(90)
    assert aging.climb().reason == first.reason
    assert (aging.evidence_files(), aging.events()) == (files, events)
    assert len(aging.ladder.ledger.sets()) == 1


@pytest.mark.slow
def test_a_recheck_retires_it_and_draws_the_next_from_other_items(aging: Folder, later: Later) -> None:
    later(31)
    assert aging.climb().status == "stopped"
    run = aging.climb(recheck=True)
    [retired] = [event for event in aging.events() if event.event == "retired"]
    assert (retired.holdout_id, set_of(aging)) == (FIRST, SECOND)
    assert "holdout.max_age_days is 30" in retired.details["reason"]
    ledger = aging.ladder.ledger
    assert not {item.item_id for item in ledger.items(FIRST)} & {item.item_id for item in ledger.items(SECOND)}
    # the made-up sheet labels every item, and to the clock of that day the new set is 31 days old as well
    assert run.status == "stopped"
    later(0)
    assert aging.climb().status == "ok"
    assert (set_of(aging), len(ledger.sets())) == (SECOND, 2)


@pytest.mark.slow
def test_a_record_is_no_older_on_a_later_day(aging: Folder, later: Later) -> None:
    assert aging.climb().status == "ok"
    files, records, events = aging.evidence_files(), aging.records(), aging.events()
    later(400)
    again = aging.climb()
    assert (again.status, again.materialized) == ("ok", RUNGS)
    assert (aging.evidence_files(), aging.records()) == (files, records)
    assert {event.event for event in aging.events()[len(events) :]} == {"read"}
    assert verify_record(aging.project, records[0].record_id).problems == ()


@pytest.mark.slow
def test_a_set_that_grew_too_old_after_its_reservation_is_not_opened(aging: Folder, later: Later) -> None:
    """The rungs may be run apart: the ledger asks again as it opens."""
    assert aging.climb_to("baseline_comparators").status == "ok"
    later(31)
    run = aging.run_alone("scorer_agreement")
    assert "past what its policy allows: reserved on " in run.failed_checks["scorer_agreement"]
    assert run.tags["calib/stopped_at"] == "holdout"
    assert "opened" not in {event.event for event in aging.events()}


@pytest.mark.slow
def test_a_set_that_was_measured_often_enough_goes_on_for_whoever_measured_it(shared: Folder) -> None:
    stopped = shared.climb()
    assert (stopped.asset, stopped.rung) == ("holdout_reservation", "holdout")
    assert shared.climb("rival").rung == "threshold"
    assert len(shared.ladder.ledger.sets()) == 1


@pytest.mark.slow
def test_a_recheck_of_one_study_leaves_the_measurement_of_the_other(shared: Folder) -> None:
    assert shared.climb(recheck=True).status == "ok"
    assert (set_of(shared), set_of(shared, "rival")) == (SECOND, FIRST)
    rival = shared.climb("rival")
    assert (rival.rung, set_of(shared, "rival")) == ("threshold", FIRST)
    assert shared.climb_to("scorer_agreement").status == "ok"
    assert len(shared.ladder.ledger.sets()) == 2


# What the record says


def test_the_record_states_what_the_set_was_used_for(climbed: Folder) -> None:
    holdout = record_of(climbed)["holdout"]
    assert isinstance(holdout, dict)
    assert holdout["uses_before"] == {"configurations_measured": 0, "reads": 2, "age_days": 0.0}


@pytest.mark.parametrize("used", swept(["configurations_measured", "reads", "age_days"], "reads"))
def test_uses_that_are_not_those_of_the_ledger_do_not_verify(used: str, climbed: Folder) -> None:
    record = record_of(climbed)
    record["holdout"]["uses_before"][used] += 1  # type: ignore[index]
    _write_over(climbed, record)
    problems = verify_record(climbed.project, str(record["record_id"])).problems
    assert "does not recompute: the field holdout" in problems


def test_a_record_of_a_version_that_stated_no_uses_recomputes(climbed: Folder) -> None:
    record = record_of(climbed)
    del record["holdout"]["uses_before"]  # type: ignore[attr-defined]
    _write_over(climbed, record)
    # its address is new, so that the ledger cannot hold its publication; all else must come out
    problems = verify_record(climbed.project, str(record["record_id"])).problems
    assert problems == ("the ledger does not hold the publication of this record",)


def _write_over(folder: Folder, record: dict[str, object]) -> None:
    """The record with its new address, in the place of the old one."""
    archive = RecordArchive(folder.ladder.store)
    file = Path(str(archive.file(str(record["record_id"]))))
    rows = file.with_name(f"{file.stem}.rows.parquet")
    record["record_id"] = address(record)
    file.unlink()
    file.with_name(f"{record['record_id']}.json").write_text(json.dumps(record), encoding="utf-8")
    rows.rename(rows.with_name(f"{record['record_id']}.rows.parquet"))


# The policy itself


@pytest.mark.slow
def test_a_limit_that_is_raised_after_the_labels_were_read_needs_other_labels(aging: Folder, later: Later) -> None:
    """A policy is part of the plan: it is the one that was frozen before anyone looked."""
    assert aging.climb_to("human_ceiling").status == "ok"
    later(31)
    world: World = a_set_to_be_opened_within_30_days()
    declare("holdout", "max_age_days", to=300)(world)
    world.write(aging.root)
    assert aging.climb_to("holdout_reservation").status == "ok"
    assert set_of(aging) == SECOND

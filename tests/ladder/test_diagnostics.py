"""What can never be calibrated gets a record that says so, and nothing that it does counts as an attempt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest
from climbs import Folder, folder_of
from gate_case import declare
from made_up_project import World, world_of
from sweeps import swept

from calib_pipeline.evidence.evidence import fact, figure


def _fit(world: World) -> None:
    world.study["holdout"]["role"] = "fitted"


def _stand_in(world: World) -> None:
    world.study["reference"] |= {"kind": "proxy", "stands_for": "whether the customer wrote again"}


DIAGNOSTIC: dict[str, tuple[Callable[[World], None], str]] = {
    "fitted": (_fit, "Agreed with people at cohen kappa 0.9"),
    "proxy": (_stand_in, "Agrees with the proxy whether the customer wrote again at cohen kappa 0.9"),
    "loose": (declare("agreement", "min_pairs", to=29), "; a diagnostic, since agreement.min_pairs is 29; a status"),
}


@pytest.mark.parametrize("study", swept(DIAGNOSTIC, "fitted"))
def test_a_study_that_cannot_be_calibrated_gets_a_diagnostic_record(
    study: str, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    change, claim = DIAGNOSTIC[study]
    world = world_of()
    change(world)
    folder = folder_of(world, tmp_path, instance)
    assert folder.climb().asset == "holdout_reservation"
    run = folder.diagnose()
    assert (run.status, run.materialized) == ("ok", ["diagnostic_record"])
    assert run.tags["calib/status"] == "diagnostic"
    [entry] = folder.records()
    assert entry.kind == "diagnostic"
    assert claim in entry.claim
    assert "Accurate" not in entry.claim
    assert folder.ladder.ledger.published() == []
    [opened] = [event for event in folder.events() if event.event == "opened"]
    assert opened.details["purpose"] == "diagnostic"
    assert {event.details.get("purpose") for event in folder.events() if event.event == "read"} == {
        "ceiling", "baselines",
    }  # fmt: skip

    files, events = folder.evidence_files(), folder.events()
    assert folder.diagnose().status == "ok"
    assert folder.records() == [entry]
    assert folder.evidence_files() == files
    assert {event.event for event in folder.events()[len(events) :]} <= {"read"}
    assert folder.climb().asset == "holdout_reservation"


def test_a_set_that_shaped_the_judge_is_fitted_for_good(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    """Declaring another role later does not take it back: the next reservation draws other items."""
    world = world_of()
    _fit(world)
    folder = folder_of(world, tmp_path, instance)
    assert folder.climb().asset == "holdout_reservation"
    [first] = folder.ladder.ledger.sets()
    world.study["holdout"]["role"] = "holdout"
    world.write(folder.root)
    assert folder.climb_to("annotations").status == "ok"
    reservation = folder.evidence("holdout_reservation")
    assert figure(reservation, "generation") == 2
    shaped = {item.item_id for item in folder.ladder.ledger.items(first.holdout_id)}
    held = {item.item_id for item in folder.ladder.ledger.items(str(fact(reservation, "holdout_set")))}
    assert not shaped & held


def test_a_diagnostic_opening_does_not_count_among_the_configurations(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    world = world_of()
    loose = world.study | {"study": "sketch", "agreement": {"min_pairs": 29}}
    world.others.append(loose)
    folder = folder_of(world, tmp_path, instance)
    assert folder.diagnose("sketch").status == "ok"
    assert folder.climb_to("scorer_agreement").status == "ok"
    agreement = folder.evidence("scorer_agreement")
    assert figure(agreement, "configurations_registered") == 1
    assert figure(agreement, "earlier_attempts") == 0


# Insufficient data


@pytest.mark.slow
def test_too_few_pairs_are_a_diagnostic_wherever_the_ladder_stopped(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    world = world_of()
    world.label_only(set(labeled_of(folder_of(world, tmp_path / "look", instance), 9)))
    folder = folder_of(world, tmp_path / "few", instance)
    run = folder.climb()
    assert run.asset == "annotations"
    assert "6 % of the 150 reserved items have a usable label" in str(run.reason)
    assert folder.diagnose().status == "ok"
    [entry] = folder.records()
    assert entry.kind == "diagnostic"
    assert "since 9 usable pairs are fewer than 10" in entry.claim


def test_a_study_that_can_earn_a_status_gets_no_diagnostic_record(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    folder = folder_of(world_of(), tmp_path, instance)
    run = folder.diagnose()
    assert (run.status, folder.records()) == ("fault", [])
    assert "can earn a status: it climbs the ladder instead" in run.error
    assert "opened" not in {event.event for event in folder.events()}


def labeled_of(folder: Folder, count: int) -> list[str]:
    """Some reserved items of a project."""
    assert folder.run_alone("holdout_reservation").status == "ok"
    [header] = folder.ladder.ledger.sets()
    return [item.item_id for item in folder.ladder.ledger.items(header.holdout_id)][:count]

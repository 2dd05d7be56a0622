"""Every condition of every gate stops the ladder: from the raw tables, in the run and in a later one."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import numpy as np
import pytest
from climbs import RUNGS, Folder, folder_of
from gate_cases import CASES

from calib_pipeline.schemas import GATES

CONDITIONS = [(asset, condition.name) for asset, gate in GATES.items() for condition in gate.conditions]


def test_every_condition_has_a_case() -> None:
    assert [(asset, name) for asset, cases in CASES.items() for name in cases] == CONDITIONS


@pytest.mark.parametrize(("asset", "condition"), CONDITIONS, ids=[f"{asset}-{name}" for asset, name in CONDITIONS])
def test_a_condition_that_fails_stops_the_ladder(
    asset: str, condition: str, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    case = CASES[asset][condition]
    world = case.start()
    folder = folder_of(world, tmp_path, instance)
    case.before(folder)
    records = len(folder.records())
    case.change(world)
    world.write(folder.root)

    with pytest.MonkeyPatch.context() as patch:
        case.tamper(patch)
        run = folder.climb()
    assert (run.status, run.asset) == ("stopped", asset), run
    assert run.materialized == RUNGS[: RUNGS.index(asset) + 1]
    assert list(run.failed_checks) == [asset]
    assert case.says in run.failed_checks[asset]
    assert "the evidence has no" not in str(run.reason)
    assert run.tags["calib/status"] == "stopped"
    assert len(folder.records()) == records
    verdict = GATES[asset].judge(folder.evidence(asset))
    assert {reason.condition for reason in verdict.reasons} == {condition, *case.also}

    if asset != RUNGS[-1]:
        later = folder.run_alone(RUNGS[RUNGS.index(asset) + 1])
        assert later.materialized == []
        assert ("DagsterTypeCheckDidNotPass" in later.error) == (case.later is None)
        assert (case.later or case.says) in later.error
        assert later.tags["calib/status"] == "stopped"


def test_the_unchanged_project_reaches_its_record(climbed: Folder) -> None:
    assert [GATES[asset].judge(climbed.evidence(asset)).reasons for asset in RUNGS] == [()] * len(RUNGS)
    assert len(climbed.records()) == 1


@pytest.mark.parametrize(("asset", "condition"), CONDITIONS, ids=[f"{asset}-{name}" for asset, name in CONDITIONS])
def test_a_condition_fails_without_the_row_that_it_needs(asset: str, condition: str, climbed_once: Folder) -> None:
    gate, rows = GATES[asset], climbed_once.evidence(asset)
    [asked] = [one for one in gate.conditions if one.name == condition]
    failing = {reason.condition for reason in gate.judge(rows[rows["name"] != asked.row]).reasons}
    assert (condition in failing) == asked.required


@pytest.mark.parametrize("asset", RUNGS)
def test_a_gate_takes_no_undefined_figure(asset: str, climbed_once: Folder) -> None:
    gate, rows = GATES[asset], climbed_once.evidence(asset)
    for condition in gate.conditions:
        undefined = rows.copy()
        asked = undefined["name"] == condition.row
        undefined.loc[asked, ["value", "low", "high", "gate_low", "gate_high"]] = np.nan
        undefined.loc[asked, ["text", "note"]] = None
        failing = {reason.condition for reason in gate.judge(undefined).reasons}
        assert not asked.any() or condition.name in failing, condition.name

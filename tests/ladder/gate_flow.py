"""How a case is brought about, and what must be seen when its condition fails."""

from __future__ import annotations

from pathlib import Path

import pytest
from climbs import RUNGS, Folder, Run, folder_of
from gate_case import Case
from ladder_fixtures import labeled_world
from made_up_project import world_of

from calib_pipeline.schemas import GATES


def stops(case: Case, asset: str, condition: str, climbed_once: Folder, root: Path) -> None:
    """The evidence materializes, the check says the figure, and nothing below is made, now or in a later run."""
    folder, run, made = _remade(case, asset, climbed_once, root) if case.remade else _climbed(case, climbed_once, root)
    assert run.materialized == (made or RUNGS[: RUNGS.index(asset) + 1])
    assert list(run.failed_checks) == [asset]
    assert case.says in run.failed_checks[asset]
    assert run.tags["calib/status"] == "stopped"
    assert case.says in run.tags["calib/reason"]
    assert "the evidence has no" not in run.tags["calib/reason"]
    verdict = GATES[asset].judge(folder.evidence(asset))
    assert {reason.condition for reason in verdict.reasons} == {condition, *case.also}
    assert len(folder.records()) == (1 if case.remade or case.climbed else 0)

    if asset != RUNGS[-1]:
        later = folder.run_alone(RUNGS[RUNGS.index(asset) + 1])
        assert later.materialized == []
        assert ("DagsterTypeCheckDidNotPass" in later.error) == (case.later is None)
        assert (case.later or case.says) in later.error
        assert later.tags["calib/status"] == "stopped"


def _climbed(case: Case, climbed_once: Folder, root: Path) -> tuple[Folder, Run, list[str]]:
    """Climb from the raw tables."""
    if case.climbed and case.start is world_of:
        world, folder = labeled_world(), climbed_once.copied_to(root)
    else:
        world = case.start()
        folder = folder_of(world, root, climbed_once.instance)
        if case.climbed:
            assert folder.climb().status == "ok"
    case.before(folder)
    case.change(world)
    world.write(folder.root)
    with pytest.MonkeyPatch.context() as patch:
        case.meanwhile(patch)
        run = folder.climb()
    assert run.status == "stopped", run
    return folder, run, []


def _remade(case: Case, asset: str, climbed_once: Folder, root: Path) -> tuple[Folder, Run, list[str]]:
    """Make the rung and all below it again, its evidence changed as it is made."""
    folder = climbed_once.copied_to(root)
    with pytest.MonkeyPatch.context() as patch:
        assert case.remade is not None
        case.remade(patch)
        run = folder.run_alone(*RUNGS[RUNGS.index(asset) :])
    return folder, run, [asset]

"""Which declared parts changed since evidence or a record was made, by the names that people know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from calib_pipeline.cell import Cell
from calib_pipeline.chain import Declared, stamped
from calib_pipeline.holdout_sets import SERVES
from calib_pipeline.ladder import Ladder
from calib_pipeline.studies.digests import changed_parts, plan_parts

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.studies.study import Study

HELD_OUT_SET = "the held-out set"


def changed_since_record(ladder: Ladder, cell: Cell, record: Mapping[str, Any]) -> tuple[str, ...]:
    """The parts in which a record differs from what is declared now.

    Raises
    ------
    InputError
        When the population's table or the rubric cannot be read.
    """
    study = ladder.project.studies[cell.study]
    now = ladder.sets.declared_on(study, cell.population, ladder.sets.of_id(record["holdout"]["set"]))
    parts = _configuration(record, now) + _plan(record, study)
    if now.manifest.digest != record["population"]["digest"]:
        parts.append("population")
    return tuple(dict.fromkeys(parts)) or (HELD_OUT_SET,)


def changed_since_evidence(
    ladder: Ladder, cell: Cell, asset: str, rows: pd.DataFrame, record: Mapping[str, Any] | None
) -> tuple[str, ...]:
    """The parts in which a rung's evidence differs from what is declared now.

    Evidence carries digests and not declarations: the parts of a configuration or plan are named where a ``record`` of
    the same ones is there to compare with.

    Raises
    ------
    InputError
        When the population's table or the rubric cannot be read.
    """
    study = ladder.project.studies[cell.study]
    stamps = stamped(rows)
    holdout_id = stamps.get("set")
    if holdout_id is None:
        return (HELD_OUT_SET,)
    now = ladder.sets.declared_on(study, cell.population, ladder.sets.of_id(holdout_id))
    differ = [part for part, digest in now.digests(asset).items() if stamps.get(part) != digest]
    if record is not None and "configuration" in differ and record["scorer"]["digest"] == stamps.get("configuration"):
        differ = [part for part in differ if part not in ("configuration", "rubric", "scores")]
        differ += _configuration(record, now)
    elif {"rubric", "scores"} & set(differ):
        # The configuration's digest covers both, so that it differs says nothing more.
        differ = [part for part in differ if part != "configuration"]
    if record is not None and "plan" in differ and record["plan"]["digest"] == stamps.get("plan"):
        differ = [part for part in differ if part != "plan"] + _plan(record, study)
    stale = ladder.stale_parts(cell, asset, rows)
    above = [part for part in stale if part == "labels" or part.startswith("the evidence of ")]
    return tuple(dict.fromkeys([*differ, *above])) or (HELD_OUT_SET,)


def why_spent(ladder: Ladder, cell: Cell, holdout_id: str | None) -> str | None:
    """Why a set no longer serves a study as declared now; None where it does, or is none of the ledger's.

    Raises
    ------
    InputError
        When the population's table or the rubric cannot be read.
    """
    if holdout_id is None or not ladder.sets.knows(holdout_id):
        return None
    study = ladder.project.studies[cell.study]
    state = ladder.sets.state(study, ladder.sets.of_id(holdout_id))
    return None if state.state in SERVES[study.holdout.role] else state.why


def _configuration(record: Mapping[str, Any], now: Declared) -> list[str]:
    changed = changed_parts(record["scorer"]["configuration"], now.configuration_parts)
    return [part.replace("_", " ") for part in changed]


def _plan(record: Mapping[str, Any], study: Study) -> list[str]:
    return changed_parts(record["plan"]["sections"], plan_parts(study))

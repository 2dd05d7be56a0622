"""Climbs one cell in this process, and tells a ladder that stopped from a pipeline that broke."""

from __future__ import annotations

import os
import socket
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

import dagster as dg

from calib_pipeline.assets import CHAIN, diagnostic_record, scorer_outputs
from calib_pipeline.dagster_side.evidence_io import EVIDENCE_IO_MANAGER
from calib_pipeline.dagster_side.history_faults import faults_in_words, history_fault
from calib_pipeline.dagster_side.ladder_resource import LADDER, ladder_resource
from calib_pipeline.dagster_side.partitions import add_cells, cell_key, declared_cell
from calib_pipeline.dagster_side.run_history import cheap_history
from calib_pipeline.dagster_side.run_tags import CLIMBING_TAGS, RECHECK_TAG

if TYPE_CHECKING:
    from calib_pipeline.cell import Cell
    from calib_pipeline.studies.project import Project

PROCESS = "calib/process"
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@dataclass(frozen=True)
class CellResult:
    """How a run of one cell ended.

    ``ok``: every rung that was asked for holds. ``stopped``: a rung does not hold, which is a result; ``asset``,
    ``rung``, ``reason`` and ``next_step`` say where and why. ``fault``: something broke, and ``fault`` is the error.
    """

    cell: Cell
    status: Literal["ok", "stopped", "fault"]
    run_id: str
    asset: str | None = None
    rung: str | None = None
    reason: str | None = None
    next_step: str | None = None
    fault: Exception | None = None


def climb_cell(project: Project, cell: Cell, instance: dg.DagsterInstance, *, recheck: bool = False) -> CellResult:
    """Climb the ladder of one cell, as one run, in this process; a re-check measures on the next generation.

    Where no table brings the outputs, the study's judges are run on the way, within their budget.

    Rungs that were finished by a run that died are made again: the opening of a set is then a repeat, so nothing is
    lost and no number changes.

    Raises
    ------
    InputError
        The cell is not declared, or blocked by an invalid study.
    MachineFault
        Dagster's history cannot be written.
    """
    study = project.studies.get(cell.study)
    assets = (*CHAIN, scorer_outputs) if study is not None and study.judged else CHAIN
    return _run(project, cell, instance, "ladder", assets, {RECHECK_TAG: "yes"} if recheck else {})


def diagnose_cell(project: Project, cell: Cell, instance: dg.DagsterInstance) -> CellResult:
    """Make the diagnostic record of one cell, whether or not its ladder stopped.

    Raises
    ------
    InputError
        The cell is not declared, or blocked by an invalid study.
    MachineFault
        Dagster's history cannot be written.
    """
    return _run(project, cell, instance, "diagnostic", (diagnostic_record,), {})


def _run(
    project: Project,
    cell: Cell,
    instance: dg.DagsterInstance,
    job: str,
    assets: tuple[dg.AssetsDefinition, ...],
    tags: Mapping[str, str],
) -> CellResult:
    key = cell_key(cell)
    declared_cell(project, key)
    run_id = str(uuid4())
    with faults_in_words(instance.root_directory), _quiet(), cheap_history(instance):
        add_cells(project, instance)
        _bury_the_dead(instance, key)
        resources: dict[str, Any] = {
            LADDER: ladder_resource(lambda: project),
            "io_manager": EVIDENCE_IO_MANAGER,
        }
        definitions = dg.Definitions(
            assets=assets,
            jobs=[dg.define_asset_job(job, selection=dg.AssetSelection.all())],
            resources=resources,
            executor=dg.in_process_executor,
        )
        try:
            definitions.resolve_job_def(job).execute_in_process(
                run_config=QUIET,
                instance=instance,
                partition_key=key,
                run_id=run_id,
                tags={**CLIMBING_TAGS, PROCESS: _this_process(), **tags},
            )
        except Exception as error:
            return _stopped(cell, instance, run_id, error)
    return CellResult(cell, "ok", run_id)


def _stopped(cell: Cell, instance: dg.DagsterInstance, run_id: str, error: Exception) -> CellResult:
    """A failed run as a result: what the gate or the load said, or the fault."""
    said: dict[str, Any] = {}
    for entry in instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION):
        evaluation = entry.asset_check_evaluation
        if evaluation is not None and not evaluation.passed:
            said = dict(evaluation.metadata)
    if not said and isinstance(error, dg.Failure | dg.DagsterTypeCheckDidNotPass):
        said = dict(error.metadata)
    if "rung" not in said:
        fault = history_fault(instance.root_directory, error) or error
        return CellResult(cell, "fault", run_id, fault=fault)
    told = {name: said[name].value for name in ("asset", "rung", "reason", "next_step")}
    return CellResult(cell, "stopped", run_id, **told)


def _bury_the_dead(instance: dg.DagsterInstance, key: str) -> None:
    """Mark earlier runs of the cell as failed whose process on this machine ended without a word."""
    started = instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED], tags={"dagster/partition": key}))
    for run in started:
        host, _, process = run.tags.get(PROCESS, "").rpartition(":")
        if host == socket.gethostname() and not _alive(int(process)):
            instance.report_run_failed(run, "The process that ran this ladder ended before the run did")


def _this_process() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        for category in (dg.BetaWarning, dg.PreviewWarning):
            warnings.simplefilter("ignore", category)
        yield

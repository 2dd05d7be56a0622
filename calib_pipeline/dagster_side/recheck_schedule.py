"""Measures every declared cell again, on fresh items, at the cadence that calib.yaml declares."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import dagster as dg

from calib_pipeline.dagster_side.jobs import LADDER_JOB
from calib_pipeline.dagster_side.partitions import add_cells, cell_key
from calib_pipeline.dagster_side.run_tags import RECHECK_TAG
from calib_pipeline.errors import InputError

if TYPE_CHECKING:
    from calib_pipeline.studies.project import Project


def recheck_schedule(open_project: Callable[[], Project], cron: str) -> dg.ScheduleDefinition:
    """The schedule of a project, switched off until someone switches it on.

    Raises
    ------
    InputError
        ``cron`` is no cron expression.
    """
    from calib_pipeline.cell import Cell

    try:

        @dg.schedule(
            name="recheck",
            cron_schedule=cron,
            job=LADDER_JOB,
            default_status=dg.DefaultScheduleStatus.STOPPED,
            description="Measures every declared cell again, on a next generation that must be labeled first",
        )
        def recheck(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest] | dg.SkipReason:
            project = open_project()
            when = context.scheduled_execution_time.isoformat()
            add_cells(project, context.instance)
            keys = [cell_key(Cell(study=study, population=population)) for study, population in project.cells()]
            if not keys:
                return dg.SkipReason("no cell is declared: " + "; ".join(str(fault) for fault in project.faults))
            return [dg.RunRequest(run_key=f"{key}|{when}", partition_key=key, tags={RECHECK_TAG: when}) for key in keys]

        return recheck
    except dg.DagsterInvalidDefinitionError as error:
        raise InputError(
            f"recheck is {cron!r}, which is no cron expression",
            where="calib.yaml",
            expected="five fields: minute, hour, day of month, month, day of week",
            todo='write for example recheck: "0 6 * * 1" for Mondays at six',
        ) from error

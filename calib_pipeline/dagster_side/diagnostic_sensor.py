"""Asks for the diagnostic record after a ladder stopped whose study earns no status, or had too few pairs for one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import dagster as dg

from calib_pipeline.dagster_side.jobs import DIAGNOSTIC_JOB, LADDER_JOB
from calib_pipeline.dagster_side.partitions import declared_cell
from calib_pipeline.dagster_side.run_tags import STATUS, STOPPED
from calib_pipeline.status.diagnosis import counted, wants_diagnostic

if TYPE_CHECKING:
    from calib_pipeline.studies.project import Project

PARTITION = "dagster/partition"


def diagnostic_after_ladder(open_project: Callable[[], Project]) -> dg.SensorDefinition:
    """The sensor of a project; it starts switched off, since a diagnostic opens the set as well."""

    def due(context: dg.RunFailureSensorContext) -> dg.RunRequest | dg.SkipReason:
        run = context.dagster_run
        if run.tags.get(STATUS) != STOPPED:
            return dg.SkipReason("the pipeline broke: nothing was decided")
        project = open_project()
        cell = declared_cell(project, run.tags[PARTITION])
        _, pairs = counted(project, cell)
        if not wants_diagnostic(project, cell, pairs):
            return dg.SkipReason(f"{pairs or 'no'} usable pairs of {cell.study}: its stopped ladder is its result")
        return dg.RunRequest(run_key=run.run_id, partition_key=run.tags[PARTITION])

    return dg.run_failure_sensor(
        name="diagnostic_after_ladder",
        monitored_jobs=[LADDER_JOB],
        request_job=DIAGNOSTIC_JOB,
        default_status=dg.DefaultSensorStatus.STOPPED,
        description="Makes the diagnostic record of a study of no status or too few pairs once its ladder has stopped",
    )(due)

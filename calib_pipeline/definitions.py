"""The code location of a project: what a project's `definitions.py` hands to Dagster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import dagster as dg

    from calib_pipeline.studies.project import Project


def project_definitions(root: Path) -> dg.Definitions:
    """Assets, jobs, sensor, schedule and resources of the project in ``root``.

    An invalid study does not take the code location down: its cells are absent, and each fault is logged here and
    shown on every tick of the sensor.

    Parameters
    ----------
    root
        The folder that holds ``calib.yaml``.

    Raises
    ------
    InputError
        ``calib.yaml`` itself is missing or wrong.

    Examples
    --------
    The whole of a project's ``definitions.py``, which a ``workspace.yaml`` names by ``python_file``::

        @dg.definitions
        def definitions() -> dg.Definitions:
            return project_definitions(Path(__file__).parent)
    """
    import dagster as dg

    from calib_pipeline.assets import CHAIN, diagnostic_record, scorer_outputs
    from calib_pipeline.dagster_side.diagnostic_sensor import diagnostic_after_ladder
    from calib_pipeline.dagster_side.evidence_io import EVIDENCE_IO_MANAGER
    from calib_pipeline.dagster_side.holdout_lineage import HOLDOUT_SETS
    from calib_pipeline.dagster_side.jobs import DIAGNOSTIC_JOB, LADDER_JOB
    from calib_pipeline.dagster_side.ladder_resource import LADDER, ladder_resource
    from calib_pipeline.dagster_side.population_sensor import population_manifests
    from calib_pipeline.dagster_side.recheck_schedule import recheck_schedule
    from calib_pipeline.studies.project import load_project

    def open_project() -> Project:
        return load_project(root)

    project = open_project()
    for fault in project.faults:
        dg.get_dagster_logger("calib").warning(str(fault))
    return dg.Definitions(
        assets=[*CHAIN, scorer_outputs, diagnostic_record, HOLDOUT_SETS],
        jobs=[LADDER_JOB, DIAGNOSTIC_JOB],
        sensors=[population_manifests(open_project), diagnostic_after_ladder(open_project)],
        schedules=[recheck_schedule(open_project, project.recheck)] if project.recheck else [],
        resources={LADDER: ladder_resource(open_project), "io_manager": EVIDENCE_IO_MANAGER},
        executor=dg.in_process_executor,
    )

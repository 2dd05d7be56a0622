"""The ladder of a run: tables, store and ledger of the project, opened when a run starts and not before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import dagster as dg

from calib_pipeline.dagster_side.run_tags import RECHECK_TAG, tell_climbing

if TYPE_CHECKING:
    from calib_pipeline.ladder import Ladder
    from calib_pipeline.studies.project import Project

LADDER = "ladder"


def ladder_resource(open_project: Callable[[], Project]) -> dg.ResourceDefinition:
    """The resource that opens the project's ladder for a run and tags the run as climbing.

    The project is read anew for every run, so that a code location which stays up sees the declarations of now.
    """

    def open_ladder(init: dg.InitResourceContext) -> Iterator[Ladder]:
        from calib_pipeline.ladder import Ladder
        from calib_pipeline.sealing import key_of_environment

        if init.run is not None and init.instance is not None:
            tell_climbing(init.instance, init.run)
        tags = {} if init.run is None else init.run.tags
        project, run_id = open_project(), "" if init.run is None else init.run.run_id
        ladder = Ladder(project, run_id, recheck=RECHECK_TAG in tags, key=key_of_environment(project.root))
        try:
            yield ladder
        finally:
            ladder.close()

    return dg.ResourceDefinition(open_ladder, description="Tables, evidence store and ledger of the project")

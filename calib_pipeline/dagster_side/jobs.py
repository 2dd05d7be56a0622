"""The two jobs of a project: the ladder, and the diagnostic record beside it."""

from __future__ import annotations

import dagster as dg

from calib_pipeline.dagster_side.judging import JUDGING_GROUP
from calib_pipeline.dagster_side.run_tags import CLIMBING_TAGS
from calib_pipeline.dagster_side.rung import DIAGNOSTIC_GROUP, LADDER_GROUP

LADDER_JOB = dg.define_asset_job(
    "ladder",
    selection=dg.AssetSelection.groups(LADDER_GROUP, JUDGING_GROUP),
    tags=CLIMBING_TAGS,
    description="Climbs the ladder of one study on one population; it stops at the first rung that does not hold",
)

DIAGNOSTIC_JOB = dg.define_asset_job(
    "diagnostic",
    selection=dg.AssetSelection.groups(DIAGNOSTIC_GROUP),
    tags=CLIMBING_TAGS,
    description="Records what can be said of a study that can never be calibrated; run it after the ladder",
)

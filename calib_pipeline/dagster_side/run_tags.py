"""The tags by which a stopped ladder is told from a broken pipeline.

A run starts as ``climbing``. A failed run that is tagged ``stopped`` found a rung that does not hold, which is a
result; a failed run that is still ``climbing`` broke, however it ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

if TYPE_CHECKING:
    from dagster import DagsterRun

STATUS = "calib/status"
STOPPED_AT = "calib/stopped_at"
REASON = "calib/reason"
RECHECK_TAG = "calib/recheck"

PARENT = "dagster/parent_run_id"

CLIMBING = "climbing"
STOPPED = "stopped"
PUBLISHED = "published"
DIAGNOSTIC = "diagnostic"

CLIMBING_TAGS = {STATUS: CLIMBING}
LONGEST_REASON = 500


def tell_climbing(instance: dg.DagsterInstance, run: DagsterRun) -> None:
    """Tag a run at its start, whatever job it belongs to.

    A run that re-executes another inherits the tags of that one, so they are written over.
    """
    told = run.tags.get(STATUS)
    if told is None:
        instance.add_run_tags(run.run_id, CLIMBING_TAGS)
    elif told != CLIMBING and PARENT in run.tags:
        instance.add_run_tags(run.run_id, {STATUS: CLIMBING, STOPPED_AT: "", REASON: ""})


def tell_stop(instance: dg.DagsterInstance, run_id: str, *, rung: str, reason: str) -> None:
    """Tag the run as a ladder that stopped at ``rung``; a long reason is cut, the step's metadata has it whole."""
    shown = reason if len(reason) <= LONGEST_REASON else reason[: LONGEST_REASON - 1] + "…"
    instance.add_run_tags(run_id, {STATUS: STOPPED, STOPPED_AT: rung, REASON: shown})


def tell_end(instance: dg.DagsterInstance, run_id: str, status: str) -> None:
    """Tag the run with what it reached: ``published`` or ``diagnostic``."""
    instance.add_run_tags(run_id, {STATUS: status})

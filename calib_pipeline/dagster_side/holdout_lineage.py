"""The held-out sets on Dagster's pages: an asset that nothing here makes, and an observation where a state changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import dagster as dg

from calib_pipeline import __version__
from calib_pipeline.dagster_side.partitions import CELLS
from calib_pipeline.digests import digest_json
from calib_pipeline.evidence.evidence import fact
from calib_pipeline.ledger.sentences import sentence_of

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.cell import Cell
    from calib_pipeline.ladder import Ladder

HOLDOUT_SETS = dg.AssetSpec(
    "holdout_sets",
    deps=["holdout_reservation", "scorer_agreement", "diagnostic_record"],
    description="The held-out set of each study and population, as the ledger knows it: an observation wherever a run "
    "finds another set or another state (unopened, measured, reused, fitted) than the one before it.",
    partitions_def=CELLS,
    code_version=__version__,
    owners=["team:evaluation"],
    group_name="ledger",
    kinds={"ledger"},
)
SET, STATE = "holdout_set", "holdout_state"
EVENTS_OF = {
    "holdout_reservation": ("reserved", "registered", "retired"),
    "annotations": ("labels_ingested",),
    "human_ceiling": ("read",),
    "baseline_comparators": ("read",),
    "scorer_agreement": ("read", "opened"),
    "threshold_check": ("read",),
    "published_record": ("read", "published"),
    "diagnostic_record": ("reserved", "registered", "labels_ingested", "read", "opened"),
}
"""The kinds of events that an asset writes."""
READ_BY = {
    "human_ceiling": "ceiling",
    "baseline_comparators": "baselines",
    "scorer_agreement": "agreement",
    "threshold_check": "threshold",
    "published_record": "record",
}
NO_EVENT = "none: what the ledger holds already says it"


def holdout_metadata(ladder: Ladder, cell: Cell, asset: str, rows: pd.DataFrame) -> dict[str, dg.MetadataValue]:
    """What the run was allowed to see: the set, its state for this configuration and plan, the events that this asset
    wrote in this run, and the ledger's head."""
    stamps = {part: fact(rows, "digest", part) for part in ("set", "configuration", "plan")}
    shown = {"ledger_head": ladder.ledger.head()}
    held, configuration, plan = stamps.values()
    if held is not None and configuration is not None and plan is not None:
        state = ladder.ledger.state(
            held,
            study=cell.study,
            config_digest=configuration,
            plan_digest=plan,
            role=ladder.project.studies[cell.study].holdout.role,
        )
        shown |= {SET: held, STATE: state.state, "holdout_state_because": state.why}
        if asset in EVENTS_OF:
            shown["holdout_events"] = "; ".join(_events_of_run(ladder, held, asset)) or NO_EVENT
    return {name: dg.MetadataValue.text(text) for name, text in shown.items()}


def observe_state(
    context: dg.AssetExecutionContext, metadata: Mapping[str, dg.MetadataValue], instance: dg.DagsterInstance
) -> None:
    """Leave an observation of `HOLDOUT_SETS` where the set or its state is another than the last one observed.

    Parameters
    ----------
    metadata
        As of `holdout_metadata`; without a set in it there is nothing to observe.
    """
    if SET not in metadata:
        return
    now = {name: str(metadata[name].value) for name in (SET, STATE)}
    key = context.partition_key
    asked = dg.AssetRecordsFilter(asset_key=HOLDOUT_SETS.key, asset_partitions=[key])
    records = instance.fetch_observations(asked, limit=1).records
    last = records[0].asset_observation if records else None
    if last is not None and {name: last.metadata[name].value for name in now} == now:
        return
    context.log_event(
        dg.AssetObservation(
            asset_key=HOLDOUT_SETS.key,
            partition=key,
            description=f"{now[SET]} is {now[STATE]}",
            metadata=dict(metadata),
            tags={"dagster/data_version": digest_json(now)},
        )
    )


def _events_of_run(ladder: Ladder, held: str, asset: str) -> list[str]:
    return [
        f"{event.event}, event {event.seq}: {sentence_of(event)}"
        for event in ladder.ledger.events(held)
        if event.run_id is not None
        and event.run_id == ladder.run_id
        and event.event in EVENTS_OF[asset]
        and (event.event != "read" or READ_BY.get(asset) in (None, event.details.get("purpose")))
    ]

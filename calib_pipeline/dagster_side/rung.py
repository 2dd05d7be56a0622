"""What every asset of the ladder has in common, so that an asset's file holds only what is its own."""

import inspect
from collections.abc import Callable, Sequence

import dagster as dg
import pandas as pd

from calib_pipeline import __version__
from calib_pipeline.dagster_side.gate_type import gate_type
from calib_pipeline.dagster_side.holdout_lineage import holdout_metadata, observe_state
from calib_pipeline.dagster_side.judging import STOPS_AT
from calib_pipeline.dagster_side.ladder_resource import LADDER
from calib_pipeline.dagster_side.materialization import HOLDS, materialized
from calib_pipeline.dagster_side.partitions import CELLS, cell_of_run
from calib_pipeline.dagster_side.run_tags import tell_stop
from calib_pipeline.errors import JudgeAwaited
from calib_pipeline.evidence.evidence import Evidence
from calib_pipeline.ladder import Ladder
from calib_pipeline.schemas import GATES

Compute = Callable[..., Evidence]

LADDER_GROUP = "ladder"
DIAGNOSTIC_GROUP = "diagnostic"

EVIDENCE_TYPE = dg.DagsterType(
    lambda _context, value: isinstance(value, Evidence),
    name="Evidence",
    description="The figures and facts of a rung, with the row tables that later rungs need",
    typing_type=Evidence,
)


def rung(compute: Compute, after: Sequence[str] = ()) -> dg.AssetsDefinition:
    """Make an asset of the ladder from a function of the ladder, the cell and the rungs that it reads.

    The asset bears the function's name and docstring. Every parameter after ladder and cell names a rung above: it
    becomes an input that is typed by that rung's gate, so that nothing is read ungated. The asset carries its own gate
    as the blocking check `holds`, in its own step.

    Parameters
    ----------
    after
        Assets that are made before it and leave no evidence for it to read.
    """
    name = _name(compute)
    check = dg.AssetCheckSpec(
        HOLDS,
        asset=name,
        blocking=True,
        description="The gate: " + ", ".join(condition.name.replace("_", " ") for condition in GATES[name].conditions),
    )
    return _asset(compute, LADDER_GROUP, {"parquet", "pandera"}, [check], after)


def ungated(compute: Compute) -> dg.AssetsDefinition:
    """Make an asset that reports beside the ladder: no gate above it, none on it."""
    return _asset(compute, DIAGNOSTIC_GROUP, {"parquet"}, [], ())


def _asset(
    compute: Compute, group: str, kinds: set[str], check_specs: list[dg.AssetCheckSpec], after: Sequence[str]
) -> dg.AssetsDefinition:
    reads = list(inspect.signature(compute).parameters)[2:]

    @dg.asset(
        name=_name(compute),
        description=inspect.getdoc(compute),
        ins={asset: dg.AssetIn(dagster_type=gate_type(asset)) for asset in reads},
        deps=list(after),
        partitions_def=CELLS,
        dagster_type=EVIDENCE_TYPE,
        required_resource_keys={LADDER},
        code_version=__version__,
        owners=["team:evaluation"],
        group_name=group,
        kinds=kinds,
        check_specs=check_specs,
    )
    def asset(context: dg.AssetExecutionContext, **rows: pd.DataFrame) -> dg.MaterializeResult:  # type: ignore[type-arg]
        ladder: Ladder = getattr(context.resources, LADDER)
        cell = cell_of_run(ladder.project, context)
        try:
            evidence = compute(ladder, cell, **rows)
        except JudgeAwaited as awaited:
            raise _stopped(context, awaited) from awaited
        held_out = holdout_metadata(ladder, cell, evidence.asset, evidence.rows)
        observe_state(context, held_out, context.instance)
        return materialized(evidence, held_out, context.log)

    return asset


def _stopped(context: dg.AssetExecutionContext, awaited: JudgeAwaited) -> dg.Failure:
    """A ladder that waits for a judge is a result, and nothing broke."""
    tell_stop(context.instance, context.run.run_id, rung=STOPS_AT, reason=awaited.what)
    told = {"asset": "scorer_outputs", "rung": STOPS_AT, "reason": awaited.what, "next_step": awaited.todo or ""}
    return dg.Failure(description=str(awaited), metadata=told, allow_retries=False)


def _name(compute: Compute) -> str:
    return str(compute.__name__)

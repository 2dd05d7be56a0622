"""The asset that runs judges: what they answered as metadata, and a blocking check that nothing is left."""

import inspect
from collections.abc import Callable

import dagster as dg
import pandas as pd

from calib_pipeline import __version__
from calib_pipeline.cell import Cell
from calib_pipeline.dagster_side.figures import markdown_table
from calib_pipeline.dagster_side.gate_type import gate_type
from calib_pipeline.dagster_side.ladder_resource import LADDER
from calib_pipeline.dagster_side.partitions import CELLS, cell_of_run
from calib_pipeline.dagster_side.run_tags import tell_stop
from calib_pipeline.judging.both_orders import order_sentence
from calib_pipeline.judging.held_out import Judged
from calib_pipeline.judging.scoring import Scoring
from calib_pipeline.ladder import Ladder
from calib_pipeline.schemas import GATES

JUDGING_GROUP = "judging"
COMPLETE = "complete"
STOPS_AT = GATES["scorer_agreement"].conditions[0].rung
"""The rung that is not reached without outputs."""
HEADER = ("scorer", "questions", "scored", "abstained", "errored", "left", "kept from before", "tokens of this run")
TOLD = 10
"""How often a run logs how far it is."""

Said = Callable[[str, Scoring], None]


def judging(compute: Callable[..., Judged | None]) -> dg.AssetsDefinition:
    """Make an asset from a function of the ladder, the cell, what is told of the progress, and the rungs that it reads.

    Its inputs are typed by the gates of those rungs. What it makes is the table of outputs in the project's store,
    which is there whole or not at all.
    """
    name = str(compute.__name__)
    reads = list(inspect.signature(compute).parameters)[3:]
    check = dg.AssetCheckSpec(
        COMPLETE, asset=name, blocking=True, description="Every reserved item has an answer of every scorer"
    )

    @dg.asset(
        name=name,
        description=inspect.getdoc(compute),
        ins={asset: dg.AssetIn(dagster_type=gate_type(asset)) for asset in reads},
        partitions_def=CELLS,
        required_resource_keys={LADDER},
        code_version=__version__,
        owners=["team:evaluation"],
        group_name=JUDGING_GROUP,
        kinds={"openai"},
        check_specs=[check],
    )
    def asset(context: dg.AssetExecutionContext, **rows: pd.DataFrame) -> dg.MaterializeResult:  # type: ignore[type-arg]
        ladder: Ladder = getattr(context.resources, LADDER)
        cell = cell_of_run(ladder.project, context)
        judged = compute(ladder, cell, _teller(context), **rows)
        if judged is None or judged.measured:
            told = "a table brings the outputs" if judged is None else "the set was opened with the outputs that stand"
            return dg.MaterializeResult(
                metadata={"nothing to run": told}, check_results=[dg.AssetCheckResult(passed=True, check_name=COMPLETE)]
            )
        stop = None if judged.written else _stop(ladder, cell, judged)
        if stop is not None:
            context.log.error(stop["reason"])
            tell_stop(context.instance, context.run.run_id, rung=stop["rung"], reason=stop["reason"])
        return dg.MaterializeResult(
            metadata={
                "holdout_set": judged.holdout_id,
                "answers": dg.MetadataValue.md(_table(judged)),
                **{f"both orders: {name}": order_sentence(one) for name, one in judged.consistency.items()},
            },
            check_results=[
                dg.AssetCheckResult(
                    passed=judged.written,
                    check_name=COMPLETE,
                    description=None if stop is None else f"{stop['reason']}. Next: {stop['next_step']}",
                    metadata=stop or {},
                )
            ],
        )

    return asset


def _teller(context: dg.AssetExecutionContext) -> Said:
    last: dict[str, int] = {}

    def said(scorer_id: str, scoring: Scoring) -> None:
        done = TOLD * (scoring.asked - scoring.left) // max(1, scoring.asked)
        if done > last.get(scorer_id, 0):
            last[scorer_id] = done
            context.log.info(f"{scorer_id}: {scoring.sentence}")

    return said


def _stop(ladder: Ladder, cell: Cell, judged: Judged) -> dict[str, str]:
    study = ladder.project.studies[cell.study]
    left = {name: scoring.left for name, scoring in judged.scorings.items() if scoring.left}
    told = "; ".join(
        f"{count:,} of {judged.scorings[name].asked:,} questions on the reserved items have no answer of {name!r}, and "
        f"the next call does not fit into the budget of {study.by_scorer()[name].scorer.run.budget_tokens:,} tokens"
        for name, count in left.items()
    )
    return {
        "asset": "scorer_outputs",
        "rung": STOPS_AT,
        "reason": told,
        "next_step": f"run `calib run --study {cell.study} --population {cell.population}` again, which goes on with "
        "the budget anew, or raise scorer.run.budget_tokens",
    }


def _table(judged: Judged) -> str:
    return markdown_table(
        HEADER,
        [
            (name, one.asked, one.scored, one.abstained, one.errored, one.left, one.kept, one.tokens)
            for name, one in judged.scorings.items()
        ],
    )

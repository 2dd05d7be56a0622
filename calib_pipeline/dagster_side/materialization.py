"""What Dagster keeps of a rung that was made: figures for people, the gate's verdict, and what the run could see."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from calib_pipeline.dagster_side.figures import evidence_metadata
from calib_pipeline.dagster_side.gate_type import refusal, why
from calib_pipeline.evidence.evidence import Evidence, fact
from calib_pipeline.schemas import GATES

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.cell import Cell
    from calib_pipeline.ladder import Ladder

HOLDS = "holds"


def materialized(
    ladder: Ladder, cell: Cell, evidence: Evidence, log: dg.DagsterLogManager
) -> dg.MaterializeResult[Evidence]:
    """The evidence for Dagster: its content digest as data version, its figures for people, its gate as the check.

    Evidence that does not hold materializes too, so that people can read why.
    """
    checks = []
    gate = GATES.get(evidence.asset)
    if gate is not None:
        verdict = gate.judge(evidence.rows)
        said = f"{evidence.asset} holds" if verdict.holds else refusal(evidence.asset, verdict)
        if not verdict.holds:
            log.error(said)
        shown = why(gate, verdict, evidence.rows)
        checks.append(dg.AssetCheckResult(passed=verdict.holds, check_name=HOLDS, description=said, metadata=shown))
    return dg.MaterializeResult(
        value=evidence,
        metadata={
            **evidence_metadata(evidence.rows),
            **holdout_metadata(ladder, cell, evidence.rows),
            "evidence_digest": dg.MetadataValue.text(evidence.digest),
        },
        data_version=dg.DataVersion(evidence.digest),
        check_results=checks,
    )


def holdout_metadata(ladder: Ladder, cell: Cell, rows: pd.DataFrame) -> dict[str, dg.MetadataValue]:
    """What the run was allowed to see: the set, its state for this configuration and plan, and the ledger's head."""
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
        shown |= {"holdout_set": held, "holdout_state": state.state, "holdout_state_because": state.why}
    return {name: dg.MetadataValue.text(text) for name, text in shown.items()}

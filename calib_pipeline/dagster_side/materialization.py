"""What Dagster keeps of a rung that was made: figures for people, the gate's verdict, and what the run could see."""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg

from calib_pipeline.dagster_side.figures import evidence_metadata
from calib_pipeline.dagster_side.gate_type import refusal, why
from calib_pipeline.evidence.evidence import Evidence
from calib_pipeline.schemas import GATES

HOLDS = "holds"


def materialized(
    evidence: Evidence, held_out: Mapping[str, dg.MetadataValue], log: dg.DagsterLogManager
) -> dg.MaterializeResult[Evidence]:
    """The evidence for Dagster: its content digest as data version, its figures for people, its gate as the check.

    Evidence that does not hold materializes too, so that people can read why.

    Parameters
    ----------
    held_out
        What the run was allowed to see, as `holdout_metadata` gives it.
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
            **held_out,
            "evidence_digest": dg.MetadataValue.text(evidence.digest),
        },
        data_version=dg.DataVersion(evidence.digest),
        check_results=checks,
    )

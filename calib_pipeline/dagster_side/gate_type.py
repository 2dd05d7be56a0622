"""The gate of an asset as a Dagster type: evidence is judged again wherever it is loaded."""

from __future__ import annotations

from functools import cache

import dagster as dg
import pandas as pd

from calib_pipeline.dagster_side.figures import cell_text, markdown_table
from calib_pipeline.schemas import GATES, Verdict
from calib_pipeline.schemas.gate import Gate

FAILING_ROWS_SHOWN = 10
FAILING_ROW_COLUMNS = ("name", "scope", "statistic", "value", "n", "gate_low", "gate_high", "bar", "note")


@cache
def gate_type(asset: str) -> dg.DagsterType:
    """The type of evidence of ``asset`` that holds.

    The type is pure: it sees a table and judges the table's figures. Whether it is the table that is declared now is
    decided where it is read (`calib_pipeline.dagster_side.evidence_io`). One type an asset, since Dagster wants the
    names of types to be unique within a job.
    """
    gate = GATES[asset]

    def holds(_context: dg.TypeCheckContext, value: object) -> dg.TypeCheck:
        if not isinstance(value, pd.DataFrame):
            return dg.TypeCheck(
                success=False,
                description=f"{asset} expects the evidence of one cell as a table, got {type(value).__name__}: "
                "climb one population and study a run",
            )
        verdict = gate.judge(value)
        if verdict.holds:
            return dg.TypeCheck(success=True)
        return dg.TypeCheck(success=False, description=refusal(asset, verdict), metadata=why(gate, verdict, value))

    return dg.DagsterType(
        holds,
        name="Holds" + "".join(word.title() for word in asset.split("_")),
        description=f"Evidence of {asset} that satisfies its gate: "
        + ", ".join(condition.name for condition in gate.conditions),
        typing_type=pd.DataFrame,
    )


def refusal(asset: str, verdict: Verdict) -> str:
    """One sentence for people: the first reason with its figure and bar, and how many more there are."""
    first, *others = verdict.reasons
    more = f" (and {len(others)} more reason{'s' if len(others) > 1 else ''})" if others else ""
    return f"{asset} does not hold: {first.sentence}{more}. Next: {first.next_step}"


def why(gate: Gate, verdict: Verdict, rows: pd.DataFrame) -> dict[str, dg.MetadataValue]:
    """The reasons and the rows of the evidence that fail, as metadata; empty for a verdict that holds."""
    if verdict.holds:
        return {}
    reasons = [
        (reason.rung, reason.condition, cell_text(reason.sentence), cell_text(reason.next_step))
        for reason in verdict.reasons
    ]
    shown = failing_rows(gate, rows)
    return {
        "asset": dg.MetadataValue.text(gate.asset),
        "rung": dg.MetadataValue.text(verdict.reasons[0].rung),
        "reason": dg.MetadataValue.text(verdict.sentence),
        "next_step": dg.MetadataValue.text(verdict.reasons[0].next_step),
        "reasons": dg.MetadataValue.md(markdown_table(("rung", "condition", "why", "what to do"), reasons)),
        "failing_rows": dg.MetadataValue.md(
            markdown_table(FAILING_ROW_COLUMNS, shown.head(FAILING_ROWS_SHOWN).itertuples(index=False))
        ),
        "failing_row_count": dg.MetadataValue.int(len(shown)),
    }


def failing_rows(gate: Gate, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the evidence that fail a condition of the gate; a condition whose row is missing has none."""
    present = [column for column in FAILING_ROW_COLUMNS if column in rows.columns]
    failing = pd.Series(False, index=rows.index)
    if set(FAILING_ROW_COLUMNS) <= set(rows.columns):
        for condition in gate.conditions:
            passes = condition.passes(rows)
            if not isinstance(passes, bool):
                failing |= ~passes
    return rows.loc[failing, present]

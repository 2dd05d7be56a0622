"""Evidence as people read it on Dagster's pages: Markdown tables of figures, counts and facts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import dagster as dg

if TYPE_CHECKING:
    import pandas as pd

FIGURE_HEADER = ("figure", "scope", "statistic", "value", "interval", "n", "what the gate reads", "bar", "note")
COUNT_HEADER = ("count", "scope", "value", "bar", "note")
FACT_HEADER = ("fact", "scope", "text", "note")
_AS_TEXT = str.maketrans({"\\": "\\\\", "|": "\\|", "<": "&lt;"})


def evidence_metadata(rows: pd.DataFrame) -> dict[str, dg.MetadataValue]:
    """Figures, counts and facts of evidence, one Markdown table each; an empty table is left out.

    Evidence holds no item text and no label of an item, so neither can reach the event log by this way.
    """
    measured = rows["statistic"].notna()
    counted = ~measured & (rows["value"].notna() | rows["bar"].notna())
    tables = {
        "figures": markdown_table(FIGURE_HEADER, [_figure(row) for row in _records(rows[measured])]),
        "counts": markdown_table(COUNT_HEADER, [_count(row) for row in _records(rows[counted])]),
        "facts": markdown_table(FACT_HEADER, [_fact(row) for row in _records(rows[~measured & ~counted])]),
    }
    empty = {"figures": not measured.any(), "counts": not counted.any(), "facts": (measured | counted).all()}
    return {name: dg.MetadataValue.md(table) for name, table in tables.items() if not empty[name]}


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A GitHub-flavoured table; undefined values are left blank, numbers show six significant digits."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    lines += ["| " + " | ".join(cell_text(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def cell_text(value: Any) -> str:
    """A value as the text of one table cell: nothing in it is a column, a tag or a link."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    text = " ".join(str(value).splitlines()).translate(_AS_TEXT)
    return text.replace("](", "]\\(")


def _records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]


def _figure(row: dict[str, Any]) -> Sequence[Any]:
    interval = _interval(row["low"], row["high"], row["level"], row["method"])
    gate = _interval(row["gate_low"], row["gate_high"], row["gate_level"], row["gate_method"])
    return row["name"], row["scope"], row["statistic"], row["value"], interval, row["n"], gate, row["bar"], row["note"]


def _count(row: dict[str, Any]) -> Sequence[Any]:
    said = [part for part in (row["text"], row["note"]) if isinstance(part, str)]
    return row["name"], row["scope"], row["value"], row["bar"], "; ".join(said)


def _fact(row: dict[str, Any]) -> Sequence[Any]:
    return row["name"], row["scope"], row["text"], row["note"]


def _interval(low: float, high: float, level: float, method: Any) -> str:
    if math.isnan(low) or math.isnan(high):
        return ""
    stated = f" at {100 * level:.6g} %" if not math.isnan(level) else ""
    return f"[{low:.4g}, {high:.4g}]{stated}" + (f", {method}" if isinstance(method, str) else "")

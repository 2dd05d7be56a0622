"""The newest records of a cell, as far as their files are what was published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from calib_pipeline.evidence_store import DamagedEvidence

if TYPE_CHECKING:
    from calib_pipeline.cell import Cell
    from calib_pipeline.ladder import Ladder


def newest_records(ladder: Ladder | None, cell: Cell) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]:
    """The newest published record of a cell and its newest diagnostic one, each None where there is none."""
    if ladder is None:
        return None, None
    publications = ladder.ledger.published(cell.study, cell.population)
    try:
        entries = ladder.archive.entries()
    except DamagedEvidence:
        entries = []
    diagnostics = [
        entry.record_id
        for entry in entries
        if (entry.study, entry.population, entry.kind) == (cell.study, cell.population, "diagnostic")
    ]
    return (
        _record(ladder, publications[-1].record_id) if publications else None,
        _record(ladder, diagnostics[-1]) if diagnostics else None,
    )


def _record(ladder: Ladder, record_id: str) -> Mapping[str, Any] | None:
    try:
        return ladder.archive.read(record_id)
    except ValueError:
        return None

"""Which stopped ladders get a diagnostic record: told from declarations, ids and statuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calib_pipeline.evidence.scorer_agreement import FEWEST_USABLE_PAIRS
from calib_pipeline.status.counts import Counts, counts_of
from calib_pipeline.status.own_account import brought
from calib_pipeline.status.standing import open_ladder

if TYPE_CHECKING:
    from calib_pipeline.cell import Cell
    from calib_pipeline.studies.project import Project


def counted(project: Project, cell: Cell) -> tuple[Counts | None, int | None]:
    """The counts of a cell's tables, and its usable pairs; None where a table is not there to be read."""
    ladder = open_ladder(project)
    try:
        tables = brought(project, ladder, cell)
    finally:
        if ladder is not None:
            ladder.close()
    return counts_of(tables), None if tables.ready is None else tables.ready.decided


def wants_diagnostic(project: Project, cell: Cell, pairs: int | None) -> bool:
    """Whether a stopped study is recorded as a diagnostic: it can earn no status, or has too few pairs, but some."""
    if not pairs:
        return False
    return not project.studies[cell.study].supports_status or pairs < FEWEST_USABLE_PAIRS

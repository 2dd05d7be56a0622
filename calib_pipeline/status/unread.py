"""Which table of a cell keeps its ladder from going on: named, with what is wrong with it and what to bring."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from calib_pipeline.errors import InputError, ReviewUnavailable, Unreadable
from calib_pipeline.schemas import GATES
from calib_pipeline.table_cache import TableCache

if TYPE_CHECKING:
    from calib_pipeline.cell import Cell
    from calib_pipeline.status.standing import Stop
    from calib_pipeline.studies.project import Project

Table = Literal["items", "tuning items", "labels", "scores"]

_FIRST_READ_BY = {
    "items": "holdout_reservation",
    "tuning items": "holdout_reservation",
    "labels": "annotations",
    "scores": "scorer_agreement",
}
_USER = re.compile(r"(?<=://)[^/@]*@")


@dataclass(frozen=True)
class UnreadTable:
    """A table that cannot be read. ``absent``: it cannot be opened at all, as against one whose content is wrong."""

    table: Table
    shown: str
    absent: bool
    fault: str
    judged: Cell | None = None
    """The cell whose judge fills the table, where nobody brings it."""

    @property
    def sentence(self) -> str:
        """What cannot be read, and why."""
        return f"the table of {self.table} cannot be read: {self.fault}"

    def next_step(self, then: str) -> str:
        """What to bring or mend before ``then``."""
        if self.judged is not None and self.absent:
            named = f"--study {self.judged.study} --population {self.judged.population}"
            return f"run `calib judge run {named}`, then `{then}`"
        return f"{'bring' if self.absent else 'mend'} the table of {self.table} ({self.shown}), and run `{then}`"


def unread_tables(project: Project, cell: Cell, reserved: set[str] | None) -> tuple[UnreadTable, ...]:
    """The tables of a cell that cannot be read, in the order in which the ladder reads them.

    Parameters
    ----------
    reserved
        The items of the cell's set; None where there is none, and labels and scores are only opened.
    """
    return tuple(_unread(project, cell, reserved))


def keeps_from(stop: Stop, tables: tuple[UnreadTable, ...], changed: tuple[str, ...]) -> UnreadTable | None:
    """The first table without which the step after a stop ends where it began, None where there is none.

    A table that is there and wrong is refused before a run begins. One that is not there yet is no obstacle before the
    rung that reads it, unless evidence rests on it.
    """
    if stop.kind == "does_not_hold":
        return None
    rungs = list(GATES)
    for one in tables:
        reached = rungs.index(stop.asset) >= rungs.index(_FIRST_READ_BY[one.table])
        if not one.absent or reached or any(one.table in part for part in changed):
            return one
    return None


def shown_path(project: Project, url: str) -> str:
    """A table's address as the project names it, without user name and password."""
    return _USER.sub("", TableCache(project).relative(url))


def _unread(project: Project, cell: Cell, reserved: set[str] | None) -> Iterator[UnreadTable]:
    study, tables = project.studies[cell.study], TableCache(project)

    def tried(table: Table, url: str, read: Callable[[], object]) -> UnreadTable | None:
        try:
            read()
        except (InputError, ReviewUnavailable) as fault:
            absent = isinstance(fault, Unreadable | ReviewUnavailable)
            return UnreadTable(table, shown_path(project, url), absent, str(fault))
        return None

    items = tried("items", project.populations[cell.population], lambda: tables.manifest(cell.population))
    if items is not None:
        yield items
        return
    if study.scorer.tuned_on is not None:
        shaped_by = project.path(study.scorer.tuned_on, cell.population)
        tuning = tried("tuning items", shaped_by, lambda: tables.tuned_on(study, cell.population))
        if tuning is not None:
            yield tuning
            return
    sheet = project.path(study.data.annotations, cell.population)
    if reserved is None:
        unusable = tried("labels", sheet, lambda: tables.refuse_unusable(study, cell.population))
        if unusable is not None:
            yield _placed(project, cell, unusable)
        return
    labels = tried("labels", sheet, lambda: tables.labels(study, cell.population, reserved))
    if labels is not None:
        yield labels
    outputs = project.scores(study, cell.population)
    scores = tried("scores", outputs, lambda: tables.scores(study, cell.population, reserved))
    if scores is not None:
        yield replace(scores, judged=cell) if study.judged else scores


def _placed(project: Project, cell: Cell, unusable: UnreadTable) -> UnreadTable:
    """The table that was refused before a set was reserved: the label sheet, else the scores."""
    study = project.studies[cell.study]
    outputs = project.scores(study, cell.population)
    if _USER.sub("", outputs) not in unusable.fault:
        return unusable
    return UnreadTable("scores", shown_path(project, outputs), unusable.absent, unusable.fault)

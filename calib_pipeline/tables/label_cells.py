"""Reading the cells of a label row: who, when, which repeat, and what was declared about the label."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from calib_pipeline.studies.scale import number_of
from calib_pipeline.studies.study import Study
from calib_pipeline.tables.columns import blank, column, truth
from calib_pipeline.tables.distinct import Distinct
from calib_pipeline.tables.reading import RawTable
from calib_pipeline.tables.reasons import Reason
from calib_pipeline.tables.values import Read

if TYPE_CHECKING:
    import pandas as pd

CONFIDENCES = ("high", "medium", "low")
_ROLES = ("annotator", "adjudicator")
_FLAGS = ("saw_scorer_output", "saw_other_labels", "prefilled")
_MOST_REPEATS = 1_000_000
_STATUSES = {
    "approved": None,
    "skipped": Reason.SKIPPED,
    "pending": Reason.NOT_APPROVED,
    "rejected": Reason.NOT_APPROVED,
    "not_annotated": Reason.NOT_ANNOTATED,
}


class Unread(str):
    """Why a cell could not be read."""


class LabelCells:
    """The columns of a label sheet, each cell read once a spelling; what cannot be read is :class:`Unread`."""

    def __init__(self, table: RawTable, study: Study) -> None:
        self._table = table
        self.ids = self.written("item_id")
        self.people: Distinct[str | None] = Distinct(self.written("annotator_id"), _person)
        self.values = Distinct(self.written("value"), lambda cell: Read.of(study, cell))
        self.statuses = Distinct(self.written("status"), _status)
        self.repeats: Distinct[Any] = Distinct(self.written("repeat"), _or_unread(_repeat))
        self.roles: Distinct[Any] = Distinct(self.written("role"), _or_unread(_role))
        self.times: Distinct[Any] = Distinct(self.written("labeled_at"), _or_unread(_time))
        self.confidences: Distinct[Any] = Distinct(self.written("confidence"), _or_unread(_confidence))
        self.flags: dict[str, Distinct[Any]] = {
            name: Distinct(self.written(name), _or_unread(truth)) for name in _FLAGS
        }

    def written(self, name: str) -> pd.Series[str]:
        """A column as it was written, empty where the sheet has none of that name."""
        return column(self._table, name)


def _or_unread(function: Callable[[str | None], Any]) -> Callable[[str | None], Any]:
    def read(cell: str | None) -> Any:
        try:
            return function(cell)
        except ValueError as error:
            return Unread(error)

    return read


def _person(cell: str | None) -> str | None:
    """The annotator's id without surrounding space and Unicode composition; case may tell two people apart."""
    return None if cell is None or blank(cell) else unicodedata.normalize("NFC", cell.strip())


def _status(cell: str | None) -> Reason | None:
    return None if cell is None or blank(cell) else _STATUSES.get(cell.strip().casefold(), Reason.NOT_APPROVED)


def _repeat(cell: str | None) -> int:
    if cell is None or blank(cell):
        return 1
    number = number_of(cell)
    if number is None or not 1 <= number <= _MOST_REPEATS or number != int(number):
        raise ValueError(f"{cell!r} is none of 1, 2, 3, …")
    return int(number)


def _role(cell: str | None) -> str:
    return _one_of(cell, _ROLES) or _ROLES[0]


def _confidence(cell: str | None) -> str | None:
    return _one_of(cell, CONFIDENCES)


def _one_of(cell: str | None, options: tuple[str, ...]) -> str | None:
    if cell is None or blank(cell):
        return None
    if cell.strip().casefold() not in options:
        raise ValueError(f"{cell!r} is none of {', '.join(options)}")
    return cell.strip().casefold()


def _time(cell: str | None) -> str | None:
    """The moment in UTC; a time without a zone could be any of a day's, so it is not read."""
    if cell is None or blank(cell):
        return None
    try:
        moment = datetime.fromisoformat(cell.strip())
    except ValueError:
        raise ValueError(f"{cell!r} is no time as in 2026-04-02T10:00:00Z") from None
    if moment.tzinfo is None:
        raise ValueError(f"{cell!r} has no zone; write it as in 2026-04-02T10:00:00Z or …+02:00")
    try:
        return moment.astimezone(UTC).isoformat()
    except OverflowError:
        raise ValueError(f"{cell!r} is outside the years 1 to 9999 in UTC") from None

"""A condition on one column of the item manifest, as in ``words>=100``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from calib_pipeline.errors import InputError
from calib_pipeline.studies.faults import nearest
from calib_pipeline.studies.scale import number_of

if TYPE_CHECKING:
    import pandas as pd

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge, "<=": operator.le, "!=": operator.ne, "=": operator.eq, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
_CONDITION = re.compile(r"(?P<column>[^=<>!]+)(?P<operator>>=|<=|!=|=|>|<)(?P<value>.*)", re.DOTALL)
_NOT_FOR_FILTERS = ("item_id", "content_digest", "text_digest")


@dataclass(frozen=True)
class ItemFilter:
    """A column, an operator and a value; an empty cell meets no condition."""

    column: str
    operator: str
    value: str

    @classmethod
    def of(cls, text: str) -> ItemFilter:
        """Read a condition.

        Raises
        ------
        InputError
            When it is none.
        """
        match = _CONDITION.fullmatch(text)
        if match is None or not match["column"].strip() or not match["value"].strip():
            raise InputError(
                f"{text!r} is no condition", where="--where", expected="a column, one of = != >= <= > <, and a value"
            )
        return cls(match["column"].strip(), match["operator"], match["value"].strip())

    @property
    def words(self) -> str:
        return f"{self.column} {self.operator} {self.value}"

    def keeps(self, frame: pd.DataFrame) -> list[bool]:
        """(N,) which items of a manifest meet the condition: as numbers where all cells are, by time where all are
        times, else as text.

        Raises
        ------
        InputError
            When the manifest has no such column, or the value cannot be compared with its cells.
        """
        columns = [name for name in frame.columns if name not in _NOT_FOR_FILTERS]
        if self.column not in columns:
            close = nearest(self.column, columns)
            raise InputError(
                f"the item manifest has no column {self.column!r} to filter by",
                where="--where",
                expected=f"one of {', '.join(columns)}",
                todo=f"did you mean {close!r}?" if close else None,
            )
        cells = [None if cell is None or cell != cell else cell for cell in frame[self.column].tolist()]
        read = self._reader(cells)
        wanted, compare = read(self.value), OPERATORS[self.operator]
        return [cell is not None and compare(read(cell), wanted) for cell in cells]

    def _reader(self, cells: Sequence[Any]) -> Callable[[Any], Any]:
        filled = [cell for cell in cells if cell is not None]
        if filled and all(isinstance(cell, float) for cell in filled):
            if number_of(self.value) is None:
                raise InputError(
                    f"the column {self.column!r} holds numbers, and {self.value!r} is none", where="--where"
                )
            return lambda cell: cell if isinstance(cell, float) else number_of(cell)
        if are_times(filled) and moment(self.value) is not None:
            return moment
        if self.operator in ("=", "!="):
            return str
        raise InputError(
            f"the column {self.column!r} holds texts, which have no order",
            where="--where",
            expected="= or != on a column of texts; numbers or ISO 8601 times for the others",
        )


def moment(text: str) -> datetime | None:
    """The time that a cell spells in ISO 8601, without its zone; None where it spells none."""
    try:
        return datetime.fromisoformat(text.strip()).replace(tzinfo=None)
    except ValueError:
        return None


def are_times(cells: Sequence[Any]) -> bool:
    """Whether all filled cells spell times."""
    return bool(cells) and all(isinstance(cell, str) and moment(cell) is not None for cell in cells)

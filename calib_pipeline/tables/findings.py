"""What speaks against each row of a table: the first reason that applies, with a detail for people."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from calib_pipeline.tables.columns import column
from calib_pipeline.tables.reading import RawTable
from calib_pipeline.tables.reasons import NOT_COMPARED_COLUMNS, Reason

if TYPE_CHECKING:
    import pandas as pd


class Findings:
    """Reasons against the rows of one table; a row keeps the first that is added for it."""

    def __init__(self, table: RawTable) -> None:
        self._table = table
        self._details = np.full(len(table.frame), None, dtype=np.object_)
        self.reasons = np.full(len(table.frame), None, dtype=np.object_)
        self.clear = np.ones(len(table.frame), dtype=np.bool_)

    def add(
        self, hit: npt.NDArray[np.bool_], reason: Reason, detail: Callable[[int], str | None] | None = None
    ) -> None:
        """Give a reason to the rows that are hit and still clear; ``detail`` is asked for those positions only."""
        hit = hit & self.clear
        self.reasons[hit] = reason.value
        if detail is not None:
            for position in hit.nonzero()[0].tolist():
                self._details[position] = detail(position)
        self.clear &= ~hit

    def set_aside(self, position: int, reason: Reason, detail: str | None) -> None:
        """Give a reason to one row that was clear."""
        self.reasons[position] = reason.value
        self._details[position] = detail
        self.clear[position] = False

    def listed(self, source: str) -> pd.DataFrame:
        """The rows that are not clear, in the columns of ``not_compared`` and the order of the table."""
        import pandas as pd

        positions = (~self.clear).nonzero()[0]

        def cells(name: str) -> pd.Series[str]:
            return pd.Series(column(self._table, name).to_numpy(dtype=object)[positions], dtype=object)

        frame = pd.DataFrame(
            {
                "source": pd.Series([source] * len(positions), dtype=object),
                "row": pd.Series(np.asarray(self._table.rows, dtype=np.int64)[positions], dtype="int64"),
                "item_id": cells("item_id"),
                "annotator_id": cells("annotator_id"),
                "value": cells("value"),
                "reason": pd.Series(self.reasons[positions], dtype=object),
                "detail": pd.Series(self._details[positions], dtype=object),
            }
        )
        return frame[list(NOT_COMPARED_COLUMNS)]


def outside(ids: pd.Series[str], members: frozenset[str]) -> npt.NDArray[np.bool_]:
    """Where an id is not among the members; shape (n,)."""
    return ~ids.isin(list(members)).to_numpy(dtype=np.bool_)


class NearIds:
    """For an id that is not there the one that is, where only case, space, zeros in front or ``.0`` differ."""

    def __init__(self, known: frozenset[str]) -> None:
        self._known = known
        self._loose: dict[str, str] | None = None

    def detail(self, item: str | None) -> str | None:
        """A sentence that names the near id, or None."""
        if item is None:
            return None
        if self._loose is None:
            self._loose = {_loose(known): known for known in sorted(self._known)}
        near = self._loose.get(_loose(item))
        return None if near is None else f"ids are compared as written; {near!r} is an item, {item!r} is none"


def _loose(item: str) -> str:
    return item.strip().casefold().removesuffix(".0").lstrip("0")

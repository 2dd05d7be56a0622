"""A column by its distinct cells: what is worked out once a spelling need not be worked out once a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from calib_pipeline.digests import digest_json

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")


class Distinct(Generic[T]):
    """Cells of a column, each with the result of one function of the cell.

    Parameters
    ----------
    cells
        Text cells, None where empty; shape (n,).
    function
        Called once for each distinct cell.
    """

    def __init__(self, cells: pd.Series[Any], function: Callable[[str | None], T]) -> None:
        import pandas as pd

        codes, values = pd.factorize(cells)
        self._codes: npt.NDArray[np.int64] = codes
        self._results: list[T] = [function(value) for value in values.tolist()]
        if (codes < 0).any():  # an empty cell has the code -1, which is the place of the last result
            self._results.append(function(None))

    def array(self, of: Callable[[T], Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """A value worked out from each result; shape (n,)."""
        return self._spread([of(result) for result in self._results], dtype)

    def mask(self, of: Callable[[T], bool]) -> npt.NDArray[np.bool_]:
        """Where the result has a property; shape (n,)."""
        return self.array(of, np.bool_)

    def objects(self) -> npt.NDArray[np.object_]:
        """The results themselves; shape (n,)."""
        return self._spread(self._results, np.object_)

    def _spread(self, values: Sequence[Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        table = np.empty(len(values), dtype=dtype)
        for position, value in enumerate(values):
            table[position] = value
        result: npt.NDArray[Any] = table[self._codes]
        return result


def rows_digest(frame: pd.DataFrame, columns: Sequence[str]) -> str | None:
    """Digest of a table's rows as written, whatever their order; columns without a filled cell do not enter.

    None where there are no rows.
    """
    if frame.empty:
        return None
    used = [name for name in columns if name in frame.columns and bool(frame[name].notna().any())]
    cells = [["" if cell is None else cell for cell in frame[name].tolist()] for name in used]
    return digest_json({"columns": used, "rows": sorted(zip(*cells, strict=True))})

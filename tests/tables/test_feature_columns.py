"""A feature column is read as numbers where every cell is one, and as the text that it is otherwise."""

from __future__ import annotations

import math

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from calib_pipeline.studies.scale import number_of
from calib_pipeline.tables.items import manifest_of
from calib_pipeline.tables.reading import raw_table

CELL = st.one_of(
    st.none(),
    st.integers(-(10**17), 10**17).map(str),
    st.decimals(-(10**9), 10**9, places=9, allow_nan=False).map(lambda number: f"{number:f}"),
    st.floats(allow_nan=True, allow_infinity=True).map(repr),
    st.sampled_from(["1_0", " 7 ", "٣", "+5", "1e3", "-0", "1,5", "0x1", "7\n", "", "seven", ".5", "5."]),
)


@given(st.lists(CELL, min_size=1, max_size=6))
def test_whichever_way_it_is_read_it_says_the_same(cells: list[str | None]) -> None:
    table = pd.DataFrame({"item_id": [f"i{at}" for at in range(len(cells))], "f": pd.Series(cells, dtype=object)})
    column = manifest_of(raw_table(table, "made up"), "p").frame["f"]
    given_cells = [cell for cell in cells if cell not in (None, "")]
    numbers = [number_of(cell) for cell in given_cells]
    if not given_cells or any(number is None for number in numbers):
        assert column.dtype != "float64"
        assert [cell for cell in column.tolist() if isinstance(cell, str)] == given_cells
        return
    assert column.dtype == "float64"
    assert [number for number in column.tolist() if not math.isnan(number)] == numbers

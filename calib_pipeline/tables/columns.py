"""Column names: which a table needs, which other names they go by, and what a cell of a closed kind may hold."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from calib_pipeline.errors import InputError
from calib_pipeline.studies.faults import nearest
from calib_pipeline.tables.reading import RawTable

if TYPE_CHECKING:
    import pandas as pd

_FLOAT_ID = re.compile(r"[+-]?\d+\.0", re.ASCII)
_TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def with_names(table: RawTable, known: Sequence[str], synonyms: Mapping[str, str], needed: Sequence[str]) -> RawTable:
    """The table under its contract's column names, each renaming in the report.

    A known name is recognised in any case. A synonym counts only where the column that it stands for is absent.

    Raises
    ------
    InputError
        When a needed column is missing, naming the most similar one present, or two columns claim one name.
    """
    present = list(table.frame.columns)
    renamed: dict[str, str] = {}
    taken = {name for name in present if name in known}
    for spelling, target in {**{name: name for name in known}, **synonyms}.items():
        if target in taken:
            continue
        matches = [name for name in present if name.casefold() == spelling.casefold() and name not in known]
        if len(matches) > 1 or (matches and target in renamed.values()):
            claims = ", ".join(repr(name) for name in [*matches, *(n for n, t in renamed.items() if t == target)])
            raise InputError(
                f"the columns {claims} could each be {target!r}",
                where=table.url,
                expected=f"one column {target!r}",
                todo=f"rename the one that is meant to {target!r}",
            )
        if matches:
            renamed[matches[0]] = target
    frame = table.frame.rename(columns=renamed)
    for name in needed:
        if name not in frame.columns:
            raise InputError(
                f"the column {name!r} is missing",
                where=table.url,
                expected=f"columns {', '.join(needed)}; found {', '.join(present)}",
                todo=_hint(name, present),
            )
    report = (*table.report, *(f"column {name} read as {target}" for name, target in renamed.items()))
    return replace(table, frame=frame, report=report)


def column(table: RawTable, name: str) -> pd.Series[str]:
    """A column of text cells, empty where the table has none of that name."""
    import pandas as pd

    if name in table.frame.columns:
        return table.frame[name]
    return pd.Series([None] * len(table.frame), index=table.frame.index, dtype=object)


def refuse_float_ids(table: RawTable) -> None:
    """Refuse a table whose ids were made into floats on the way.

    Raises
    ------
    InputError
        When every ``item_id`` ends in ``.0``, as a spreadsheet or a data frame with a missing id writes them.
    """
    ids = [value for value in table.frame["item_id"].tolist() if value is not None]
    if ids and all(_FLOAT_ID.fullmatch(value) for value in ids):
        raise InputError(
            f"every item_id ends in .0, as in {ids[0]!r}: a program has read the ids as numbers",
            where=f"{table.url}, column item_id",
            expected=f"ids as they were written, perhaps {ids[0][:-2]!r} or {ids[0][:-2].zfill(3)!r}",
            todo="export the table again with item_id as text; ids are never matched as numbers",
        )


def blank(cell: str | None) -> bool:
    """Whether a cell holds nothing that can be seen."""
    return cell is None or not cell.strip()


def truth(cell: str | None) -> bool | None:
    """The boolean that a cell spells, None where it is empty.

    Raises
    ------
    ValueError
        When the cell spells none.
    """
    if cell is None or blank(cell):
        return None
    try:
        return _TRUTH[cell.strip().casefold()]
    except KeyError:
        raise ValueError(f"{cell!r} is neither true nor false") from None


def _hint(name: str, present: Sequence[str]) -> str:
    close = nearest(name, present)
    return f"did you mean the column {close!r}? Rename it to {name!r}" if close else f"add the column {name!r}"

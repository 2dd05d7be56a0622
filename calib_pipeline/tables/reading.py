"""Reading a table of any accepted format into text cells with the place of each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from calib_pipeline.digests import digest_frame
from calib_pipeline.errors import InputError
from calib_pipeline.tables.csv_text import Columns, parse_csv
from calib_pipeline.tables.json_text import cell_text, load_json, parse_json_lines, parse_json_list
from calib_pipeline.tables.parquet import MAGIC, parse_parquet
from calib_pipeline.tables.source import Source, decoded, read_source

if TYPE_CHECKING:
    import pandas as pd

KNOWN_COLUMNS = (
    "item_id",
    "stratum",
    "group",
    "content_digest",
    "annotator_id",
    "annotator",
    "value",
    "label",
    "labeled_at",
    "created_at",
    "scorer_id",
    "score",
    "verdict",
    "status",
    "confidence",
)


@dataclass(frozen=True)
class RawTable:
    """A table as written.

    Attributes
    ----------
    frame
        Text cells, None where empty; shape (rows, columns), object columns.
    url
        Its address, for messages.
    digest
        SHA-256 of the file's bytes (of the cells, for a table that came as a data frame).
    rows
        Place of each row: its line in a text file, its number from 1 elsewhere; shape (rows,).
    report
        What was detected: byte order mark, line ends, separator, skipped rows, renamed columns.
    unit
        Whether ``rows`` counts lines or rows.
    """

    frame: pd.DataFrame
    url: str
    digest: str
    rows: Sequence[int]
    report: tuple[str, ...] = ()
    unit: Literal["line", "row"] = "row"

    def where(self, position: int, column: str | None = None) -> str:
        """The place of the row at a position of the frame."""
        row = self.rows[position]
        place = f"{self.url}:{row}" if self.unit == "line" else f"{self.url}, row {row}"
        return place if column is None else f"{place}, column {column}"


def read_table(url: str | Source) -> RawTable:
    """Read CSV, JSON Lines, a JSON list or Parquet, local or on any fsspec address.

    Raises
    ------
    Unreadable
        When the file cannot be opened.
    InputError
        When its content is no table, with the place of the fault; an empty file of any kind says so.
    """
    return table_of(read_source(url))


def table_of(source: Source) -> RawTable:
    """The table in a file that is already read; errors as in :func:`read_table`."""
    if source.content.startswith(MAGIC):
        columns, rows, report = parse_parquet(source.content, source.shown)
        return _table(columns, source, rows, report, "row")
    if source.suffix in (".parquet", ".pq"):
        raise InputError("this is no Parquet file, whatever its name says", where=source.shown, expected="Parquet")
    text, found = decoded(source)
    if source.suffix == ".json" or (source.suffix not in (".csv", ".tsv", ".txt") and text.lstrip().startswith("[")):
        columns, rows, report = parse_json_list(load_json(text, source.shown), source.shown)
        return _all_text(_table(columns, source, rows, found + report, "row"))
    if source.suffix in (".jsonl", ".ndjson") or text.lstrip().startswith("{"):
        columns, rows, report = parse_json_lines(text, source.shown)
        return _all_text(_table(columns, source, rows, found + report, "line"))
    columns, rows, report = parse_csv(text, source.shown, KNOWN_COLUMNS)
    return _table(columns, source, rows, found + report, "line")


def raw_table(frame: pd.DataFrame, name: str) -> RawTable:
    """A data frame as a raw table: every cell becomes its text, missing values become empty.

    Whole numbers are written without a decimal point, floats with one, times in ISO 8601.

    Raises
    ------
    InputError
        When the frame has no rows or names a column twice.
    """
    names = [str(column) for column in frame.columns]
    if len(set(names)) < len(names):
        raise InputError("a column stands twice", where=name, expected="each column once")
    if not len(frame):
        raise InputError("the table has no rows", where=name, expected="at least one row")
    texts = text_frame({str(column): _texts(frame[column]) for column in frame.columns})
    return RawTable(texts, name, digest_frame(texts), range(1, len(frame) + 1))


def text_frame(columns: Columns) -> pd.DataFrame:
    """A frame of object columns, so that an empty cell is None in every version of pandas."""
    import pandas as pd

    return pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})


def _table(
    columns: Columns, source: Source, rows: list[int], report: list[str], unit: Literal["line", "row"]
) -> RawTable:
    return RawTable(text_frame(columns), source.shown, source.digest, rows, tuple(report), unit)


def _all_text(table: RawTable) -> RawTable:
    """JSON alone can spell halves of characters, which no file can hold."""
    for name in table.frame.columns:
        cells = table.frame[name].tolist()
        try:
            "".join(cell for cell in cells if cell is not None).encode()
        except UnicodeEncodeError:
            position = next(place for place, cell in enumerate(cells) if cell is not None and not _is_text(cell))
            raise InputError(
                "the cell holds half a character (a lone surrogate)",
                where=table.where(position, name),
                expected="text",
            ) from None
    return table


def _is_text(cell: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in cell)


def _texts(column: pd.Series[Any]) -> list[str | None]:
    missing = column.isna().tolist()
    return [None if absent else _text(value) for value, absent in zip(column.tolist(), missing, strict=True)]


def _text(value: Any) -> str | None:
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, str | bool | list | dict):
        return cell_text(value)
    return repr(value) if isinstance(value, float) else str(value)

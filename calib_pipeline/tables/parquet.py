"""Parquet: every column as text, so that an id means the same whatever its type was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calib_pipeline.errors import InputError
from calib_pipeline.tables.csv_text import Columns
from calib_pipeline.tables.json_text import cell_text

if TYPE_CHECKING:
    import pyarrow as pa

MAGIC = b"PAR1"
MOST_CELLS = 500_000_000
MOST_BYTES = 8 * 2**30
BATCH_ROWS = 4096


def parse_parquet(content: bytes, shown: str) -> tuple[Columns, list[int], list[str]]:
    """Columns as text, row numbers (from 1) and findings; see :func:`calib_pipeline.tables.csv_text.parse_csv`.

    Whole numbers become their digits, dictionary (category) columns their values, times their ISO 8601 text with the
    zone where the column has one, booleans ``true`` and ``false``, nested values JSON.

    Raises
    ------
    InputError
        When the file is damaged, has no rows, names a column twice, holds bytes that are no text, or unfolds to more
        than a table of labels can be.
    """
    import pyarrow as pa

    try:
        table = _unfolded(content, shown)
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"this is no readable Parquet file: {str(error).splitlines()[0]}",
            where=shown,
            expected="a whole Parquet file",
            todo="write it again",
        ) from None
    if table.num_rows == 0:
        raise InputError(
            "the file holds columns and no rows", where=shown, expected="at least one row", todo="export it again"
        )
    report = []
    columns: Columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name.startswith("__index_level_"):
            report.append(f"the index column {name} is not read")
            continue
        if name.strip() in columns:
            raise InputError(f"the file names the column {name!r} twice", where=shown, expected="each column once")
        columns[name.strip()] = _texts(column, name, shown)
    return columns, list(range(1, table.num_rows + 1)), report


def _unfolded(content: bytes, shown: str) -> pa.Table:
    """The table, unless it grows beyond measure: a few bytes of Parquet can stand for a billion cells, or for one long
    text repeated a million times."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.BufferReader(content))
    cells = file.metadata.num_rows * file.metadata.num_columns
    if cells > MOST_CELLS:
        raise _too_large(f"{cells:,} cells", f"{MOST_CELLS:,}", shown)
    batches, size = [], 0
    for batch in file.iter_batches(BATCH_ROWS):
        size += batch.nbytes
        if size > MOST_BYTES:
            raise _too_large(f"more than {MOST_BYTES:,} bytes", f"{MOST_BYTES:,}", shown)
        batches.append(batch)
    return pa.Table.from_batches(batches, file.schema_arrow)


def _too_large(found: str, most: str, shown: str) -> InputError:
    return InputError(
        f"the file of Parquet unfolds to {found}",
        where=shown,
        expected=f"at most {most}",
        todo="divide the population, or leave out columns that nothing reads",
    )


def _texts(column: pa.ChunkedArray, name: str, shown: str) -> list[str | None]:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    try:
        values: list[Any] = column.to_pylist()
    except UnicodeDecodeError:
        raise _no_text(name, shown) from None
    except Exception as fault:
        raise InputError(
            f"the column of type {kind} cannot be read: {type(fault).__name__}: {fault}",
            where=f"{shown}, column {name}",
            expected="text, numbers, truth values or times in a zone that is known",
        ) from None
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return [None if value is None else value.isoformat() for value in values]
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return _decoded(values, name, shown)
    if pa.types.is_floating(kind):
        return [None if value is None or value != value else repr(value) for value in values]
    if pa.types.is_nested(kind) or pa.types.is_boolean(kind):
        return [cell_text(value) for value in values]
    return [None if value is None or value == "" else str(value) for value in values]


def _decoded(values: list[bytes | None], name: str, shown: str) -> list[str | None]:
    try:
        return [None if not value else value.decode("utf-8") for value in values]
    except UnicodeDecodeError:
        raise _no_text(name, shown) from None


def _no_text(name: str, shown: str) -> InputError:
    return InputError("the column holds bytes that are no UTF-8 text", where=f"{shown}, column {name}", expected="text")

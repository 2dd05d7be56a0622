"""Tables that were written to harm whoever reads them meet a limit, or are data like any other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calib_pipeline.errors import InputError
from calib_pipeline.studies.study import Study
from calib_pipeline.tables import parquet
from calib_pipeline.tables.annotations import read_labels
from calib_pipeline.tables.items import read_manifest
from calib_pipeline.tables.reading import read_table

Write = Callable[[str, str | bytes], str]


def test_a_few_bytes_that_stand_for_a_billion_cells_are_refused(tmp_path: Path) -> None:
    rows = 600_000
    nothing = pa.nulls(rows, pa.int8())
    path = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({f"c{number}": nothing for number in range(900)}), path)
    assert path.stat().st_size < 2_000_000
    with pytest.raises(InputError, match="unfolds to 540,000,000 cells; expected at most 500,000,000"):
        read_table(str(path))


def test_one_long_text_that_is_repeated_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"item_id": ["x" * 10_000] * 20_000}), path)
    assert path.stat().st_size < 1_000_000
    monkeypatch.setattr(parquet, "MOST_BYTES", 2**27)
    with pytest.raises(InputError, match="unfolds to more than 134,217,728 bytes"):
        read_table(str(path))


def test_a_table_of_many_batches_is_read_whole(tmp_path: Path) -> None:
    rows = 3 * parquet.BATCH_ROWS + 1
    path = tmp_path / "t.parquet"
    levels = pa.array(["a", "b", None] * parquet.BATCH_ROWS + ["c"]).dictionary_encode()
    pq.write_table(pa.table({"item_id": list(range(rows)), "value": levels}), path, row_group_size=5000)
    frame = read_table(str(path)).frame
    assert frame["item_id"].tolist() == [str(number) for number in range(rows)]
    assert frame["value"].tolist() == ["a", "b", None] * parquet.BATCH_ROWS + ["c"]


def test_archives_are_not_unpacked(write: Write) -> None:
    for magic in (b"PK\x03\x04", b"\x1f\x8b"):
        with pytest.raises(InputError, match="CSV, JSON Lines or Parquet"):
            read_table(write("t.csv", magic + b"0" * 100))


def test_a_value_nested_beyond_measure_is_refused(write: Write) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    with pytest.raises(InputError, match="nested too deeply"):
        read_table(write("t.jsonl", f'{{"item_id": {deep}}}\n'))


@pytest.mark.parametrize("cell", ["=cmd|' /C calc'!A0", "@SUM(1)", "+1", "-1", '=HYPERLINK("http://x")'])
def test_a_formula_is_text_like_any_other(write: Write, cell: str, study: Study) -> None:
    quoted = '"' + cell.replace('"', '""') + '"'
    manifest = read_manifest(write("i.csv", f"item_id,kind\n{quoted},{quoted}\nb,\n"), "p")
    assert cell in manifest.frame["item_id"].tolist()
    labels = read_labels(write("a.csv", f"item_id,annotator_id,value\n{quoted},{quoted},pass\n"), study, {cell}, {cell})
    assert labels.frame[["item_id", "annotator_id", "value"]].to_numpy().tolist() == [[cell, cell, "pass"]]
    with pytest.raises(InputError) as refusal:
        read_manifest(write("r.csv", f"item_id\n{quoted}\n{quoted}\n"), "p")
    assert cell in str(refusal.value)

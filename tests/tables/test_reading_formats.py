"""JSON Lines, JSON lists, Parquet and data frames give the same text cells as CSV."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calib_pipeline.errors import InputError
from calib_pipeline.tables.reading import raw_table, read_table

Write = Callable[[str, str | bytes], str]


def parquet(folder: Path, **columns: pa.Array) -> str:
    path = folder / "t.parquet"
    pq.write_table(pa.table(columns), path)
    return str(path)


def test_numbers_in_json_are_the_text_that_was_written(write: Write) -> None:
    path = write("t.jsonl", '{"item_id": 7, "value": 1.0}\n{"item_id": "007", "value": 1e3}\n{"item_id": 7.0}\n')
    table = read_table(path)
    assert table.frame["item_id"].tolist() == ["7", "007", "7.0"]
    assert table.frame["value"].tolist() == ["1.0", "1e3", None]
    assert list(table.rows) == [1, 2, 3]


def test_other_json_values_have_a_text(write: Write) -> None:
    row = {"a": True, "b": None, "c": "", "d": [1, "x"], "e": {"k": "v"}}
    table = read_table(write("t.json", json.dumps([row])))
    assert table.frame.iloc[0].tolist() == ["true", None, None, '["1", "x"]', '{"k": "v"}']


def test_rows_with_different_keys_make_one_table(write: Write) -> None:
    table = read_table(write("t.jsonl", '{"item_id": "a", "x": "1"}\n\n{"y": "2", "item_id": "b"}\n'))
    assert list(table.frame.columns) == ["item_id", "x", "y"]
    assert list(table.rows) == [1, 3]


@pytest.mark.parametrize(
    ("name", "text", "place", "words"),
    [
        ("t.jsonl", '{"a": 1}\n{"a": \n', ":2", "not JSON"),
        ("t.jsonl", '{"a": 1}\n[1]\n', ":2", "no object"),
        ("t.jsonl", '{"a": 1, "a": 2}\n', ":1", "'a' stands twice"),
        ("t.json", '[{"a": 1},\n {"a": }]', ":2", "not JSON"),
        ("t.json", '[{"a": 1}, 2]', ", row 2", "no object"),
        ("t.json", '"text"', "", "no list"),
        ("t.json", "[" * 100_000, ":1", "nested too deeply"),
    ],
)
def test_damaged_json_is_refused_with_its_place(write: Write, name: str, text: str, place: str, words: str) -> None:
    path = write(name, text)
    with pytest.raises(InputError) as caught:
        read_table(path)
    assert caught.value.where == path + place and words in str(caught.value)


def test_a_file_without_a_telling_name_is_known_by_its_content(write: Write, tmp_path: Path) -> None:
    for name, text in (("a", "item_id\nx\n"), ("b", '[{"item_id": "x"}]'), ("c", '{"item_id": "x"}\n')):
        assert read_table(write(name, text)).frame["item_id"].tolist() == ["x"]
    path = parquet(tmp_path, item_id=pa.array(["x"]))
    assert read_table(str(Path(path).rename(tmp_path / "t.dat"))).frame["item_id"].tolist() == ["x"]


def test_every_kind_of_parquet_column_becomes_text(tmp_path: Path) -> None:
    moment = datetime(2026, 4, 2, 10, tzinfo=UTC)
    path = parquet(
        tmp_path,
        item_id=pa.array([7, None], pa.int64()),
        category=pa.array(["x", None]).dictionary_encode(),
        counted=pa.array([3, None]).dictionary_encode(),
        number=pa.array([4.0, float("nan")]),
        small=pa.array([0.5, None], pa.float32()),
        yes=pa.array([True, None]),
        zoned=pa.array([moment, None], pa.timestamp("us", "UTC")),
        local=pa.array([moment.replace(tzinfo=None), None], pa.timestamp("us")),
        raw=pa.array([b"caf\xc3\xa9", None]),
        nested=pa.array([["a"], None]),
        empty=pa.array(["", None]),
        nothing=pa.array([None, None]),
    )
    frame = read_table(path).frame
    assert frame.iloc[0].to_dict() == {
        "item_id": "7",
        "category": "x",
        "counted": "3",
        "number": "4.0",
        "small": "0.5",
        "yes": "true",
        "zoned": "2026-04-02T10:00:00+00:00",
        "local": "2026-04-02T10:00:00",
        "raw": "café",
        "nested": '["a"]',
        "empty": None,
        "nothing": None,
    }
    assert frame.iloc[1].tolist() == [None] * 12


def test_a_parquet_table_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="columns and no rows"):
        read_table(parquet(tmp_path, item_id=pa.array([], pa.string())))


def test_the_index_of_a_data_frame_is_no_column(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pd.DataFrame({"item_id": ["a"]}, index=["x"]).to_parquet(path)
    table = read_table(str(path))
    assert list(table.frame.columns) == ["item_id"] and "index column" in table.report[0]


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"column item_id: the column holds bytes that are no UTF-8 text"):
        read_table(parquet(tmp_path, item_id=pa.array([b"\xff"])))


def test_a_data_frame_is_a_table_too() -> None:
    frame = pd.DataFrame(
        {
            "item_id": pd.Categorical(["a", None]),
            "count": pd.array([3, None], dtype="Int64"),
            "score": [0.5, float("nan")],
            "ok": [True, False],
            "at": pd.to_datetime(["2026-04-02T10:00:00Z", None]),
            "text": ["", None],
        }
    )
    table = raw_table(frame, "items")
    assert table.frame.iloc[0].tolist() == ["a", "3", "0.5", "true", "2026-04-02T10:00:00+00:00", None]
    assert table.frame.iloc[1].tolist() == [None, None, None, "false", None, None]
    assert table.where(1, "score") == "items, row 2, column score"


def test_a_frame_without_rows_or_with_twin_columns_is_refused() -> None:
    with pytest.raises(InputError, match="no rows"):
        raw_table(pd.DataFrame({"item_id": []}), "items")
    with pytest.raises(InputError, match="stands twice"):
        raw_table(pd.DataFrame([["a", "b"]], columns=["item_id", "item_id"]), "items")


def test_half_a_character_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text('{"item_id": "a", "value": "yes"}\n{"item_id": "b", "value": "y\\ud800"}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"scores.jsonl:2, column value: the cell holds half a character"):
        read_table(str(path))


def test_parquet_text_that_is_no_utf8_is_refused_by_column(tmp_path: Path) -> None:
    path = tmp_path / "items.parquet"
    column = pa.array([b"a", b"\xff"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"item_id": column}), path)
    with pytest.raises(InputError, match=r"column item_id: the column holds bytes that are no UTF-8 text"):
        read_table(str(path))


def test_a_time_in_a_zone_that_nobody_knows_is_refused_by_column(tmp_path: Path) -> None:
    path = tmp_path / "labels.parquet"
    times = pa.array([0], pa.timestamp("us", tz="Mars/Phobos"))
    pq.write_table(pa.table({"item_id": ["a"], "labeled_at": times}), path)
    with pytest.raises(InputError, match=r"column labeled_at: the column of type timestamp.* cannot be read"):
        read_table(str(path))

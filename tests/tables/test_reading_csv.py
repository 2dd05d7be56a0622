"""Separated text is read as it stands; what is damaged is refused with its line."""

from __future__ import annotations

import csv
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calib_pipeline.errors import InputError
from calib_pipeline.tables.csv_text import parse_csv
from calib_pipeline.tables.reading import read_table

Write = Callable[[str, str | bytes], str]


def columns(path: str) -> dict[str, list[str | None]]:
    table = read_table(path)
    return {str(name): table.frame[name].tolist() for name in table.frame.columns}


def fault(path: str) -> str:
    with pytest.raises(InputError) as caught:
        read_table(path)
    return str(caught.value).replace(path, "FILE")


def test_cells_stay_text(write: Write) -> None:
    path = write("t.csv", "item_id,value\n007,1.0\n7,NA\n7.0,nan\n0100,=1+1\n1e3,TRUE\n")
    assert columns(path) == {
        "item_id": ["007", "7", "7.0", "0100", "1e3"],
        "value": ["1.0", "NA", "nan", "=1+1", "TRUE"],
    }


def test_only_an_empty_cell_is_empty(write: Write) -> None:
    assert columns(write("t.csv", 'item_id,value\na,\nb,""\nc, \n'))["value"] == [None, None, " "]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("\ufeffitem_id,value\r\na,b\r\n", ("byte order mark", "CRLF line ends")),
        ("\ufeff\ufeffitem_id,value\na,b\n", ("2 byte order marks",)),
        ('\ufeff\ufeff\ufeff"item_id","value"\na,b\n', ("3 byte order marks",)),
        ("item_id;value\na;b\n", ("separator semicolon",)),
        ("item_id\tvalue\na\tb\n", ("separator tab",)),
        ("sep=;\nitem_id;value\na;b\n", ("separator semicolon",)),
        ("item_id,value\ra,b\r", ()),
        ("\n\nitem_id,value\n\na,b\n\n", ("4 empty rows skipped",)),
        ("item_id,value\na,b\n,\n", ("1 empty row skipped",)),
        ('"item_id","value"\n"a","b"', ()),
        ("item_id , value\na,b\n", ()),
        ('item_id;"a,b,c"\na;b\n', ("separator semicolon",)),
    ],
)
def test_what_a_spreadsheet_does_to_a_table_is_found_and_told(write: Write, text: str, found: tuple[str, ...]) -> None:
    path = write("t.csv", text)
    table = read_table(path)
    assert table.frame["item_id"].tolist() == ["a"] and table.frame.iloc[0, 1] == "b"
    assert table.report == found


def test_the_separator_is_the_one_that_gives_known_columns(write: Write) -> None:
    assert list(columns(write("t.csv", "item_id;note, with, commas;value\na;x;b\n"))) == [
        "item_id",
        "note, with, commas",
        "value",
    ]


def test_a_single_column_needs_no_separator(write: Write) -> None:
    assert columns(write("t.csv", "item_id\na\nb\n")) == {"item_id": ["a", "b"]}


def test_rows_know_their_lines_also_across_quoted_line_ends(write: Write) -> None:
    table = read_table(write("t.csv", 'item_id,note\na,"one\ntwo"\n\nb,x\n'))
    assert list(table.rows) == [2, 5]
    assert table.where(1, "note").endswith("t.csv:5, column note")
    assert table.frame["note"].tolist() == ["one\ntwo", "x"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("item_id,value\na,b,c\n", "FILE:2: the row has 3 cells where the header has 2; expected 2 cells between"),
        ("item_id,value\na,b\nc\nd\n", "FILE:3: the row has 1 cells where the header has 2, and so have 1 other rows"),
        ('item_id,value\na,"b\nc,d\n', "FILE:2: a quote is opened in this row and never closed"),
        ('item_id,value\na,b\nc,"d"e\n', "FILE:3: a quoted cell goes on after its closing quote"),
        ("item_id,value,value\na,b,c\n", "FILE:1: the header names the column 'value' twice"),
        ("item_id,value,value \na,b,c\n", "FILE:1: the header names the column 'value' twice"),
        ("item_id,value\n", "FILE: the file holds a header and no rows"),
        ("item_id,value\n,\n \n", "FILE: the file holds a header and no rows"),
        (",,\n,,\n", "FILE: the file holds no header"),
    ],
)  # fmt: skip
def test_a_damaged_table_is_refused_with_its_line(write: Write, text: str, expected: str) -> None:
    assert fault(write("t.csv", text)).startswith(expected)


def test_many_ragged_rows_are_counted_and_the_first_named(write: Write) -> None:
    message = fault(write("t.csv", "item_id,value\n" + "a\n" * 20))
    assert "and so have 19 other rows (lines 3, 4, 5, 6, 7, …)" in message


def test_a_column_without_a_name_is_told_and_not_read(write: Write) -> None:
    table = read_table(write("t.csv", ",item_id,value,\n0,a,b,\n"))
    assert list(table.frame.columns) == ["item_id", "value"]
    assert table.report == ("column 1 has no name and is not read", "column 4 has no name and is not read")


def test_a_huge_cell_is_read_whole_and_the_process_keeps_its_limit(write: Write) -> None:
    before = csv.field_size_limit()
    long = "x" * 1_000_000
    assert columns(write("t.csv", f"item_id,note\na,{long}\n"))["note"] == [long]
    assert csv.field_size_limit() == before


cells = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=8)


@settings(deadline=None)
@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=8))
def test_what_the_csv_module_writes_is_read_back(rows: list[tuple[str, str]]) -> None:
    import io

    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow(["item_id", "value"])
    writer.writerows([("id", *row)[1:] for row in rows])
    kept = [row for row in rows if row[0].strip() or row[1]]
    if not kept:
        return
    read, lines, _ = parse_csv(out.getvalue(), "t.csv", ("item_id", "value"))
    assert list(zip(*read.values(), strict=True)) == [tuple(cell or None for cell in row) for row in kept]
    assert len(lines) == len(kept) and lines == sorted(lines)

"""What cannot be opened, and what is open but no text, is refused with its name and the reason."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import fsspec
import pytest

from calib_pipeline.errors import InputError, Unreadable
from calib_pipeline.tables.reading import read_table
from calib_pipeline.tables.source import read_source

Write = Callable[[str, str | bytes], str]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("zero.csv", b"", "the file is empty (0 bytes)"),
        ("zero.parquet", b"", "the file is empty (0 bytes)"),
        ("bom.csv", b"\xef\xbb\xbf", "a byte order mark and nothing else"),
        ("two.csv", b"\xef\xbb\xbf\xef\xbb\xbf\n", "a byte order mark and nothing else"),
        ("bom.jsonl", b"\xef\xbb\xbf\r\n", "a byte order mark and nothing else"),
        ("blank.csv", b"\r\n\r\n \n", "blank lines and nothing else"),
        ("blank.jsonl", b"\n", "blank lines and nothing else"),
        ("empty.json", b"[]", "the list is empty"),
        ("object.json", b"{}", "holds no list"),
        ("latin.csv", b"item_id,value\na,b\nb,caf\xe9\n", "0xe9 is not UTF-8"),
        ("mixed.csv", "item_id,value\na,é\n".encode() + b"b,\xe9\n", "0xe9 is not UTF-8"),
        ("utf16.csv", "item_id,value\na,b\n".encode("utf-16"), "in UTF-16"),
        ("nul.csv", b"item_id,value\na,b\0c\n", "NUL byte"),
        ("book.csv", b"PK\x03\x04rest", "zip archive (an Excel workbook, perhaps)"),
        ("book.xls", b"\xd0\xcf\x11\xe0rest", "an old Excel workbook"),
        ("packed.csv", b"\x1f\x8brest", "compressed with gzip"),
        ("text.parquet", b"item_id,value\na,b\n", "no Parquet file"),
        ("cut.parquet", b"PAR1rest", "no readable Parquet file"),
    ],
)
def test_content_that_is_no_table(write: Write, name: str, content: bytes, expected: str) -> None:
    path = write(name, content)
    with pytest.raises(InputError) as caught:
        read_table(path)
    assert not isinstance(caught.value, Unreadable)
    assert str(caught.value).startswith(path) and expected in str(caught.value)


@pytest.mark.parametrize(
    ("content", "line"),
    [(b"item_id,value\na,b\nb,caf\xe9\n", 3), (b"item_id,value\na,\0\n", 2)],
)
def test_the_line_of_a_bad_byte_is_named(write: Write, content: bytes, line: int) -> None:
    path = write("t.csv", content)
    with pytest.raises(InputError) as caught:
        read_table(path)
    assert caught.value.where == f"{path}:{line}"


def test_a_missing_file_a_folder_and_a_forbidden_file(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="does not exist"):
        read_table(str(tmp_path / "absent.csv"))
    with pytest.raises(Unreadable, match="this is a folder"):
        read_table(str(tmp_path))
    with pytest.raises(Unreadable, match="cannot be read"):
        read_table(str(tmp_path / "bad\0name.csv"))


def test_something_that_is_no_file(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        previous = Path.cwd()
        os.chdir(tmp_path)
        try:
            bound.bind("s.csv")
        finally:
            os.chdir(previous)
        with pytest.raises(Unreadable, match="cannot be read"):
            read_table(str(tmp_path / "s.csv"))


def test_a_table_on_an_fsspec_address() -> None:
    with fsspec.open("memory://bucket/t.csv", "wb") as file:
        file.write(b"item_id,value\na,b\n")
    assert read_table("memory://bucket/t.csv").frame["item_id"].tolist() == ["a"]
    with pytest.raises(Unreadable, match="does not exist"):
        read_table("memory://bucket/absent.csv")


def test_an_address_of_an_unknown_kind_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="cannot be read"):
        read_table("nosuchscheme://bucket/t.csv")


def test_a_password_in_an_address_is_never_shown() -> None:
    with pytest.raises(Unreadable) as caught:
        read_table("nosuchscheme://user:secret@host/t.csv")
    assert "secret" not in str(caught.value)


def test_the_digest_is_that_of_the_bytes(write: Write) -> None:
    one, other = read_source(write("a.csv", "item_id\na\n")), read_source(write("b.csv", "item_id\r\na\r\n"))
    assert one.digest != other.digest
    assert one.digest == read_source(write("c.csv", "item_id\na\n")).digest

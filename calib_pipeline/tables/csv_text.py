"""Separated text: the separator found from the header, every row with its line, nothing padded or cut."""

from __future__ import annotations

import csv
import io
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from calib_pipeline.errors import InputError

_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?')
_LONGEST_FIELD = 2**31 - 1
_LIMIT_LOCK = threading.Lock()

Columns = dict[str, list[str | None]]


def parse_csv(text: str, shown: str, known: Sequence[str]) -> tuple[Columns, list[int], list[str]]:
    """Parse separated text whose first row is the header.

    Parameters
    ----------
    text
        The whole file, decoded.
    shown
        Its name in messages.
    known
        Column names that tables have; they tell the separator where counts do not.

    Returns
    -------
    tuple
        Columns by name (None for an empty cell), the line on which each row starts, and what was found.

    Raises
    ------
    InputError
        Naming the line of a row that is longer or shorter than the header, of an unclosed quote, of a header that
        names a column twice, or the file when it has no rows.
    """
    report: list[str] = []
    text, skipped = _without_separator_line(text)
    separator = skipped[1] if skipped else _separator(text, known)
    if separator != ",":
        report.append(f"separator {_SEPARATORS.get(separator, separator)}")
    header: list[str] | None = None
    rows: list[list[str]] = []
    lines: list[int] = []
    blank = 0
    start = skipped[0] if skipped else 0
    with _long_fields():
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        line = start + 1
        try:
            for row in reader:
                if not (row and row[0].strip()) and not any(row[1:]):
                    blank += 1
                elif header is None:
                    header = row
                else:
                    rows.append(row)
                    lines.append(line)
                line = start + reader.line_num + 1
        except csv.Error as error:
            raise InputError(
                _csv_problem(str(error)),
                where=f"{shown}:{line}",
                expected="a quote at both ends of a quoted cell, and quotes inside doubled",
                todo="correct the quotes of this row",
            ) from None
    if header is None:
        raise InputError("the file holds no header", where=shown, expected="a header and rows")
    _refuse_ragged(header, rows, lines, shown, separator)
    if not rows:
        raise InputError(
            "the file holds a header and no rows", where=shown, expected="at least one row", todo="export it again"
        )
    if blank:
        report.append(f"{blank} empty row{'' if blank == 1 else 's'} skipped")
    names = [name.strip() for name in header]
    columns: Columns = {}
    for position, (name, cells) in enumerate(zip(names, zip(*rows, strict=True), strict=True), start=1):
        if not name:
            report.append(f"column {position} has no name and is not read")
            continue
        if name in columns:
            raise InputError(
                f"the header names the column {name!r} twice", where=f"{shown}:{start + 1}", expected="each column once"
            )
        columns[name] = [cell or None for cell in cells]
    return columns, lines, report


def _without_separator_line(text: str) -> tuple[str, tuple[int, str] | None]:
    """A spreadsheet may say its separator in a line of its own, ``sep=;``."""
    first, _, rest = text.partition("\n")
    match = _SEPARATOR_LINE.fullmatch(first.rstrip("\r"))
    return (rest, (1, match[1])) if match else (text, None)


def _separator(text: str, known: Sequence[str]) -> str:
    header = next(line for line in text.splitlines() if line.strip())
    unquoted = re.sub(r'"[^"]*"', lambda quoted: re.sub(r"[,;\t]", "", quoted[0]), header)
    wanted = {name.casefold() for name in known}

    def rank(separator: str) -> tuple[int, int]:
        names = [name.strip().strip('"').casefold() for name in unquoted.split(separator)]
        return sum(name in wanted for name in names), len(names)

    return max(_SEPARATORS, key=rank)


def _refuse_ragged(header: list[str], rows: list[list[str]], lines: list[int], shown: str, separator: str) -> None:
    width = len(header)
    ragged = [(line, len(row)) for line, row in zip(lines, rows, strict=True) if len(row) != width]
    if not ragged:
        return
    line, cells = ragged[0]
    more = f", and so have {len(ragged) - 1} other rows (lines {_some(ragged[1:])})" if len(ragged) > 1 else ""
    raise InputError(
        f"the row has {cells} cells where the header has {width}{more}",
        where=f"{shown}:{line}",
        expected=f"{width} cells between {_SEPARATORS.get(separator, separator)}s in every row",
        todo="quote cells that contain the separator, and fill up rows that are cut short",
    )


def _some(ragged: list[tuple[int, int]]) -> str:
    return ", ".join(str(line) for line, _ in ragged[:5]) + (", …" if len(ragged) > 5 else "")


def _csv_problem(problem: str) -> str:
    if "unexpected end" in problem:
        return "a quote is opened in this row and never closed"
    if "expected after" in problem:
        return "a quoted cell goes on after its closing quote"
    return f"the row cannot be read: {problem}"


@contextmanager
def _long_fields() -> Iterator[None]:
    """Cells may be longer than the csv module's default limit, which is one for the whole process."""
    with _LIMIT_LOCK:
        before = csv.field_size_limit(_LONGEST_FIELD)
        try:
            yield
        finally:
            csv.field_size_limit(before)

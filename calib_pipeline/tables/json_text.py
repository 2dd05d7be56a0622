"""JSON Lines and JSON lists: one object a row, numbers kept as the text in which they were written."""

from __future__ import annotations

import json
from typing import Any

from calib_pipeline.errors import InputError
from calib_pipeline.tables.csv_text import Columns


class _RepeatedKey(ValueError):
    pass


class JsonNumber(str):
    """A number as written, apart from text."""


def load_json(text: str, shown: str, line: int = 1) -> Any:
    """Parse one JSON value; numbers become their text, a repeated key is refused.

    Raises
    ------
    InputError
        With the line of the fault, counted from ``line``.
    """
    try:
        return json.loads(
            text,
            parse_int=JsonNumber,
            parse_float=JsonNumber,
            parse_constant=JsonNumber,
            object_pairs_hook=_without_repeats,
        )
    except json.JSONDecodeError as error:
        raise InputError(
            f"this is not JSON: {error.msg.lower()}", where=f"{shown}:{line + error.lineno - 1}", expected="valid JSON"
        ) from None
    except _RepeatedKey as error:
        raise InputError(f"the key {error} stands twice in one object", where=f"{shown}:{line}") from None
    except RecursionError:
        raise InputError("the value is nested too deeply", where=f"{shown}:{line}") from None


def parse_json_lines(text: str, shown: str) -> tuple[Columns, list[int], list[str]]:
    """Columns, line numbers and findings of a JSON Lines file; see :func:`parse_csv`."""
    objects: list[dict[str, Any]] = []
    lines: list[int] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        value = load_json(line, shown, number)
        if not isinstance(value, dict):
            raise InputError(
                "the line holds no object", where=f"{shown}:{number}", expected='{"item_id": …, …} on each line'
            )
        objects.append(value)
        lines.append(number)
    return _columns(objects), lines, []


def parse_json_list(value: Any, shown: str) -> tuple[Columns, list[int], list[str]]:
    """Columns, row numbers (from 1) and findings of a list of objects; see :func:`parse_csv`."""
    if not isinstance(value, list):
        raise InputError("the file holds no list", where=shown, expected="a list of objects, one a row")
    if not value:
        raise InputError("the list is empty", where=shown, expected="at least one row", todo="export it again")
    for number, entry in enumerate(value, start=1):
        if not isinstance(entry, dict):
            raise InputError("the entry is no object", where=f"{shown}, row {number}", expected="an object a row")
    return _columns(value), list(range(1, len(value) + 1)), []


def cell_text(value: Any) -> str | None:
    """The text of a cell: None and empty text are empty, booleans are true and false, structures are JSON."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _columns(objects: list[dict[str, Any]]) -> Columns:
    names: dict[str, None] = {}
    for entry in objects:
        names.update(dict.fromkeys(entry))
    return {name: [cell_text(entry.get(name)) for entry in objects] for name in names}


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _RepeatedKey(repr(key))
            seen.add(key)
    return result

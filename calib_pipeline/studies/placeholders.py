"""Texts of the template that `calib init` writes: a study that still holds one declares nothing yet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from calib_pipeline.errors import InputError
from calib_pipeline.studies.documents import Document, Key
from calib_pipeline.studies.faults import dotted

_MARK = re.compile(r"\s*TODO(?![\w./\\-])")
"""How a text of the template begins; paths and longer words that begin so are none."""
_WANTED = "your own words in its place"


def placeholder_faults(document: Document, as_written: Iterable[Key]) -> list[InputError]:
    """Each text of the document that is still the template's.

    Parameters
    ----------
    as_written
        Paths of names and values, which may be any word; ``*`` stands for any key or entry.
    """
    names = list(as_written)
    return [
        InputError(f"'{dotted(path)}' is still the template's text", where=str(document.place(path)), expected=_WANTED)
        for path, text in _texts(document.data)
        if _MARK.match(text) and not any(_matches(path, name) for name in names)
    ]


def rubric_placeholder(root: Path, document: Document) -> InputError | None:
    """The fault of a rubric that nobody has written yet; None where it is written, or cannot be read at all."""
    rubric = document.data.get("rubric")
    shown = rubric.get("text") if isinstance(rubric, dict) else None
    if not isinstance(shown, str):
        return None
    try:
        text = (root / shown).read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return None
    if not _MARK.match(text):
        return None
    where = str(document.place(("rubric", "text")))
    return InputError(f"'rubric.text': {shown} is still the template's text", where=where, expected=_WANTED)


def _texts(value: Any, path: Key = ()) -> Iterator[tuple[Key, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, (*path, index))


def _matches(path: Key, pattern: Key) -> bool:
    return len(path) == len(pattern) and all(
        wanted in ("*", element) for element, wanted in zip(path, pattern, strict=True)
    )

"""From what a section refused to sentences with file, line, key, nearest known key and an example."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from calib_pipeline.errors import InputError
from calib_pipeline.studies.declared import Refusal
from calib_pipeline.studies.documents import Document, Key

_FIRST_TOO_LONG = 1e18
"""Whole numbers of more digits are not read as such."""
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_. -]*|…")
_WANTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "bool_type": "true or false",
    "dict_type": "a mapping of keys and values",
    "model_type": "a mapping of keys and values",
    "model_attributes_type": "a mapping of keys and values",
    "tuple_type": "a list",
    "list_type": "a list",
    "too_short": "at least one entry",
}


@dataclass(frozen=True)
class _Found:
    line: int
    path: Key
    fault: InputError
    missing: bool = False
    short: bool = False
    meant: Key | None = None


def faults_of(error: ValidationError, document: Document, model: type[BaseModel]) -> list[InputError]:
    """Each fault that the model found in the document, in the order of the file's lines."""
    found = [_fault(detail, document, model) for detail in error.errors(include_url=False)]
    misspelled = {one.meant for one in found}
    within = {one.path[:length] for one in found for length in range(len(one.path))}
    told = [
        one for one in found if not (one.missing and one.path in misspelled) and not (one.short and one.path in within)
    ]
    return [one.fault for one in sorted(told, key=lambda one: one.line)]


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is spelled most like this one, if any is near."""
    by_fold = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(word.casefold(), by_fold, n=1, cutoff=0.6)
    return by_fold[close[0]] if close else None


def _fault(detail: Any, document: Document, model: type[BaseModel]) -> _Found:
    kind: str = detail["type"]
    context = detail.get("ctx", {})
    refusal = context.get("error")
    loc: Key = tuple(detail["loc"])
    if isinstance(refusal, Refusal):
        loc += refusal.key
    path, section, info = _walk(loc, document.data, model)
    place = document.place(path)
    dotted = _dotted(path)
    expected: str | None
    meant: Key | None = None
    if kind == "extra_forbidden":
        close = nearest(str(path[-1]), _known_keys(section))
        meant = (*path[:-1], close) if close else None
        what, expected, todo = _unknown_key(path, section, close)
    elif kind == "missing":
        what = f"the key '{dotted}' is missing{_meaning(info)}"
        expected, todo = None, _example(path, info)
    elif kind in ("union_tag_not_found", "union_tag_invalid"):
        tags = ", ".join(
            str(context.get("expected_tags", "binary, categorical, ordinal, continuous, pairwise")).split(", ")
        )
        tags = tags.replace("'", "")
        what = f"'{dotted}.kind' is missing" if kind.endswith("not_found") else f"'{dotted}.kind' is {context['tag']!r}"
        expected, todo = f"one of {tags}", _example(path, info)
    elif isinstance(refusal, Refusal):
        what, expected, todo = f"'{dotted}': {refusal.what}" if dotted else refusal.what, refusal.expected, None
    else:
        what, expected, todo = _wrong_value(detail, kind, context, dotted, info, path)
    fault = InputError(what, where=str(place), expected=expected, todo=todo)
    return _Found(place.line, path, fault, kind == "missing", kind == "too_short", meant)


def _unknown_key(path: Key, section: type[BaseModel] | None, close: str | None) -> tuple[str, str | None, str | None]:
    known = _known_keys(section)
    expected = f"one of {', '.join(known)}" if known else None
    todo = None
    if close is not None:
        todo = f"did you mean '{close}'?"
        if example := _example((*path[:-1], close), known[close]):
            todo += f" For {example.removeprefix('for ')}"
    return f"unknown key '{_dotted(path)}'", expected, todo


def _wrong_value(
    detail: Any, kind: str, context: dict[str, Any], dotted: str, info: FieldInfo | None, path: Key
) -> tuple[str, str, str | None]:
    given = detail["input"]
    if kind == "literal_error":
        wanted = f"one of {context['expected'].replace(chr(39), '').replace(' or ', ', ')}"
    else:
        message = str(detail["msg"]).removeprefix("Input should be ")
        wanted = _WANTED.get(kind, message)
    if wanted == "a whole number" and isinstance(given, float) and abs(given) >= _FIRST_TOO_LONG:
        wanted = "a whole number of at most 18 digits"
    todo = _example(path, info)
    if isinstance(given, bool) and kind == "string_type":
        wanted = "text"
        todo = "put the text in quotes: without them YAML reads yes, no, on and off as booleans"
    if kind == "literal_error" and isinstance(given, str):
        close = nearest(given, wanted.removeprefix("one of ").split(", "))
        todo = f"did you mean '{close}'?" if close else todo
    return f"'{dotted}' is {_shown(given)}", wanted, todo


def _walk(loc: Key, data: Any, model: type[BaseModel]) -> tuple[Key, type[BaseModel] | None, FieldInfo | None]:
    """The keys on the way to a fault, the section that holds the last one, and that key's own field.

    pydantic's locations also name the variant of a union, and mark a fault in a key itself with "[key]"; such elements
    are no keys of the file.
    """
    path: list[str | int] = []
    current: Any = data
    holder: type[BaseModel] | None = None
    section: type[BaseModel] | None = model
    field: FieldInfo | None = None
    variants: list[type[BaseModel]] = []
    by_name = False  # the next element is a name that the file chose, as the populations' are
    for position, element in enumerate(loc):
        if element == "[key]":
            continue
        chosen = [variant for variant in variants if element in get_args(variant.model_fields["kind"].annotation)]
        if chosen:
            section, variants = chosen[0], []
        elif isinstance(current, dict) and (element in current or position == len(loc) - 1):
            path.append(element)
            current = current.get(element)
            if by_name:
                by_name, field = False, None
                continue
            holder = section
            field = _known_keys(section).get(str(element))
            models = _models_in(field.annotation) if field else []
            section, variants = (models[0], []) if len(models) == 1 else (None, models)
            by_name = bool(models) and field is not None and get_origin(field.annotation) is dict
        elif isinstance(current, list | tuple) and isinstance(element, int) and element < len(current):
            path.append(element)
            current = current[element]
    return tuple(path), holder, field


def _known_keys(section: type[BaseModel] | None) -> dict[str, FieldInfo]:
    if section is None:
        return {}
    return {info.alias or name: info for name, info in section.model_fields.items()}


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in _models_in(inner)]


def _meaning(info: FieldInfo | None) -> str:
    return f" ({info.description[0].lower()}{info.description[1:].rstrip('.')})" if info and info.description else ""


def _example(path: Key, info: FieldInfo | None) -> str | None:
    if info is None or not info.examples or not path:
        return None
    key = next(element for element in reversed(path) if isinstance(element, str))
    return f"for example: {key}: {_flow(info.examples[0])}"


def _flow(value: Any) -> str:
    """A value as one line of YAML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flow(inner) for inner in value) + "]"
    plain = isinstance(value, str) and _PLAIN.fullmatch(value)
    return value if plain else json.dumps(value, ensure_ascii=False)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "empty"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:77] + "..."


def _dotted(path: Key) -> str:
    text = ""
    for element in path:
        text += f"[{element}]" if isinstance(element, int) else f".{element}" if text else str(element)
    return text

"""The building blocks of every declared section: its strictness, and the types that YAML's traps cannot bend."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

LONGEST_NAME = 100
NAME_PATTERN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


class Refusal(ValueError):
    """A declaration that its section's types allow and its meaning does not.

    ``key`` is the path below the section that refuses, so that the message can name the line.
    """

    def __init__(self, what: str, *, key: tuple[str | int, ...] = (), expected: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.key = key
        self.expected = expected


class Section(BaseModel):
    """A part of a declaration: immutable, and closed to keys that it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def is_name(text: str) -> bool:
    """Whether the text can name a study, a dimension or a population in paths, tags and partition keys."""
    return NAME_PATTERN.fullmatch(text) is not None and ".." not in text and len(text) <= LONGEST_NAME


def refuse_too_wide(low: float, high: float, *, key: str) -> None:
    """Refuse two finite numbers whose distance is no finite one."""
    if not math.isfinite(high - low):
        raise Refusal(
            f"the range {low:g} to {high:g} is wider than any number",
            key=(key,),
            expected="limits whose distance is a finite number",
        )


def _as_text(value: Any) -> Any:
    """Numbers given from Python become their text; a boolean has no text of its own."""
    if isinstance(value, bool):
        raise Refusal(f"{value!r} is a boolean where text is needed", expected="the text in quotes, as in 'true'")
    if isinstance(value, int | float):
        return repr(value)
    return value


def _not_blank(value: str) -> str:
    if not value.strip():
        raise Refusal("the text is empty", expected="at least one visible character")
    return value


FEWEST_WORDS = 5


def _is_sentence(value: str) -> str:
    if len(set(value.casefold().split())) < FEWEST_WORDS:
        raise Refusal(f"{value!r} is no reason", expected=f"a sentence of at least {FEWEST_WORDS} different words")
    return value


def _is_address(value: str) -> str:
    for at, character in enumerate(value, start=1):
        if unicodedata.category(character) in ("Cc", "Cs"):
            raise Refusal(
                f"character {at} of {value!r} is a control character or no character at all, which no path can hold",
                expected="a path or URL of visible characters",
            )
    return value


def _is_name(value: str) -> str:
    if not is_name(value):
        raise Refusal(
            f"the name {value!r} cannot be used",
            expected="letters, digits, '.', '_' and '-', starting with none of '.' and '-', without '..', "
            f"at most {LONGEST_NAME} characters",
        )
    return value


def _finite(value: Any, path: tuple[str | int, ...] = ()) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise Refusal(f"{value!r} is no finite number", key=path, expected="a finite number")
    if isinstance(value, dict):
        for key, inner in value.items():
            _finite(inner, (*path, key))
    if isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            _finite(inner, (*path, index))


def _is_json(value: dict[str, Any]) -> dict[str, Any]:
    _finite(value)
    return value


_AS_WRITTEN = WithJsonSchema({"type": ["string", "number", "boolean"]})

Text = Annotated[str, BeforeValidator(_as_text), AfterValidator(_not_blank), _AS_WRITTEN]
"""Text as written: a level ``1`` is the text "1", and ``Yes`` is no boolean."""

Reason = Annotated[str, AfterValidator(_not_blank)]
"""A sentence for people."""

Sentence = Annotated[Reason, AfterValidator(_is_sentence)]
"""A reason that must be given at some length."""

Address = Annotated[str, AfterValidator(_not_blank), AfterValidator(_is_address)]
"""A path or URL."""

Name = Annotated[str, BeforeValidator(_as_text), AfterValidator(_is_name), _AS_WRITTEN]
"""A name that is safe in paths, tags and partition keys."""

Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Share = Annotated[float, Field(strict=True, ge=0, le=1)]
Flag = Annotated[bool, Field(strict=True)]
Settings = Annotated[dict[str, Any], AfterValidator(_is_json)]
"""Free settings whose values are JSON values."""

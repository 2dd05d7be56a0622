"""Values of a scale as they stand in tables: their canonical text, their spellings, and why one is off the scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from calib_pipeline.studies.scale import ContinuousScale, Parsed, number_of
from calib_pipeline.studies.study import Study

_MOST_SHOWN = 12


class Read(NamedTuple):
    """A written value as read on the study's scale.

    ``value`` is its one canonical text (the level as declared, or the number), ``code`` -1 and ``number`` NaN where
    there is none, ``spelling`` says under which other spelling it was read, if any.
    """

    parsed: Parsed
    value: str | None
    code: int
    number: float
    spelling: str | None

    @classmethod
    def of(cls, study: Study, cell: str | None) -> Read:
        """Read a cell as it stands."""
        return cls.parsed_as(study, cell, study.scale.parse(cell))

    @classmethod
    def parsed_as(cls, study: Study, cell: str | None, parsed: Parsed) -> Read:
        """A cell whose meaning is known already."""
        levels = study.scale.levels
        value = None
        if parsed.number is not None:
            value = repr(parsed.number)
        elif parsed.code is not None and levels is not None:
            value = levels[parsed.code]
        spelling = f"{cell!r} read as {value!r} ({parsed.how})" if parsed.how in ("folded", "alias") else None
        code = -1 if parsed.code is None else parsed.code
        return cls(parsed, value, code, float("nan") if parsed.number is None else parsed.number, spelling)


def spelling_counts(spellings: Iterable[str | None]) -> dict[str, int]:
    """How many cells were read under another spelling, by spelling."""
    return dict(sorted(Counter(spelling for spelling in spellings if spelling is not None).items()))


def off_scale_detail(study: Study, cell: str) -> str:
    """What was expected where a value is off the scale, and which alias would make it one."""
    scale = study.scale
    if isinstance(scale, ContinuousScale):
        low, high = scale.range
        if number_of(cell) is None:
            return f"{cell!r} is no number"
        return f"{cell!r} is outside {low:g} to {high:g}"
    shown = ", ".join(scale.levels[:_MOST_SHOWN]) + (", …" if len(scale.levels) > _MOST_SHOWN else "")
    number = number_of(cell)
    if number is not None:
        for level in scale.levels:
            if number_of(level) == number:
                return f"{cell!r} is none of {shown}; declare the alias {cell!r} if it means {level!r}"
    return f"{cell!r} is none of {shown}"

"""What a command's exit code says, and which says it where several apply."""

from __future__ import annotations

from collections.abc import Iterable

REACHED = 0
"""All asked-for ladders reached their record, or the command did what it was asked."""
FAULT = 1
"""Something broke while running."""
WRONG_INPUT = 2
"""A wrong call or declaration, or an unusable table."""
STOPPED = 3
"""A ladder stopped, was never climbed, or rests on stale evidence or tables that cannot be read: no fault."""
INTERRUPTED = 130
"""Ctrl-C."""

_FIRST_OF = (WRONG_INPUT, FAULT, STOPPED)


def worst(codes: Iterable[int]) -> int:
    """The code of several results: 2 before 1 before 3 before 0."""
    found = set(codes)
    return next((code for code in _FIRST_OF if code in found), REACHED)

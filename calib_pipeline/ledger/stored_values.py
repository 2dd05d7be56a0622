"""What may be stored: valid text, and plain JSON in its canonical form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calib_pipeline.digests import canonical_json
from calib_pipeline.ledger.errors import LedgerError


def details_text(details: Mapping[str, Any]) -> str:
    """The details of an event as canonical JSON; ``LedgerError`` where they are no plain JSON."""
    try:
        text = canonical_json(dict(details))
        text.encode()
    except (TypeError, ValueError) as fault:
        raise LedgerError(f"the details of an event must be plain JSON: {fault}") from fault
    return text


def check_choice(field: str, value: object, choices: tuple[str, ...]) -> None:
    """``LedgerError`` unless the value is one of the words."""
    if value not in choices:
        raise LedgerError(f"{field} must be {' or '.join(choices)}, got {value!r}")


def check_text(field: str, value: object, *, optional: bool = False) -> None:
    """``LedgerError`` unless the value is non-empty, valid Unicode without NUL, or None where that is allowed."""
    if value is None and optional:
        return
    if not isinstance(value, str):
        raise LedgerError(f"{field} must be text, got {value!r} ({type(value).__name__})")
    if not value:
        raise LedgerError(f"{field} must not be empty")
    if "\0" in value:
        raise LedgerError(f"{field} holds the character NUL, which no database keeps as text: {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise LedgerError(f"{field} holds a character that is no valid Unicode: {value!r}") from None

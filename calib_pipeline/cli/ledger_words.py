"""Words that a person gives on the command line and the ledger keeps for good."""

from __future__ import annotations

import unicodedata

from calib_pipeline.errors import InputError


def refuse_unkeepable(given: str, option: str, expected: str) -> None:
    """Refuse words that say nothing, or that nobody could read back from the ledger.

    Raises
    ------
    InputError
        Where no character can be seen, one is a control character, or bytes are no UTF-8.
    """
    for at, character in enumerate(given, start=1):
        kind = unicodedata.category(character)
        if kind == "Cs":
            raise InputError(
                f"{option} is not UTF-8 at character {at}", expected=expected, todo="give the words in UTF-8"
            )
        if kind == "Cc" and character not in "\n\t":
            raise InputError(
                f"{option} holds the control character {ord(character):#04x} at character {at}",
                expected=expected,
                todo="leave it out",
            )
    if not any(character.isprintable() and not character.isspace() for character in given):
        raise InputError(f"{option} is empty", expected=expected)

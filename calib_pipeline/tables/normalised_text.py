"""Texts that differ in nothing but spelling: case, spaces, punctuation and Unicode's forms of one character."""

from __future__ import annotations

import unicodedata

from calib_pipeline.digests import digest_bytes


def normalised_text(text: str) -> str:
    """The text without what two copies of it may differ in.

    Unicode NFKC, casefolded, and NFKC again, since folding can undo it. Format characters (category Cf, such as a
    zero-width space) go, every run of white space, control characters and punctuation (the other characters of
    categories Z, C and P) is one space, and there is none at the ends. Symbols, such as ``+`` and ``€``, stay: they can
    be all that two texts differ in.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join("".join(_shown(character) for character in folded).split())


def normalised_text_digest(text: str) -> str:
    """SHA-256 of :func:`normalised_text` in UTF-8, in hexadecimal."""
    return digest_bytes(normalised_text(text).encode())


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf":
        return ""
    return " " if category[0] in "ZCP" else character

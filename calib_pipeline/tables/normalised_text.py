"""Texts that differ in nothing but spelling: case, spaces, punctuation and Unicode's forms of one character."""

from __future__ import annotations

import unicodedata

from calib_pipeline.digests import digest_bytes

IGNORABLE = (
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
"""Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt), first and last of each range."""


def normalised_text(text: str) -> str:
    """The text without what two copies of it may differ in.

    Unicode NFKC, casefolded, and NFKC again, since folding can undo it. Format characters (category Cf, such as a
    zero-width space) and others that are not shown (Unicode's Default_Ignorable_Code_Point) go; every run of white
    space, control characters and punctuation (the other characters of categories Z, C and P) is one space, and there is
    none at the ends. Symbols, such as ``+`` and ``€``, stay: they can be all that two texts differ in.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join("".join(_shown(character) for character in folded).split())


def normalised_text_digest(text: str) -> str:
    """SHA-256 of :func:`normalised_text` in UTF-8, in hexadecimal."""
    return digest_bytes(normalised_text(text).encode())


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf" or any(first <= ord(character) <= last for first, last in IGNORABLE):
        return ""
    return " " if category[0] in "ZCP" else character

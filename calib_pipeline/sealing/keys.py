"""The sealing key: 32 bytes from the environment or from a file outside of the project, and what is derived from it."""

from __future__ import annotations

import base64
import binascii
import os
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from calib_pipeline.errors import InputError

KEY_VARIABLE, KEY_FILE_VARIABLE = "CALIB_SEALING_KEY", "CALIB_SEALING_KEY_FILE"
BYTES = 32
MAKE_ONE = "make one with `openssl rand -base64 32`, and keep a copy where the labels are not: without it they are lost"


@dataclass(frozen=True)
class SealingKey:
    """What is derived from the 32 bytes by HKDF with SHA-256 (RFC 5869), each for one use.

    Attributes
    ----------
    key_id
        Sixteen hexadecimal digits that name the key and tell nothing of it.
    encryption, commitment
        Keys of 32 bytes, for AES-256-GCM and for HMAC with SHA-256.
    """

    key_id: str
    encryption: bytes = field(repr=False)
    commitment: bytes = field(repr=False)

    @classmethod
    def of(cls, secret: bytes) -> SealingKey:
        """The keys of 32 bytes."""

        def derived(use: str, length: int) -> bytes:
            from cryptography.hazmat.primitives.hashes import SHA256
            from cryptography.hazmat.primitives.kdf.hkdf import HKDF

            return HKDF(SHA256(), length, salt=None, info=f"calib-pipeline sealing 1: {use}".encode()).derive(secret)

        return cls(derived("key id", 8).hex(), derived("encryption", BYTES), derived("commitment", BYTES))


def key_of_environment(root: Path) -> SealingKey | None:
    """The key that ``CALIB_SEALING_KEY`` holds or ``CALIB_SEALING_KEY_FILE`` names; None where neither is set.

    Parameters
    ----------
    root
        The project folder, which must not hold the file: whoever copies the folder would have both.

    Raises
    ------
    InputError
        When both are set, the file cannot be read or lies in the project, what is given is no key, or the package
        cryptography is not installed. No message holds the key.
    """
    text, file = os.environ.get(KEY_VARIABLE), os.environ.get(KEY_FILE_VARIABLE)
    if not text and not file:
        return None
    if text and file:
        raise InputError(
            f"{KEY_VARIABLE} and {KEY_FILE_VARIABLE} are both set", expected="one of the two", todo="unset the other"
        )
    if find_spec("cryptography") is None:
        raise InputError(
            "a sealing key is set, and the package cryptography is not installed",
            todo="install it with `pip install 'calib-pipeline[sealing]'`",
        )
    if text:
        return SealingKey.of(_parsed(text, f"the variable {KEY_VARIABLE}"))
    assert file is not None
    return SealingKey.of(_parsed(_text_of(Path(file), root), file))


def _text_of(file: Path, root: Path) -> str:
    if file.resolve().is_relative_to(root.resolve()):
        raise InputError(
            "the sealing key lies in the project folder, so that a copy of the folder would open its own labels",
            where=str(file),
            expected="a file outside of it",
            todo=f"move the file, and name its new place in {KEY_FILE_VARIABLE}",
        )
    try:
        return file.read_text(encoding="ascii")
    except UnicodeDecodeError:
        return ""
    except OSError as fault:
        raise InputError(
            f"the sealing key cannot be read: {fault.strerror or fault}",
            where=str(file),
            expected="a file with one key",
            todo=MAKE_ONE,
        ) from fault


def _parsed(text: str, where: str) -> bytes:
    try:
        secret = base64.b64decode("".join(text.split()).translate(str.maketrans("-_", "+/")), validate=True)
    except (binascii.Error, ValueError):
        secret = b""
    if len(secret) != BYTES:
        raise InputError("this is no sealing key", where=where, expected=f"{BYTES} bytes in base64", todo=MAKE_ONE)
    return secret

"""A sealed file: a line of what may be known, and the content under AES-256-GCM."""

from __future__ import annotations

import hmac
import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calib_pipeline.sealing.keys import SealingKey

MAGIC = b"calib sealed 1\n"
NONCE_BYTES = 12
HEAD = ("key_id", "nonce", "commitment")


class CannotOpen(Exception):
    """A sealed file does not open: it is damaged, stands under another name, or has another key."""


def sealed(key: SealingKey, name: str, content: bytes) -> bytes:
    """Encrypt a content for one name; the key's id, the nonce and a keyed commitment stand before it.

    The nonce is random, so that sealing twice gives other bytes. The commitment is the HMAC-SHA-256 of name and
    content: AES-GCM alone would let one text open under two keys.
    """
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = os.urandom(NONCE_BYTES)
    head = {"key_id": key.key_id, "nonce": nonce.hex(), "commitment": _commitment(key, name, content)}
    line = MAGIC + json.dumps(head, sort_keys=True).encode() + b"\n"
    return line + AESGCM(key.encryption).encrypt(nonce, content, line + name.encode())


def opened(key: SealingKey, name: str, envelope: bytes) -> bytes:
    """The content that was sealed for a name.

    Raises
    ------
    CannotOpen
        When it was sealed with another key or for another name, or was altered since.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    head, length = _head(envelope)
    if head["key_id"] != key.key_id:
        raise CannotOpen(f"it is sealed with the key {head['key_id']}, and the key at hand is {key.key_id}")
    try:
        content = AESGCM(key.encryption).decrypt(
            bytes.fromhex(head["nonce"]), envelope[length:], envelope[:length] + name.encode()
        )
    except (InvalidTag, ValueError) as fault:
        raise CannotOpen("it was altered after it was sealed, or put in another's place") from fault
    if not hmac.compare_digest(str(head["commitment"]), _commitment(key, name, content)):
        raise CannotOpen("its content is not what its commitment says")
    return content


def key_id_of(envelope: bytes) -> str:
    """Which key a file is sealed with; ``CannotOpen`` where the file is damaged."""
    return str(_head(envelope)[0]["key_id"])


def _head(envelope: bytes) -> tuple[dict[str, Any], int]:
    end = envelope.find(b"\n", len(MAGIC)) + 1
    try:
        head = json.loads(envelope[len(MAGIC) : end])
    except ValueError:
        head = None
    texts = isinstance(head, dict) and all(
        isinstance(head.get(name), str) for name in ("key_id", "nonce", "commitment")
    )
    if not envelope.startswith(MAGIC) or not end or not texts:
        raise CannotOpen("it is damaged: its first lines are not those of a sealed file")
    assert isinstance(head, dict)
    return head, end


def _commitment(key: SealingKey, name: str, content: bytes) -> str:
    return hmac.digest(key.commitment, name.encode() + b"\0" + content, "sha256").hex()

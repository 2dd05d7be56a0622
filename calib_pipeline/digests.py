"""Content digests: the same content has the same name on every machine."""

from __future__ import annotations

import csv
import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def digest_bytes(content: bytes) -> str:
    """SHA-256 of the bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces; NaN and infinity are refused with ``ValueError``."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest_json(value: Any) -> str:
    """Digest of a JSON value, whatever the order of its keys."""
    return digest_bytes(canonical_json(value).encode())


def digest_frame(frame: pd.DataFrame) -> str:
    """Digest of a table's columns and values in order; the index and the file format do not enter."""
    text = frame.to_csv(index=False, lineterminator="\n", na_rep="\\N", quoting=csv.QUOTE_NONNUMERIC)
    return digest_bytes(text.encode())

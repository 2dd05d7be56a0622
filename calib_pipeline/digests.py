"""Content digests: the same content has the same name on every machine."""

from __future__ import annotations

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
    """Digest of a table's columns and values in order; the index and the file format do not enter.

    Truth values, whole numbers and numbers enter by the digest of one, eight and eight bytes a cell, little endian,
    with one NaN for all that is missing and one zero; the cells of every other column as they are, with null for what
    is missing.
    """
    return digest_json([[str(name), *_cells(column)] for name, column in frame.items()])


def _cells(column: pd.Series[Any]) -> tuple[str, str | list[Any]]:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    if not isinstance(column.dtype, np.dtype):
        cells = pa.array(column, from_pandas=True).to_pylist()
    elif column.dtype.kind == "b":
        return "bool", digest_bytes(column.to_numpy().astype("u1").tobytes())
    elif column.dtype.kind in "iu":
        return "int", digest_bytes(column.to_numpy().astype("<i8").tobytes())
    elif column.dtype.kind == "f":
        numbers = column.to_numpy().astype("<f8")
        return "float", digest_bytes(np.where(np.isnan(numbers), np.nan, numbers + 0.0).tobytes())
    else:
        cells = column.tolist()
    return "cells", [None if cell is pd.NA or cell != cell else cell for cell in cells]

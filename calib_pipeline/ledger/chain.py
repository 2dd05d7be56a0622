"""The hash chain: each event's hash covers its content and the hash of the event before it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calib_pipeline.digests import digest_json

HASHED_FIELDS = (
    "seq",
    "holdout_id",
    "event",
    "study",
    "config_digest",
    "run_id",
    "actor",
    "at",
    "details",
    "prev_hash",
)


def row_hash(row: Mapping[str, Any]) -> str:
    """SHA-256 over the canonical JSON of a stored row.

    ``details`` enters as the text that is stored, so that an edit of a single space in it shows.
    """
    return digest_json({field: row[field] for field in HASHED_FIELDS})

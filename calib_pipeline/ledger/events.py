"""One event of the ledger, as it is written and as people read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

GENESIS = "0" * 64
"""What the first event names as the hash before it."""

EventKind = Literal[
    "reserved",
    "registered",
    "labels_ingested",
    "read",
    "opened",
    "exported",
    "fitted",
    "retired",
    "evidence",
    "published",
]
EVENT_KINDS: tuple[EventKind, ...] = (
    "reserved",
    "registered",
    "labels_ingested",
    "read",
    "opened",
    "exported",
    "fitted",
    "retired",
    "evidence",
    "published",
)


@dataclass(frozen=True)
class Event:
    """One row of the ledger.

    ``at`` is UTC in ISO 8601 with microseconds; ``hash`` covers every other field, ``prev_hash`` included.
    """

    seq: int
    holdout_id: str | None
    event: str
    study: str | None
    config_digest: str | None
    run_id: str | None
    actor: str
    at: str
    details: dict[str, Any]
    prev_hash: str
    hash: str

    @property
    def cited(self) -> str:
        """How a sentence names this event: its number and its date."""
        return f"event {self.seq} of {self.at[:10]}"

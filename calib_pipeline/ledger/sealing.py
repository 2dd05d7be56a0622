"""Whether the stored labels of a set were sealed when it was opened: a pure function of its events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from calib_pipeline.ledger.events import Event

SEALED = "sealed"
"""What the details of a ``labels_ingested`` event call the id of the key."""


@dataclass(frozen=True)
class Sealing:
    """How the labels of a set were stored before an opening.

    ``yes``: sealed from the first on; ``later``: some were stored open before they were sealed; ``no``: stored open.
    """

    sealed: Literal["no", "yes", "later"]
    key_id: str | None


def sealing_before(events: Iterable[Event], opening: Event) -> Sealing:
    """The sealing of a set's labels before one of its openings, from all events of the set."""
    keys = [
        event.details.get(SEALED) for event in events if event.event == "labels_ingested" and event.seq < opening.seq
    ]
    used = [key for key in keys if key is not None]
    if not used:
        return Sealing("no", None)
    return Sealing("yes" if len(used) == len(keys) else "later", str(used[-1]))

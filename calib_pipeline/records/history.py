"""The records of each study and population in order: which is current, and which record superseded which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from calib_pipeline.evidence.scorer_agreement import FEWEST_USABLE_PAIRS

if TYPE_CHECKING:
    from calib_pipeline.ledger import Publication
    from calib_pipeline.records.archive import RecordArchive, RecordEntry

MEASUREMENT = "measurement"


@dataclass(frozen=True)
class PlacedRecord:
    """A record with its place among those of its study and population.

    ``status_then`` is the status that it gave when it was made, ``superseded_by`` the record after it, None for the
    current one.
    """

    entry: RecordEntry
    holdout_set: str
    generation: int | None
    status_then: str
    superseded_by: str | None


def placed_records(archive: RecordArchive, publications: Sequence[Publication]) -> list[PlacedRecord]:
    """Every record that can be read, oldest first.

    Parameters
    ----------
    publications
        Those of the ledger, in order: a record that was published again is newer than those in between.
    """
    entries = archive.entries()
    after = superseded_by(entries, publications)
    placed = []
    for entry in entries:
        record = archive.read(entry.record_id)
        if record is None:
            continue
        generation = record["holdout"].get("generation")
        placed.append(
            PlacedRecord(
                entry,
                record["holdout"]["set"],
                None if generation is None else int(generation),
                _status_then(record),
                after[entry.record_id],
            )
        )
    return placed


def superseded_by(entries: Iterable[RecordEntry], publications: Sequence[Publication]) -> dict[str, str | None]:
    """By record, the next one of its study and population, None for the newest.

    A diagnostic record supersedes diagnostic records only: it claims less than a measurement.
    """
    last = {publication.record_id: publication.at for publication in publications}
    in_order = sorted(entries, key=lambda entry: datetime.fromisoformat(last.get(entry.record_id, entry.published_at)))
    return {
        entry.record_id: next((later.record_id for later in in_order[at:] if _supersedes(later, entry)), None)
        for at, entry in enumerate(in_order, start=1)
    }


def _supersedes(later: RecordEntry, earlier: RecordEntry) -> bool:
    same_cell = (later.study, later.population) == (earlier.study, earlier.population)
    return same_cell and later.kind in (MEASUREMENT, earlier.kind)


def _status_then(record: dict[str, Any]) -> str:
    if record["kind"] == MEASUREMENT:
        return "calibrated"
    pairs = [row.get("value") for row in record["evidence"]["scorer_agreement"] if row["name"] == "decided_pairs"]
    few = bool(pairs) and pairs[0] is not None and pairs[0] < FEWEST_USABLE_PAIRS
    return "insufficient_data" if few else "uncalibrated"

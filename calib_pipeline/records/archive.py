"""The archive of records: one file a record, written once, and a Parquet index over them."""

from __future__ import annotations

import json
import platform
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from calib_pipeline.evidence_store import (
    ROWS,
    DamagedEvidence,
    EvidenceStore,
    parquet_bytes,
    read_parquet,
    write_atomically,
)
from calib_pipeline.records.record import address

if TYPE_CHECKING:
    import pandas as pd
    from upath import UPath

INDEX_COLUMNS = ("record_id", "study", "population", "kind", "claim", "published_at")


@dataclass(frozen=True)
class RecordEntry:
    """A record as the archive lists it."""

    record_id: str
    study: str
    population: str
    kind: str
    claim: str
    published_at: str


class RecordArchive:
    """Records under ``<store>/records/<population>/<study>/<record_id>.json``."""

    def __init__(self, store: EvidenceStore) -> None:
        self._store = store
        self.folder = store.base / "records"

    def path(self, population: str, study: str, record_id: str) -> UPath:
        """Where a record stands."""
        return self.folder / population / study / f"{record_id}.json"

    def rows_path(self, population: str, study: str, record_id: str) -> UPath:
        """Where the row table that a record recomputes from stands."""
        return self.folder / population / study / f"{record_id}{ROWS}"

    def write(
        self, content: Mapping[str, Any], record_id: str, rows: pd.DataFrame, *, published_at: str | None = None
    ) -> None:
        """Write a record with its row table and its line in the index; one that stands already is left as it is.

        Where the file is damaged or was edited, the same record is written again. ``published_at`` is the time in ISO
        8601 at which it was published before, None where it is published now.
        """
        population, study = content["population"]["name"], content["study"]
        path = self.path(population, study, record_id)
        if readable_record(path) is None:
            at = datetime.now(UTC) if published_at is None else datetime.fromisoformat(published_at)
            self._store.write(self.rows_path(population, study, record_id), parquet_bytes(rows), labels=True)
            whole = {
                "record_id": record_id,
                **content,
                "software": software_versions(),
                "published_at": at.isoformat(timespec="seconds"),
            }
            write_atomically(path, (json.dumps(whole, indent=1, ensure_ascii=False) + "\n").encode())
        self.reindex()

    def read(self, record_id: str) -> dict[str, Any] | None:
        """The record of an id or of an unambiguous beginning of one; None where there is none that can be read."""
        file = self.file(record_id)
        return None if file is None else readable_record(file)

    def file(self, record_id: str) -> UPath | None:
        """The file of a record, by its id or an unambiguous beginning of it."""
        found = [path for path in self.files() if path.name.startswith(record_id)]
        return found[0] if len(found) == 1 else None

    def entries(self) -> list[RecordEntry]:
        """Every record that can be read, oldest first: as the index says where it lists the files that are there."""
        rows = self._indexed()
        if rows is None or set(rows["record_id"]) != {path.stem for path in self.files()}:
            rows = self._collected()
        return [RecordEntry(*row) for row in rows[list(INDEX_COLUMNS)].itertuples(index=False)]

    def reindex(self) -> pd.DataFrame:
        """Make the index again from the records themselves, so that a killed run leaves nothing behind."""
        frame = self._collected()
        write_atomically(self.folder / "index.parquet", parquet_bytes(frame))
        return frame

    def _indexed(self) -> pd.DataFrame | None:
        index = self.folder / "index.parquet"
        try:
            rows = read_parquet(index.read_bytes(), str(index))
        except (FileNotFoundError, DamagedEvidence):
            return None
        return rows if set(INDEX_COLUMNS) <= set(rows.columns) else None

    def _collected(self) -> pd.DataFrame:
        import pandas as pd

        found = []
        for path in self.files():
            record = readable_record(path)
            if record is not None:
                row = {column: record[column] for column in INDEX_COLUMNS}
                found.append(row | {"population": record["population"]["name"]})
        found.sort(key=lambda row: (row["published_at"], row["record_id"]))
        return pd.DataFrame(found, columns=list(INDEX_COLUMNS), dtype="object")

    def files(self) -> list[UPath]:
        """The file of every record, whether it can be read or not."""
        return sorted(self.folder.glob("*/*/*.json"), key=str)


def lost_openings(archive: RecordArchive, hashes: Collection[str]) -> list[str]:
    """A sentence for each record whose opening is not among the hashes of the ledger's events."""
    lost = []
    for path in archive.files():
        record = readable_record(path)
        head = None if record is None else record["holdout"]["ledger_head"]
        if record is not None and head is not None and head not in hashes:
            lost.append(
                f"the ledger does not hold the opening that record {record['record_id'][:12]} of study "
                f"{record['study']!r} names: its history was cut, rewritten or replaced"
            )
    return lost


def damaged_records(archive: RecordArchive) -> list[str]:
    """A sentence for each record file that is not what was published, so that what it rests on cannot be told."""
    found = ((path, damage_of(path)) for path in archive.files())
    return [f"the record file {path.name} {damage}: restore it from a copy" for path, damage in found if damage]


def damage_of(path: UPath) -> str | None:
    """What is wrong with a record's file, None where it holds what was published under its name."""
    if readable_record(path) is not None:
        return None
    if parsed_record(path) is None:
        return "cannot be read: it is empty, cut short, no text or no record"
    return "was edited: it holds another record than the one that was published under its name"


NEEDED = {"record_id": str, "study": str, "kind": str, "claim": str, "published_at": str, "population": dict} | {
    "holdout": dict,
    "evidence": dict,
}


def readable_record(path: UPath) -> dict[str, Any] | None:
    """The record in a file as it was published under its name; None where the file is damaged or was edited."""
    record = parsed_record(path)
    return record if record is not None and address(record) == record["record_id"] == path.stem else None


def parsed_record(path: UPath) -> dict[str, Any] | None:
    """The record in a file, edited or not; None where the file is damaged."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    whole = isinstance(record, dict) and all(isinstance(record.get(name), kind) for name, kind in NEEDED.items())
    return record if whole and "ledger_head" in record["holdout"] and "name" in record["population"] else None


def software_versions() -> dict[str, str]:
    """The versions that a record was made with."""
    from importlib.metadata import version

    names = ("calib-pipeline", "numpy", "scipy", "pandas", "pandera", "pyarrow", "dagster")
    return {"python": platform.python_version(), **{name: version(name) for name in names}}

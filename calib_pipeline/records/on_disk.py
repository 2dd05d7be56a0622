"""How everything that a record names by digest stands on disk now: bytes are compared, nothing is computed again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from calib_pipeline.chain import MEASURING_RUNGS
from calib_pipeline.digests import digest_bytes, digest_frame
from calib_pipeline.errors import InputError
from calib_pipeline.evidence_store import ROWS, DamagedEvidence, EvidenceStore, SealedEvidence, read_parquet
from calib_pipeline.ledger import Ledger
from calib_pipeline.tables.item_texts import kept_copy
from calib_pipeline.tables.source import read_source

if TYPE_CHECKING:
    from upath import UPath

    from calib_pipeline.ledger import EvidenceEntry
    from calib_pipeline.studies.project import Project

Stands = Literal["matches", "changed", "sealed", "missing", "altered"]


@dataclass(frozen=True)
class OnDisk:
    """One thing that a record names by digest.

    ``changed``: something newer stands in its place, and what the record rests on is kept. ``sealed``: it is there, and
    only its key tells whether it is what it was. ``missing`` and ``altered`` refute the record. ``said`` is the
    sentence where it does not match.
    """

    what: str
    digest: str | None
    stands: Stands
    said: str = ""

    @property
    def refutes(self) -> bool:
        """Whether the record rests on something that is gone or altered."""
        return self.stands in ("missing", "altered")


def rows_beside(store: EvidenceStore, file: UPath, record: dict[str, Any]) -> OnDisk:
    """The row table beside a record."""
    path, digest = file.with_name(f"{file.stem}{ROWS}"), record["tables"]["rows"]
    what = "row table beside the record"

    def get() -> None:
        rows = read_parquet(store.read(path, "restore it from a copy"), str(path))
        if digest_frame(rows) != digest:
            raise DamagedEvidence(f"{path.name} is not the one that the record was made from")

    return _held(what, digest, get)


def row_tables(store: EvidenceStore, record: dict[str, Any]) -> Iterator[OnDisk]:
    """The tables that the rungs passed on."""
    for name, digest in record["tables"].items():
        if digest is not None:
            yield _held(f"row table {name}", digest, lambda digest=digest: store.get_table(digest))


def kept_copies(store: EvidenceStore, record: dict[str, Any]) -> Iterator[OnDisk]:
    """The copies of what people brought, from which the record is rebuilt."""
    for name in record["inputs"]["paths"]:
        digest = record["inputs"][name]
        yield _held(f"kept copy of {name}", digest, lambda digest=digest: store.get_input(digest))


def brought_tables(project: Project, record: dict[str, Any]) -> Iterator[OnDisk]:
    """Brought tables may change after a record: the record stands for those of its digests."""
    for name, shown in record.get("inputs", {}).get("paths", {}).items():
        path = shown if "://" in shown or Path(shown).is_absolute() else str(project.root / shown)
        what, digest = f"{name} in {shown}", record["inputs"][name]
        try:
            same = digest in (read_source(path).digest, _kept_digest(name, path))
        except InputError:
            yield OnDisk(what, digest, "changed", f"{shown} cannot be read any more; the record rests on the kept copy")
            continue
        said = f"{shown} has changed since; the record rests on the kept copy of what it was"
        yield OnDisk(what, digest, "matches") if same else OnDisk(what, digest, "changed", said)


def _kept_digest(name: str, path: str) -> str | None:
    """The digest of what is kept of a table of items, whose texts are not."""
    return digest_bytes(kept_copy(path)) if name in ("manifest", "tuned_on") else None


def evidence_on_disk(ledger: Ledger, store: EvidenceStore, record: dict[str, Any]) -> Iterator[OnDisk]:
    """The evidence of each rung of a measurement: what is the newest must be on disk as the ledger has it."""
    study, population = record["study"], record["population"]["name"]
    newest = ledger.newest_evidence_all()
    published = _evidence_when_published(ledger, record)
    for asset in MEASURING_RUNGS:
        entry = newest.get((study, population, asset))
        if entry is None or record["kind"] != "measurement":
            continue
        digest = published.get(asset)
        yield _evidence(store, entry, digest)


def _evidence(store: EvidenceStore, entry: EvidenceEntry, digest: str | None) -> OnDisk:
    asset, what = entry.asset, f"evidence of {entry.asset}"
    try:
        rows = store.read_evidence(asset, entry.population, entry.study)
    except DamagedEvidence as fault:
        return OnDisk(what, digest, "altered", str(fault))
    if rows is None:
        return OnDisk(what, digest, "missing", f"the evidence of {asset} is not on disk")
    found = digest_frame(rows)
    if found != entry.digest:
        said = f"the evidence of {asset} on disk is not what the ledger has as event {entry.seq}"
        return OnDisk(what, digest, "altered", said)
    if found != digest:
        return OnDisk(what, digest, "changed", f"the evidence of {asset} on disk is newer than this record")
    return OnDisk(what, digest, "matches")


def _evidence_when_published(ledger: Ledger, record: dict[str, Any]) -> dict[str, str]:
    """The digest of each rung's evidence at the moment when the record was first published."""
    digests: dict[str, str] = {}
    for event in ledger.events(study=record["study"]):
        details = event.details
        if event.event == "published" and details["record_id"] == record["record_id"]:
            break
        if event.event == "evidence" and details["population"] == record["population"]["name"]:
            digests[details["asset"]] = details["digest"]
    return digests


def _held(what: str, digest: str, get: Any) -> OnDisk:
    try:
        get()
    except SealedEvidence as fault:
        return OnDisk(what, digest, "sealed", f"the {what}: {fault}; whoever has it can run `calib record verify`")
    except DamagedEvidence as fault:
        stands: Stands = "missing" if isinstance(fault.__cause__, FileNotFoundError) else "altered"
        return OnDisk(what, digest, stands, f"the {what}: {fault}")
    return OnDisk(what, digest, "matches")

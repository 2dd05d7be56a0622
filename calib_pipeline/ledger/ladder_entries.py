"""What a ladder leaves in the ledger: its evidence by digest, and its published records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calib_pipeline.ledger.events import Event

if TYPE_CHECKING:
    from calib_pipeline.ledger.journal import Journal


@dataclass(frozen=True)
class EvidenceEntry:
    """The newest evidence of one asset for one study on one population."""

    study: str
    population: str
    asset: str
    digest: str
    holds: bool
    holdout_id: str | None
    seq: int
    at: str


@dataclass(frozen=True)
class Publication:
    """A record that was published."""

    study: str
    population: str
    record_id: str
    holdout_id: str | None
    seq: int
    at: str
    details: Mapping[str, Any]


def record_evidence(
    journal: Journal,
    *,
    study: str,
    population: str,
    asset: str,
    digest: str,
    holds: bool,
    holdout_id: str | None,
    run_id: str | None,
    actor: str | None,
) -> EvidenceEntry:
    """Write down which evidence is the newest; no event where it is already."""
    standing = newest_evidence(journal, study, population, asset)
    if (
        standing is not None
        and standing.digest == digest
        and standing.holds == holds
        and standing.holdout_id == holdout_id
    ):
        return standing
    event = journal.append(
        "evidence",
        holdout_id=holdout_id,
        study=study,
        details={"population": population, "asset": asset, "digest": digest, "holds": bool(holds)},
        run_id=run_id,
        actor=actor,
    )
    return _evidence(event)


def newest_evidence(journal: Journal, study: str, population: str, asset: str) -> EvidenceEntry | None:
    """The newest evidence of one asset, or None."""
    for event in journal.events(study=study, kinds=("evidence",), newest_first=True):
        if event.details.get("population") == population and event.details.get("asset") == asset:
            return _evidence(event)
    return None


def newest_evidence_all(journal: Journal) -> dict[tuple[str, str, str], EvidenceEntry]:
    """The newest evidence of every study, population and asset, by these three."""
    entries = (_evidence(event) for event in journal.events(kinds=("evidence",)))
    return {(entry.study, entry.population, entry.asset): entry for entry in entries}


def publish(
    journal: Journal,
    *,
    study: str,
    population: str,
    record_id: str,
    holdout_id: str | None,
    details: Mapping[str, Any],
    run_id: str | None,
    actor: str | None,
) -> Publication:
    """Write down a published record; no event where it is the newest of its study and population already."""
    standing = published(journal, study, population)
    if standing and standing[-1].record_id == record_id:
        return standing[-1]
    event = journal.append(
        "published",
        holdout_id=holdout_id,
        study=study,
        details={"population": population, "record_id": record_id, "details": dict(details)},
        run_id=run_id,
        actor=actor,
    )
    return _publication(event)


def published(journal: Journal, study: str | None, population: str | None) -> list[Publication]:
    """The published records in order, of one study or population where named."""
    publications = (_publication(event) for event in journal.events(study=study, kinds=("published",)))
    return [entry for entry in publications if population is None or entry.population == population]


def _evidence(event: Event) -> EvidenceEntry:
    details = event.details
    return EvidenceEntry(
        study=str(event.study),
        population=details["population"],
        asset=details["asset"],
        digest=details["digest"],
        holds=details["holds"],
        holdout_id=event.holdout_id,
        seq=event.seq,
        at=event.at,
    )


def _publication(event: Event) -> Publication:
    details = event.details
    return Publication(
        study=str(event.study),
        population=details["population"],
        record_id=details["record_id"],
        holdout_id=event.holdout_id,
        seq=event.seq,
        at=event.at,
        details=details["details"],
    )

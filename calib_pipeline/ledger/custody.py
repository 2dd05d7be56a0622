"""What happens to a set's labels: they arrive, are read, leave the pipeline, or shape a scorer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from calib_pipeline.ledger.errors import LedgerError
from calib_pipeline.ledger.events import Event
from calib_pipeline.ledger.sealing import SEALED

if TYPE_CHECKING:
    from calib_pipeline.ledger.journal import Journal


def ingest_labels(
    journal: Journal,
    holdout_id: str,
    study: str,
    digest: str,
    details: Mapping[str, Any],
    *,
    sealed: str | None,
    run_id: str | None,
    actor: str | None,
) -> Event:
    """Write down the labels by digest, unless they are the newest of the set and study already, under the same key."""
    journal.require(holdout_id)
    standing = journal.events(
        holdout_id=holdout_id, study=study, kinds=("labels_ingested",), newest_first=True, limit=1
    )
    newest = next(standing, None)
    stored = {"digest": digest} | ({} if sealed is None else {SEALED: sealed})
    if newest is not None and all(newest.details.get(name) == stored.get(name) for name in ("digest", SEALED)):
        return newest
    return journal.append(
        "labels_ingested",
        holdout_id=holdout_id,
        study=study,
        details={**details, **stored},
        run_id=run_id,
        actor=actor,
    )


def newest_sealing(journal: Journal) -> Event | None:
    """The newest event by which labels were stored sealed, None where none ever were."""
    ingested = journal.events(kinds=("labels_ingested",), newest_first=True)
    return next((event for event in ingested if SEALED in event.details), None)


def left_open(journal: Journal) -> Event | None:
    """The first event by which labels of a set and study were stored open that were not sealed since; None where all
    are sealed."""
    newest = {(event.holdout_id, event.study): event for event in journal.events(kinds=("labels_ingested",))}
    return next((event for event in newest.values() if SEALED not in event.details), None)


def record_sealing(journal: Journal, key_id: str, *, run_id: str | None, actor: str | None) -> list[Event]:
    """Write down that the newest labels of every set and study, which were stored open, are sealed now."""
    newest = {(event.holdout_id, event.study): event for event in journal.events(kinds=("labels_ingested",))}
    return [
        journal.append(
            "labels_ingested",
            holdout_id=event.holdout_id,
            study=event.study,
            details={**event.details, SEALED: key_id},
            run_id=run_id,
            actor=actor,
        )
        for event in newest.values()
        if event.details.get(SEALED) != key_id
    ]


def record_read(
    journal: Journal,
    holdout_id: str,
    study: str,
    config_digest: str,
    purpose: str,
    details: Mapping[str, Any],
    *,
    run_id: str | None,
    actor: str | None,
) -> Event:
    """Write down that the labels are read for a purpose."""
    journal.require(holdout_id)
    return journal.append(
        "read",
        holdout_id=holdout_id,
        study=study,
        config_digest=config_digest,
        details={**details, "purpose": purpose},
        run_id=run_id,
        actor=actor,
    )


def mark_fitted(
    journal: Journal,
    holdout_id: str,
    *,
    reason: str,
    studies: Iterable[str],
    config_digests: Iterable[str],
    everyone: bool,
    run_id: str | None,
    actor: str | None,
) -> list[Event]:
    """Declare that the set shaped scorers: one event for each that is named, however often.

    A study is named with the configurations that it registered on any set, so that renaming it takes nothing back. What
    was declared with the same reason and the same configurations stands, and its event is returned.
    """
    journal.require(holdout_id)
    _check_said(reason, "marking a set as fitted needs a reason: how did it shape the scorer?")
    whom: list[tuple[str | None, str | None, set[str]]] = [
        (study, None, {str(event.config_digest) for event in journal.events(study=study, kinds=("registered",))})
        for study in studies
    ]
    whom += [(None, digest, {digest}) for digest in config_digests]
    if everyone:
        whom.append((None, None, set()))
    if not whom:
        raise LedgerError("marking a set as fitted needs a study, a configuration, or everyone")
    events: list[Event] = []
    standing = list(journal.events(holdout_id=holdout_id, kinds=("fitted",)))
    for study, config_digest, covered in whom:
        details = {"reason": reason, "config_digests": sorted(covered)}
        same = (study, config_digest, details)
        told = next((one for one in standing if (one.study, one.config_digest, dict(one.details)) == same), None)
        if told is None:
            told = journal.append(
                "fitted",
                holdout_id=holdout_id,
                study=study,
                config_digest=config_digest,
                details=details,
                run_id=run_id,
                actor=actor,
            )
            standing.append(told)
        if told not in events:
            events.append(told)
    return events


def record_export(journal: Journal, holdout_id: str, to: str, *, run_id: str | None, actor: str | None) -> Event:
    """Write down that labels leave the pipeline for a person."""
    journal.require(holdout_id)
    _check_said(to, "an export needs the name of the person that it is for")
    return journal.append("exported", holdout_id=holdout_id, details={"to": to}, run_id=run_id, actor=actor)


def retire(journal: Journal, holdout_id: str, reason: str, *, run_id: str | None, actor: str | None) -> Event:
    """Take a set out of use."""
    journal.require(holdout_id)
    _check_said(reason, "retiring a set needs a reason")
    return journal.append("retired", holdout_id=holdout_id, details={"reason": reason}, run_id=run_id, actor=actor)


def _check_said(text: str, otherwise: str) -> None:
    if not text.strip():
        raise LedgerError(otherwise)

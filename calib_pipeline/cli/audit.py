"""``calib audit``: from a record back to the reservation, and whether the number still rests on it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

from calib_pipeline.cli.console import Console
from calib_pipeline.cli.exit_codes import FAULT, REACHED

if TYPE_CHECKING:
    from calib_pipeline.records.audit import Audit, AuditedEvent
    from calib_pipeline.records.on_disk import OnDisk

SHORT = 12
STANDS = {
    "matches": "matches",
    "changed": "changed since, the record stands for what it was",
    "sealed": "there, sealed",
    "missing": "missing",
    "altered": "altered",
}


def add(commands: Any, everywhere: argparse.ArgumentParser) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "audit",
        parents=[everywhere],
        help="who reserved a record's set, what was frozen, who saw its labels, and does all of it still stand",
        description="Follow a record back through the ledger to the reservation of its set: who drew it, what was "
        "frozen, who saw the labels, when and for what, and what happened to the items since; with every digest that "
        "the record names, and whether it still is what stands on disk. Nothing is computed again: `calib record "
        "verify` does that. Exit code 1 where something that the record rests on is gone or altered.",
    )
    parser.add_argument("record", metavar="RECORD", help="a record's id, or its beginning")
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Print the audit of one record."""
    from calib_pipeline.cli.project_folder import open_project
    from calib_pipeline.cli.record import damaged, one_id
    from calib_pipeline.evidence_store import EvidenceStore
    from calib_pipeline.records.archive import RecordArchive, parsed_record
    from calib_pipeline.records.audit import audit_record

    project = open_project(arguments.project)
    archive = RecordArchive(EvidenceStore(project.store))
    record_id = one_id(archive, arguments.record)
    file = archive.file(record_id)
    record = None if file is None else parsed_record(file)
    if file is None or record is None:
        raise damaged(archive, record_id)
    audit = audit_record(project, file, record)
    console.json(as_json(audit))
    say_audit(audit, console)
    for problem in audit.problems:
        console.say(f"problem: {problem}")
    return REACHED if audit.holds else FAULT


def as_json(audit: Audit) -> dict[str, Any]:
    """The audit for programs: every event, every digest."""
    return {
        "record_id": audit.record_id,
        "study": audit.study,
        "population": audit.population,
        "kind": audit.kind,
        "claim": audit.claim,
        "published_at": audit.published_at,
        "holdout_set": audit.holdout_set,
        "superseded_by": audit.superseded_by,
        "shared_items": dict(audit.shared),
        "rests": audit.holds,
        "answers": list(audit.answers),
        "events": [asdict(one.event) | {"said": one.said, "since_the_record": one.since} for one in audit.events],
        "digests": [asdict(one) for one in audit.named],
        "problems": list(audit.problems),
    }


def say_audit(audit: Audit, console: Console) -> None:
    """The audit for people: the answers, the history, the digests, and the verdict."""
    console.result(f"record {audit.record_id[:SHORT]} of {audit.study} on {audit.population} ({audit.kind})")
    console.note(audit.claim)
    if audit.superseded_by is not None:
        console.note(f"superseded by {audit.superseded_by[:SHORT]}")
    for answer in audit.answers:
        console.note(answer)
    for title, since in (("Until the record", False), ("Since the record", True)):
        told = [one for one in audit.events if one.since is since]
        if told:
            console.result()
            console.table(("event", "when", "who", "set", "what", "said"), list(event_lines(told)), title=title)
    console.result()
    console.table(("what", "digest", "on disk now", ""), [digest_line(one) for one in audit.named], title="Digests")
    console.result()
    console.result(verdict(audit))


def event_lines(told: Iterable[AuditedEvent]) -> Iterator[tuple[str, ...]]:
    """A line an event; reads of one person for one study that follow each other share a line."""

    def alike(one: AuditedEvent) -> tuple[Any, ...]:
        event = one.event
        many = event.event == "read"
        return (event.event, event.holdout_id, event.study, event.actor) if many else (event.seq,)

    for _, group in groupby(told, key=alike):
        events = list(group)
        first, last = events[0].event, events[-1].event
        numbers = str(first.seq) if first is last else f"{first.seq} to {last.seq}"
        said = "; ".join(dict.fromkeys(one.said for one in events))
        if len(events) > 2:
            said = f"{len(events)} reads, the last on {last.at[:10]}: {said}"
        yield numbers, first.at[:16].replace("T", " "), first.actor, first.holdout_id or "", first.event, said


def digest_line(one: OnDisk) -> tuple[str, ...]:
    """A digest and how it stands."""
    return one.what, (one.digest or "")[:SHORT], STANDS[one.stands], one.said


def verdict(audit: Audit) -> str:
    """Does the number still rest on it?"""
    unread = sum(one.stands == "sealed" for one in audit.named)
    if audit.holds and unread:
        return (
            f"What can be told without the key is there as it was; {unread} of the {len(audit.named)} parts are "
            "sealed, and `calib record verify` opens them."
        )
    if audit.holds:
        return "Everything that the record rests on is there as it was."
    count = len(audit.problems)
    return f"The record no longer rests on what it names: {count} problem{'' if count == 1 else 's'}."

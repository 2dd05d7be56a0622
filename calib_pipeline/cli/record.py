"""``calib record``: the published records, and whether they recompute."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from calib_pipeline.cli.console import Console
from calib_pipeline.cli.exit_codes import FAULT, REACHED
from calib_pipeline.errors import InputError, MachineFault

if TYPE_CHECKING:
    from calib_pipeline.ledger import Publication
    from calib_pipeline.records.archive import RecordArchive
    from calib_pipeline.records.history import PlacedRecord
    from calib_pipeline.studies.project import Project

SHORT = 12
HISTORY_COLUMNS = ("set", "generation", "status then", "place")


def add(commands: Any, everywhere: argparse.ArgumentParser) -> None:
    """Add the commands to the parser."""
    parser = commands.add_parser(
        "record",
        parents=[everywhere],
        help="list, show and verify records",
        description="The published and diagnostic records of the project.",
    )
    parser.set_defaults(command=run_list, history=False)
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    listing = actions.add_parser("list", parents=[everywhere], help="the current records, or all of them")
    listing.description = (
        "The current record of each study and population, oldest first; with --history also those that it superseded. "
        "A diagnostic record supersedes no measurement. --json always lists every record, with its place."
    )
    listing.add_argument("--history", action="store_true", help="also what was superseded, and by which record")
    listing.set_defaults(command=run_list)
    showing = actions.add_parser("show", parents=[everywhere], help="one record")
    showing.add_argument("id", metavar="ID", help="a record's id, or its beginning")
    showing.set_defaults(command=run_show)
    verifying = actions.add_parser(
        "verify",
        parents=[everywhere],
        help="rebuild a record from the tables it was made of, and compare",
        description="Rebuild a record from the label, score and manifest files by digest, and compare bit for bit. "
        "Exit code 1 where something differs.",
    )
    verifying.add_argument("id", metavar="ID", help="a record's id, or its beginning")
    verifying.set_defaults(command=run_verify)


def run_list(arguments: argparse.Namespace, console: Console) -> int:
    """Print the current records, with --history every one in its place, and say which files are damaged."""
    from calib_pipeline.records.archive import damaged_records
    from calib_pipeline.records.history import placed_records
    from calib_pipeline.status.figures import headline_of

    project = _project(arguments)
    archive = _archive_of(project)
    placed = placed_records(archive, _publications(project))
    console.json([as_json(one) for one in placed])
    current = [one for one in placed if one.superseded_by is None]
    lines = []
    for one in placed if arguments.history else current:
        record = archive.read(one.entry.record_id)
        headline = None if record is None else headline_of(record["evidence"], record["headline"].get("statistic", ""))
        said = [one.entry.claim] + ([] if headline is None else [f"read it with {headline.table_words}"])
        lines.append((_cells(one, history=arguments.history), said))
    if lines:
        columns = ("record", "study", "population", "kind", "published")
        console.lines_with_notes((*columns, *HISTORY_COLUMNS) if arguments.history else columns, lines)
    else:
        console.result("no record yet: `calib run` climbs the ladders")
    if len(current) < len(placed) and not arguments.history:
        console.result(
            f"{len(placed) - len(current)} superseded: `calib record list --history` shows them in their place"
        )
    damaged = damaged_records(archive)
    for sentence in damaged:
        console.say(f"problem: {sentence}")
    return FAULT if damaged else REACHED


def as_json(one: PlacedRecord) -> dict[str, Any]:
    """A record and its place, for programs."""
    placed = asdict(one)
    return {**placed.pop("entry"), **placed, "current": one.superseded_by is None}


def _cells(one: PlacedRecord, *, history: bool) -> tuple[str, ...]:
    entry = one.entry
    cells = (entry.record_id[:SHORT], entry.study, entry.population, entry.kind, entry.published_at)
    if not history:
        return cells
    place = "current" if one.superseded_by is None else f"superseded by {one.superseded_by[:SHORT]}"
    generation = "" if one.generation is None else str(one.generation)
    return (*cells, one.holdout_set, generation, one.status_then, place)


def _publications(project: Project) -> list[Publication]:
    """What the ledger says was published; nothing where there is no ledger."""
    from calib_pipeline.status.standing import open_ledger

    ledger = open_ledger(project)
    if ledger is None:
        return []
    with closing(ledger):
        return ledger.published()


def run_show(arguments: argparse.Namespace, console: Console) -> int:
    """Print one record."""
    archive = _archive(arguments)
    record_id = one_id(archive, arguments.id)
    record = archive.read(record_id)
    if record is None:
        raise damaged(archive, record_id)
    console.json(record)
    say_record(record, console)
    return REACHED


def run_verify(arguments: argparse.Namespace, console: Console) -> int:
    """Rebuild one record."""
    from calib_pipeline.cli.project_folder import open_project
    from calib_pipeline.records.verification import verify_record

    project = open_project(arguments.project)
    verification = verify_record(project, one_id(_archive_of(project), arguments.id))
    console.json(
        {
            "record_id": verification.record_id,
            "verified": not verification.problems,
            "problems": list(verification.problems),
            "notes": list(verification.notes),
        }
    )
    for note in verification.notes:
        console.result(f"note: {note}")
    if verification.problems:
        for problem in verification.problems:
            console.say(f"problem: {problem}")
        console.say(f"record {verification.record_id[:SHORT]} does not verify")
        return FAULT
    console.result(f"record {verification.record_id} verifies: every figure recomputes from the tables it was made of")
    return REACHED


def one_id(archive: RecordArchive, given: str) -> str:
    """The id that was meant.

    Raises
    ------
    InputError
        When no record, or more than one, begins so.
    """
    file = archive.file(given) if given else None
    if file is not None:
        return str(file.stem)
    raise InputError(
        f"there is no record {given!r}, or more than one begins so",
        expected="the id of one record, or its beginning",
        todo="`calib record list` shows them",
    )


def damaged(archive: RecordArchive, record_id: str) -> MachineFault:
    """The fault of a record file that does not hold what was published."""
    from calib_pipeline.records.archive import damage_of

    file = archive.file(record_id)
    assert file is not None
    cell = f"--study {file.parent.name} --population {file.parent.parent.name}"
    again = f"`calib run {cell}` writes it again where it is the newest of its study and nothing else changed"
    return MachineFault(str(file), f"the record {damage_of(file)}", f"restore it from a copy; {again}")


LONGEST_VALUE = 120
STORED = {"no": "unsealed", "yes": "sealed", "later": "sealed after they were stored unsealed"}


def configuration_words(configuration: Mapping[str, Any]) -> str:
    """What a scorer declares of itself, key by key; digests and what is not declared are left out."""
    declared = {key: configuration.get(key) for key in ("model", "prompt", "temperature", "output_fields")}
    declared |= configuration.get("config") or {}
    transform = configuration.get("transform") or {}
    declared["transform"] = {key: value for key, value in transform.items() if value is not None}
    said = [f"{key} {_value_words(value)}" for key, value in declared.items() if value not in (None, {}, [])]
    return "; ".join(said) or "nothing of itself"


def _value_words(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}… ({len(text)} characters)"


def say_record(record: Mapping[str, Any], console: Console) -> None:
    """A record for people: what it claims, on what, how it was measured, and every figure beside people's."""
    from calib_pipeline.cli.show import say_comparison, say_evidence
    from calib_pipeline.status.comparison import comparison_of
    from calib_pipeline.status.figures import headline_of, text_of

    console.result(record["claim"])
    holdout, population, scorer = record["holdout"], record["population"], record["scorer"]
    heads = {
        "record": f"{record['record_id']} ({record['kind']}, published {record['published_at']})",
        "study": f"{record['study']}, of the dimension {record['dimension']}",
        "population": f"{population['name']}: {population['size']} items, {population['digest'][:SHORT]}",
        "scorer": f"{scorer['id']}, configuration {scorer['digest'][:SHORT]}",
        "declares": configuration_words(scorer["configuration"]),
        "rubric": f"version {record['rubric']['version']}",
        "reference": f"{record['reference']['kind']}, consensus {record['reference']['consensus']}",
        "held-out set": f"{holdout['set']}, {holdout['state']}, held out by {holdout['held_out_by']}",
        "prior access": holdout["prior_access"] or "none declared",
        **{
            f"other than {one['dimension']}": f"{one['because']} ({one['items_spent_for_it']} items are spent for it)"
            for one in holdout.get("other_constructs", ())
        },
        "attempts before": f"{holdout['earlier_attempts']:g}",
        "used before": uses_words(holdout.get("uses_before")),
        "labels stored": STORED[holdout.get("sealed", "no")],
        "ledger head": holdout["ledger_head"] or "none",
        "intervals resample": record["interval"]["resamples"],
        "intervals leave out": record["interval"]["leaves_out"],
        "decision": text_of(record["decision"], "gates") or "not reached",
    }
    console.table(("", ""), list(heads.items()))
    evidence = record["evidence"]
    comparison = comparison_of(evidence)
    if comparison is not None:
        say_comparison(comparison, headline_of(evidence, record["headline"].get("statistic", "")), console)
    say_evidence("threshold_check", record["decision"], console)


def uses_words(uses: Mapping[str, Any] | None) -> str:
    """What the set had been used for before the opening; older records do not say."""
    if uses is None:
        return "not stated by this record"
    return (
        f"{uses['configurations_measured']} configurations measured, labels read {uses['reads']} times, opened "
        f"{uses['age_days']:g} days after the reservation"
    )


def _project(arguments: argparse.Namespace) -> Project:
    from calib_pipeline.cli.project_folder import open_project

    return open_project(arguments.project)


def _archive(arguments: argparse.Namespace) -> RecordArchive:
    return _archive_of(_project(arguments))


def _archive_of(project: Project) -> RecordArchive:
    from calib_pipeline.evidence_store import EvidenceStore
    from calib_pipeline.records.archive import RecordArchive

    return RecordArchive(EvidenceStore(project.store))

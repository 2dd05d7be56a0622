"""``calib run``: climb the ladder of every asked-for study and population."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calib_pipeline.cli.console import Console
from calib_pipeline.cli.exit_codes import WRONG_INPUT, worst
from calib_pipeline.errors import InputError

if TYPE_CHECKING:
    from calib_pipeline.cell import Cell
    from calib_pipeline.cli.climbing import Climbed
    from calib_pipeline.ladder import Ladder
    from calib_pipeline.status.cell_status import CellStatus
    from calib_pipeline.status.counts import Counts
    from calib_pipeline.studies.project import Project

Left = Mapping[tuple[str, str, str], str]
"""What ladders left: the digest of the evidence, or the id of the record, by study, population and name."""


def add(commands: Any, everywhere: argparse.ArgumentParser) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "run",
        parents=[everywhere],
        help="climb the ladders, each until a rung does not hold",
        description="Climb the ladder of every study on every population, each until a rung does not hold. "
        "A study that can never be calibrated, or has fewer than ten usable pairs, gets a diagnostic record.",
    )
    parser.add_argument("--study", metavar="S", help="this study only")
    parser.add_argument("--population", metavar="P", help="this population only")
    parser.add_argument(
        "--recheck", action="store_true", help="measure again what was measured, on items that nobody looked at"
    )
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Validate, climb, and print what became of it."""
    from calib_pipeline.cli.climbing import climb_all, prepare
    from calib_pipeline.cli.project_folder import asked_cells, project_root, refuse_files_in_the_way
    from calib_pipeline.cli.validate import document, notes_on, say_blocked, say_faults, unloadable_document
    from calib_pipeline.dagster_side.instance import refuse_unusable_home
    from calib_pipeline.sealing import key_of_environment
    from calib_pipeline.studies.project import load_project

    root = project_root(arguments.project)
    try:
        project = load_project(root)
    except InputError as fault:
        console.json(unloadable_document(fault))
        raise
    if project.faults and (arguments.study is None or arguments.study not in project.studies):
        say_faults(project.faults, console)
        say_blocked(project, console)
        console.json(document(project, notes_on(project)))
        console.say("nothing was run: mend the declarations, or name a study of another dimension with --study")
        return WRONG_INPUT
    cells = asked_cells(project, arguments.study, arguments.population)
    if project.faults:
        console.say("other studies of this project are invalid (`calib validate`); they do not touch this one")

    refuse_files_in_the_way(project)
    refuse_unusable_home(root)
    key_of_environment(root)
    prepare(cells)
    before = before_a_run(project)
    climbed, statuses = climb_all(project, cells, console, recheck=arguments.recheck)
    changed = changes(before.left, say_new_sets(project, before.sets, cells, console))
    return report(climbed, statuses, changed, console)


@dataclass(frozen=True)
class Before:
    """What ladders had left before a run, and the sets that were reserved."""

    left: Left
    sets: frozenset[str]


def before_a_run(project: Project) -> Before:
    """What to compare with when the run has ended."""
    from calib_pipeline.status.standing import open_ladder

    ladder = open_ladder(project)
    if ladder is None:
        return Before({}, frozenset())
    with closing(ladder):
        return Before(what_is_left(ladder), frozenset(header.holdout_id for header in ladder.ledger.sets()))


def say_new_sets(project: Project, before: frozenset[str], cells: Sequence[Cell], console: Console) -> Left:
    """Say which sets the run reserved, and why; return what ladders left."""
    from calib_pipeline.status.new_sets import new_sets
    from calib_pipeline.status.standing import open_ladder

    ladder = open_ladder(project)
    if ladder is None:
        return {}
    with closing(ladder):
        for sentence in new_sets(ladder, before, cells):
            console.result(sentence)
        return what_is_left(ladder)


def what_is_left(ladder: Ladder) -> Left:
    """The newest evidence and records of every cell."""
    evidence = ladder.ledger.newest_evidence_all().values()
    left = {(entry.study, entry.population, entry.asset): entry.digest for entry in evidence}
    records = {(entry.study, entry.population, "record"): entry.record_id for entry in ladder.ledger.published()}
    return left | records


def changes(before: Left, after: Left) -> set[tuple[str, str]]:
    """The cells in which a figure or a record is not what it was."""
    return {
        (study, population)
        for study, population, name in after
        if after[study, population, name] != before.get((study, population, name))
    }


def report(
    climbed: Sequence[Climbed], statuses: Sequence[CellStatus], changed: set[tuple[str, str]], console: Console
) -> int:
    """Print counts, faults and the status of what was climbed."""
    from calib_pipeline.cli.status import code_of, print_statuses

    for one in climbed:
        if one.counts is not None:
            console.result(f"{one.cell.study} on {one.cell.population}: {one.counts.words}")
            for line in counted_notes(one.counts):
                console.note(line)
    console.result()
    print_statuses(statuses, console)
    broken = [one for one in climbed if one.fault is not None]
    for one in broken:
        assert one.fault is not None
        console.say(f"calib: {one.cell.study} on {one.cell.population}: {one.fault.message}")
    same = not broken and not any((one.cell.study, one.cell.population) in changed for one in climbed)
    if same:
        console.result("nothing changed: every figure and record is that of the run before")
    console.json(
        [
            status.as_json() | as_json(one, (one.cell.study, one.cell.population) in changed)
            for status, one in zip(statuses, climbed, strict=True)
        ]
    )
    return worst([code_of(statuses), *(one.fault.code for one in broken if one.fault is not None)])


def counted_notes(counts: Counts) -> list[str]:
    """What was read under another spelling, and what was detected while reading."""
    spellings = f"{counts.spellings:,} cells read under a declared alias, another case or Unicode form"
    return [spellings] * bool(counts.spellings) + list(counts.noticed)


def as_json(one: Climbed, changed: bool) -> dict[str, Any]:
    """What a run adds to a cell's status."""
    return {
        "changed": changed,
        "counts": None if one.counts is None else one.counts.told,
        "fault": None if one.fault is None else one.fault.message,
    }

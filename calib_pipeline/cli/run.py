"""``calib run``: climb the ladder of every asked-for study and population, in this process."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calib_pipeline.cli.console import Console
from calib_pipeline.cli.exit_codes import WRONG_INPUT, worst

if TYPE_CHECKING:
    from calib_pipeline.cell import Cell
    from calib_pipeline.dagster_side.climbing import CellResult
    from calib_pipeline.status.counts import Counts
    from calib_pipeline.studies.project import Project

Left = Mapping[tuple[str, str, str], str]
"""What ladders left: the digest of the evidence, or the id of the record, by study, population and name."""


@dataclass(frozen=True)
class Climbed:
    """What a run made of one cell."""

    cell: Cell
    fault: BaseException | None
    counts: Counts | None


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
    from calib_pipeline.cli.project_folder import asked_cells, open_project
    from calib_pipeline.cli.validate import say_blocked, say_faults

    project = open_project(arguments.project)
    if project.faults and (arguments.study is None or arguments.study not in project.studies):
        say_faults(project.faults, console)
        say_blocked(project, console)
        console.say("nothing was run: mend the declarations, or name a study of another dimension with --study")
        return WRONG_INPUT
    cells = asked_cells(project, arguments.study, arguments.population)
    if project.faults:
        console.say("other studies of this project are invalid (`calib validate`); they do not touch this one")

    before = what_is_left(project)
    climbed = climb(project, cells, console, recheck=arguments.recheck)
    changed = changes(before, what_is_left(project))
    return report(project, climbed, changed, console)


def climb(project: Project, cells: Sequence[Cell], console: Console, *, recheck: bool) -> list[Climbed]:
    """Climb each cell as one run, and record what can be said of those that earn no status."""
    from calib_pipeline.dagster_side.climbing import climb_cell
    from calib_pipeline.dagster_side.instance import project_instance

    climbed = []
    with project_instance(project.root) as instance, console.progress(len(cells), "climbing") as progress:
        for cell in cells:
            progress.starts(f"{cell.study} on {cell.population}")
            result = climb_cell(project, cell, instance, recheck=recheck)
            counts, pairs = counted(project, cell)
            if result.status == "stopped" and wants_diagnostic(project, cell, pairs):
                result = _after(result, project, cell, instance)
            climbed.append(Climbed(cell, result.fault, counts))
            progress.finished(f"{cell.study} on {cell.population}: {_ended(result)}")
    return climbed


def counted(project: Project, cell: Cell) -> tuple[Counts | None, int | None]:
    """The counts of a cell's tables, and its usable pairs, told from ids and statuses."""
    from calib_pipeline.status.counts import counts_of
    from calib_pipeline.status.own_account import brought
    from calib_pipeline.status.standing import open_ladder

    ladder = open_ladder(project)
    try:
        tables = brought(project, ladder, cell)
    finally:
        if ladder is not None:
            ladder.ledger.close()
    return counts_of(tables), None if tables.ready is None else tables.ready.decided


def wants_diagnostic(project: Project, cell: Cell, pairs: int | None) -> bool:
    """Whether a stopped study is recorded as a diagnostic: it can earn no status, or has too few pairs, but some."""
    from calib_pipeline.evidence.scorer_agreement import FEWEST_USABLE_PAIRS

    if not pairs:
        return False
    return not project.studies[cell.study].supports_status or pairs < FEWEST_USABLE_PAIRS


def what_is_left(project: Project) -> Left:
    """The newest evidence and records of every cell."""
    from calib_pipeline.status.standing import open_ladder

    ladder = open_ladder(project)
    if ladder is None:
        return {}
    try:
        evidence = ladder.ledger.newest_evidence_all().values()
        left = {(entry.study, entry.population, entry.asset): entry.digest for entry in evidence}
        records = {(entry.study, entry.population, "record"): entry.record_id for entry in ladder.ledger.published()}
        return left | records
    finally:
        ladder.ledger.close()


def changes(before: Left, after: Left) -> set[tuple[str, str]]:
    """The cells in which a figure or a record is not what it was."""
    return {
        (study, population)
        for study, population, name in after
        if after[study, population, name] != before.get((study, population, name))
    }


def report(project: Project, climbed: Sequence[Climbed], changed: set[tuple[str, str]], console: Console) -> int:
    """Print counts, faults and the status of what was climbed."""
    from calib_pipeline.cli.faults import code_of as code_of_fault
    from calib_pipeline.cli.faults import message_of
    from calib_pipeline.cli.status import code_of, print_statuses, read_statuses

    for one in climbed:
        if one.counts is not None:
            console.result(f"{one.cell.study} on {one.cell.population}: {one.counts.words}")
            for line in counted_notes(one.counts):
                console.note(line)
    console.result()
    statuses = read_statuses(project, [one.cell for one in climbed])
    print_statuses(statuses, console)
    broken = [one for one in climbed if one.fault is not None]
    for one in broken:
        assert one.fault is not None
        console.say(f"calib: {one.cell.study} on {one.cell.population}: {message_of(one.fault)}")
    same = not broken and not any((one.cell.study, one.cell.population) in changed for one in climbed)
    if same:
        console.result("nothing changed: every figure and record is that of the run before")
    console.json(
        [
            status.as_json() | as_json(one, (one.cell.study, one.cell.population) in changed)
            for status, one in zip(statuses, climbed, strict=True)
        ]
    )
    return worst([code_of(statuses), *(code_of_fault(one.fault) for one in broken if one.fault is not None)])


def counted_notes(counts: Counts) -> list[str]:
    """What was read under another spelling, and what was detected while reading."""
    spellings = f"{counts.spellings:,} cells read under a declared alias, another case or Unicode form"
    return [spellings] * bool(counts.spellings) + list(counts.noticed)


def as_json(one: Climbed, changed: bool) -> dict[str, Any]:
    """What a run adds to a cell's status."""
    from calib_pipeline.cli.faults import message_of

    return {
        "changed": changed,
        "counts": None if one.counts is None else one.counts.told,
        "fault": None if one.fault is None else message_of(one.fault),
    }


def _after(result: CellResult, project: Project, cell: Cell, instance: Any) -> CellResult:
    """The result once the diagnostic record is made: the ladder's, unless making it broke."""
    from calib_pipeline.dagster_side.climbing import diagnose_cell

    diagnosed = diagnose_cell(project, cell, instance)
    return diagnosed if diagnosed.status == "fault" else result


def _ended(result: CellResult) -> str:
    if result.status == "ok":
        return "record published"
    return "broke" if result.status == "fault" else f"stopped at {result.rung} ({result.asset})"

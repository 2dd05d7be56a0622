"""``calib status``: one line a study and population, and under a stopped one why and what to do."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from calib_pipeline.cli.console import Console
from calib_pipeline.cli.exit_codes import REACHED, STOPPED, WRONG_INPUT, worst

if TYPE_CHECKING:
    from calib_pipeline.cell import Cell
    from calib_pipeline.status.cell_status import CellStatus
    from calib_pipeline.studies.project import Project

MOST_REASONS = 2
HEADER = ("study", "population", "status", "rung reached", "headline", "people", "best comparator")


def add(commands: Any, everywhere: argparse.ArgumentParser) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "status",
        parents=[everywhere],
        help="how far each study has come on each population",
        description="How far each study has come on each population, and what to do where it stopped. The headline "
        "and the best comparator are measured against the reference. People are measured against the consensus of the "
        "others, and the scorer's figure in that same comparison stands behind theirs in brackets. Exit code 3 where a "
        "ladder stopped, was never climbed, or rests on stale evidence or on tables that cannot be read; 0 where "
        "every one reached its record.",
    )
    parser.add_argument("--study", metavar="S", help="this study only")
    parser.add_argument("--population", metavar="P", help="this population only")
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Print the status of the asked-for cells."""
    from calib_pipeline.cli.project_folder import asked_cells, open_project
    from calib_pipeline.cli.validate import say_blocked, say_faults
    from calib_pipeline.status.standing import refuse_broken_ledger

    project = open_project(arguments.project)
    cells = asked_cells(project, arguments.study, arguments.population)
    refuse_broken_ledger(project)
    statuses = read_statuses(project, cells)
    console.json([status.as_json() for status in statuses])
    print_statuses(statuses, console)
    codes = [code_of(statuses)]
    if project.faults and arguments.study is None:
        say_faults(project.faults, console)
        say_blocked(project, console)
        codes.append(WRONG_INPUT)
    return worst(codes)


def read_statuses(project: Project, cells: Sequence[Cell]) -> list[CellStatus]:
    """The status of each cell, read from one view of the ledger."""
    from calib_pipeline.status.cell_status import cell_status
    from calib_pipeline.status.standing import open_ladder

    ladder = open_ladder(project)
    try:
        return [cell_status(project, ladder, cell) for cell in cells]
    finally:
        if ladder is not None:
            ladder.ledger.close()


def code_of(statuses: Sequence[CellStatus]) -> int:
    """0 where every ladder reached its record, else 3."""
    return REACHED if all(status.calibrated for status in statuses) else STOPPED


def print_statuses(statuses: Sequence[CellStatus], console: Console) -> None:
    """The lines for people."""
    if statuses:
        console.lines_with_notes(HEADER, [(line(status), notes(status)) for status in statuses])
        compared = (status.headline.people_against for status in statuses if status.headline is not None)
        for words in dict.fromkeys(words for words in compared if words is not None):
            console.note(f"the column of people: {words}")


def line(status: CellStatus) -> tuple[str, ...]:
    """One line: what was reached, and the headline beside people and the best comparator."""
    from calib_pipeline.status.figures import statistic_words

    headline = status.headline
    if headline is None:
        figures: tuple[str, str, str] = ("-", "-", "-")
    else:
        best = headline.best_comparator
        figures = (
            f"{statistic_words(headline.scorer.statistic)} {headline.scorer.words}",
            headline.people_words,
            "-" if best is None else f"{best.scope} {best.words}",
        )
    return status.study, status.population, status.status, status.reached_words, *figures


def where_and_why(status: CellStatus) -> str:
    """The rung and the reason; where there are many reasons the first two, since `calib show` has them all."""
    assert status.reason is not None
    stop = status.standing.stop
    if stop is None or stop.kind == "never":
        return status.reason
    reason = status.reason
    reasons = status.standing.reasons.get(stop.asset, ())
    if reason == stop.sentence and len(reasons) > MOST_REASONS:
        first = "; ".join(one.sentence for one in reasons[:MOST_REASONS])
        more = len(reasons) - MOST_REASONS
        reason = f"{first} (and {more} more: `calib show {status.study} {status.population}`)"
    return f"stopped at {status.rung} ({status.stopped_at}): {reason}"


def notes(status: CellStatus) -> list[str]:
    """Why it stopped and what to do, and what no headline may stand without."""
    from calib_pipeline.status.figures import statistic_words
    from calib_pipeline.status.suspicions import suspicions

    said = []
    if status.reason is not None:
        said.append(where_and_why(status))
    if status.next_step is not None:
        said.append(f"next: {status.next_step}")
    if status.before_next_run is not None:
        said.append(f"before the next run: {status.before_next_run}")
    for rung in status.rungs:
        if rung.state == "fails" and rung.rung != status.rung:
            said.append(f"{rung.rung} is blocked on its own account: {rung.reason}")
    if status.record_kind == "diagnostic":
        said.append(f"diagnostic: {status.claim}")
    headline = status.headline
    if headline is not None:
        taken = f" (from {status.headline_from})" if status.headline_from is not None else ""
        ceiling = ""
        if headline.ceiling is not None and headline.ceiling.statistic != headline.scorer.statistic:
            name = statistic_words(headline.ceiling.statistic)
            ceiling = f"; people's {name} {headline.ceiling.words}"
        said.append(f"read the headline{taken} with {headline.table_words}{ceiling}")
    said += [f"warning: {suspicion}" for suspicion in suspicions(status.standing)]
    said += [f"not readable: {fault}" for fault in status.unread if fault not in (status.reason or "")]
    return said

"""``calib judge``: run the scorers whose outputs no table brings, and tell their versions apart."""

from __future__ import annotations

import argparse
from contextlib import closing, nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from calib_pipeline.cli import judge_versions
from calib_pipeline.cli.console import Console
from calib_pipeline.cli.exit_codes import REACHED, STOPPED
from calib_pipeline.errors import InputError

if TYPE_CHECKING:
    from calib_pipeline.cell import Cell
    from calib_pipeline.judging.held_out import Judged
    from calib_pipeline.judging.scoring import Scoring
    from calib_pipeline.ledger import Ledger
    from calib_pipeline.studies.project import Project


def add(commands: Any, everywhere: argparse.ArgumentParser) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("judge", parents=[everywhere], help="run judges, and tell their versions apart")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    runs = actions.add_parser(
        "run",
        parents=[everywhere],
        help="have the reserved items answered, within a budget",
        description="Show every item of the held-out set, and the rubric, to the study's judge, within the budget of "
        "scorer.run. Answers that are there are not paid for again. The table of scores is written when every item "
        "has an answer, and `calib run` goes on from there.",
    )
    runs.add_argument("--study", metavar="S", help="this study only")
    runs.add_argument("--population", metavar="P", help="this population only")
    runs.set_defaults(command=run_judges)
    judge_versions.add(actions, everywhere)


def run_judges(arguments: argparse.Namespace, console: Console) -> int:
    """Run the judges of every asked-for cell; 3 where a budget ended before the items did."""
    from calib_pipeline.cli.project_folder import asked_cells, open_project
    from calib_pipeline.status.standing import open_ledger

    project = open_project(arguments.project)
    cells = asked_cells(project, arguments.study, arguments.population)
    if arguments.study is None:
        cells = [cell for cell in cells if project.studies[cell.study].judged]
    if not cells:
        raise InputError("no study declares a judge that is run here", expected="scorer.kind openai or python")
    ledger = open_ledger(project)
    with nullcontext() if ledger is None else closing(ledger):
        done = [(cell, _judged(project, ledger, cell, console)) for cell in cells]
    console.json([_document(cell, judged) for cell, judged in done])
    for cell, judged in done:
        _say(project, cell, judged, console)
    return REACHED if all(judged.written for _, judged in done) else STOPPED


def _judged(project: Project, ledger: Ledger | None, cell: Cell, console: Console) -> Judged:
    from calib_pipeline.judging.both_orders import exchanged_columns
    from calib_pipeline.judging.held_out import judge_set

    climb = f"calib run --study {cell.study} --population {cell.population}"
    study = project.studies[cell.study]
    if not study.judged:
        raise InputError(
            f"the outputs of {study.name!r} come as a table: {study.data.scores}",
            expected="a study of scorers that are run here, without data.scores",
            todo=f"run `{climb}`, which reads the table",
        )
    if ledger is None:
        raise InputError("no set is reserved yet, so there is nothing to judge", todo=f"run `{climb}` first")
    orders = sum(1 if exchanged_columns(of_one) is None else 2 for of_one in study.by_scorer().values())
    with console.progress(study.holdout.size * orders, "judging") as progress:
        before: dict[str, int] = {}

        def said(scorer_id: str, scoring: Scoring) -> None:
            words = f"{scorer_id}: {scoring.sentence}"
            progress.starts(words)
            for _ in range(scoring.asked - scoring.left - before.get(scorer_id, 0)):
                progress.finished(words)
            before[scorer_id] = scoring.asked - scoring.left

        judged = judge_set(project, ledger, cell, said if console.shows_progress else lambda _scorer, _scoring: None)
    if judged.measured:
        raise InputError(
            f"{judged.holdout_id} was opened with these outputs: they stay as they were measured",
            todo=f"run `{climb} --recheck` to measure again on other items",
        )
    return judged


def _document(cell: Cell, judged: Judged) -> dict[str, Any]:
    scorers = {name: {**asdict(one), "left": one.left} for name, one in judged.scorings.items()}
    return {
        "study": cell.study,
        "population": cell.population,
        "holdout_id": judged.holdout_id,
        "complete": judged.written,
        "scorers": scorers,
        "order_consistency": {name: asdict(one) for name, one in judged.consistency.items()},
    }


def _say(project: Project, cell: Cell, judged: Judged, console: Console) -> None:
    from calib_pipeline.judging.both_orders import exchanged_columns, order_sentence

    named = f"--study {cell.study} --population {cell.population}"
    scorers = project.studies[cell.study].by_scorer()
    both = {name for name, of_one in scorers.items() if exchanged_columns(of_one) is not None}
    for name, scoring in judged.scorings.items():
        asked = (
            f"{scoring.asked:,} items" if name not in both else f"{scoring.asked // 2:,} items, each in both orders,"
        )
        console.result(f"{name} on the {asked} of {judged.holdout_id}: {scoring.sentence}")
        if name in judged.consistency:
            console.result(f"    {order_sentence(judged.consistency[name])}")
        if scoring.left:
            budget = scorers[name].scorer.run.budget_tokens
            console.result(
                f"    {scoring.left:,} questions are left: the next does not fit into the budget of {budget:,} tokens"
            )
    passing = sum(scoring.may_pass for scoring in judged.scorings.values())
    if judged.written and passing:
        console.result(
            f"    {passing:,} errors may pass: `calib judge run {named}` asks about them again, until the set is opened"
        )
    if judged.written:
        console.result(f"    next: `calib run {named}`")
    else:
        console.result(f"    next: `calib judge run {named}` goes on from there, with the budget again")

"""``calib validate``: what is wrong with the declarations, before anything runs."""

from __future__ import annotations

import argparse
import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calib_pipeline.cli.console import Console
from calib_pipeline.cli.exit_codes import REACHED, WRONG_INPUT
from calib_pipeline.errors import Faults, InputError

if TYPE_CHECKING:
    from calib_pipeline.studies.project import Project


def add(commands: Any, everywhere: argparse.ArgumentParser) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "validate",
        parents=[everywhere],
        help="check calib.yaml and the studies; faults name file, line and key",
        description="Check calib.yaml and the studies; faults name file, line and key.",
    )
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of a study file, for editors")
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Print every fault."""
    if arguments.schema:
        from calib_pipeline.studies.json_schema import study_json_schema

        console.raw(json.dumps(study_json_schema(), indent=1, ensure_ascii=False) + "\n")
        return REACHED
    from calib_pipeline.cli.project_folder import open_project

    try:
        project = open_project(arguments.project)
    except InputError as fault:
        console.json(unloadable_document(fault))
        say_faults(fault.faults if isinstance(fault, Faults) else (fault,), console)
        return WRONG_INPUT
    notes = notes_on(project)
    console.json(document(project, notes))
    cells = len(project.cells())
    if project.faults:
        say_faults(project.faults, console)
        say_blocked(project, console)
        return WRONG_INPUT
    studies, populations = len(project.studies), len(project.populations)
    console.result(
        f"valid: {_counted(studies, 'study', 'studies')} and {_counted(populations, 'population', 'populations')}, "
        f"{_counted(cells, 'ladder', 'ladders')} to climb"
    )
    for note in notes:
        console.note(note)
    return REACHED


def document(project: Project, notes: list[str]) -> dict[str, Any]:
    """What is declared, for programs."""
    return {
        "valid": not project.faults,
        "studies": [
            {"study": study.name, "dimension": study.dimension, "populations": list(study.data.populations)}
            for study in project.studies.values()
        ],
        "faults": [as_json(fault) for fault in project.faults],
        "blocked": project.blocked,
        "notes": notes,
    }


def unloadable_document(fault: InputError) -> dict[str, Any]:
    """The same of a project whose calib.yaml is wrong."""
    faults = fault.faults if isinstance(fault, Faults) else (fault,)
    return {"valid": False, "studies": [], "faults": [as_json(one) for one in faults], "blocked": {}}


def say_faults(faults: tuple[InputError, ...], console: Console) -> None:
    """Each fault as a message."""
    for fault in faults:
        console.say(str(fault))
    console.say(f"{_counted(len(faults), 'fault', 'faults')} in what is declared")


def say_blocked(project: Project, console: Console) -> None:
    """Each study that a fault elsewhere keeps from being climbed."""
    for study, why in project.blocked.items():
        console.say(f"study {study} is blocked: {why}")


def notes_on(project: Project) -> list[str]:
    """What is valid and worth knowing: texts of the template, studies that can never be calibrated, absent files."""
    from calib_pipeline.cli.template_texts import template_notes

    notes = template_notes(project)
    for study in project.studies.values():
        why = [f"holdout.role is {study.holdout.role}"] if study.holdout.role != "holdout" else []
        why += [f"reference.kind is {study.reference.kind}"] if study.reference.kind != "anchor" else []
        why += study.loose_bars()
        if why:
            notes.append(f"study {study.name} gets a diagnostic record and can never be calibrated: {'; '.join(why)}")
    wanted = dict.fromkeys(project.populations.values())
    for name, population in project.cells():
        study = project.studies[name]
        templates = (study.scorer.tuned_on, study.data.annotations, study.data.scores)
        wanted |= dict.fromkeys(project.path(template, population) for template in templates if template is not None)
    notes += changes_since_registered(project)
    return notes + [f"{path} is not there yet" for path in wanted if "://" not in path and not Path(path).exists()]


def changes_since_registered(project: Project) -> list[str]:
    """What each ladder's next run makes of declarations that changed since they were registered in the ledger."""
    from calib_pipeline.studies.addresses import ledger_file

    file = ledger_file(project.ledger)
    if file is not None and not file.exists():
        return []
    from calib_pipeline.cell import Cell
    from calib_pipeline.ledger import LedgerError
    from calib_pipeline.status.cell_records import newest_records
    from calib_pipeline.status.next_run import before_next_run
    from calib_pipeline.status.standing import open_ladder

    try:
        ladder = open_ladder(project)
        if ladder is None:
            return []
        with closing(ladder.ledger):
            cells = [Cell(*cell) for cell in project.cells()]
            found = ((cell, before_next_run(ladder, cell, newest_records(ladder, cell))) for cell in cells)
            return [f"study {cell.study} on {cell.population}: {said}" for cell, said in found if said is not None]
    except LedgerError as fault:
        return [f"what changed since studies were registered is unknown: {fault}"]


def as_json(fault: InputError) -> dict[str, str | None]:
    """A fault for programs."""
    return {
        "what": fault.what,
        "where": fault.where,
        "expected": fault.expected,
        "todo": fault.todo,
        "message": str(fault),
    }


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"

"""``calib judge list|show|diff``: the versions of a study's scorer."""

from __future__ import annotations

import argparse
import json
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from calib_pipeline.cli.console import INDENT, Console
from calib_pipeline.cli.exit_codes import REACHED
from calib_pipeline.errors import InputError

if TYPE_CHECKING:
    from calib_pipeline.status.versions import Version
    from calib_pipeline.studies.project import Project
    from calib_pipeline.studies.study import Study

SHORT = 12
HEADER = ("study", "version", "registered", "declared now", "population", "state", "record")


def add(actions: Any, everywhere: argparse.ArgumentParser) -> None:
    """Add the actions to the parser of ``calib judge``."""
    listing = actions.add_parser(
        "list",
        parents=[everywhere],
        help="every version of the scorers, and what it is worth",
        description="Every configuration of a study's scorer that the ledger has registered, by everything material "
        "about it but its outputs; on each population whether it is calibrated, and why not.",
    )
    listing.add_argument("--study", metavar="S", help="this study only")
    listing.set_defaults(command=run_list)
    showing = actions.add_parser("show", parents=[everywhere], help="one version: its parts, its rubric, its states")
    showing.add_argument("study", metavar="S")
    showing.add_argument("version", metavar="VERSION", help="its id or a beginning of it, or `active`")
    showing.set_defaults(command=run_show)
    differing = actions.add_parser("diff", parents=[everywhere], help="in which parts two versions differ")
    differing.add_argument("study", metavar="S")
    differing.add_argument("before", metavar="A", help="the id of a version or a beginning of it, or `active`")
    differing.add_argument("now", metavar="B", help="another one")
    differing.set_defaults(command=run_diff)


def run_list(arguments: argparse.Namespace, console: Console) -> int:
    """Print the versions of every study, or of one."""
    from calib_pipeline.cli.project_folder import open_project

    project = open_project(arguments.project)
    studies = [_study(project, arguments.study)] if arguments.study is not None else list(project.studies.values())
    found = [(study.name, one) for study in studies for one in _versions(project, study)]
    console.json([{"study": name, **asdict(one)} for name, one in found])
    lines = []
    for name, one in found:
        for state in one.states:
            record = "-" if state.record_id is None else state.record_id[:SHORT]
            declared = "yes" if one.active else "no"
            cells = (name, one.version[:SHORT], one.created or "-", declared, state.population, state.state, record)
            lines.append((cells, [] if state.reason is None else [state.reason]))
    if lines:
        console.lines_with_notes(HEADER, lines)
    else:
        console.result("no study is declared")
    return REACHED


def run_show(arguments: argparse.Namespace, console: Console) -> int:
    """Print one version."""
    from calib_pipeline.cli.project_folder import open_project
    from calib_pipeline.status.versions import version_named

    project = open_project(arguments.project)
    study = _study(project, arguments.study)
    one = version_named(_versions(project, study), arguments.version)
    console.json({"study": study.name, **asdict(one)})
    declared = "declared now" if one.active else "not declared any more"
    console.result(f"{study.name} {one.version}: {declared}, registered {one.created or 'by no run yet'}")
    for name, part in one.parts.items():
        first, *more = (part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)).splitlines() or [""]
        console.note(f"{name}: {first}")
        for line in more:
            console.note(f"{INDENT}{line}")
    for state in one.states:
        told = "" if state.reason is None else f": {state.reason}"
        console.result(f"on {state.population}: {state.state}{told}")
    console.result("rubric:")
    for line in one.rubric_text.splitlines():
        console.note(line)
    return REACHED


def run_diff(arguments: argparse.Namespace, console: Console) -> int:
    """Print the parts in which two versions differ."""
    from calib_pipeline.cli.project_folder import open_project
    from calib_pipeline.status.versions import version_differences, version_named

    project = open_project(arguments.project)
    versions = _versions(project, _study(project, arguments.study))
    before, now = (version_named(versions, given) for given in (arguments.before, arguments.now))
    found = version_differences(before, now)
    console.json([asdict(one) for one in found])
    if not found:
        console.result("the two are one version")
    for one in found:
        console.result(f"{one.part}: {one.before} -> {one.now}")
        for line in one.lines:
            console.note(f"{INDENT}{line}")
    return REACHED


def _study(project: Project, name: str) -> Study:
    from calib_pipeline.cli.project_folder import unknown

    if name not in project.studies:
        raise unknown("study", name, list(project.studies))
    return project.studies[name]


def _versions(project: Project, study: Study) -> list[Version]:
    from calib_pipeline.status.standing import open_ladder
    from calib_pipeline.status.versions import versions_of

    ladder = open_ladder(project)
    if ladder is None:
        raise InputError(
            "there is no ledger yet, so that no version is registered",
            todo=f"run `calib run --study {study.name}`, which registers what is declared",
        )
    with closing(ladder.ledger):
        return versions_of(project, ladder, study)

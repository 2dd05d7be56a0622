"""``calib board``: the state of every ladder as one HTML page."""

from __future__ import annotations

import argparse
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from calib_pipeline.cli.console import Console
from calib_pipeline.cli.exit_codes import REACHED, WRONG_INPUT
from calib_pipeline.errors import InputError

DEFAULT = ".calib/board.html"


def add(commands: Any, everywhere: argparse.ArgumentParser) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "board",
        parents=[everywhere],
        help="write the state of every ladder as one HTML page",
        description="Write the state of every ladder as one HTML page that needs neither network nor scripts.",
    )
    parser.add_argument("--output", metavar="FILE", help=f"the page to write; by default {DEFAULT} in the project")
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Write the page."""
    from upath import UPath

    from calib_pipeline.board.page import board_page
    from calib_pipeline.cell import Cell
    from calib_pipeline.cli.project_folder import open_project
    from calib_pipeline.cli.status import read_statuses
    from calib_pipeline.cli.validate import say_blocked, say_faults
    from calib_pipeline.evidence_store import write_atomically
    from calib_pipeline.status.standing import open_ledger, refuse_broken_ledger

    project = open_project(arguments.project)
    target = Path(arguments.output).absolute() if arguments.output else project.root / DEFAULT
    if arguments.output:
        _refuse_unwritable(target)
    refuse_broken_ledger(project)
    statuses = read_statuses(project, [Cell(*cell) for cell in project.cells()])
    ledger, head = open_ledger(project), None
    if ledger is not None:
        with closing(ledger):
            head = ledger.head()
    made_at = datetime.now(UTC).isoformat(sep=" ", timespec="minutes").replace("+00:00", " UTC")
    page = board_page(project.root.name, statuses, made_at=made_at, ledger_head=head)
    try:
        write_atomically(UPath(target), page.encode())
    except OSError as fault:
        raise InputError(
            f"{target} cannot be written: {fault.strerror or fault}", todo="name another file with --output"
        ) from fault
    console.json({"file": str(target), "cells": len(statuses)})
    console.result(f"{target}: {len(statuses)} ladder{'' if len(statuses) == 1 else 's'}")
    if project.faults:
        say_faults(project.faults, console)
        say_blocked(project, console)
        return WRONG_INPUT
    return REACHED


def _refuse_unwritable(target: Path) -> None:
    if target.suffix.casefold() not in (".html", ".htm"):
        raise InputError(
            f"{target} is no page, and what it may hold would be written over",
            expected="a name that ends in .html",
            todo="name such a file with --output",
        )
    if target.is_dir():
        raise InputError(f"{target} is a folder", expected="the file to write", todo="name a file with --output")
    if not target.parent.is_dir():
        raise InputError(f"there is no folder {target.parent}", todo="make it, or name another with --output")

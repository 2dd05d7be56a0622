"""``calib dev``: Dagster's own UI and daemon on the project."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from typing import Any, NoReturn

from calib_pipeline.cli.console import Console
from calib_pipeline.cli.exit_codes import FAULT
from calib_pipeline.errors import InputError

WORKSPACE = "workspace.yaml"


def add(commands: Any, everywhere: argparse.ArgumentParser) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "dev",
        parents=[everywhere],
        help="Dagster's own UI on the project, with its sensors and schedules",
        description="Dagster's own UI on the project, with its sensors and schedules. Ends with Ctrl-C.",
    )
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Become ``dagster dev``."""
    from calib_pipeline.cli.project_folder import project_root
    from calib_pipeline.dagster_side.instance import dagster_home, project_instance
    from calib_pipeline.dagster_side.partitions import add_cells
    from calib_pipeline.studies.project import load_project

    root = project_root(arguments.project)
    if not (root / WORKSPACE).is_file():
        raise InputError(
            f"the project has no {WORKSPACE}",
            where=str(root),
            expected="the file by which Dagster finds the project's definitions.py",
            todo="copy both from a fresh `calib init DIR`",
        )
    if importlib.util.find_spec("dagster_webserver") is None:
        message = "Dagster's UI is not installed. Install it with: pip install 'calib-pipeline[ui]'"
        console.say(f"calib: {message}")
        console.error(message)
        return FAULT
    with project_instance(root) as instance:
        add_cells(load_project(root), instance)
    console.say(f"Dagster's UI on {root}, with DAGSTER_HOME={dagster_home(root)}; Ctrl-C ends it")
    os.chdir(root)
    return become([sys.executable, "-m", "dagster", "dev", "-w", WORKSPACE])


def become(command: list[str]) -> NoReturn:
    """Replace this process by another."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(command[0], command)

"""``calib init``: a project folder to start from."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from calib_pipeline.cli.console import Console
from calib_pipeline.cli.exit_codes import REACHED
from calib_pipeline.errors import InputError

PACKAGE = Path(__file__).parent.parent
TEMPLATE = PACKAGE / "project_template"
EXAMPLES = PACKAGE / "project_examples"
STORED_AS = {"gitignore": ".gitignore"}
"""Files that the package keeps under another name, since packaging leaves out names that start with a dot."""
LEFT_OUT = ("__pycache__", ".calib")


def add(commands: Any, everywhere: argparse.ArgumentParser) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "init",
        parents=[everywhere],
        help="write a project folder with a commented study, or a copy of an example",
        description="Write a project folder with a commented study, or a copy of an example.",
    )
    parser.add_argument("folder", metavar="DIR", help="a folder that is empty or not there yet")
    parser.add_argument("--example", metavar="NAME", help="copy an example project, such as sentiment")
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Write the folder."""
    from calib_pipeline.cli.project_folder import expanded

    target = expanded(arguments.folder, "DIR")
    source = TEMPLATE if arguments.example is None else example(arguments.example)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(
            f"{target} is not empty, and nothing is written over",
            expected="a folder that is empty or not there yet",
            todo="choose another name",
        )
    above = next(folder for folder in target.absolute().parents if folder.exists())
    if not above.is_dir():
        raise InputError(f"{above} is a file", expected="a path through folders", todo="choose another name")
    written = copy_project(source, target)
    console.json({"project": str(target.absolute()), "files": written})
    console.result(f"{target}: {len(written)} files written")
    for name in written if len(written) <= 12 else ():
        console.note(name)
    here = f"--project {target}"
    if arguments.example is None:
        console.result("Next: bring the tables that data/README.md describes, adapt the study, then")
        console.note(f"calib validate {here}")
    else:
        console.result("Next:")
    console.note(f"calib run {here}")
    console.note(f"calib status {here}")
    return REACHED


def example(name: str) -> Path:
    """The folder of an example.

    Raises
    ------
    InputError
        When there is none of that name, with the nearest known one.
    """
    from calib_pipeline.cli.project_folder import unknown

    names = examples()
    if name not in names:
        raise unknown("example", name, names)
    return EXAMPLES / name


def examples() -> list[str]:
    """The examples that come with the package."""
    if not EXAMPLES.is_dir():
        return []
    return sorted(folder.name for folder in EXAMPLES.iterdir() if (folder / "calib.yaml").is_file())


def copy_project(source: Path, target: Path) -> list[str]:
    """Copy a project without what a run of it left behind; the names of the files written, in order."""
    written = []
    for path in sorted(source.rglob("*")):
        name = path.relative_to(source)
        if not path.is_file() or any(part in LEFT_OUT for part in name.parts):
            continue
        name = name.with_name(STORED_AS.get(name.name, name.name))
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())
        written.append(name.as_posix())
    return written

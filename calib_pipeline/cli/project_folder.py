"""Which project a command is about, and which of its cells."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from calib_pipeline.errors import InputError, MachineFault

if TYPE_CHECKING:
    from calib_pipeline.cell import Cell
    from calib_pipeline.studies.project import Project

VARIABLE = "CALIB_PROJECT"
PROJECT_FILE = "calib.yaml"


def project_root(given: str | None) -> Path:
    """The project folder: what was given, else CALIB_PROJECT, else the current folder if it holds calib.yaml.

    Raises
    ------
    InputError
        When it is none of these.
    """
    if given is not None:
        return _folder(given, "--project")
    if os.environ.get(VARIABLE):
        return _folder(os.environ[VARIABLE], VARIABLE)
    here = Path.cwd()
    if (here / PROJECT_FILE).is_file():
        return here
    raise InputError(
        f"the current folder {here} is no project: it holds no {PROJECT_FILE}",
        expected=f"a folder with {PROJECT_FILE}",
        todo=f"name one with --project DIR or {VARIABLE}, or make one with `calib init DIR`",
    )


def open_project(given: str | None) -> Project:
    """The declared project.

    Raises
    ------
    InputError
        When there is none, or its calib.yaml is wrong. Faults of studies do not raise.
    MachineFault
        As of :func:`refuse_files_in_the_way`.
    """
    from calib_pipeline.studies.project import load_project

    project = load_project(project_root(given))
    refuse_files_in_the_way(project)
    return project


def refuse_files_in_the_way(project: Project) -> None:
    """Refuse a file that stands where a folder of the store or of the ledger is needed.

    Raises
    ------
    MachineFault
        With the path of the file.
    """
    from calib_pipeline.cli.refused_paths import IN_THE_WAY, file_in_the_way
    from calib_pipeline.studies.addresses import ledger_file

    ledger = ledger_file(project.ledger)
    folder = None if "://" in project.store else Path(project.store)
    for path in (folder, ledger):
        file = None if path is None else file_in_the_way(path.parent)
        if file is not None:
            raise MachineFault(str(file), *IN_THE_WAY)


def asked_cells(project: Project, study: str | None, population: str | None) -> list[Cell]:
    """The cells that can be climbed, of one study or population where named.

    Raises
    ------
    InputError
        When a name is unknown, with the nearest known one; when the study is blocked; or when nothing is declared.
    """
    from calib_pipeline.cell import Cell

    if study is not None:
        known_study(project, study)
        if study in project.blocked:
            raise InputError(
                f"the study {study!r} is blocked: {project.blocked[study]}",
                todo="mend the declaration: `calib validate` shows file and line",
            )
    if population is not None:
        known_population(project, population, study)
    cells = [
        Cell(name, on)
        for name, on in project.cells()
        if (study is None or name == study) and (population is None or on == population)
    ]
    if not cells and not project.faults:
        where = "" if population is None else f" on the population {population!r}"
        raise InputError(
            f"no study is declared{where}",
            where=str(project.root / "studies"),
            expected="at least one study file",
            todo="`calib init DIR` writes a project with a commented study to start from",
        )
    return cells


def one_cell(project: Project, study: str, population: str) -> Cell:
    """The cell of a study and a population.

    Raises
    ------
    InputError
        When one is unknown, or the study is not declared on the population.
    """
    from calib_pipeline.cell import Cell

    known_study(project, study)
    known_population(project, population, study)
    return Cell(study, population)


def known_study(project: Project, name: str) -> None:
    """Refuse a study that is not declared."""
    if name in project.studies:
        return
    invalid = " (a study file that is invalid declares nothing: `calib validate`)" if project.faults else ""
    raise unknown("study", name, project.studies, invalid)


def known_population(project: Project, name: str, study: str | None) -> None:
    """Refuse a population that is not declared, or on which the study is not."""
    if name not in project.populations:
        raise unknown("population", name, project.populations)
    declared = None if study is None else project.studies[study].data.populations
    if declared is not None and name not in declared:
        raise InputError(
            f"the study {study!r} is not declared on the population {name!r}",
            expected=f"one of {', '.join(declared)}",
            todo=f"choose one of them, or add {name!r} to data.populations of the study",
        )


def unknown(what: str, name: str, known: Iterable[str], beside: str = "") -> InputError:
    """The refusal of an unknown name, with the nearest known one."""
    from calib_pipeline.studies.faults import nearest

    names = list(known)
    close = nearest(name, names)
    return InputError(
        f"there is no {what} {name!r}{beside}",
        expected=f"one of {', '.join(names)}" if names else f"a declared {what}; none is",
        todo=f"did you mean {close!r}?" if close else None,
    )


def expanded(given: str, by: str) -> Path:
    """The path with the home folder in the place of ``~``.

    Raises
    ------
    InputError
        When it names the home folder of a user who has none, or holds a character that no path can.
    """
    if "\0" in given:
        raise InputError(f"{given!r} holds a NUL character, which no path can", where=by, expected="a path")
    try:
        return Path(given).expanduser()
    except RuntimeError as error:
        raise InputError(
            f"{given!r} begins with the home folder of a user, and {given.split('/')[0]!r} has none",
            where=by,
            expected="the path of a folder",
            todo="write the path out",
        ) from error


def _folder(given: str, by: str) -> Path:
    folder = expanded(given, by)
    if not folder.is_dir():
        raise InputError(
            f"there is no folder {given!r}",
            where=by,
            expected=f"a folder with {PROJECT_FILE}",
            todo="make one with `calib init DIR`",
        )
    return folder.absolute()

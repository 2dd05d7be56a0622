"""The small project is climbed once; every test that needs it climbed takes a copy."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from answers_project import write_project
from answers_runs import Runs
from made_once import made_once

from calib_pipeline.cell import Cell
from calib_pipeline.dagster_side.climbing import climb_cell
from calib_pipeline.studies.project import load_project


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


@pytest.fixture(scope="session")
def climbed_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def climb(root: Path) -> None:
        write_project(root)
        with dg.DagsterInstance.ephemeral() as instance:
            result = climb_cell(load_project(root), Cell(study="rule", population="spring"), instance)
        assert result.status == "ok", result

    return made_once(tmp_path_factory, "climbed-answers", climb)


@pytest.fixture
def climbed(climbed_once: Path, tmp_path: Path, instance: dg.DagsterInstance) -> Runs:
    """The project after a climb that reached its record."""
    root = tmp_path / "project"
    shutil.copytree(climbed_once, root)
    return Runs(root, instance)


@pytest.fixture
def fresh(tmp_path: Path, instance: dg.DagsterInstance) -> Runs:
    """The project before anything was run."""
    return Runs(write_project(tmp_path / "project"), instance)

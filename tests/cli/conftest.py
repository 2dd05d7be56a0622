"""One project, climbed once for all tests, and a copy of it for a test that changes something."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import dagster as dg
import pytest
from made_once import made_once
from small_project import Climbed, Said, write_project

from calib_pipeline.cli.main import main
from calib_pipeline.dagster_side import instance


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No project and no Dagster folder from outside, and none left behind by a command."""
    for name in ("CALIB_PROJECT", "DAGSTER_HOME"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    yield


@pytest.fixture
def calib(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Said]:
    """Run a command in this process."""

    def run(*arguments: object) -> Said:
        monkeypatch.delenv("DAGSTER_HOME", raising=False)
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return run


@pytest.fixture(scope="session")
def climbed(tmp_path_factory: pytest.TempPathFactory) -> Climbed:
    """The small project after its first run. Tests only read it."""

    def climb(root: Path) -> None:
        write_project(root / "replies")
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.setattr(instance, "project_instance", lambda _root: dg.DagsterInstance.ephemeral())
            code = main(["run", "--project", str(root / "replies")])
        (root / "said.json").write_text(json.dumps([code, out.getvalue(), err.getvalue()]), encoding="utf-8")

    root = made_once(tmp_path_factory, "climbed-replies", climb)
    return Climbed(root / "replies", Said(*json.loads((root / "said.json").read_text(encoding="utf-8"))))


@pytest.fixture
def quick_dagster(monkeypatch: pytest.MonkeyPatch) -> None:
    """An instance of Dagster in memory, for tests that are about something else."""
    monkeypatch.setattr(instance, "project_instance", lambda _root: dg.DagsterInstance.ephemeral())


@pytest.fixture
def own_copy(climbed: Climbed, tmp_path: Path) -> Path:
    """The climbed project somewhere else, to be changed freely."""
    return Path(shutil.copytree(climbed.root, tmp_path / "replies"))


@pytest.fixture
def declared(tmp_path: Path) -> Path:
    """The small project before any run."""
    return write_project(tmp_path / "replies")

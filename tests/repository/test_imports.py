"""Arrows run one way, and nothing heavy is imported before it is needed."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib

import pytest
from import_graph import PACKAGE, ROOT, circle, imports_of, modules, runs

KNOWS_DAGSTER = ("assets", "dagster_side", "definitions", "cli")
ABOVE_THE_LADDER = (*KNOWS_DAGSTER, "status", "board")
HEAVY = {"dagster", "numpy", "pandas", "pandera", "pyarrow", "pydantic", "rich", "scipy", "sqlalchemy", "upath", "yaml"}
IMPORTED_AS = {"pyyaml": "yaml", "universal-pathlib": "upath"}


def room(module: str) -> str:
    """The first part of a module's name below the package."""
    return module.split(".")[1] if "." in module else ""


def test_only_its_own_side_knows_dagster() -> None:
    found = {
        module
        for module in modules()
        if room(module) not in KNOWS_DAGSTER
        for one in imports_of(module)
        if one.target.split(".")[0] == "dagster"
    }
    assert found == set()


def test_nothing_below_reaches_up() -> None:
    found = {
        (module, target)
        for module in modules()
        if room(module) not in ABOVE_THE_LADDER
        for target in runs(module, lazy=True)
        if room(target) in ABOVE_THE_LADDER
    }
    assert found == set()


def test_statistics_stand_on_nothing_of_ours() -> None:
    found = {
        (module, target)
        for module in modules()
        if room(module) == "statistics"
        for target in runs(module, lazy=True)
        if room(target) not in ("", "statistics")
    }
    assert found == set()


def test_statistics_take_arrays() -> None:
    found = {
        (module, one.target)
        for module in modules()
        if room(module) == "statistics"
        for one in imports_of(module)
        if one.target.split(".")[0] == "pandas" and not one.lazy and not one.typing
    }
    assert found == set()


@pytest.mark.parametrize("lazy", [False, True], ids=["as modules load", "with imports inside of functions"])
def test_there_is_no_circle(lazy: bool) -> None:
    assert circle({module: runs(module, lazy=lazy) for module in modules()}) == []


def test_what_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {line.split(">=")[0] for line in project["dependencies"]}
    extras = project["optional-dependencies"]
    extra = {line.split(">=")[0] for name in ("sealing", "judge") for line in extras[name]}
    allowed = {IMPORTED_AS.get(name, name) for name in names} | {PACKAGE} | set(sys.stdlib_module_names)
    imports = [one for module in modules() for one in imports_of(module)]
    imported = {one.target.split(".")[0] for one in imports}
    assert imported - allowed == extra
    assert all(one.lazy or one.typing for one in imports if one.target.split(".")[0] in extra)
    assert {IMPORTED_AS.get(name, name) for name in names} - imported == set()


@pytest.mark.parametrize(
    "code",
    [
        f"import {PACKAGE}",
        f"from {PACKAGE}.cli.main import main; main(['--help'])",
        f"from {PACKAGE}.cli.main import main; main(['run', '--help'])",
        f"from {PACKAGE}.cli.main import main; main(['--version'])",
    ],
    ids=["package", "help", "help of a command", "version"],
)
def test_nothing_heavy_is_imported_for(code: str) -> None:
    assert _imported_by(code) & HEAVY == set()


def test_statistics_need_numpy_alone() -> None:
    assert _imported_by(f"import {PACKAGE}.statistics") & HEAVY == {"numpy"}


def test_help_answers_at_once() -> None:
    timed = (
        f"from {PACKAGE}.cli.main import main; main(['--help']); "
        "import json, resource, sys; used = resource.getrusage(resource.RUSAGE_SELF); "
        "print(json.dumps(used.ru_utime + used.ru_stime), file=sys.stderr)"
    )
    # processor time, since a busy machine says nothing about us
    assert json.loads(_python(timed).stderr) < 0.5


def _imported_by(code: str) -> set[str]:
    listed = _python(f"{code}; import json, sys; print(json.dumps(sorted(sys.modules)), file=sys.stderr)").stderr
    return {name.split(".")[0] for name in json.loads(listed)}


def _python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)

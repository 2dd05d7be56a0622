"""Where things stand: the entries that people look for, the two links, and files that fit on a few screens."""

from __future__ import annotations

from pathlib import Path

import pytest
from tracked import ROOT, texts

from calib_pipeline.assets import CHAIN
from calib_pipeline.schemas import GATES

CODE = ROOT / "calib_pipeline"
LONGEST = 500
GENERATED = {"tests/statistics/golden.json"}


@pytest.mark.parametrize(
    "entry",
    ["pyproject.toml", "calib_pipeline", "assets", "schemas", "tests", "workspace.yaml", "examples", "bench", "docs",
     ".ci/run", "Makefile", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE",
     "constraints.txt"],
)  # fmt: skip
def test_the_entry_stands(entry: str) -> None:
    assert (ROOT / entry).exists()


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("assets", "calib_pipeline/assets"),
        ("schemas", "calib_pipeline/schemas"),
        ("calib_pipeline/project_examples", "../examples"),
    ],
)
def test_the_link_points_to_the_one_place(link: str, target: str) -> None:
    assert (ROOT / link).is_symlink()
    assert (ROOT / link).readlink() == Path(target)
    assert (ROOT / link).is_dir()


def test_an_asset_its_gate_and_its_evidence_share_a_name() -> None:
    chain = [asset.key.to_user_string() for asset in CHAIN]
    assert chain == list(GATES)
    assert set(chain) <= _names("assets")
    assert set(chain) <= _names("schemas")
    # the record is built in records/, from the evidence of the six rungs above it
    assert set(chain[:-1]) <= _names("evidence")


def test_no_file_is_too_long_to_read() -> None:
    lengths = {
        name: text.count("\n")
        for name, text in texts().items()
        if name not in GENERATED and Path(name).suffix != ".csv"
    }
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}


def test_every_module_says_what_it_is() -> None:
    modules = {name: text for name, text in texts().items() if name.endswith(".py") and text.strip()}
    silent = {name for name, text in modules.items() if not text.startswith(('"""', "#!"))}
    # a project's own definitions.py is what people copy, and short enough to read
    assert {name for name in silent if not name.endswith("definitions.py")} == set()


def test_no_module_is_a_heap_of_leftovers() -> None:
    heaps = {"utils", "util", "helpers", "helper", "common", "misc"}
    assert {name for name in texts() if Path(name).stem in heaps} == set()


def test_modules_under_tests_have_names_of_their_own() -> None:
    # the test runner imports them by their bare names
    names = [Path(name).name for name in texts() if name.startswith("tests/") and name.endswith(".py")]
    twice = {name for name in names if names.count(name) > 1}
    assert twice - {"conftest.py"} == set()


def _names(room: str) -> set[str]:
    return {path.stem for path in (CODE / room).glob("*.py")}

"""The example of a judge: its data are what its script writes, and its stand-in is climbed through to the end."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tracked import ROOT

from calib_pipeline.cli.main import main

EXAMPLE = ROOT / "examples" / "judge"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    copied = tmp_path / "judge"
    assert main(["init", str(copied), "--example", "judge"]) == 0
    return copied


def module_of(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_script_writes_the_data_that_are_there(copy: Path) -> None:
    written = copy / "data" / "helpdesk-made-up"
    shutil.rmtree(written)
    subprocess.run([sys.executable, str(copy / "data" / "build_data.py")], check=True)
    for name in ("items.csv", "annotations.csv"):
        assert (written / name).read_bytes() == (EXAMPLE / "data" / "helpdesk-made-up" / name).read_bytes()


def test_the_stand_in_stays_on_the_scale_and_knows_two_words() -> None:
    verdict_on = module_of(EXAMPLE / "stand_in_model.py").verdict_on
    said = [verdict_on(reply)["verdict"] for reply in ("The charge was refunded.", "Please wait.", "Hm.")]
    assert said == ["resolved", "open", "resolved"]


@pytest.mark.slow
def test_the_example_climbs_through_the_stand_in(copy: Path) -> None:
    calib = [sys.executable, "-m", "calib_pipeline.cli.main"]
    call = [sys.executable, "stand_in_model.py", *calib, "run", "--project", ".", "--json"]
    run = subprocess.run(call, cwd=copy, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "A stand-in model answers at http://127.0.0.1:" in run.stderr
    [cell] = json.loads(run.stdout)
    assert (cell["study"], cell["status"]) == ("stand-in.resolved", "calibrated")
    outputs = list((copy / ".calib" / "store" / "outputs" / "helpdesk-made-up").glob("*.jsonl"))
    assert len(outputs) == 1
    assert len(outputs[0].read_text(encoding="utf-8").splitlines()) == 300

"""The example's data are the ones that were built from their source, byte for byte."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from tracked import ROOT

EXAMPLE = ROOT / "examples" / "sentiment"
MANIFEST = Path(__file__).with_name("example_data.sha256")
SOURCE = EXAMPLE / "vaderSentiment-3.3.2.tar.gz"


def test_the_files_are_those_of_the_manifest() -> None:
    listed = dict(reversed(line.split("  ")) for line in MANIFEST.read_text(encoding="utf-8").splitlines())
    there = {
        path.relative_to(EXAMPLE / "data").as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (EXAMPLE / "data").rglob("*")
        if path.is_file()
    }
    assert there == listed


def test_they_are_what_the_script_builds_where_its_source_is_at_hand() -> None:
    if SOURCE.exists():
        built = _script(SOURCE)
        assert built.returncode == 0, built.stdout + built.stderr


def test_the_script_refuses_another_source() -> None:
    refused = _script(EXAMPLE / "calib.yaml")
    assert refused.returncode == 2
    assert "expected 5d7c06e027fc8b99238edb0d53d970cf97066ef97654009890b83703849632f9" in refused.stderr


def _script(source: Path) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "build_data.py", str(source), "--check"]
    return subprocess.run(call, cwd=EXAMPLE, capture_output=True, text=True)

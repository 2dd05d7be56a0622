"""Ladders whose ledger stands on a PostgreSQL server, by the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from small_project import ALONE, GOOD, POPULATION, Said
from test_side_by_side import OTHER, started, two

from calib_pipeline.ledger import Ledger

__all__ = ["two"]

PASSWORD = "s3cret-of-the-ledger"


@pytest.fixture
def ledger(postgresql_ledger: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """An address with a password that the environment gives."""
    monkeypatch.setenv("CALIB_LEDGER_PASSWORD", PASSWORD)
    return postgresql_ledger.replace("calib@", "calib:${CALIB_LEDGER_PASSWORD}@")


def declare(root: Path, ledger: str) -> None:
    declared = yaml.safe_load((root / "calib.yaml").read_text())
    (root / "calib.yaml").write_text(yaml.safe_dump({**declared, "ledger": ledger}), encoding="utf-8")


@pytest.mark.usefixtures("quick_dagster")
@pytest.mark.slow
def test_a_ladder_is_climbed_and_checked_and_shows_no_password(
    declared: Path, ledger: str, postgresql_ledger: str, calib: Callable[..., Said]
) -> None:
    declare(declared, ledger)
    project = ("--project", declared)
    said = [calib("holdout", "list", *project), calib("status", *project)]
    assert [one.code for one in said] == [0, 3]
    run = calib("run", "--study", GOOD, "--population", POPULATION, "--json", *project)
    assert run.code == 0, run.err
    [cell] = json.loads(run.out)
    assert cell["status"] == "calibrated"
    for command in (
        ("holdout", "verify"),
        ("holdout", "log", "--json"),
        ("holdout", "state"),
        ("holdout", "anchor"),
        ("status", "--json"),
        ("record", "verify", cell["record_id"]),
        ("validate",),
    ):
        said.append(calib(*command, *project))
        # four more studies were never climbed
        assert said[-1].code == (3 if command[0] == "status" else 0), (command, said[-1])
    assert "the ledger verifies" in said[2].out
    with Ledger.open(postgresql_ledger) as held:
        assert [entry.record_id for entry in held.published()] == [cell["record_id"]]
    assert not (declared / ".calib" / "ledger.db").exists()
    assert [one for one in [run, *said] if PASSWORD in one.out + one.err] == []
    written = [path for path in (declared / ".calib").rglob("*") if path.is_file()]
    assert written
    assert [path for path in written if PASSWORD.encode() in path.read_bytes()] == []


@pytest.mark.usefixtures("quick_dagster")
def test_a_server_that_cannot_be_reached_is_a_fault_of_the_machine(
    declared: Path, calib: Callable[..., Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALIB_LEDGER_PASSWORD", PASSWORD)
    declare(declared, "postgresql+psycopg://calib:${CALIB_LEDGER_PASSWORD}@127.0.0.1:1/calib")
    for command in (("run",), ("status",), ("holdout", "verify")):
        said = calib(*command, "--project", declared)
        assert said.code == 1, (command, said)
        told = " ".join((said.out + said.err).split())
        assert "cannot be reached; nothing was written. See that its server runs" in told, (command, said)
        assert PASSWORD not in said.out + said.err


@pytest.mark.slow
def test_populations_are_climbed_side_by_side_on_one_server(two: Path, ledger: str, postgresql_ledger: str) -> None:
    declare(two, ledger)
    run = started(two)
    said, messages = run.communicate()
    assert run.returncode == 3, messages
    assert [(cell["study"], cell["population"], cell["status"]) for cell in json.loads(said)] == [
        (ALONE, POPULATION, "uncalibrated"),
        (GOOD, POPULATION, "calibrated"),
        (GOOD, OTHER, "calibrated"),
    ]
    with Ledger.open(postgresql_ledger) as held:
        assert held.verify() == []
        assert len(held.published()) >= 2

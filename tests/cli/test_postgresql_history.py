"""Ledger and Dagster's history on one PostgreSQL server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from postgresql_server import Server
from small_project import GOOD, POPULATION

from calib_pipeline.cli.main import main
from calib_pipeline.ledger import Ledger

pytest.importorskip("dagster_postgres", reason="pip install dagster-postgres, at the version that goes with dagster")


@pytest.fixture
def history(postgresql: Server) -> Iterator[str]:
    """The address of an empty database, for the driver that Dagster's package brings."""
    postgresql.run("CREATE DATABASE dagster")
    yield postgresql.address(database="dagster").replace("+psycopg:", "+psycopg2:")
    postgresql.run("DROP DATABASE dagster WITH (FORCE)")


@pytest.mark.slow
def test_a_ladder_climbs_with_both_on_one_server(
    declared: Path,
    postgresql: Server,
    postgresql_ledger: str,
    history: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    storage = {"postgres": {"postgres_url": {"env": "CALIB_TEST_HISTORY"}}}
    (home / "dagster.yaml").write_text(yaml.safe_dump({"storage": storage, "telemetry": {"enabled": False}}))
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    monkeypatch.setenv("CALIB_TEST_HISTORY", history)
    kept = yaml.safe_load((declared / "calib.yaml").read_text())
    (declared / "calib.yaml").write_text(yaml.safe_dump({**kept, "ledger": postgresql_ledger}), encoding="utf-8")

    code = main(["run", "--study", GOOD, "--population", POPULATION, "--json", "--project", str(declared)])
    said = capsys.readouterr()
    assert code == 0, said.err
    assert [cell["status"] for cell in json.loads(said.out)] == ["calibrated"]
    assert sorted(path.suffix for path in declared.rglob("*.db")) == []
    with Ledger.open(postgresql_ledger) as ledger:
        assert ledger.verify() == []
        runs = {event.run_id for event in ledger.events()}
    with postgresql.connect("dagster") as connection:
        found = connection.execute("SELECT run_id, status FROM runs").fetchall()
    assert found == [(run, "SUCCESS") for run in runs]

"""Ledger and Dagster's history on one PostgreSQL server, as docs/production.md sets them up, climbed side by side."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
import yaml
from postgresql_server import Server
from small_project import GOOD, POPULATION, study_named, write_project, write_study

from calib_pipeline.ledger import Ledger

OTHER = "replies-2"
PASSWORDS = {"DAGSTER_PG_PASSWORD": "geheim", "CALIB_LEDGER_PASSWORD": "verschwiegen"}
PAGE = Path(__file__).parents[2] / "docs" / "production.md"


@dataclass(frozen=True)
class Deployment:
    """A project, the folder of its Dagster settings, and the address of its ledger."""

    root: Path
    home: Path
    ledger: str

    def calib(self, *words: str, without: Collection[str] = ()) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "calib_pipeline.cli.main", *words, "--project", str(self.root)]
        environment = {**os.environ, **PASSWORDS, "DAGSTER_HOME": str(self.home)}
        environment.pop("CALIB_PROJECT", None)
        environment = {name: value for name, value in environment.items() if name not in without}
        return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.fixture
def deployment(tmp_path: Path, postgresql: Server, postgresql_ledger: str) -> Iterator[Deployment]:
    """One study on two populations that share no item, so that processes of their own climb them."""
    root, home = write_project(tmp_path / "replies"), tmp_path / "dagster"
    for path in (root / "studies").iterdir():
        path.unlink()
    study = study_named(GOOD)
    study["data"]["populations"] = [POPULATION, OTHER]
    write_study(root, study)
    (root / "data" / OTHER).mkdir()
    for name in ("items", "annotations", "scores"):
        table = pd.read_csv(root / "data" / POPULATION / f"{name}.csv")
        table["item_id"] = "other-" + table["item_id"]
        table.to_csv(root / "data" / OTHER / f"{name}.csv", index=False)
    manifests = {name: {"items": f"data/{name}/items.csv"} for name in (POPULATION, OTHER)}
    address = postgresql_ledger.replace("calib@", "calib:${CALIB_LEDGER_PASSWORD}@")
    declared = {"populations": manifests, "ledger": address}
    (root / "calib.yaml").write_text(yaml.safe_dump(declared), encoding="utf-8")
    home.mkdir()
    write_settings(home, hostname="", username="calib", db_name="dagster", params={"host": str(postgresql.folder)})
    postgresql.run("CREATE DATABASE dagster")
    try:
        yield Deployment(root, home, postgresql_ledger)
    finally:
        postgresql.run("DROP DATABASE dagster WITH (FORCE)")


def write_settings(home: Path, **server: object) -> None:
    """The documented dagster.yaml, with another server in it."""
    settings = documented_settings()
    settings["storage"]["postgres"]["postgres_db"] |= server
    (home / "dagster.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")


def documented_settings() -> dict[str, dict[str, dict[str, dict[str, object]]]]:
    """The dagster.yaml of the page: the block that names a storage, joined with the one on concurrency."""
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)]
    [storage] = [block for block in blocks if "storage" in block]
    [concurrency] = [block for block in blocks if "concurrency" in block]
    return storage | concurrency


@pytest.mark.slow
def test_ledger_and_history_stand_on_the_server(deployment: Deployment, postgresql: Server) -> None:
    first = deployment.calib("run", "--json")
    assert first.returncode == 0, first.stderr
    assert [(cell["population"], cell["status"], cell["changed"]) for cell in json.loads(first.stdout)] == [
        (POPULATION, "calibrated", True),
        (OTHER, "calibrated", True),
    ]
    again = deployment.calib("run", "--json")
    assert again.returncode == 0, again.stderr
    assert [cell["changed"] for cell in json.loads(again.stdout)] == [False, False]
    with Ledger.open(deployment.ledger, read_only=True) as ledger:
        assert ledger.verify() == []
        kinds = [event.event for event in ledger.events()]
        runs = {event.run_id for event in ledger.events() if event.event == "opened"}
    assert [kinds.count(kind) for kind in ("reserved", "opened", "published")] == [2, 2, 2]
    assert not list(deployment.root.rglob("*.db")) and not list(deployment.home.rglob("*.db"))
    history = history_on(postgresql)
    with postgresql.connect("dagster") as connection:
        succeeded = {run for (run,) in connection.execute("SELECT run_id FROM runs WHERE status = 'SUCCESS'")}
    assert len(runs) == 2 and runs <= succeeded
    kept = [path.read_bytes() for path in deployment.root.rglob("*") if path.is_file()]
    for password in PASSWORDS.values():
        assert password not in first.stdout + first.stderr + history
        assert not any(password.encode() in content for content in kept)


def history_on(postgresql: Server) -> str:
    """Every row of every table of Dagster's."""
    from psycopg.sql import SQL, Identifier

    with postgresql.connect("dagster") as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        assert ("runs",) in names and ("event_logs",) in names
        query = SQL("SELECT row::text FROM {} AS row")
        rows = [row for (name,) in names for (row,) in connection.execute(query.format(Identifier(name)))]
    return "\n".join(rows)


@pytest.mark.slow
def test_a_history_that_cannot_be_reached_is_told_with_its_settings(deployment: Deployment) -> None:
    settings = deployment.home / "dagster.yaml"
    unset = deployment.calib("run", "--population", POPULATION, without=["DAGSTER_PG_PASSWORD"])
    assert unset.returncode == 2, unset.stderr
    assert f"calib: {settings}: it names the environment variable DAGSTER_PG_PASSWORD, which is not set" in unset.stderr
    write_settings(deployment.home, hostname="127.0.0.1", port=1)
    gone = deployment.calib("run", "--population", POPULATION)
    assert gone.returncode == 1, gone.stderr
    assert f"calib: {settings}: Dagster's history of runs cannot be used on the server" in gone.stderr
    assert "Connection refused). See to it that the server runs" in gone.stderr
    assert not any(password in gone.stderr for password in PASSWORDS.values())
    assert "Traceback" not in gone.stderr

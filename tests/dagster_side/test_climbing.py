"""One cell in this process: a record, a stop or a fault, told apart, and a killed run can be run again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import dagster as dg
import pytest
import yaml
from answers_project import write_study, write_tables
from dagster._core.storage.event_log.sqlite import sqlite_event_log
from sqlalchemy import create_engine, text

from calib_pipeline.cell import Cell
from calib_pipeline.dagster_side.climbing import PROCESS, climb_cell, diagnose_cell
from calib_pipeline.dagster_side.instance import dagster_home, project_instance
from calib_pipeline.dagster_side.run_history import cheap_history
from calib_pipeline.errors import InputError, ReviewUnavailable

SPRING = Cell(study="rule", population="spring")
KILLED = """\
import os, signal, sys
from pathlib import Path
from calib_pipeline.dagster_side.climbing import climb_cell
from calib_pipeline.dagster_side.instance import project_instance
from calib_pipeline.cell import Cell
from calib_pipeline.ladder import Ladder
from calib_pipeline.studies.project import load_project
Ladder.threshold_check = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
root = Path(sys.argv[1])
with project_instance(root) as instance:
    climb_cell(load_project(root), Cell(study="rule", population="spring"), instance)
"""


@pytest.fixture
def own_home(monkeypatch):
    monkeypatch.setenv("DAGSTER_HOME", "")


def test_a_stop_is_a_result_and_prints_nothing(fresh, capfd):
    write_tables(fresh.root, "spring", second_person=False)
    result = climb_cell(fresh.project, SPRING, fresh.instance)
    assert (result.status, result.asset, result.rung) == ("stopped", "human_ceiling", "ceiling")
    assert result.reason is not None
    assert "named items have 2 independent annotators" in result.reason
    assert result.next_step is not None
    assert result.next_step.startswith("have more of the named items labeled by a second person")
    assert result.fault is None
    assert capfd.readouterr() == ("", "")
    run = fresh.instance.get_run_by_id(result.run_id)
    assert run is not None
    assert run.tags["calib/status"] == "stopped"


@pytest.mark.parametrize("table", ["labels", "items"])
def test_a_fault_keeps_its_exception(fresh, table):
    path = fresh.root / "data" / "spring" / f"{table}.csv"
    if table == "labels":
        path.unlink()
    else:
        path.write_text("id;nothing\n")
    result = climb_cell(fresh.project, SPRING, fresh.instance)
    assert result.status == "fault"
    assert isinstance(result.fault, ReviewUnavailable if table == "labels" else InputError)


def test_an_undeclared_cell_is_a_wrong_call(fresh):
    with pytest.raises(InputError, match="rule is not declared on population winter"):
        climb_cell(fresh.project, Cell(study="rule", population="winter"), fresh.instance)
    with pytest.raises(InputError, match="there is no study rul "):
        climb_cell(fresh.project, Cell(study="rul", population="spring"), fresh.instance)


@pytest.mark.slow
def test_a_killed_run_can_be_run_again(fresh, own_home):
    environment = {name: value for name, value in os.environ.items() if name != "DAGSTER_HOME"}
    killed = subprocess.run([sys.executable, "-c", KILLED, fresh.root], env=environment, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    with project_instance(fresh.root) as instance:
        [dead] = instance.get_runs()
        assert dead.status == dg.DagsterRunStatus.STARTED
        result = climb_cell(fresh.project, SPRING, instance)
        assert result.status == "ok", result
        again = instance.get_run_by_id(dead.run_id)
        assert again is not None
        assert again.status == dg.DagsterRunStatus.FAILURE
        assert again.tags["calib/status"] == "climbing"


def test_a_run_of_a_process_that_lives_is_left_alone(fresh):
    job = dg.Definitions(jobs=[dg.job(name="ladder")(lambda: None)]).resolve_job_def("ladder")
    host = os.uname().nodename
    tags = {"dagster/partition": "spring|rule", PROCESS: f"{host}:{os.getpid()}"}
    alive = fresh.instance.create_run_for_job(job, tags=tags, status=dg.DagsterRunStatus.STARTED)
    write_study(fresh.root, "rule", role="fitted")
    climb_cell(fresh.project, SPRING, fresh.instance)
    after = fresh.instance.get_run_by_id(alive.run_id)
    assert after is not None
    assert after.status == dg.DagsterRunStatus.STARTED


def test_the_diagnostic_is_made_although_the_ladder_stops(fresh):
    write_study(fresh.root, "rule", role="fitted")
    stopped = climb_cell(fresh.project, SPRING, fresh.instance)
    assert (stopped.status, stopped.asset, stopped.rung) == ("stopped", "holdout_reservation", "holdout")
    made = diagnose_cell(fresh.project, SPRING, fresh.instance)
    assert made.status == "ok", made
    run = fresh.instance.get_run_by_id(made.run_id)
    assert run is not None
    assert run.tags["calib/status"] == "diagnostic"


def test_the_home_is_the_projects_own_unless_one_is_set(fresh, own_home, monkeypatch, tmp_path):
    home = dagster_home(fresh.root)
    assert home == fresh.root / ".calib" / "dagster"
    assert os.environ["DAGSTER_HOME"] == str(home)
    settings = yaml.safe_load((home / "dagster.yaml").read_text())
    assert settings["telemetry"] == {"enabled": False}
    assert settings["run_retries"]["retry_on_asset_or_op_failure"] is False
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    monkeypatch.setenv("DAGSTER_HOME", "")
    dagster_home(fresh.root)
    assert (home / "dagster.yaml").read_text() == "telemetry: {enabled: false}\n"
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    assert dagster_home(fresh.root) == tmp_path
    assert not (tmp_path / "dagster.yaml").exists()


def test_history_is_cheap_only_inside_and_the_ledger_stays_as_durable_as_it_was(tmp_path, own_home):
    def flushes(create_engine, path: str) -> int:
        with create_engine(f"sqlite:///{path}").connect() as connection:
            return int(connection.execute(text("PRAGMA synchronous")).scalar_one())

    with project_instance(tmp_path) as instance:
        history = f"{instance.root_directory}/history.db"
        instance.add_dynamic_partitions("calib_studies", ["rule"])
        with cheap_history(instance):
            assert instance.has_dynamic_partition("calib_studies", "rule")
            assert flushes(sqlite_event_log.create_engine, history) == 1
            assert flushes(create_engine, str(tmp_path / ".calib" / "ledger.db")) == 2
            with cheap_history(instance):
                assert flushes(sqlite_event_log.create_engine, history) == 1
            assert flushes(sqlite_event_log.create_engine, history) == 1
        assert flushes(sqlite_event_log.create_engine, history) == 2
        instance.delete_dynamic_partition("calib_studies", "rule")
        assert not instance.has_dynamic_partition("calib_studies", "rule")

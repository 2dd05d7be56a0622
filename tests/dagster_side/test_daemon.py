"""A real daemon: the sensor climbs a new population, and a backfill climbs the chosen cells, one gated run each."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from answers_project import write_project, write_study

from calib_pipeline.dagster_side.instance import DAGSTER_YAML

pytestmark = pytest.mark.slow

BIN = Path(sys.executable).parent
PATIENCE = 240.0


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = write_project(tmp_path / "project", "autumn")
    write_study(root, "shaped", "spring", role="fitted")
    return root


@pytest.fixture
def instance(project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:
    home = project / ".calib" / "dagster"
    home.mkdir(parents=True)
    (home / "dagster.yaml").write_text(DAGSTER_YAML)
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    with dg.DagsterInstance.get() as instance:
        yield instance


@pytest.fixture
def daemon(project: Path, instance: dg.DagsterInstance) -> Iterator[subprocess.Popen[bytes]]:
    """A daemon in a process group of its own, which is ended with everything that it started."""
    with (project / "daemon.log").open("wb") as log:
        process = subprocess.Popen(
            [BIN / "dagster-daemon", "run", "-w", "workspace.yaml"],
            cwd=project,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.terminate()
            process.wait(timeout=20)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def dagster(project: Path, *words: str) -> None:
    done = subprocess.run(
        [BIN / "dagster", *words, "-w", "workspace.yaml"], cwd=project, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def finished(instance: dg.DagsterInstance, process: subprocess.Popen[bytes], count: int) -> list[dg.DagsterRun]:
    """The runs, once ``count`` of them have ended."""
    ended = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE)
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        assert process.poll() is None, "the daemon ended"
        runs = list(instance.get_runs())
        if sum(run.status in ended for run in runs) >= count:
            return runs
        time.sleep(0.3)
    raise AssertionError([(run.tags, run.status) for run in instance.get_runs()])


def test_sensor_and_backfill_climb_through_a_real_daemon(project, instance, daemon):
    dagster(project, "sensor", "start", "population_manifests")
    runs = {run.tags["dagster/partition"]: run for run in finished(instance, daemon, 2)}
    assert set(runs) == {"autumn|rule", "spring|shaped"}
    assert runs["autumn|rule"].status == dg.DagsterRunStatus.SUCCESS
    assert runs["autumn|rule"].tags["calib/status"] == "published"
    assert runs["autumn|rule"].tags["dagster/sensor_name"] == "population_manifests"
    assert runs["spring|shaped"].status == dg.DagsterRunStatus.FAILURE
    assert runs["spring|shaped"].tags["calib/status"] == "stopped"
    assert runs["spring|shaped"].tags["calib/stopped_at"] == "holdout"

    dagster(project, "job", "backfill", "-j", "ladder", "--partitions", "autumn|rule,spring|shaped", "--noprompt")
    again = [run for run in finished(instance, daemon, 4) if "dagster/backfill" in run.tags]
    assert {run.tags["dagster/partition"]: run.tags["calib/status"] for run in again} == {
        "autumn|rule": "published",
        "spring|shaped": "stopped",
    }
    assert len(list(project.glob(".calib/store/records/autumn/rule/*.json"))) == 1

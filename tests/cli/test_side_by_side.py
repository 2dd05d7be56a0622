"""Populations that share no item are climbed in processes side by side; what shares one is climbed in order."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
import yaml
from small_project import ALONE, GOOD, POPULATION, study_named, write_project, write_study

from calib_pipeline.cell import Cell
from calib_pipeline.cli import climbing
from calib_pipeline.independent_cells import independent
from calib_pipeline.studies.project import load_project

OTHER = "replies-2"


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A study on two populations that share nothing, and one more on the first."""
    root = write_project(tmp_path / "replies")
    for path in (root / "studies").iterdir():
        path.unlink()
    good = study_named(GOOD)
    good["data"]["populations"] = [POPULATION, OTHER]
    alone = study_named(ALONE)
    alone["data"]["annotations"] = "data/{population}/alone.csv"
    alone["reference"]["consensus"] = "single"
    for study in (good, alone):
        write_study(root, study)
    (root / "data" / OTHER).mkdir()
    for name in ("items", "annotations", "scores"):
        table = pd.read_csv(root / "data" / POPULATION / f"{name}.csv")
        table["item_id"] = "other-" + table["item_id"]
        table.to_csv(root / "data" / OTHER / f"{name}.csv", index=False)
    manifests = {name: {"items": f"data/{name}/items.csv"} for name in (POPULATION, OTHER)}
    (root / "calib.yaml").write_text(yaml.safe_dump({"populations": manifests}), encoding="utf-8")
    return root


def started(root: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "calib_pipeline.cli.main", "run", "--json", "--project", str(root)]
    environment = {name: value for name, value in os.environ.items() if name not in ("DAGSTER_HOME", "CALIB_PROJECT")}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


@pytest.mark.slow
def test_two_populations_are_climbed_side_by_side(two: Path) -> None:
    first = started(two)
    said, messages = first.communicate()
    assert first.returncode == 3, messages
    cells = [(cell["study"], cell["population"], cell["status"], cell["changed"]) for cell in json.loads(said)]
    assert cells == [
        (ALONE, POPULATION, "uncalibrated", True),
        (GOOD, POPULATION, "calibrated", True),
        (GOOD, OTHER, "calibrated", True),
    ]
    assert all(cell["counts"]["received"] for cell in json.loads(said))
    second = started(two)
    again, _ = second.communicate()
    assert not any(cell["changed"] for cell in json.loads(again))


@pytest.mark.slow
def test_an_interrupt_ends_every_process_and_the_run_can_be_run_again(two: Path) -> None:
    run = started(two)
    evidence = two / ".calib" / "store" / "evidence"
    while not evidence.exists() and run.poll() is None:
        time.sleep(0.01)
    os.killpg(run.pid, signal.SIGINT)
    _, messages = run.communicate(timeout=180)
    assert run.returncode == 130, messages
    assert "interrupted; rungs that finished stay" in messages
    assert "Traceback" not in messages
    again = started(two)
    said, messages = again.communicate()
    assert again.returncode == 3, messages
    assert [cell["status"] for cell in json.loads(said)] == ["uncalibrated", "calibrated", "calibrated"]


def test_a_process_that_was_killed_is_a_fault_of_its_cell() -> None:
    ended: Future[climbing.Climbed] = Future()
    ended.set_exception(BrokenProcessPool())
    found = climbing._result(ended, Cell(GOOD, POPULATION))
    assert found.fault is not None
    assert found.fault.code == 1
    assert "was killed; run again" in found.fault.message


@pytest.mark.slow
def test_a_history_that_no_process_can_open_is_told_once_for_each_cell(two: Path) -> None:
    home = two / ".calib" / "dagster"
    home.mkdir(parents=True)
    (home / "dagster.yaml").write_text("nonsense: true\n")
    run = started(two)
    said, messages = run.communicate()
    assert run.returncode in (1, 2), messages
    assert "nonsense" in messages and "was killed" not in messages and "Traceback" not in messages
    faults = [cell["fault"] for cell in json.loads(said)]
    assert len(faults) == 3
    assert all("nonsense" in fault for fault in faults)


@pytest.mark.parametrize(
    ("change", "groups"),
    [
        (lambda items: items, [[ALONE, GOOD], [GOOD]]),
        (lambda items: items.assign(item_id=items["item_id"].str.removeprefix("other-")), [[ALONE, GOOD, GOOD]]),
        (lambda items: items.assign(content_digest=["same", *items["item_id"][1:]]), [[ALONE, GOOD, GOOD]]),
        (lambda items: items.drop(columns="item_id"), [[ALONE, GOOD], [GOOD]]),
    ],
    ids=["no item in common", "the same ids", "the same content", "a table that cannot be read"],
)
def test_populations_that_share_an_item_are_one_group(two: Path, change: object, groups: list[list[str]]) -> None:
    assert callable(change)
    first, other = (two / "data" / name / "items.csv" for name in (POPULATION, OTHER))
    pd.read_csv(first).assign(content_digest=lambda items: ["same", *items["item_id"][1:]]).to_csv(first, index=False)
    change(pd.read_csv(other)).to_csv(other, index=False)
    project = load_project(two)
    found = independent(project, [Cell(*cell) for cell in project.cells()])
    assert [[cell.study for cell in group] for group in found] == groups


@pytest.mark.slow
def test_what_was_begun_for_a_process_that_is_gone_ends_with_it(two: Path) -> None:
    run = started(two)
    while "opened" not in opened(two) and run.poll() is None:
        time.sleep(0.01)
    os.kill(run.pid, signal.SIGKILL)
    run.communicate(timeout=180)  # the workers hold the pipes as long as they live
    again = started(two)
    said, messages = again.communicate()
    assert again.returncode == 3, messages
    assert [cell["status"] for cell in json.loads(said)] == ["uncalibrated", "calibrated", "calibrated"]
    assert opened(two).count("opened") == 2


def opened(root: Path) -> list[str]:
    """The kinds of the ledger's events."""
    ledger = root / ".calib" / "ledger.db"
    if not ledger.exists():
        return []
    with closing(sqlite3.connect(ledger)) as database:
        try:
            return [kind for (kind,) in database.execute("select event from events order by seq")]
        except sqlite3.OperationalError:
            return []

"""Where the ledger is: an address on a server, with secrets from the environment that are shown nowhere."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import make_url

from calib_pipeline.cli.main import main
from calib_pipeline.errors import InputError
from calib_pipeline.ledger import addresses
from calib_pipeline.studies.project import load_project

Folder = Callable[..., Path]

SERVER = "postgresql+psycopg://calib@db.internal:5432/calib"


@pytest.mark.parametrize(
    "address", [SERVER, "postgresql://calib@db.internal/calib", "postgresql+psycopg:///calib?host=/run/pg"]
)
def test_a_server_is_an_address(project_folder: Folder, address: str) -> None:
    assert load_project(project_folder(f"ledger: {address}\n")).ledger == address


def test_variables_are_filled_in(project_folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIB_PASSWORD", "p@ss:/w#rd%20{}")
    monkeypatch.setenv("CALIB_HOST", "db.internal:5433")
    address = "'postgresql+psycopg://calib:${CALIB_PASSWORD}@${CALIB_HOST}/calib'"
    url = make_url(load_project(project_folder(f"ledger: {address}\n")).ledger)
    assert (url.username, url.password, url.host, url.port) == ("calib", "p@ss:/w#rd%20{}", "db.internal", 5433)


@pytest.mark.parametrize("address", [SERVER, "sqlite:////srv/audit.db"])
def test_a_variable_may_hold_the_whole_address(
    project_folder: Folder, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("CALIB_LEDGER", address)
    assert load_project(project_folder("ledger: ${CALIB_LEDGER}\n")).ledger == address


@pytest.mark.parametrize("value", [None, ""])
def test_a_variable_that_is_not_set_is_named(
    project_folder: Folder, monkeypatch: pytest.MonkeyPatch, value: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CALIB_PASSWORD", value or "")
    if value is None:
        monkeypatch.delenv("CALIB_PASSWORD")
    root = project_folder("store: x\nledger: 'postgresql://calib:${CALIB_PASSWORD}@db/calib'\n")
    assert main(["validate", "--project", str(root)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "calib.yaml:2: 'ledger' names the variable CALIB_PASSWORD, which is not set in the environment" in said


@pytest.mark.parametrize("broken", ["${}", "${A B}", "${A", "${1A}"])
def test_what_names_no_variable_is_refused(project_folder: Folder, broken: str) -> None:
    with pytest.raises(InputError, match=r"calib\.yaml:1: 'ledger' has a '\$\{' that names no variable"):
        load_project(project_folder(f"ledger: 'postgresql://calib:{broken}@db/calib'\n"))


@pytest.mark.parametrize(
    "address",
    [
        "mysql://calib:s3cret@db/calib",
        "postgresql+asyncpg://calib:s3cret@db/calib",
        "postgresql://calib:s3cret@db",
        "postgresql://calib:s3cret@db:port/calib",
        "postgresql://calib:s3cret/s3cret@db:port/calib",
        "mysql://db/calib?password=s3cret",
        "mysql://calib:${CALIB_PASSWORD}@db/calib",
    ],
)
def test_a_refusal_shows_no_password(project_folder: Folder, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("CALIB_PASSWORD", "s3cret")
    with pytest.raises(InputError) as refusal:
        load_project(project_folder(f"ledger: '{address}'\n"))
    assert "s3cret" not in str(refusal.value)
    assert "calib.yaml:1: 'ledger' is" in str(refusal.value)
    assert "postgresql+psycopg://USER@HOST:5432/DATABASE" in str(refusal.value)


def test_a_project_does_not_show_its_password(project_folder: Folder) -> None:
    project = load_project(project_folder("ledger: postgresql://calib:s3cret@db/calib\n"))
    assert "s3cret" in project.ledger
    assert "s3cret" not in repr(project)


def test_a_server_needs_a_driver(project_folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        addresses, "find_spec", lambda name: None if name == "psycopg" else importlib.util.find_spec(name)
    )
    with pytest.raises(InputError, match=r"calib\.yaml:1.*needs the package psycopg.*'calib-pipeline\[postgres\]'"):
        load_project(project_folder(f"ledger: {SERVER}\n"))
    assert load_project(project_folder("ledger: sqlite:///audit.db\n")).ledger.endswith("audit.db")

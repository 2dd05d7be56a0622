"""What a command says where its surroundings are broken: the path, what is wrong with it, and what to do."""

from __future__ import annotations

import errno
import json
import os
import pickle
import sqlite3
from pathlib import Path

import pytest
from small_project import ALONE, GOOD, POPULATION

from calib_pipeline import evidence_store
from calib_pipeline.cli.refused_paths import WORDS, refused_path
from calib_pipeline.dagster_side import run_history
from calib_pipeline.errors import MachineFault

RUN = ("run", "--study", GOOD)
READING = [
    ("status",),
    ("show", GOOD, POPULATION),
    ("board",),
    ("record", "list"),
    ("record", "verify", "a"),
    ("holdout", "list"),
    ("holdout", "verify"),
    ("validate",),
]


def refused(calib, *call, code):
    """What a command says that fails, which is the same in its JSON."""
    said = calib(*call)
    assert (said.code, said.out) == (code, "")
    assert "Error" not in said.err and "Traceback" not in said.err
    told = json.loads(calib(*call, "--json").out)
    assert list(told) == ["error"] and f"calib: {told['error']}\n" in said.err
    return told["error"]


@pytest.mark.parametrize("call", [RUN, *READING], ids=" ".join)
def test_a_file_in_the_place_of_the_projects_own_folder_is_named(declared, calib, call):
    (declared / ".calib").write_text("x")
    said = refused(calib, *call, "--project", declared, code=1)
    assert said.startswith(f"{declared / '.calib'}: a file stands where a folder is needed. Move it away")
    assert (declared / ".calib").read_text() == "x"


def test_a_file_in_the_place_of_the_store_is_named(own_copy, calib, quick_dagster):
    (own_copy / "calib.yaml").write_text((own_copy / "calib.yaml").read_text() + "store: kept/store\n")
    (own_copy / "kept").write_text("x")
    said = calib(*RUN, "--project", own_copy)
    assert said.code == 1
    assert f"{own_copy / 'kept'}: a file stands where a folder is needed. Move it away" in said.err
    assert "NotADirectory" not in said.err


REFUSALS = [(errno.ENOSPC, "no room left"), (errno.EROFS, "its disk can only be read"), (errno.EACCES, "may not be")]


@pytest.mark.parametrize(("number", "words"), REFUSALS, ids=["full", "read-only", "forbidden"])
def test_a_disk_that_takes_no_write_is_named_with_the_file(declared, calib, monkeypatch, number, words):
    def refuse(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(evidence_store.os, "fsync", refuse)
    said = refused(calib, *RUN, "--project", declared, code=1)
    home = declared / ".calib" / "dagster"
    assert said.startswith(f"{home / 'dagster.yaml'}: ") and words in said
    assert list(home.iterdir()) == []


def test_a_disk_that_fills_up_while_evidence_is_written_is_named(declared, calib, monkeypatch, quick_dagster):
    replaced = evidence_store.os.fsync

    def full(file: int) -> None:
        if ".parquet" in str(Path(f"/proc/self/fd/{file}").readlink()):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replaced(file)

    monkeypatch.setattr(evidence_store.os, "fsync", full)
    said = calib(*RUN, "--project", declared)
    assert said.code == 1 and f"{declared / '.calib' / 'store'}" in said.err
    assert ".parquet: there is no room left on its disk. Make room, and run the same command again\n" in said.err
    assert not list((declared / ".calib" / "store").rglob("*.parquet"))


def test_a_disk_that_fills_up_while_the_history_is_written_is_named(own_copy, calib, monkeypatch):
    def no_page_more(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute("PRAGMA max_page_count = 1")

    monkeypatch.setattr(run_history, "_flush_with_the_log", no_page_more)
    said = calib(*RUN, "--recheck", "--project", own_copy)
    assert said.code == 1
    home = own_copy / ".calib" / "dagster"
    assert f"{home}: Dagster's history of runs in it has no room left on its disk" in said.err
    assert "Make room, and run the same command again" in said.err
    assert "OperationalError" not in said.err


HISTORIES = [
    pytest.param(b"junk that is no database", id="no database"),
    pytest.param(b"SQLite format 3\0" + bytes(range(256)) * 16, id="damaged database", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("content", HISTORIES)
@pytest.mark.slow
def test_a_damaged_history_is_named_and_a_run_without_it_goes_on(declared, calib, content):
    history = declared / ".calib" / "dagster" / "history"
    history.mkdir(parents=True)
    (declared / ".calib" / "dagster" / ".made").touch()
    (history / "runs.db").write_bytes(content)
    said = refused(calib, *RUN, "--project", declared, code=1)
    assert str(declared / ".calib" / "dagster") in said
    assert f"Move {history} away: Dagster makes a new history" in said
    history.rename(declared / "moved")
    ended = calib("run", "--study", ALONE, "--project", declared)
    assert ended.code == 3 and "stopped at ceiling" in ended.err


SETTINGS = [
    (b"a: [\n", ":2: this is not YAML"),
    (b"hello\n", ":1: the file holds no mapping"),
    (b"\xff\xfe\x00", ":1: byte 0xff is not UTF-8"),
    (
        b"telemetries: 1\n",
        ': Dagster cannot be set up: Received unexpected config entry "telemetries" at the root. Mend',
    ),
]


@pytest.mark.parametrize(("content", "words"), SETTINGS, ids=["no YAML", "no mapping", "no text", "unknown key"])
def test_settings_of_dagster_that_are_wrong_are_refused_with_their_line(declared, calib, content, words):
    settings = declared / ".calib" / "dagster" / "dagster.yaml"
    settings.parent.mkdir(parents=True)
    settings.write_bytes(content)
    assert refused(calib, *RUN, "--project", declared, code=2).startswith(f"{settings}{words}")
    assert settings.read_bytes() == content


@pytest.mark.parametrize("given", ["nowhere", "calib.yaml"])
def test_a_folder_of_dagster_that_is_none_is_refused(declared, monkeypatch, capsys, given):
    from calib_pipeline.cli.main import main

    monkeypatch.setenv("DAGSTER_HOME", str(declared / given))
    assert main([*RUN, "--project", str(declared)]) == 2
    assert f"calib: DAGSTER_HOME: '{declared / given}' is no folder that Dagster can use" in capsys.readouterr().err


@pytest.mark.parametrize("call", [("status", "--project", "~nobody-here/x"), ("init", "~nobody-here/x")], ids=" ".join)
def test_the_home_of_a_user_who_has_none_is_refused(calib, call):
    said = refused(calib, *call, code=2)
    assert "'~nobody-here/x' begins with the home folder of a user, and '~nobody-here' has none" in said


def test_a_project_below_a_file_is_refused(calib, tmp_path):
    (tmp_path / "file").write_text("x")
    assert f"{tmp_path / 'file'} is a file" in refused(calib, "init", tmp_path / "file" / "project", code=2)


@pytest.mark.parametrize("number", [*WORDS, errno.EPIPE])
def test_what_the_system_refuses_is_told_with_path_and_next_step(number, tmp_path):
    said = str(refused_path(OSError(number, os.strerror(number), str(tmp_path / "file"))))
    assert said.startswith(f"{tmp_path / 'file'}: ")
    assert said.count(". ") == 1 and "Errno" not in said


def test_a_fault_of_the_machine_survives_the_way_between_processes():
    fault = MachineFault("/p", "its disk is full", "make room")
    assert str(pickle.loads(pickle.dumps(fault))) == str(fault)

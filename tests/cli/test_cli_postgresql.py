"""A project whose ledger is on PostgreSQL: every command works, and none shows the password."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from small_project import GOOD, POPULATION, Said
from sqlalchemy import make_url

SECRET = "geheim"


@pytest.fixture
def on_a_server(declared: Path, postgresql_ledger: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    address = make_url(postgresql_ledger).set(password="SECRET").render_as_string(hide_password=False)
    monkeypatch.setenv("CALIB_TEST_PASSWORD", SECRET)
    settings = yaml.safe_load((declared / "calib.yaml").read_text(encoding="utf-8"))
    settings["ledger"] = address.replace("SECRET", "${CALIB_TEST_PASSWORD}")
    (declared / "calib.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    return declared


def test_a_ladder_is_climbed_read_and_verified(
    on_a_server: Path, calib: Callable[..., Said], quick_dagster: None
) -> None:
    def said(*words: object, code: int = 0) -> Said:
        answer = calib(*words, "--project", on_a_server)
        assert answer.code == code, answer
        assert SECRET not in answer.out + answer.err
        return answer

    said("validate")
    assert "no set is reserved yet" in said("holdout", "list").out
    assert "record published" in said("run", "--study", GOOD).err
    [record] = json.loads(said("record", "list", "--json").out)
    said("record", "verify", record["record_id"])
    assert "nothing changed" in said("run", "--study", GOOD).out
    assert "the ledger verifies" in said("holdout", "verify").out
    kinds = [event["event"] for event in json.loads(said("holdout", "log", "--json").out)]
    assert [kinds.count(kind) for kind in ("reserved", "opened", "published")] == [1, 1, 1]
    assert said("status", "--study", GOOD, code=0).out
    assert not (on_a_server / ".calib" / "ledger.db").exists()
    assert SECRET not in json.dumps(json.loads(said("record", "show", record["record_id"], "--json").out))


def test_a_server_that_is_not_there_is_a_fault_in_words(
    on_a_server: Path, calib: Callable[..., Said], quick_dagster: None
) -> None:
    text = (on_a_server / "calib.yaml").read_text(encoding="utf-8")
    settings = yaml.safe_load(text)
    settings["ledger"] = "postgresql+psycopg://calib:${CALIB_TEST_PASSWORD}@127.0.0.1:1/calib"
    (on_a_server / "calib.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    for words in (("status",), ("holdout", "verify"), ("run", "--study", GOOD, "--population", POPULATION)):
        said = calib(*words, "--project", on_a_server)
        assert said.code == 1, said
        assert "the ledger postgresql+psycopg://calib:***@127.0.0.1:1/calib cannot be reached" in said.err
        assert SECRET not in said.out + said.err and "Traceback" not in said.err

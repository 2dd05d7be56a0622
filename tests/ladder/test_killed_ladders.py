"""A ladder that is killed, wherever it is, can be climbed again and ends with the same record."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import numpy as np
import pytest
from climbs import RUNGS, Folder
from ladder_fixtures import labeled_world
from made_up_project import POPULATION
from upath import UPath

from calib_pipeline.evidence_store import read_parquet
from calib_pipeline.ledger import Ledger
from calib_pipeline.ledger.database import Database
from calib_pipeline.ledger.journal import Journal
from calib_pipeline.records.archive import readable_record

pytestmark = pytest.mark.slow

PARTS = 4
HASH_OR_TIME = re.compile(r'[0-9a-f]{64}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.+]+|"reads": [0-9]+')
"""What differs with the hour; and reads, of which a run that was killed leaves its own."""
INSTANTS = 17
"""Random kills a part: with the boundaries over a hundred in all."""


def climbed_in_a_child(root: Path, prepare: Callable[[], object]) -> int:
    """Climb in a process of its own, told what to do first; its wait status."""
    child = os.fork()
    if not child:
        try:
            prepare()
            with dg.DagsterInstance.ephemeral() as instance:
                run = Folder(root, instance).climb()
            os._exit(0 if run.status == "ok" else 3)
        finally:
            os._exit(4)
    return os.waitpid(child, 0)[1]


def die_at(boundary: int) -> None:
    """Be killed just before the n-th commit of the ledger or rename of a finished file."""
    at_each_boundary(lambda count: os.kill(os.getpid(), signal.SIGKILL) if count == boundary else None)


def at_each_boundary(do: Callable[[int], object]) -> None:
    """Call with 1, 2, … just before each commit of the ledger and each rename of a finished file."""
    count = 0

    def boundary() -> None:
        nonlocal count
        count += 1
        do(count)

    replace, write = Path.replace, Database.writing

    def replaced(path: Path, target: Path) -> Path:
        boundary()
        return replace(path, target)

    @contextmanager
    def writing(database: Database) -> Iterator[Journal]:
        with write(database) as journal:
            yield journal
            boundary()

    Path.replace = replaced  # type: ignore[method-assign, assignment]
    Database.writing = writing  # type: ignore[method-assign]


def new_project(root: Path) -> Path:
    labeled_world().write(root)
    return root


@pytest.fixture(scope="module")
def undisturbed(climbed_once: Folder, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, int, float]:
    """What the record of a ladder that nothing disturbs says, its number of boundaries, and its seconds.

    A climb in this process came before, so that its children have nothing to import.
    """
    root = new_project(tmp_path_factory.mktemp("undisturbed"))
    told = root / "boundaries"
    began = time.monotonic()
    assert climbed_in_a_child(root, lambda: at_each_boundary(lambda count: told.write_text(str(count)))) == 0
    return said_in_the_record(root), int(told.read_text()), time.monotonic() - began


def said_in_the_record(root: Path) -> str:
    """The one record, but for times and for the hashes that rest on the time of the opening."""
    [record] = records(root)
    return HASH_OR_TIME.sub("…", record.read_text(encoding="utf-8"))


def records(root: Path) -> list[Path]:
    return sorted((root / ".calib" / "store" / "records").rglob("[!.]*.json"))


def nothing_is_half_written(root: Path) -> None:
    """What stands under its final name is whole, and labels met outputs only after the ledger had it."""
    store = root / ".calib" / "store"
    for path in store.rglob("*.parquet"):
        if not path.name.startswith("."):
            read_parquet(path.read_bytes(), str(path))
    for path in records(root):
        assert readable_record(UPath(path)) is not None
    if not (root / ".calib" / "ledger.db").exists():
        assert not store.exists()
        return
    with Ledger.open(f"sqlite:///{root / '.calib' / 'ledger.db'}") as ledger:
        assert ledger.verify() == []
        kinds = [event.event for event in ledger.events()]
    assert kinds.count("opened") <= 1
    compared = store / "evidence" / "scorer_agreement" / POPULATION / "judge.parquet"
    assert "opened" in kinds or not compared.exists()


def climbs_again(root: Path, said: str) -> None:
    before = records(root)
    assert climbed_in_a_child(root, lambda: None) == 0
    after = records(root)
    assert said_in_the_record(root) == said
    assert before in ([], after)
    nothing_is_half_written(root)
    with Ledger.open(f"sqlite:///{root / '.calib' / 'ledger.db'}") as ledger:
        kinds = [event.event for event in ledger.events()]
    assert (kinds.count("reserved"), kinds.count("opened"), kinds.count("published")) == (1, 1, 1)
    assert kinds.count("evidence") == len(RUNGS)


@pytest.mark.parametrize("part", range(PARTS))
def test_a_ladder_that_is_killed_at_a_boundary(part: int, undisturbed: tuple[str, int, float], tmp_path: Path) -> None:
    said, boundaries, _ = undisturbed
    assert boundaries > 30
    for boundary in range(1 + part, boundaries + 1, PARTS):
        root = new_project(tmp_path / str(boundary))
        assert os.WTERMSIG(climbed_in_a_child(root, lambda boundary=boundary: die_at(boundary))) == signal.SIGKILL
        nothing_is_half_written(root)
        climbs_again(root, said)


@pytest.mark.parametrize("part", range(PARTS))
def test_a_ladder_that_is_killed_at_any_instant(part: int, undisturbed: tuple[str, int, float], tmp_path: Path) -> None:
    said, _, seconds = undisturbed
    for number, share in enumerate(np.random.default_rng(part).random(INSTANTS)):
        root = new_project(tmp_path / str(number))

        def die_later(after: float = seconds * share) -> None:
            threading.Timer(after, os.kill, (os.getpid(), signal.SIGKILL)).start()

        status = climbed_in_a_child(root, die_later)
        assert status == 0 or os.WTERMSIG(status) == signal.SIGKILL
        nothing_is_half_written(root)
        climbs_again(root, said)

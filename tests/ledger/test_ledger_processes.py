"""Several processes on one ledger, and processes that are killed."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection

import pytest
from ledger_story import A, Story

from calib_pipeline.ledger import Ledger, Opening, Registration, ReservedItem, SetDraw

MANY = [8, pytest.param(32, marks=pytest.mark.slow)]
FORKED = multiprocessing.get_context("fork")


def together(count: int, work: Callable[[int], object]) -> list[object]:
    """What each of ``count`` processes returns, all of them let go at the same moment."""
    barrier, results = FORKED.Barrier(count), FORKED.SimpleQueue()

    def one(number: int) -> None:
        barrier.wait()
        try:
            results.put(work(number))
        except BaseException as fault:
            results.put(fault)
            raise

    processes = [FORKED.Process(target=one, args=(number,)) for number in range(count)]
    for process in processes:
        process.start()
    answers = [results.get() for _ in processes]
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * count, answers
    return answers


@pytest.mark.parametrize("count", MANY)
def test_of_many_processes_that_open_for_one_configuration_one_does(story: Story, count: int) -> None:
    story.reserve(registrations=[A])

    def work(_: int) -> tuple[str, int | None, str | None]:
        with Ledger.open(story.url) as ledger:
            outcome = ledger.open_set("s", Opening("a", "a1", "p1", "holdout", "labels", "scores"), [A])
            return outcome.kind, outcome.seq, outcome.head

    answers = together(count, work)
    assert Counter(kind for kind, _, _ in answers) == {"opened": 1, "repeat": count - 1}
    assert len({(seq, head) for _, seq, head in answers}) == 1
    assert story.count("opened") == 1
    assert story.ledger.verify() == []


@pytest.mark.parametrize("count", MANY)
def test_of_registered_and_unregistered_configurations_the_registered_are_measured(story: Story, count: int) -> None:
    half = count // 2
    known = [Registration(f"known{k}", f"known{k}", "p1") for k in range(half)]
    story.reserve(registrations=known)
    first = story.open(study="known0", config="known0")
    assert first.kind == "opened"

    def work(number: int) -> tuple[str, str]:
        name = f"known{number}" if number < half else f"unknown{number}"
        own = Registration(name, name, "p1")
        with Ledger.open(story.url) as ledger:
            ledger.register("s", [own])
            return name, ledger.open_set("s", Opening(name, name, "p1", "holdout", "labels", "scores"), [own]).kind

    kinds = dict(together(count, work))
    assert kinds == {
        "known0": "repeat",
        **{f"known{k}": "opened" for k in range(1, half)},
        **{f"unknown{k}": "refused" for k in range(half, count)},
    }
    assert story.ledger.verify() == []


def test_processes_that_reserve_at_once_reserve_one_set(address: str) -> None:
    draw = SetDraw("s", "faithful", "pop", "digest", 1, 7, (ReservedItem("i", None, "all", None, 1, True),))

    def work(number: int) -> int:
        with Ledger.open(address) as ledger:
            return ledger.reserve(draw, [Registration(f"study{number}", "c", "p")]).seq

    assert together(8, work) == [1] * 8
    with Ledger.open(address) as ledger:
        assert Counter(event.event for event in ledger.events()) == {"reserved": 1, "registered": 8}
        assert ledger.verify() == []


@pytest.mark.parametrize(
    ("writers", "turns"), [(4, 15), pytest.param(8, 500, marks=pytest.mark.slow, id="8 writers, 500 events each")]
)
def test_writers_lose_nothing_and_fork_nothing(story: Story, writers: int, turns: int) -> None:
    story.reserve(registrations=[A])

    def work(number: int) -> None:
        with Ledger.open(story.url) as ledger:
            for turn in range(turns):
                ledger.record_read("s", f"writer{number}", "c", f"turn {turn}")

    together(writers, work)
    reads = Counter(event.study for event in story.ledger.events() if event.event == "read")
    assert reads == {f"writer{number}": turns for number in range(writers)}
    assert [event.seq for event in story.ledger.events()] == list(range(1, 3 + writers * turns))
    assert story.ledger.verify() == []


def test_a_ledger_that_was_opened_before_a_fork_serves_both_processes(story: Story) -> None:
    story.reserve(registrations=[A])

    inherited = story.ledger._database._engine

    def work(number: int) -> tuple[int, bool]:
        seq = story.ledger.record_read("s", f"child{number}", "c", "ceiling").seq
        return seq, story.ledger._database._engine is inherited

    answers = together(3, work)
    story.read()
    assert sorted(answers) == [(3, False), (4, False), (5, False)]
    assert story.ledger.verify() == []


def test_a_writer_that_is_killed_leaves_a_whole_chain_that_holds_all_it_confirmed(story: Story) -> None:
    story.reserve(registrations=[A])

    def write_without_end(confirm: Connection) -> None:
        with Ledger.open(story.url) as ledger:
            while True:
                confirm.send(ledger.record_read("s", "a", "a1", "ceiling").seq)

    pick = random.Random(11)
    confirmed = 2
    for _ in range(8):
        heard, confirm = FORKED.Pipe(duplex=False)
        writer = FORKED.Process(target=write_without_end, args=(confirm,))
        writer.start()
        confirm.close()
        confirmed = heard.recv()
        time.sleep(pick.uniform(0, 0.05))
        writer.kill()
        writer.join()
        with suppress(EOFError):
            while True:
                confirmed = heard.recv()
        assert story.ledger.verify() == []
        assert len(story.ledger.events()) in (confirmed, confirmed + 1)
    assert story.open().kind == "opened"


def test_a_process_that_is_killed_within_its_transaction_has_written_nothing(story: Story) -> None:
    story.reserve(registrations=[A])

    def work() -> None:
        database = Ledger.open(story.url)._database
        with database.writing() as journal:
            journal.append("read", holdout_id="s", study="a", details={"purpose": "ceiling"})
            os.kill(os.getpid(), signal.SIGKILL)

    process = FORKED.Process(target=work)
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert story.count("read") == 0
    assert story.ledger.verify() == []
    assert story.open().kind == "opened"

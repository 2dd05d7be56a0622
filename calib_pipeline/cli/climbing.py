"""Climbs the asked-for cells: those that share items one after another, the others in processes side by side."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.util import Finalize
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import dagster as dg

    from calib_pipeline.cell import Cell
    from calib_pipeline.cli.console import Console
    from calib_pipeline.dagster_side.climbing import CellResult
    from calib_pipeline.status.cell_status import CellStatus
    from calib_pipeline.status.counts import Counts
    from calib_pipeline.studies.project import Project

    Made = tuple[dict[Cell, "Climbed"], dict[Cell, CellStatus]]

T = TypeVar("T")

PRELOADED = (
    "calib_pipeline.dagster_side.climbing",
    "calib_pipeline.ledger.sqlite",
    "calib_pipeline.ledger.database",
    "calib_pipeline.status.cell_status",
    "calib_pipeline.tables.annotations",
    "calib_pipeline.tables.scores",
    "dagster._core.storage.event_log",
    "dagster._core.storage.runs",
    "dagster._core.storage.schedules",
    "dagster._core.execution.backfill",
    "pandera.backends.pandas.container",
    "pyarrow.parquet",
    "scipy.special",
)
"""What takes a process longest to import; a name that is none costs nothing."""


@dataclass(frozen=True)
class Fault:
    """What broke, in words, and the exit code that it means."""

    message: str
    code: int


@dataclass(frozen=True)
class Climbed:
    """What a run made of one cell."""

    cell: Cell
    ended: str
    fault: Fault | None
    counts: Counts | None


def climb_all(
    project: Project, cells: Sequence[Cell], console: Console, *, recheck: bool
) -> tuple[list[Climbed], list[CellStatus]]:
    """Climb each cell as one run, then read its status; both are in the order of the cells."""
    from calib_pipeline.independent_cells import independent

    groups = independent(project, cells) if _in_parts(cells) else [cells]
    workers = min(len(groups), _processors())
    with console.progress(len(cells), "climbing") as progress:

        def starts(cell: Cell) -> None:
            progress.starts(f"{cell.study} on {cell.population}")

        def ended(one: Climbed) -> None:
            progress.finished(f"{one.cell.study} on {one.cell.population}: {one.ended}")

        if workers < 2:
            climbed, statuses = _one_by_one(project, cells, recheck, starts, ended)
        else:
            climbed, statuses = _side_by_side(project, groups, workers, recheck, starts, ended)
    return [climbed[cell] for cell in cells], [statuses[cell] for cell in cells]


def prepare(cells: Sequence[Cell]) -> None:
    """Begin to import what climbing needs in the process that workers are forked from, where there may be several.

    It and the workers are deaf to Ctrl-C, which reaches all of them at once, but for the time in which they climb.
    """
    from multiprocessing import forkserver

    if not _in_parts(cells):
        return
    forkserver.set_forkserver_preload(list(PRELOADED))
    in_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if in_main else None
    try:
        forkserver.ensure_running()
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


def _one_by_one(
    project: Project,
    cells: Sequence[Cell],
    recheck: bool,
    starts: Callable[[Cell], None],
    ended: Callable[[Climbed], None],
) -> Made:
    from calib_pipeline.cli.status import read_statuses

    climbed = {}
    with ExitStack() as stack:
        instance = _open_instance(project, stack)
        for cell in cells:
            starts(cell)
            climbed[cell] = climb_one(project, cell, instance, recheck=recheck)
            ended(climbed[cell])
    return climbed, dict(zip(cells, read_statuses(project, cells), strict=True))


def _side_by_side(
    project: Project,
    groups: Sequence[Sequence[Cell]],
    workers: int,
    recheck: bool,
    starts: Callable[[Cell], None],
    ended: Callable[[Climbed], None],
) -> Made:
    context = multiprocessing.get_context("forkserver")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(project.root,))
    climbed = {}
    read: list[Future[list[CellStatus]]] = []
    try:
        for one in _climbed_in(pool, groups, workers, recheck, starts, read):
            climbed[one.cell] = one
            ended(one)
        return climbed, _statuses_of(read, project, list(climbed))
    finally:
        pool.shutdown(cancel_futures=True)


def _climbed_in(
    pool: ProcessPoolExecutor,
    groups: Sequence[Sequence[Cell]],
    workers: int,
    recheck: bool,
    starts: Callable[[Cell], None],
    read: list[Future[list[CellStatus]]],
) -> Iterator[Climbed]:
    """Climb the largest groups first; the next cell of a group begins when the one before it has ended.

    The statuses of a group are read where it ended, since what they read is in the memory of that process; no other
    group has any part in them. They are added to ``read``.
    """
    waiting = sorted((list(group) for group in groups), key=len, reverse=True)
    running: dict[Future[Climbed], tuple[list[Cell], int]] = {}

    def start(group: list[Cell], place: int = 0) -> None:
        starts(group[place])
        running[_submitted(pool, _climb_in_worker, group[place], recheck)] = (group, place)

    while waiting or running:
        while waiting and len(running) < workers:
            start(waiting.pop(0))
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            group, place = running.pop(future)
            if place + 1 == len(group):
                read.append(_submitted(pool, _statuses_in_worker, group))
            yield _result(future, group[place])
            if place + 1 < len(group):
                start(group, place + 1)


def _submitted(pool: ProcessPoolExecutor, do: Callable[..., T], *given: object) -> Future[T]:
    try:
        return pool.submit(do, *given)
    except BrokenExecutor as broken:
        failed: Future[T] = Future()
        failed.set_exception(broken)
        return failed


def _statuses_of(
    read: Sequence[Future[list[CellStatus]]], project: Project, cells: Sequence[Cell]
) -> dict[Cell, CellStatus]:
    """What was read beside the climbs; read here, where a process was killed."""
    from calib_pipeline.cli.status import read_statuses

    try:
        statuses = [status for future in read for status in future.result()]
    except BrokenExecutor:
        statuses = read_statuses(project, cells)
    return {status.standing.cell: status for status in statuses}


def _result(future: Future[Climbed], cell: Cell) -> Climbed:
    from calib_pipeline.cli.exit_codes import FAULT

    try:
        return future.result()
    except BrokenExecutor:
        fault = Fault("the process that climbed it, or one beside it, was killed; run again", FAULT)
        return Climbed(cell, "broke", fault, None)


def climb_one(project: Project, cell: Cell, instance: dg.DagsterInstance, *, recheck: bool) -> Climbed:
    """Climb one cell in this process, and record what can be said of one that earns no status."""
    from calib_pipeline.cli.faults import code_of, message_of
    from calib_pipeline.dagster_side.climbing import climb_cell, diagnose_cell
    from calib_pipeline.status.diagnosis import counted, wants_diagnostic

    result = climb_cell(project, cell, instance, recheck=recheck)
    counts, pairs = counted(project, cell)
    if result.status == "stopped" and wants_diagnostic(project, cell, pairs):
        diagnosed = diagnose_cell(project, cell, instance)
        result = diagnosed if diagnosed.status == "fault" else result
    fault = None if result.fault is None else Fault(message_of(result.fault), code_of(result.fault))
    return Climbed(cell, _ended(result), fault, counts)


def _ended(result: CellResult) -> str:
    if result.status == "ok":
        return "record published"
    return "broke" if result.status == "fault" else f"stopped at {result.rung} ({result.asset})"


def _in_parts(cells: Sequence[Cell]) -> bool:
    """Whether some of the cells might be climbed beside others."""
    return len({cell.population for cell in cells}) > 1 and _processors() > 1


def _processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _open_instance(project: Project, stack: ExitStack) -> dg.DagsterInstance:
    from calib_pipeline.dagster_side.instance import project_instance
    from calib_pipeline.dagster_side.run_history import cheap_history

    instance = stack.enter_context(project_instance(project.root))
    stack.enter_context(cheap_history(instance))
    return instance


_opened: list[tuple[Project, dg.DagsterInstance | Fault]] = []
"""What a worker process opened when it began; where Dagster's history could not be opened, why."""


def _begin(root: Path) -> None:
    from calib_pipeline.cli.faults import code_of, message_of
    from calib_pipeline.studies.project import load_project

    threading.Thread(target=_end_with_parent, daemon=True).start()
    stack = ExitStack()
    # A process of multiprocessing ends without what `atexit` was given.
    Finalize(None, stack.close, exitpriority=1)
    project = load_project(root)
    try:
        _opened.append((project, _open_instance(project, stack)))
    except Exception as fault:
        # A process that cannot begin would break its pool, and nobody could say why.
        _opened.append((project, Fault(message_of(fault), code_of(fault))))


def _end_with_parent() -> None:
    """Nobody waits for what this process does once the one that asked for it is gone; a killed run is run again."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _statuses_in_worker(cells: Sequence[Cell]) -> list[CellStatus]:
    from calib_pipeline.cli.status import read_statuses

    [(project, _)] = _opened
    return read_statuses(project, cells)


def _climb_in_worker(cell: Cell, recheck: bool) -> Climbed:
    from calib_pipeline.cli.interrupts import is_interrupt

    [(project, instance)] = _opened
    if isinstance(instance, Fault):
        return Climbed(cell, "broke", instance, None)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return climb_one(project, cell, instance, recheck=recheck)
    except BaseException as fault:
        if is_interrupt(fault):
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

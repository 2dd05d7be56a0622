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
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import dagster as dg

    from calib_pipeline.cell import Cell
    from calib_pipeline.cli.console import Console
    from calib_pipeline.dagster_side.climbing import CellResult
    from calib_pipeline.status.counts import Counts
    from calib_pipeline.studies.project import Project

PRELOADED = "calib_pipeline.dagster_side.climbing"
"""What takes a process longest to import."""


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


def climb_all(project: Project, cells: Sequence[Cell], console: Console, *, recheck: bool) -> list[Climbed]:
    """Climb each cell as one run; the results are in the order of the cells."""
    from calib_pipeline.independent_cells import independent

    several = len({cell.population for cell in cells}) > 1 and _processors() > 1
    if several:
        _preload()
    groups = independent(project, cells) if several else [cells]
    workers = min(len(groups), _processors())
    climbed = {}
    with console.progress(len(cells), "climbing") as progress:

        def starts(cell: Cell) -> None:
            progress.starts(f"{cell.study} on {cell.population}")

        if workers < 2:
            made = _one_by_one(project, cells, recheck, starts)
        else:
            made = _side_by_side(project, groups, workers, recheck, starts)
        for one in made:
            climbed[one.cell] = one
            progress.finished(f"{one.cell.study} on {one.cell.population}: {one.ended}")
    return [climbed[cell] for cell in cells]


def _preload() -> None:
    """Begin to import what climbing needs in the process that the workers are forked from.

    It and the workers are deaf to Ctrl-C, which reaches all of them at once, but for the time in which they climb.
    """
    from multiprocessing import forkserver

    forkserver.set_forkserver_preload([PRELOADED])
    in_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if in_main else None
    try:
        forkserver.ensure_running()
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


def _one_by_one(
    project: Project, cells: Sequence[Cell], recheck: bool, starts: Callable[[Cell], None]
) -> Iterator[Climbed]:
    with ExitStack() as stack:
        instance = _open_instance(project, stack)
        for cell in cells:
            starts(cell)
            yield climb_one(project, cell, instance, recheck=recheck)


def _side_by_side(
    project: Project, groups: Sequence[Sequence[Cell]], workers: int, recheck: bool, starts: Callable[[Cell], None]
) -> Iterator[Climbed]:
    """Climb the largest groups first; the next cell of a group begins when the one before it has ended."""
    context = multiprocessing.get_context("forkserver")
    waiting = sorted((list(group) for group in groups), key=len, reverse=True)
    running: dict[Future[Climbed], tuple[Cell, list[Cell]]] = {}
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(project.root,))

    def start(group: list[Cell]) -> None:
        cell, *rest = group
        starts(cell)
        try:
            running[pool.submit(_climb_in_worker, cell, recheck)] = (cell, rest)
        except BrokenExecutor as broken:
            ended: Future[Climbed] = Future()
            ended.set_exception(broken)
            running[ended] = (cell, rest)

    try:
        while waiting or running:
            while waiting and len(running) < workers:
                start(waiting.pop(0))
            ended, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                cell, rest = running.pop(future)
                yield _result(future, cell)
                if rest:
                    start(rest)
    finally:
        pool.shutdown(cancel_futures=True)


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


def _processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _open_instance(project: Project, stack: ExitStack) -> dg.DagsterInstance:
    from calib_pipeline.dagster_side.instance import project_instance
    from calib_pipeline.dagster_side.run_history import cheap_history

    instance = stack.enter_context(project_instance(project.root))
    stack.enter_context(cheap_history(instance))
    return instance


_opened: list[tuple[Project, dg.DagsterInstance]] = []
"""What a worker process opened when it began."""


def _begin(root: Path) -> None:
    from calib_pipeline.studies.project import load_project

    threading.Thread(target=_end_with_parent, daemon=True).start()
    stack = ExitStack()
    # A process of multiprocessing ends without what `atexit` was given.
    Finalize(None, stack.close, exitpriority=1)
    project = load_project(root)
    _opened.append((project, _open_instance(project, stack)))


def _end_with_parent() -> None:
    """Nobody waits for what this process does once the one that asked for it is gone; a killed run is run again."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _climb_in_worker(cell: Cell, recheck: bool) -> Climbed:
    from calib_pipeline.cli.interrupts import is_interrupt

    [(project, instance)] = _opened
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return climb_one(project, cell, instance, recheck=recheck)
    except BaseException as fault:
        if is_interrupt(fault):
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

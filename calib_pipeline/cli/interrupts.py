"""Ctrl-C is heard even where it lands in a callback whose exceptions Python swallows."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

SOON = 0.05
"""Seconds until a swallowed interrupt is sent again: the callback it landed in has ended by then."""


def is_interrupt(fault: BaseException | None) -> bool:
    """Whether an exception means that someone pressed Ctrl-C."""
    # Dagster's own interrupt is no KeyboardInterrupt, and importing Dagster to name it would be slow.
    return isinstance(fault, KeyboardInterrupt) or type(fault).__name__ == "DagsterExecutionInterruptedError"


@contextmanager
def interrupts_are_heard() -> Iterator[None]:
    """Send an interrupt again that a finalizer or weak-reference callback swallowed."""
    before = sys.unraisablehook

    def swallowed(unraisable: UnraisableHookArgs) -> None:
        if is_interrupt(unraisable.exc_value):
            main_thread = threading.main_thread().ident
            again = threading.Timer(SOON, signal.pthread_kill, (main_thread, signal.SIGINT))
            again.daemon = True
            again.start()
        else:
            before(unraisable)

    sys.unraisablehook = swallowed
    try:
        yield
    finally:
        sys.unraisablehook = before

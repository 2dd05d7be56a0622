"""From an exception to a sentence and an exit code, also where Dagster wrapped it."""

from __future__ import annotations

from calib_pipeline.cli.exit_codes import FAULT, INTERRUPTED, STOPPED, WRONG_INPUT
from calib_pipeline.cli.interrupts import is_interrupt
from calib_pipeline.cli.refused_paths import refused_path
from calib_pipeline.errors import InputError, JudgeAwaited, MachineFault, ReviewUnavailable, causes_of


def code_of(fault: BaseException) -> int:
    """The exit code that an exception means."""
    if is_interrupt(fault):
        return INTERRUPTED
    told = _own(fault)
    if isinstance(told, JudgeAwaited):
        return STOPPED
    return WRONG_INPUT if isinstance(told, InputError) else FAULT


def message_of(fault: BaseException) -> str:
    """What went wrong: in our own words where the exception is ours or the system's, else in one line with its type."""
    told = _own(fault)
    if told is not None:
        return str(told)
    for cause in causes_of(fault):
        if isinstance(cause, OSError):
            return str(refused_path(cause))
    first = next(iter(str(fault).strip().splitlines()), "")
    return f"{type(fault).__name__}: {first}" if first else type(fault).__name__


def _own(fault: BaseException) -> BaseException | None:
    """The exception of ours that this one is or was raised from."""
    from calib_pipeline.evidence_store import DamagedEvidence
    from calib_pipeline.ledger.errors import LedgerError

    for cause in causes_of(fault):
        if isinstance(cause, InputError | MachineFault | ReviewUnavailable | LedgerError | DamagedEvidence):
            return cause
    return None

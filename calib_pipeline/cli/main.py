"""``calib``: reads the call, runs one command, and turns whatever happens into a message and an exit code."""

from __future__ import annotations

import argparse
import io
import sys
import traceback
from collections.abc import Sequence

from calib_pipeline import __version__
from calib_pipeline.cli import (
    audit,
    board,
    dev,
    holdout,
    init,
    judge,
    plan,
    record,
    run,
    sample,
    sheet,
    show,
    status,
    validate,
)
from calib_pipeline.cli.call_parser import CallParser, WrongCall
from calib_pipeline.cli.console import Console
from calib_pipeline.cli.exit_codes import FAULT, INTERRUPTED, REACHED, WRONG_INPUT
from calib_pipeline.cli.interrupts import interrupts_are_heard

COMMANDS = (init, validate, plan, sample, sheet, run, judge, status, show, record, audit, holdout, board, dev)

DESCRIPTION = """\
Has this scorer earned the word "calibrated" on this population, and if not, on which rung did it stop?

The project folder is --project DIR, else CALIB_PROJECT, else the current folder if it holds calib.yaml."""

EXIT_CODES = """\
exit codes:
  0    every asked-for ladder reached its record
  3    a ladder stopped, was never climbed, or rests on stale evidence or on tables that
       cannot be read: a result, not a fault
  1    something broke while running
  2    a wrong call or declaration, or an unusable table
  130  interrupted"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``calib``.

    Parameters
    ----------
    argv
        The arguments after the program's name; by default those of the process.

    Returns
    -------
    int
        The exit code; see :mod:`calib_pipeline.cli.exit_codes`.
    """
    for name in ("stdout", "stderr"):
        # A stream that was closed before the program began is None.
        if getattr(sys, name) is None:
            setattr(sys, name, io.StringIO())
    arguments = argparse.Namespace(project=None, json=False, debug=False, command=None)
    try:
        _parser().parse_args(argv, namespace=arguments)
    except WrongCall as wrong:
        given = sys.argv[1:] if argv is None else argv
        Console(as_json=arguments.json or "--json" in given).error(wrong.message)
        return WRONG_INPUT
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else WRONG_INPUT
    console = Console(as_json=arguments.json)
    if arguments.command is None:
        console.say(_parser().format_help())
        console.error("no command is named")
        return WRONG_INPUT
    try:
        with interrupts_are_heard():
            code: int = arguments.command(arguments, console)
    except BaseException as fault:
        code = _told(fault, console, debug=arguments.debug)
    finally:
        console.close()
    return code


def _told(fault: BaseException, console: Console, *, debug: bool) -> int:
    """Say what happened, and what it means for the exit code."""
    from calib_pipeline.cli.faults import code_of, message_of

    if debug:
        traceback.print_exception(fault, file=sys.stderr)
    if isinstance(fault, SystemExit | GeneratorExit):
        raise fault
    code = code_of(fault)
    if code == INTERRUPTED:
        console.say("interrupted; rungs that finished stay, and the same command goes on from there")
    elif not isinstance(fault, BrokenPipeError):
        console.say(f"calib: {message_of(fault)}")
        console.error(message_of(fault))
        if code == FAULT and not debug:
            console.say("calib: --debug shows the trace")
    return REACHED if isinstance(fault, BrokenPipeError) else code


def _parser() -> argparse.ArgumentParser:
    everywhere = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    options = everywhere.add_argument_group("options of every command")
    options.add_argument("--project", metavar="DIR", help="the project folder")
    options.add_argument("--json", action="store_true", help="print the result as JSON")
    options.add_argument("--debug", action="store_true", help="show the trace of a fault")
    parser = CallParser(
        prog="calib",
        description=DESCRIPTION,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[everywhere],
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"calib {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands, everywhere)
    return parser


if __name__ == "__main__":
    sys.exit(main())

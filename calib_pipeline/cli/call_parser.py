"""A parser of calls whose refusal carries its message, so that it can be told to programs too."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

from calib_pipeline.cli.exit_codes import WRONG_INPUT


class WrongCall(SystemExit):
    """A call that cannot be read; usage and message were printed."""

    def __init__(self, message: str) -> None:
        super().__init__(WRONG_INPUT)
        self.message = message


class CallParser(argparse.ArgumentParser):
    """Prints what argparse prints of a wrong call, and raises `WrongCall`."""

    def error(self, message: str) -> NoReturn:
        """Refuse the call."""
        self.print_usage(sys.stderr)
        sys.stderr.write(f"{self.prog}: error: {message}\n")
        raise WrongCall(message)

"""Tokens that a run may spend: reserved before a call, settled after it."""

from __future__ import annotations

from threading import Lock


class TokenBudget:
    """A count that several calls share and that never lets the reserved and the spent together exceed the limit.

    Parameters
    ----------
    limit
        Tokens.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.spent = 0
        self._reserved = 0
        self._lock = Lock()

    def reserve(self, tokens: int) -> bool:
        """Set tokens aside for a call; False where they are not there, and nothing is set aside."""
        with self._lock:
            if self.spent + self._reserved + tokens > self.limit:
                return False
            self._reserved += tokens
            return True

    def settle(self, reserved: int, used: int) -> None:
        """Replace what was set aside by what the call used."""
        with self._lock:
            self._reserved -= reserved
            self.spent += used

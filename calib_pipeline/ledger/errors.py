"""What can go wrong with a ledger, in words for the person who runs it."""

from __future__ import annotations


class LedgerError(Exception):
    """The ledger cannot be read or written, or a call would break one of its rules. Nothing was written."""


class NoLedgerYet(LedgerError):
    """The database is there and empty: making it was interrupted before anything was written."""


class UnknownSet(LedgerError):
    """The ledger holds no set of that name.

    Parameters
    ----------
    holdout_id
        The name that was asked for.
    known
        The sets that the ledger holds.
    """

    def __init__(self, holdout_id: str, known: tuple[str, ...]) -> None:
        super().__init__(holdout_id, known)
        self.holdout_id = holdout_id
        self.known = known

    def __str__(self) -> str:
        held = f"it holds {', '.join(self.known)}" if self.known else "no set was reserved yet"
        return f"the ledger holds no set named {self.holdout_id!r}; {held}"

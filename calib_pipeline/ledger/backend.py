"""What a kind of database must offer to hold a ledger."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

BUSY_SECONDS = 60.0
"""How long a transaction waits for another one before it gives up."""


@dataclass(frozen=True)
class Trigger:
    """A trigger on the ledger's tables: all that it does as one text, and whether it is switched on."""

    statement: str
    enabled: bool = True


class Backend(Protocol):
    """One kind of database, and one ledger in it.

    ``shown`` names the ledger in messages, without secrets; ``elsewhere`` says what to name instead of a database that
    holds something else; ``triggers`` are those that a ledger has, by name.
    """

    @property
    def shown(self) -> str: ...
    @property
    def elsewhere(self) -> str: ...
    @property
    def read_only(self) -> bool: ...
    @property
    def triggers(self) -> Mapping[str, str]: ...

    def new_engine(self) -> Engine:
        """An engine for this process."""

    def leave_to_parent(self, engine: Engine) -> None:
        """Let go of an engine that a fork has inherited, without touching the parent's connections."""

    def reading(self, engine: Engine) -> AbstractContextManager[Connection]:
        """A transaction that sees one state of the database and changes nothing."""

    def writing(self, engine: Engine) -> AbstractContextManager[Connection]:
        """A transaction that no other writer runs beside, from its first statement on."""

    def creating(self, engine: Engine) -> AbstractContextManager[Connection]:
        """The same where there are no tables yet."""

    def create_triggers(self, connection: Connection) -> None:
        """Make the triggers on tables that were made in this transaction."""

    def standing_triggers(self, connection: Connection) -> dict[str, Trigger]:
        """The triggers that stand, by name."""

    def integrity_problems(self, connection: Connection) -> list[str]:
        """What is wrong with the database itself, each a sentence."""

    def in_words(self, fault: BaseException, *, committing: bool) -> str:
        """What the driver's exception means for the reader.

        ``committing`` says that it came while the transaction was being confirmed.
        """

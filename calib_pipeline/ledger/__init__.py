"""The holdout ledger: the append-only, hash-chained history of every held-out set.

One module owns the tables, one hashes the chain, one turns events into states; everything else calls :class:`Ledger`.
SQLAlchemy is imported when a ledger is opened, not before.
"""

from calib_pipeline.ledger.constructs import Construct
from calib_pipeline.ledger.errors import LedgerError, NoLedgerYet, UnknownSet
from calib_pipeline.ledger.events import GENESIS, Event
from calib_pipeline.ledger.ladder_entries import EvidenceEntry, Publication
from calib_pipeline.ledger.ledger import Ledger
from calib_pipeline.ledger.openings import Opening, OpeningOutcome
from calib_pipeline.ledger.sealing import SEALED, Sealing
from calib_pipeline.ledger.sets import HoldoutSet, Registration, ReservedItem, SetDraw, SetHeader, SpentItems
from calib_pipeline.ledger.states import SetState, Subject
from calib_pipeline.ledger.uses import Allowance, Limits, Uses

__all__ = [
    "GENESIS",
    "SEALED",
    "Allowance",
    "Construct",
    "Event",
    "EvidenceEntry",
    "HoldoutSet",
    "Ledger",
    "LedgerError",
    "Limits",
    "NoLedgerYet",
    "Opening",
    "OpeningOutcome",
    "Publication",
    "Registration",
    "ReservedItem",
    "Sealing",
    "SetDraw",
    "SetHeader",
    "SetState",
    "SpentItems",
    "Subject",
    "UnknownSet",
    "Uses",
]

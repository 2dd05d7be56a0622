"""Reading and appending within one transaction. Every statement on its rows is here."""

from __future__ import annotations

import getpass
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from calib_pipeline.ledger import tables
from calib_pipeline.ledger.backend import Backend, Trigger
from calib_pipeline.ledger.chain import row_hash
from calib_pipeline.ledger.errors import LedgerError, UnknownSet
from calib_pipeline.ledger.events import GENESIS, Event, EventKind
from calib_pipeline.ledger.sets import TEXTS, HoldoutSet, ReservedItem, SetHeader
from calib_pipeline.ledger.states import History, Overlap
from calib_pipeline.ledger.stored_values import check_text, details_text

HEADER_FIELDS = ("dimension", "population", "population_digest", "generation", "seed", "size", "items_digest", TEXTS)
"""What the details of a ``reserved`` event say of its set; anything more in them was handed in with the draw."""

DECIDING: tuple[EventKind, ...] = ("reserved", "registered", "opened", "exported", "fitted", "retired")
"""Kinds of events that decide a set's state, with the first ``read``."""


class Journal:
    """The ledger as one transaction sees it.

    Parameters
    ----------
    connection
        An open transaction: one that holds the write lock, where events are to be appended.
    backend
        What is asked about triggers and integrity, which each kind of database tells in its own words.
    """

    def __init__(self, connection: Connection, backend: Backend) -> None:
        self._connection = connection
        self._backend = backend

    def newest(self) -> tuple[int, str]:
        """Number and hash of the newest event; 0 and the genesis hash where there is none."""
        row = self._connection.execute(
            select(tables.events.c.seq, tables.events.c.hash).order_by(tables.events.c.seq.desc()).limit(1)
        ).first()
        return (0, GENESIS) if row is None else (row.seq, row.hash)

    def append(
        self,
        event: EventKind,
        *,
        details: Mapping[str, Any],
        holdout_id: str | None = None,
        study: str | None = None,
        config_digest: str | None = None,
        run_id: str | None = None,
        actor: str | None = None,
    ) -> Event:
        """Write one event after the newest one."""
        seq, prev_hash = self.newest()
        row: dict[str, Any] = {
            "seq": seq + 1,
            "holdout_id": holdout_id,
            "event": event,
            "study": study,
            "config_digest": config_digest,
            "run_id": run_id,
            "actor": actor or operating_system_user(),
            "at": datetime.now(UTC).isoformat(timespec="microseconds"),
            "details": details_text(details),
            "prev_hash": prev_hash,
        }
        for field in ("holdout_id", "study", "config_digest", "run_id"):
            check_text(field, row[field], optional=True)
        check_text("actor", row["actor"])
        row["hash"] = row_hash(row)
        self._connection.execute(insert(tables.events), row)
        return Event(**{**row, "details": json.loads(row["details"])})

    def stored_rows(self) -> Iterator[dict[str, Any]]:
        """Every row of the chain as it is stored, in order of ``seq``."""
        result = self._connection.execute(select(tables.events).order_by(tables.events.c.seq))
        for row in result.mappings():
            yield dict(row)

    def events(
        self,
        *,
        holdout_id: str | None = None,
        study: str | None = None,
        kinds: Sequence[EventKind] = (),
        newest_first: bool = False,
        limit: int | None = None,
    ) -> Iterator[Event]:
        """The events that match, in order."""
        columns = tables.events.c
        query = select(tables.events).order_by(columns.seq.desc() if newest_first else columns.seq)
        if holdout_id is not None:
            query = query.where(columns.holdout_id == holdout_id)
        if study is not None:
            query = query.where(columns.study == study)
        if kinds:
            query = query.where(columns.event.in_(kinds))
        if limit is not None:
            query = query.limit(limit)
        for row in self._connection.execute(query):
            yield _event(row)

    def history(self, holdout_id: str) -> History:
        """The events of one set that its state depends on; ``UnknownSet`` where it was never reserved."""
        events = list(self.events(holdout_id=holdout_id, kinds=DECIDING))
        reserved = next((event for event in events if event.event == "reserved"), None)
        header = self.require(holdout_id) if reserved is None else _header(reserved)
        # A set may be read any number of times; only the first read decides anything.
        events += self.events(holdout_id=holdout_id, kinds=("read",), limit=1)
        return History(holdout_id, header.dimension, tuple(sorted(events, key=lambda event: event.seq)))

    def require(self, holdout_id: str) -> SetHeader:
        """One set without its items; ``UnknownSet`` where it was never reserved."""
        event = next(self.events(holdout_id=holdout_id, kinds=("reserved",), limit=1), None)
        if event is None:
            raise UnknownSet(holdout_id, tuple(sorted(header.holdout_id for header in self.headers())))
        return _header(event)

    def headers(self) -> list[SetHeader]:
        """Every set, in the order of reservation."""
        return [_header(event) for event in self.events(kinds=("reserved",))]

    def with_items(self, header: SetHeader) -> HoldoutSet:
        """The set with its items."""
        return HoldoutSet(**vars(header), items=self.items(header.holdout_id))

    def add_items(self, holdout_id: str, items: Iterable[ReservedItem]) -> None:
        """Store the items of a set that is about to be reserved."""
        rows = [
            {
                "holdout_id": holdout_id,
                "item_id": item.item_id,
                "content_digest": item.content_digest,
                "stratum": item.stratum,
                "group_id": item.group,
                "rank": int(item.rank),
                "doubly": bool(item.doubly),
            }
            for item in items
        ]
        self._connection.execute(insert(tables.holdout_items), rows)

    def items(self, holdout_id: str) -> tuple[ReservedItem, ...]:
        """The items of one set, by stratum and rank."""
        of = tables.holdout_items.c
        fields = (of.item_id, of.content_digest, of.stratum, of.group_id, of.rank, of.doubly)
        query = select(*fields).where(of.holdout_id == holdout_id).order_by(of.stratum, of.rank, of.item_id)
        texts = self._texts(holdout_id)
        return tuple(ReservedItem(*row, texts.get(row[0])) for row in self._connection.execute(query))

    def _texts(self, holdout_id: str) -> dict[str, str]:
        """Digests of the texts of a set's items, as its reservation has them."""
        reserved = next(self.events(holdout_id=holdout_id, kinds=("reserved",), limit=1), None)
        texts = {} if reserved is None else reserved.details.get(TEXTS)
        return texts if isinstance(texts, dict) else {}

    def sets_with_items(self) -> set[str]:
        """Names under which item rows are stored, reserved or not."""
        return set(self._connection.scalars(select(tables.holdout_items.c.holdout_id).distinct()))

    def overlaps(self, holdout_id: str) -> list[Overlap]:
        """The other sets that hold items of this one or twins of theirs, in order of their names."""
        shared = self.sharing(holdout_id)
        return [Overlap(self.history(name), frozenset(shared[name])) for name in sorted(shared)]

    def sharing(self, holdout_id: str) -> dict[str, set[str]]:
        """The other sets that hold items of this one or twins of theirs, with the ids of these items here."""
        mine, other = tables.holdout_items.alias("mine"), tables.holdout_items.alias("other")
        shared: dict[str, set[str]] = {}
        for column in ("item_id", "content_digest"):
            query = select(other.c.holdout_id, mine.c.item_id).where(
                mine.c.holdout_id == holdout_id,
                other.c[column] == mine.c[column],
                other.c.holdout_id != holdout_id,
            )
            for name, item_id in self._connection.execute(query):
                shared.setdefault(name, set()).add(item_id)
        own = self._texts(holdout_id)
        for event in self.events(kinds=("reserved",)) if own else ():
            texts = set((event.details.get(TEXTS) or {}).values())
            twins = {item_id for item_id, text in own.items() if text in texts}
            if twins and event.holdout_id != holdout_id:
                shared.setdefault(str(event.holdout_id), set()).update(twins)
        return shared

    @property
    def expected_triggers(self) -> Mapping[str, str]:
        """Each trigger that a ledger has, by name, as one text."""
        return self._backend.triggers

    def standing_triggers(self) -> dict[str, Trigger]:
        """The triggers that stand on the ledger's tables, by name."""
        return self._backend.standing_triggers(self._connection)

    def integrity_problems(self) -> list[str]:
        """What is wrong with the database itself, each a sentence."""
        return self._backend.integrity_problems(self._connection)


def operating_system_user() -> str:
    """Name of the user who runs this process, or ``unknown`` where the system has none."""
    try:
        return getpass.getuser() or "unknown"
    except (OSError, KeyError, ImportError):
        return "unknown"


def _event(row: Row[Any]) -> Event:
    seq, holdout_id, event, study, config_digest, run_id, actor, at, text, prev_hash, own_hash = tuple(row)
    try:
        details = json.loads(text)
    except (TypeError, ValueError):
        details = None
    if not isinstance(details, dict):
        raise LedgerError(
            f"event {seq} of the ledger was altered: its details are no JSON object. "
            "Run `calib holdout verify` to see what else was"
        )
    return Event(seq, holdout_id, event, study, config_digest, run_id, actor, at, details, prev_hash, own_hash)


def _header(event: Event) -> SetHeader:
    details = event.details
    try:
        return SetHeader(
            holdout_id=str(event.holdout_id),
            dimension=details["dimension"],
            population=details["population"],
            population_digest=details["population_digest"],
            generation=details["generation"],
            seed=details["seed"],
            size=details["size"],
            reserved_at=event.at,
            reserved_seq=event.seq,
            details={key: value for key, value in details.items() if key not in HEADER_FIELDS},
        )
    except KeyError as missing:
        raise LedgerError(
            f"event {event.seq} of the ledger was altered: a reservation without {missing}. "
            "Run `calib holdout verify` to see what else was"
        ) from None

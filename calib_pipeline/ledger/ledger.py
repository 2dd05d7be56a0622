"""The ledger as everything else sees it: one object, each call one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from calib_pipeline.ledger import custody, ladder_entries, openings, reservations
from calib_pipeline.ledger.anchors import Anchor
from calib_pipeline.ledger.constructs import Construct, registered_construct
from calib_pipeline.ledger.events import Event
from calib_pipeline.ledger.ladder_entries import EvidenceEntry, Publication
from calib_pipeline.ledger.openings import Opening, OpeningOutcome
from calib_pipeline.ledger.sealing import Sealing, sealing_before
from calib_pipeline.ledger.sets import HoldoutSet, Registration, ReservedItem, Role, SetDraw, SetHeader, SpentItems
from calib_pipeline.ledger.states import SetState, Subject, state_of
from calib_pipeline.ledger.uses import Allowance, Limits, Uses, allowance_of, uses_before
from calib_pipeline.ledger.verification import problems_of

if TYPE_CHECKING:
    from calib_pipeline.ledger.database import Database


class Ledger:
    """The append-only history of every held-out set; see :meth:`open`.

    Every call raises :class:`LedgerError` where the database is missing, locked, full, damaged or no ledger, and
    :class:`UnknownSet` for a set that was never reserved; a call that raises has written nothing. ``actor`` is the
    user of the operating system where it is not given.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, url: str, *, read_only: bool = False) -> Ledger:
        """Open the ledger at a SQLAlchemy URL, and create it where there is none.

        Parameters
        ----------
        url
            ``sqlite:///`` and the path of a file, or ``postgresql+psycopg://user@host:5432/database``.
        read_only
            Neither create nor change anything; writing calls raise ``LedgerError``.
        """
        from calib_pipeline.ledger.database import Database

        return cls(Database(url, read_only=read_only))

    def close(self) -> None:
        """Give the database back."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Sets

    def reserve(
        self,
        draw: SetDraw,
        registrations: Iterable[Registration],
        *,
        run_id: str | None = None,
        actor: str | None = None,
    ) -> Event:
        """Reserve a set and register the studies that are frozen for it; return the ``reserved`` event.

        Where the same set with the same items stands already, only missing registrations are added. Raises
        ``LedgerError`` where a set of that name has other items, where its generation stands already, or where an
        item is spent for a study that is registered for a status.
        """
        with self._database.writing() as journal:
            return reservations.reserve(journal, draw, registrations, run_id=run_id, actor=actor)

    def register(
        self,
        holdout_id: str,
        registrations: Iterable[Registration],
        *,
        run_id: str | None = None,
        actor: str | None = None,
    ) -> list[Event]:
        """Register the studies whose newest registration on the set is another or none; return the new events."""
        with self._database.writing() as journal:
            return reservations.register(journal, holdout_id, registrations, run_id=run_id, actor=actor)

    def current_set(self, dimension: str, population: str) -> HoldoutSet | None:
        """The newest generation of a dimension on a population, with its items, or None."""
        with self._database.reading() as journal:
            newest = reservations.newest_generation(journal, dimension, population)
            return None if newest is None else journal.with_items(newest)

    def sets(self) -> list[SetHeader]:
        """Every set that was reserved, in order, without its items."""
        with self._database.reading() as journal:
            return journal.headers()

    def reserved_set(self, holdout_id: str) -> HoldoutSet:
        """One set with its items."""
        with self._database.reading() as journal:
            return journal.with_items(journal.require(holdout_id))

    def items(self, holdout_id: str) -> tuple[ReservedItem, ...]:
        """The items of a set, by stratum and rank."""
        with self._database.reading() as journal:
            journal.require(holdout_id)
            return journal.items(holdout_id)

    def sharing(self, holdout_id: str) -> dict[str, frozenset[str]]:
        """The other sets that hold some of a set's items, by id or by content, and the ids of these items."""
        with self._database.reading() as journal:
            journal.require(holdout_id)
            return {name: frozenset(items) for name, items in sorted(journal.sharing(holdout_id).items())}

    def spent_items(self, dimension: str, registrations: Iterable[Registration]) -> SpentItems:
        """Items that a new set of this dimension may not hold if all these studies are to be measured on it.

        An item is spent for a study when it stands in a set, whatever the name and dimension, that is fitted or reused
        for the study's configuration and plan. Studies with ``role: fitted`` are never measured and ask for nothing.
        """
        with self._database.reading() as journal:
            return reservations.spent_items(journal, dimension, registrations)

    def spent_in(self, holdout_id: str, registration: Registration) -> tuple[str, ...]:
        """Ids of a standing set's items that are spent for this study.

        All of them where the set is fitted for it, exported or retired; those that other sets hold and have spent; none
        where it was measured already. An opening or read of this set itself is left to `state`: it spends the set for
        who was not registered in time.
        """
        with self._database.reading() as journal:
            return reservations.spent_in(journal, holdout_id, registration)

    def same_constructs(self, registrations: Iterable[Registration]) -> list[str]:
        """Why dimensions that studies declare to be other constructs are the same one, each a sentence: one rubric."""
        with self._database.reading() as journal:
            return reservations.same_constructs(journal, registrations)

    def state(
        self,
        holdout_id: str,
        *,
        study: str,
        config_digest: str,
        plan_digest: str,
        role: Role = "holdout",
        construct: Construct | None = None,
    ) -> SetState:
        """What the set is for a configuration with its plan, and why.

        ``construct`` is what they measure; by default what they were registered with on the set.
        """
        with self._database.reading() as journal:
            history = journal.history(holdout_id)
            if construct is None:
                construct = registered_construct(history.of_kind("registered"), config_digest, plan_digest)
            subject = Subject(study, config_digest, plan_digest, role, construct)
            return state_of(history, subject, journal.overlaps(holdout_id))

    def uses(self, holdout_id: str, opening: str | None) -> Uses | None:
        """What the set had been used for before the opening with a hash; None where the set has no such opening."""
        with self._database.reading() as journal:
            events = list(journal.events(holdout_id=holdout_id))
            found = next((event for event in events if event.hash == opening), None)
            return None if found is None else uses_before(events, found)

    def allowance(self, holdout_id: str, config_digest: str, limits: Limits, opening: str | None = None) -> Allowance:
        """What limits leave of the set for a configuration, as of the opening with a hash.

        By default as of the configuration's own measurement; where it has none, as of now.
        """
        with self._database.reading() as journal:
            history = journal.history(holdout_id)
            found = next((event for event in history.of_kind("opened") if event.hash == opening), None)
            return allowance_of(history, config_digest, limits, found)

    # What happens to a set

    def ingest_labels(
        self,
        holdout_id: str,
        study: str,
        digest: str,
        details: Mapping[str, Any] | None = None,
        *,
        sealed: str | None = None,
        run_id: str | None = None,
        actor: str | None = None,
    ) -> Event:
        """Write down the labels by digest; no new event where they are the newest of the set and study already.

        ``sealed`` is the id of the key that they are stored under, None where they are stored open.
        """
        with self._database.writing() as journal:
            return custody.ingest_labels(
                journal, holdout_id, study, digest, details or {}, sealed=sealed, run_id=run_id, actor=actor
            )

    def record_sealing(self, key_id: str, *, run_id: str | None = None, actor: str | None = None) -> list[Event]:
        """Write down that all stored labels are sealed now; return the new events."""
        with self._database.writing() as journal:
            return custody.record_sealing(journal, key_id, run_id=run_id, actor=actor)

    def newest_sealing(self) -> Event | None:
        """The newest event by which labels were stored sealed, None where none ever were."""
        with self._database.reading() as journal:
            return custody.newest_sealing(journal)

    def left_open(self) -> Event | None:
        """The first event by which labels were stored open that were not sealed since, None where all are sealed."""
        with self._database.reading() as journal:
            return custody.left_open(journal)

    def sealing(self, holdout_id: str, opening: str | None) -> Sealing | None:
        """How the set's labels were stored before the opening with a hash; None where the set has no such opening."""
        with self._database.reading() as journal:
            events = list(journal.events(holdout_id=holdout_id, kinds=("labels_ingested", "opened")))
            found = next((event for event in events if event.hash == opening), None)
            return None if found is None else sealing_before(events, found)

    def record_read(
        self,
        holdout_id: str,
        study: str,
        config_digest: str,
        purpose: str,
        details: Mapping[str, Any] | None = None,
        *,
        run_id: str | None = None,
        actor: str | None = None,
    ) -> Event:
        """Write down that the set's labels are read: for ``ceiling`` or ``baselines``, and where they are sealed for
        whatever opens them. Call it before the read."""
        with self._database.writing() as journal:
            return custody.record_read(
                journal, holdout_id, study, config_digest, purpose, details or {}, run_id=run_id, actor=actor
            )

    def open_set(
        self,
        holdout_id: str,
        opening: Opening,
        registrations: Iterable[Registration] = (),
        *,
        run_id: str | None = None,
        actor: str | None = None,
    ) -> OpeningOutcome:
        """Open the set for a configuration; the ``opened`` event is on disk when this returns.

        Parameters
        ----------
        opening
            What is about to be compared.
        registrations
            Every study that is declared on the set now: registered in the same transaction if this is the first
            opening, ignored otherwise.

        Returns
        -------
        OpeningOutcome
            Only ``opened`` and ``repeat`` allow the caller to compare labels with scores.
        """
        with self._database.writing() as journal:
            return openings.open_set(journal, holdout_id, opening, registrations, run_id=run_id, actor=actor)

    def mark_fitted(
        self,
        holdout_id: str,
        *,
        reason: str,
        studies: Iterable[str] = (),
        config_digests: Iterable[str] = (),
        everyone: bool = False,
        run_id: str | None = None,
        actor: str | None = None,
    ) -> list[Event]:
        """Declare that the set shaped scorers; nothing takes it back.

        A study is named with the configurations that it has registered; one event is written for each study, each
        configuration and, with ``everyone``, for every scorer there is or will be. What stands with the same reason is
        returned and not written again.
        """
        with self._database.writing() as journal:
            return custody.mark_fitted(
                journal,
                holdout_id,
                reason=reason,
                studies=studies,
                config_digests=config_digests,
                everyone=everyone,
                run_id=run_id,
                actor=actor,
            )

    def record_export(self, holdout_id: str, to: str, *, run_id: str | None = None, actor: str | None = None) -> Event:
        """Write down that labels are about to leave the pipeline for a person; this spends the set for everyone."""
        with self._database.writing() as journal:
            return custody.record_export(journal, holdout_id, to, run_id=run_id, actor=actor)

    def retire(self, holdout_id: str, reason: str, *, run_id: str | None = None, actor: str | None = None) -> Event:
        """Take a set out of use; this spends it for everyone who has not measured on it."""
        with self._database.writing() as journal:
            return custody.retire(journal, holdout_id, reason, run_id=run_id, actor=actor)

    # What a ladder leaves

    def record_evidence(
        self,
        study: str,
        population: str,
        asset: str,
        digest: str,
        holds: bool,
        holdout_id: str | None = None,
        *,
        run_id: str | None = None,
        actor: str | None = None,
    ) -> EvidenceEntry:
        """Write down which evidence is the newest; where it is already, that entry stands."""
        with self._database.writing() as journal:
            return ladder_entries.record_evidence(
                journal,
                study=study,
                population=population,
                asset=asset,
                digest=digest,
                holds=holds,
                holdout_id=holdout_id,
                run_id=run_id,
                actor=actor,
            )

    def newest_evidence(self, study: str, population: str, asset: str) -> EvidenceEntry | None:
        """The newest evidence of one asset, or None."""
        with self._database.reading() as journal:
            return ladder_entries.newest_evidence(journal, study, population, asset)

    def newest_evidence_all(self) -> dict[tuple[str, str, str], EvidenceEntry]:
        """The newest evidence of all, by study, population and asset."""
        with self._database.reading() as journal:
            return ladder_entries.newest_evidence_all(journal)

    def publish(
        self,
        study: str,
        population: str,
        record_id: str,
        holdout_id: str | None = None,
        details: Mapping[str, Any] | None = None,
        *,
        run_id: str | None = None,
        actor: str | None = None,
    ) -> Publication:
        """Write down a published record; where it is the newest of its study and population, that entry stands."""
        with self._database.writing() as journal:
            return ladder_entries.publish(
                journal,
                study=study,
                population=population,
                record_id=record_id,
                holdout_id=holdout_id,
                details=details or {},
                run_id=run_id,
                actor=actor,
            )

    def published(self, study: str | None = None, population: str | None = None) -> list[Publication]:
        """The published records in order, of one study or population where named."""
        with self._database.reading() as journal:
            return ladder_entries.published(journal, study, population)

    # For people and auditors

    def events(self, holdout_id: str | None = None, study: str | None = None) -> list[Event]:
        """The events in order, of one set or study where named."""
        with self._database.reading() as journal:
            if holdout_id is not None:
                journal.require(holdout_id)
            return list(journal.events(holdout_id=holdout_id, study=study))

    def head(self) -> str:
        """Hash of the newest event; 64 zeros where there is none."""
        with self._database.reading() as journal:
            return journal.newest()[1]

    def hashes(self) -> dict[int, str]:
        """The hash of every event by its number."""
        with self._database.reading() as journal:
            return {row["seq"]: row["hash"] for row in journal.stored_rows()}

    def anchor(self) -> Anchor:
        """The newest event and the time now, to be kept elsewhere."""
        with self._database.reading() as journal:
            return Anchor(datetime.now(UTC).isoformat(timespec="seconds"), *journal.newest())

    def verify(self) -> list[str]:
        """What is wrong with the ledger, each problem a sentence that names the event; empty where it is sound."""
        with self._database.reading() as journal:
            return problems_of(journal)

"""Opening a set: the check of its state and the `opened` event are one transaction, before any label meets a score."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from calib_pipeline.ledger.constructs import NOT_SAID, registered_construct
from calib_pipeline.ledger.errors import LedgerError
from calib_pipeline.ledger.events import Event
from calib_pipeline.ledger.reservations import register
from calib_pipeline.ledger.sets import Registration, Role
from calib_pipeline.ledger.states import (
    History,
    SetState,
    State,
    Subject,
    configurations_at_first_opening,
    is_in_force,
    measurement_by,
    state_of,
)
from calib_pipeline.ledger.stored_values import check_choice, check_text
from calib_pipeline.ledger.uses import NO_LIMITS, Limits, allowance_of

if TYPE_CHECKING:
    from calib_pipeline.ledger.journal import Journal

Purpose = Literal["measurement", "diagnostic"]


@dataclass(frozen=True)
class Opening:
    """What is about to be compared: a configuration under a plan, on these labels and these scores.

    A ``diagnostic`` opening spends the set for every configuration that was not registered before it, and makes nobody
    ``measured``. ``limits`` are held against the set in the transaction that opens it, and not against a repeat.
    """

    study: str
    config_digest: str
    plan_digest: str
    role: Role
    labels_digest: str
    scores_digest: str
    purpose: Purpose = "measurement"
    limits: Limits = NO_LIMITS


@dataclass(frozen=True)
class OpeningOutcome:
    """What became of an opening.

    Parameters
    ----------
    kind
        ``opened``, ``repeat`` (this very opening stands already) or ``refused`` (nothing was written).
    state
        What the set is for this configuration, plan, labels and scores, this opening included.
    why
        The sentence that explains it.
    seq, head, opened_at
        Number, hash and time of the ``opened`` event; None where refused.
    configurations
        Configurations that were registered for a status when the set was first opened.
    attempts
        Measurements before this one on other sets: those of the same dimension or study on the population, and those
        that hold some of the same items, whatever their dimension and population.
    """

    kind: Literal["opened", "repeat", "refused"]
    state: State
    why: str
    seq: int | None
    head: str | None
    configurations: int
    attempts: int
    opened_at: str | None


def open_set(
    journal: Journal,
    holdout_id: str,
    opening: Opening,
    registrations: Iterable[Registration],
    *,
    run_id: str | None,
    actor: str | None,
) -> OpeningOutcome:
    """Open the set if its state allows it; within the transaction that the journal holds."""
    for field in ("study", "config_digest", "plan_digest", "labels_digest", "scores_digest"):
        check_text(field, getattr(opening, field))
    check_choice("role", opening.role, get_args(Role))
    check_choice("purpose", opening.purpose, get_args(Purpose))
    history, frozen = journal.history(holdout_id), list(registrations)
    state = state_of(history, _subject(history, opening, frozen), journal.overlaps(holdout_id))

    if opening.purpose == "diagnostic":
        standing = next((event for event in history.of_kind("opened") if _is_repeat(event, opening)), None)
        if standing is not None:
            return _outcome(journal, "repeat", state, standing)
        return _outcome(journal, "opened", state, _write(journal, history, opening, frozen, run_id=run_id, actor=actor))

    if state.state in ("fitted", "reused"):
        return _refused(journal, history, opening.study, state)
    measured = measurement_by(history, opening.config_digest)
    if measured is not None:
        changed = [
            part
            for part in ("labels", "scores")
            if measured.details.get(f"{part}_digest") != getattr(opening, f"{part}_digest")
        ]
        if not changed:
            return _outcome(journal, "repeat", state, measured)
        why = f"measured as {measured.cited} with other {' and '.join(changed)}; a measurement is made once"
        return _refused(journal, history, opening.study, SetState("reused", why))

    past = allowance_of(history, opening.config_digest, opening.limits).why_not
    if past is not None:
        return _refused(journal, history, opening.study, SetState(state.state, f"past what its policy allows: {past}"))
    _check_scores(history, opening, frozen)
    event = _write(journal, history, opening, frozen, run_id=run_id, actor=actor)
    return _outcome(journal, "opened", SetState("measured", f"{state.why}; opened now as {event.cited}"), event)


def _subject(history: History, opening: Opening, frozen: Iterable[Registration]) -> Subject:
    """Who opens, with the construct that it was registered with, or is registered with now."""
    config_digest, plan_digest = opening.config_digest, opening.plan_digest
    construct = registered_construct(history.of_kind("registered"), config_digest, plan_digest)
    for registration in frozen if construct is NOT_SAID else ():
        if (registration.config_digest, registration.plan_digest) == (config_digest, plan_digest):
            construct = registration.construct
    return Subject(opening.study, config_digest, plan_digest, opening.role, construct)


def _write(
    journal: Journal,
    history: History,
    opening: Opening,
    registrations: Iterable[Registration],
    *,
    run_id: str | None,
    actor: str | None,
) -> Event:
    if history.first("opened") is None:
        register(journal, history.holdout_id, registrations, run_id=run_id, actor=actor)
        if opening.purpose == "measurement":
            _check_still_unopened(journal, history.holdout_id, opening)
    return journal.append(
        "opened",
        holdout_id=history.holdout_id,
        study=opening.study,
        config_digest=opening.config_digest,
        details={
            "purpose": opening.purpose,
            "plan_digest": opening.plan_digest,
            "labels_digest": opening.labels_digest,
            "scores_digest": opening.scores_digest,
        },
        run_id=run_id,
        actor=actor,
    )


def _check_still_unopened(journal: Journal, holdout_id: str, opening: Opening) -> None:
    """The studies that were registered just now may contradict the one that opens."""
    history = journal.history(holdout_id)
    subject = _subject(history, opening, ())
    if not is_in_force(history, subject):
        raise LedgerError(
            f"study {opening.study} cannot open set {holdout_id}: its configuration and plan are not among those "
            "registered and in force before the first opening"
        )
    state = state_of(history, subject, journal.overlaps(holdout_id))
    if state.state != "unopened":
        raise LedgerError(
            f"study {opening.study} cannot open set {holdout_id} as the studies are declared: {state.why}"
        )


def _is_repeat(event: Event, opening: Opening) -> bool:
    return event.config_digest == opening.config_digest and all(
        event.details.get(field) == getattr(opening, field)
        for field in ("purpose", "plan_digest", "labels_digest", "scores_digest")
    )


def _outcome(journal: Journal, kind: Literal["opened", "repeat"], state: SetState, event: Event) -> OpeningOutcome:
    history = journal.history(str(event.holdout_id))
    return OpeningOutcome(
        kind=kind,
        state=state.state,
        why=state.why,
        seq=event.seq,
        head=event.hash,
        configurations=configurations_at_first_opening(history),
        attempts=_attempts(journal, history.holdout_id, event.study, event.seq),
        opened_at=event.at,
    )


def _refused(journal: Journal, history: History, study: str, state: SetState) -> OpeningOutcome:
    return OpeningOutcome(
        kind="refused",
        state=state.state,
        why=state.why,
        seq=None,
        head=None,
        configurations=configurations_at_first_opening(history),
        attempts=_attempts(journal, history.holdout_id, study, journal.newest()[0] + 1),
        opened_at=None,
    )


def _attempts(journal: Journal, holdout_id: str, study: str | None, before: int) -> int:
    """Measurements on the other sets of the population, of the dimension or by the study: renaming resets neither. On
    sets that share an item with this one all count, since whoever chose after them chose among more."""
    headers = {header.holdout_id: header for header in journal.headers()}
    own, sharing = headers[holdout_id], journal.sharing(holdout_id)
    others = {
        header.holdout_id: header.dimension
        for header in headers.values()
        if header.holdout_id != holdout_id
        and (header.population == own.population or header.population_digest == own.population_digest)
    }
    return sum(
        (
            event.holdout_id in sharing
            or (event.holdout_id in others and (others[event.holdout_id] == own.dimension or event.study == study))
        )
        and event.details.get("purpose") == "measurement"
        and event.seq < before
        for event in journal.events(kinds=("opened",))
    )


def _check_scores(history: History, opening: Opening, registrations: Iterable[Registration]) -> None:
    """Score rows that were registered are the rows that are opened."""
    registered = {
        event.details.get("scores_digest")
        for event in history.of_kind("registered")
        if event.config_digest == opening.config_digest
    }
    registered |= {
        registration.scores_digest
        for registration in registrations
        if registration.config_digest == opening.config_digest
    }
    expected = registered - {None}
    if expected and opening.scores_digest not in expected:
        raise LedgerError(
            f"study {opening.study} cannot open set {history.holdout_id}: its score rows are not those that were "
            "registered with this configuration. Run the ladder again from its first rung"
        )

"""Reserving a set, freezing the studies that will be measured on it, and saying which items are spent for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from calib_pipeline.ledger.constructs import why_same
from calib_pipeline.ledger.errors import LedgerError
from calib_pipeline.ledger.events import Event
from calib_pipeline.ledger.sets import (
    TEXTS,
    Registration,
    ReservedItem,
    Role,
    SetDraw,
    SetHeader,
    SpentItems,
    digest_items,
)
from calib_pipeline.ledger.states import (
    History,
    Overlap,
    Subject,
    measurement_by,
    why_fitted,
    why_spent,
    why_withdrawn,
)
from calib_pipeline.ledger.stored_values import check_choice, check_text

if TYPE_CHECKING:
    from calib_pipeline.ledger.journal import Journal


def reserve(
    journal: Journal, draw: SetDraw, registrations: Iterable[Registration], *, run_id: str | None, actor: str | None
) -> Event:
    """Write a drawn set and the registrations on it; add only what is missing where the set stands already."""
    frozen = list(registrations)
    items_digest = _check_draw(draw)
    standing = next(journal.events(holdout_id=draw.holdout_id, kinds=("reserved",)), None)
    if standing is not None:
        if standing.details.get("items_digest") != items_digest:
            raise LedgerError(
                f"set {draw.holdout_id} stands since {standing.cited} with other items than this draw; "
                "a set never changes. Run again, so that the draw starts from what the ledger holds now"
            )
        register(journal, draw.holdout_id, frozen, run_id=run_id, actor=actor)
        return standing

    newest = newest_generation(journal, draw.dimension, draw.population)
    if newest is not None and newest.generation >= draw.generation:
        raise LedgerError(
            f"generation {newest.generation} of {draw.dimension} on {draw.population} stands already as set "
            f"{newest.holdout_id}; this draw calls itself generation {draw.generation}. Run again"
        )
    _refuse_spent(journal, draw, frozen)
    journal.add_items(draw.holdout_id, draw.items)
    event = journal.append(
        "reserved",
        holdout_id=draw.holdout_id,
        details=_joined(
            draw.details,
            dimension=draw.dimension,
            population=draw.population,
            population_digest=draw.population_digest,
            generation=int(draw.generation),
            seed=int(draw.seed),
            size=len(draw.items),
            items_digest=items_digest,
            **_text_details(draw.items),
        ),
        run_id=run_id,
        actor=actor,
    )
    register(journal, draw.holdout_id, frozen, run_id=run_id, actor=actor)
    return event


def register(
    journal: Journal,
    holdout_id: str,
    registrations: Iterable[Registration],
    *,
    run_id: str | None,
    actor: str | None,
) -> list[Event]:
    """Freeze the studies whose newest registration on the set is not this one already."""
    newest = {event.study: event for event in journal.history(holdout_id).of_kind("registered")}
    written = []
    for registration in registrations:
        check_text("study", registration.study)
        check_text(f"config_digest of study {registration.study}", registration.config_digest)
        check_text(f"plan_digest of study {registration.study}", registration.plan_digest)
        check_text(f"scores_digest of study {registration.study}", registration.scores_digest, optional=True)
        check_choice(f"role of study {registration.study}", registration.role, get_args(Role))
        details = _joined(
            registration.details,
            plan_digest=registration.plan_digest,
            scores_digest=registration.scores_digest,
            for_status=bool(registration.for_status),
            role=registration.role,
            **_construct_details(registration),
        )
        standing = newest.get(registration.study)
        if standing is not None and _says_the_same(standing, registration):
            continue
        event = journal.append(
            "registered",
            holdout_id=holdout_id,
            study=registration.study,
            config_digest=registration.config_digest,
            details=details,
            run_id=run_id,
            actor=actor,
        )
        newest[registration.study] = event
        written.append(event)
    return written


def newest_generation(journal: Journal, dimension: str, population: str) -> SetHeader | None:
    """The newest set of a dimension on a population, without its items."""
    generations = [
        header for header in journal.headers() if header.dimension == dimension and header.population == population
    ]
    return max(generations, key=lambda header: header.generation, default=None)


def spent_items(journal: Journal, dimension: str, registrations: Iterable[Registration]) -> SpentItems:
    """Items that a new set of this dimension may not hold if these studies are to be measured on it."""
    spent: list[ReservedItem] = []
    subjects = _subjects(registrations)
    for header in journal.headers():
        history = journal.history(header.holdout_id)
        if any(_why_not_drawn(history, subject, dimension) is not None for subject in subjects):
            spent += journal.items(header.holdout_id)
    return SpentItems.of(spent)


def spent_in(journal: Journal, holdout_id: str, registration: Registration) -> tuple[str, ...]:
    """Ids of a standing set's items that something else than its own openings spent for this study, in order."""
    history = journal.history(holdout_id)
    subject = next(iter(_subjects([registration])), None)
    if subject is None or measurement_by(history, subject.config_digest) is not None:
        return ()
    if why_fitted(history, subject) or why_withdrawn(history):
        return tuple(sorted(item.item_id for item in journal.items(holdout_id)))
    frozen = history.of_kind("registered")
    spent: set[str] = set()
    for overlap in journal.overlaps(holdout_id):
        if why_fitted(overlap.history, subject) or why_spent(
            overlap.history, subject, frozen, own_dimension=history.dimension
        ):
            spent |= overlap.items
    return tuple(sorted(spent))


def same_constructs(journal: Journal, registrations: Iterable[Registration]) -> list[str]:
    """What a declared other construct has against it, whatever set it would be measured on: a sentence each."""
    registered: dict[str, list[Event]] = {}
    for header in journal.headers():
        known = [event for event in journal.history(header.holdout_id).of_kind("registered") if _has_rubric(event)]
        registered.setdefault(header.dimension, []).extend(known)
    found = []
    for registration in registrations:
        for other in registration.construct.others:
            same = why_same(registration.construct, other, registered.get(other, ()))
            if same is not None:
                found.append(f"study {registration.study} declares {other} another construct, but {same}")
    return found


def _has_rubric(event: Event) -> bool:
    return "rubric_digest" in event.details


def _subject(registration: Registration) -> Subject:
    return Subject(
        registration.study,
        registration.config_digest,
        registration.plan_digest,
        registration.role,
        registration.construct,
    )


def _subjects(registrations: Iterable[Registration]) -> list[Subject]:
    """Whom the items are needed for: a study with ``role: fitted`` is never measured."""
    return [_subject(registration) for registration in registrations if registration.role != "fitted"]


def _why_not_drawn(history: History, subject: Subject, dimension: str) -> str | None:
    fitted = why_fitted(history, subject)
    return fitted if fitted is not None else why_spent(history, subject, own_dimension=dimension)


def _refuse_spent(journal: Journal, draw: SetDraw, registrations: Sequence[Registration]) -> None:
    subjects = _subjects(registration for registration in registrations if registration.for_status)
    for header in journal.headers():
        history = journal.history(header.holdout_id)
        for subject in subjects:
            why = _why_not_drawn(history, subject, draw.dimension)
            if why is None:
                continue
            spent = SpentItems.of(journal.items(header.holdout_id))
            shared = [
                item.item_id for item in draw.items if spent.holds(item.item_id, item.content_digest, item.text_digest)
            ]
            if shared:
                named = Overlap(history, frozenset(shared)).named
                raise LedgerError(
                    f"set {draw.holdout_id} cannot be reserved: {named}, and for study {subject.study} that set is "
                    f"spent ({why}). Draw from items that are spent for no study; if these are other items under the "
                    "same ids, give the two populations ids that differ"
                )
            break


def _check_draw(draw: SetDraw) -> str:
    for field in ("holdout_id", "dimension", "population", "population_digest"):
        check_text(field, getattr(draw, field))
    if not draw.items:
        raise LedgerError(f"set {draw.holdout_id} would hold no item; a set needs at least one")
    for item in draw.items:
        check_text("item_id", item.item_id)
        check_text(f"stratum of item {item.item_id!r}", item.stratum)
        check_text(f"content_digest of item {item.item_id!r}", item.content_digest, optional=True)
        check_text(f"text_digest of item {item.item_id!r}", item.text_digest, optional=True)
        check_text(f"group of item {item.item_id!r}", item.group, optional=True)
    ids = [item.item_id for item in draw.items]
    if len(set(ids)) != len(ids):
        twice = next(item_id for item_id in ids if ids.count(item_id) > 1)
        raise LedgerError(f"set {draw.holdout_id} names item {twice!r} twice")
    return digest_items(draw.items)


def _says_the_same(event: Event, registration: Registration) -> bool:
    return event.config_digest == registration.config_digest and all(
        event.details.get(field) == getattr(registration, field)
        for field in ("plan_digest", "scores_digest", "for_status", "role")
    )


def _construct_details(registration: Registration) -> dict[str, Any]:
    """What another dimension's study is compared with later, and what this one says of others."""
    construct = registration.construct
    known = {} if construct.rubric_digest is None else {"rubric_digest": construct.rubric_digest}
    return known | ({"other_constructs": dict(construct.others)} if construct.others else {})


def _text_details(items: Iterable[ReservedItem]) -> dict[str, Any]:
    """The digests of texts by item, where any is known."""
    known = {item.item_id: item.text_digest for item in items if item.text_digest is not None}
    return {TEXTS: known} if known else {}


def _joined(details: Mapping[str, Any], **fields: object) -> dict[str, Any]:
    taken = sorted(set(details) & set(fields))
    if taken:
        raise LedgerError(f"the details of an event may not hold {', '.join(taken)}: the ledger writes that itself")
    return {**details, **fields}

"""From events to the state of a set for a configuration: pure functions, no database, no clock.

A set is ``fitted``, ``measured``, ``unopened`` or ``reused`` for a configuration with its plan; the first that applies.
Every rule asks whether something was frozen before something was seen, so that later events can only spend a set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from calib_pipeline.ledger.constructs import NOT_SAID, Construct, why_same
from calib_pipeline.ledger.events import Event
from calib_pipeline.ledger.sets import Role

State = Literal["fitted", "measured", "unopened", "reused"]


@dataclass(frozen=True)
class Subject:
    """Whom a state is asked for: a configuration with its plan. Its study matters to what is ``fitted`` alone.

    ``construct`` is what it measures, which decides whether items that another dimension has spent are spent for it.
    """

    study: str
    config_digest: str
    plan_digest: str
    role: Role = "holdout"
    construct: Construct = NOT_SAID


@dataclass(frozen=True)
class SetState:
    """A state and the sentence that explains it, naming the event and its date."""

    state: State
    why: str


@dataclass(frozen=True)
class History:
    """The events of one set in order of ``seq``, and its dimension; of its reads the first is enough."""

    holdout_id: str
    dimension: str
    events: tuple[Event, ...]

    def of_kind(self, kind: str) -> list[Event]:
        """The events of one kind, in order."""
        return [event for event in self.events if event.event == kind]

    def first(self, *kinds: str) -> Event | None:
        """The earliest event of these kinds."""
        return next((event for event in self.events if event.event in kinds), None)

    def until(self, seq: int) -> History:
        """The history as it stood before an event."""
        return History(self.holdout_id, self.dimension, tuple(event for event in self.events if event.seq < seq))

    @property
    def measurements(self) -> list[Event]:
        """Openings that were measurements; a diagnostic opening is none."""
        return [event for event in self.of_kind("opened") if event.details.get("purpose") == "measurement"]


@dataclass(frozen=True)
class Overlap:
    """Another set that holds some of the same items, by id or by content."""

    history: History
    items: frozenset[str]

    @property
    def named(self) -> str:
        """The shared items in words."""
        count, example = len(self.items), min(self.items)
        verb = "is" if count == 1 else "are"
        return f"{count} of its items {verb} also in set {self.history.holdout_id} (such as {example!r})"


def state_of(history: History, subject: Subject, overlaps: Sequence[Overlap] = ()) -> SetState:
    """The state of a set for a configuration with its plan: the first that applies.

    Parameters
    ----------
    history
        The set's own events.
    subject
        Whom the state is asked for.
    overlaps
        The other sets of the ledger that share items with it: what happened to an item under another name happened
        to the item.
    """
    if subject.role == "fitted":
        return SetState("fitted", f"study {subject.study} declares role: fitted")
    fitted = why_fitted(history, subject)
    if fitted is not None:
        return SetState("fitted", fitted)
    for overlap in overlaps:
        fitted = why_fitted(overlap.history, subject)
        if fitted is not None:
            return SetState("fitted", f"{overlap.named}, and {fitted}")

    measured = measurement_by(history, subject.config_digest)
    if measured is not None:
        if measured.details.get("plan_digest") == subject.plan_digest:
            why = f"measured for this configuration and plan as {measured.cited}"
            return SetState("measured", why + _other_constructs(history, subject, overlaps))
        return SetState("reused", f"this configuration was measured under another plan as {measured.cited}")

    spent = why_spent(history, subject)
    if spent is not None:
        return SetState("reused", spent)
    for overlap in overlaps:
        spent = why_spent(overlap.history, subject, history.of_kind("registered"), own_dimension=history.dimension)
        if spent is not None:
            return SetState("reused", f"{overlap.named}, and that set was {spent}")
    return SetState("unopened", _why_unopened(history, subject) + _other_constructs(history, subject, overlaps))


def why_fitted(history: History, subject: Subject) -> str | None:
    """Why the set is one that shaped this configuration, or None.

    A declaration about a study covers the configurations that it had registered until then and those that come later;
    one that names neither study nor configuration covers all. A registration with ``role: fitted`` is such a
    declaration, and editing the study later does not take it back.
    """
    for event in history.events:
        if event.event == "fitted" and _covers(event, subject):
            return f"{event.cited} declares that it shaped {_whom(event)}: {event.details.get('reason')}"
        if (
            event.event == "registered"
            and event.details.get("role") == "fitted"
            and (event.study == subject.study or event.config_digest == subject.config_digest)
        ):
            return f"{event.cited} registered study {event.study} with role: fitted"
    return None


def why_spent(
    history: History, subject: Subject, elsewhere: Iterable[Event] = (), *, own_dimension: str | None = None
) -> str | None:
    """Why the items of a set no longer serve a measurement of this subject, or None while they do.

    A measurement that this very configuration made under this plan is no reason: it can be repeated. What was seen for
    another dimension is none either where the subject declares that one another construct, and its rubric is another;
    what was exported or retired stays so. The parameters are those of `why_late`.
    """
    measured = measurement_by(history, subject.config_digest)
    if measured is not None:
        if measured.details.get("plan_digest") == subject.plan_digest:
            return None
        return f"measured by this configuration under another plan as {measured.cited}"
    withdrawn = why_withdrawn(history)
    late = withdrawn or why_late(history, subject, elsewhere, own_dimension=own_dimension)
    if withdrawn is not None or late is None or own_dimension in (None, history.dimension):
        return late
    same = why_same(subject.construct, history.dimension, history.of_kind("registered"))
    return None if same is None else f"{late}; {same}"


def why_withdrawn(history: History) -> str | None:
    """By which event the set was exported or retired, or None."""
    out = history.first("exported", "retired")
    if out is None:
        return None
    whom = f" to {out.details.get('to')}" if out.event == "exported" else ""
    return f"{out.event}{whom} as {out.cited}"


def why_late(
    history: History, subject: Subject, elsewhere: Iterable[Event] = (), *, own_dimension: str | None = None
) -> str | None:
    """Why the subject was not frozen in time on a set that was opened or read, or None.

    Configuration and plan must be registered before the first opening; the plan must be the one in force before the
    first look at the labels, a read or an opening.

    Parameters
    ----------
    history
        The set whose events are judged.
    elsewhere
        Registrations on the set that is to be measured, where that is another one: what was frozen there before this
        set was seen was frozen.
    own_dimension
        Dimension of the set to be measured, where that is another one. Reading a set for its ceiling gives away
        nothing about the plans of another dimension, unless this very configuration was registered on it.
    """
    own = history.of_kind("registered")
    late = _late_among(own, history, subject, own_dimension)
    # Either set's registrations suffice, but they are not mixed: an edit that was registered on one set only does not
    # supersede what was frozen on the other.
    return late if late is None or _late_among(list(elsewhere), history, subject, own_dimension) else None


def measurement_by(history: History, config_digest: str) -> Event | None:
    """The measurement that this configuration made on the set, or None."""
    return next((event for event in history.measurements if event.config_digest == config_digest), None)


def configurations_at_first_opening(history: History) -> int:
    """How many configurations had been registered for a status when the set was first opened.

    A table that was registered empty and is superseded by its filled form counts once.
    """
    opened = history.first("opened")
    before = history.of_kind("registered") if opened is None else _before(history.of_kind("registered"), opened.seq)
    counted = {
        event.config_digest for event in before if event.details.get("for_status") and not _is_superseded(event, before)
    }
    if opened is not None and opened.details.get("purpose") == "measurement":
        counted.add(opened.config_digest)
    return len(counted)


def is_in_force(history: History, subject: Subject) -> bool:
    """Whether the configuration is registered with the plan, and its plan is the newest of a study."""
    registrations = history.of_kind("registered")
    ever = len(registrations) and registrations[-1].seq + 1
    return _is_frozen(registrations, subject, ever) and subject.plan_digest in _plans_in_force(registrations, ever)


def _why_unopened(history: History, subject: Subject) -> str:
    opened = history.first("opened")
    if opened is None:
        reserved = history.first("reserved")
        since = f"reserved as {reserved.cited} and " if reserved is not None else ""
        return f"{since}never opened"
    frozen = next(
        event
        for event in history.of_kind("registered")
        if event.config_digest == subject.config_digest and event.details.get("plan_digest") == subject.plan_digest
    )
    return f"registered as {frozen.cited}, before the first opening as {opened.cited}"


def _other_constructs(history: History, subject: Subject, overlaps: Sequence[Overlap]) -> str:
    """Which items are unspent for the reason alone that the subject measures another construct."""
    said, frozen = "", history.of_kind("registered")
    silent = replace(subject, construct=NOT_SAID)
    for overlap in overlaps:
        dimension = overlap.history.dimension
        reason = subject.construct.others.get(dimension)
        if reason and why_spent(overlap.history, silent, frozen, own_dimension=history.dimension) is not None:
            said += f"; {overlap.named}, spent for {dimension}, which is declared another construct: {reason}"
    return said


def _late_among(
    registrations: Sequence[Event], history: History, subject: Subject, own_dimension: str | None
) -> str | None:
    opened = history.first("opened")
    if opened is not None and not _is_frozen(registrations, subject, opened.seq):
        return (
            f"first opened as {opened.cited} for study {opened.study}, "
            "before this configuration and plan were registered"
        )
    look = history.first("read", "opened")
    if look is None or not _concerns(history, subject, own_dimension):
        return None
    if subject.plan_digest in _plans_in_force(registrations, look.seq):
        return None
    seen = "first read" if look.event == "read" else "first opened"
    return f"{seen} as {look.cited}, before this plan was registered"


def _is_frozen(registrations: Sequence[Event], subject: Subject, before: int) -> bool:
    earlier = _before(registrations, before)
    return any(
        event.config_digest == subject.config_digest
        and event.details.get("plan_digest") == subject.plan_digest
        and not _is_superseded(event, earlier)
        for event in earlier
    )


def _is_superseded(event: Event, registrations: Sequence[Event]) -> bool:
    return event.details.get("scores_digest") is None and any(
        later.study == event.study and later.seq > event.seq and later.details.get("scores_digest") is not None
        for later in registrations
    )


def _plans_in_force(registrations: Sequence[Event], before: int) -> set[object]:
    """The newest plan of each study; a plan that its study gave up before the look is none of them."""
    newest = {event.study: event.details.get("plan_digest") for event in _before(registrations, before)}
    return set(newest.values())


def _concerns(history: History, subject: Subject, own_dimension: str | None) -> bool:
    if own_dimension is None or own_dimension == history.dimension:
        return True
    return any(event.config_digest == subject.config_digest for event in history.of_kind("registered"))


def _before(events: Sequence[Event], seq: int) -> list[Event]:
    return [event for event in events if event.seq < seq]


def _covers(event: Event, subject: Subject) -> bool:
    if event.study is None and event.config_digest is None:
        return True
    if subject.config_digest in event.details.get("config_digests", ()):
        return True
    return event.study == subject.study or event.config_digest == subject.config_digest


def _whom(event: Event) -> str:
    if event.study is not None:
        return f"study {event.study}"
    return "every scorer" if event.config_digest is None else f"configuration {event.config_digest[:12]}"

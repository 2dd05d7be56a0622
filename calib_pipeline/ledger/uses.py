"""How much a held-out set has been used, and what a policy leaves of it: pure functions of events and a moment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from calib_pipeline.ledger.events import Event
from calib_pipeline.ledger.states import History, measurement_by

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Limits:
    """How much one set may be used: distinct configurations measured on it, and days from its reservation to an
    opening; None where nothing is declared."""

    max_measurements: int | None = None
    max_age_days: int | None = None


NO_LIMITS = Limits()


@dataclass(frozen=True)
class Uses:
    """What a set had been used for before it was opened: configurations that were measured on it, reads of its labels,
    and its age in days since the reservation."""

    configurations_measured: int
    reads: int
    age_days: float


@dataclass(frozen=True)
class Allowance:
    """What the limits leave of a set for one configuration, from its reservation on.

    ``measured`` is the number of configurations that were measured before this one where no further one is allowed,
    else None. ``open_until`` is the moment until which the set may be opened, in ISO 8601, None without a limit.
    """

    limits: Limits
    reserved_at: str
    measured: int | None
    open_until: str | None
    in_time: bool

    @property
    def why_not(self) -> str | None:
        """Why the set may not be opened for this configuration any more, or None while it may."""
        if self.measured is not None:
            return (
                f"{self.measured} configurations were measured on it, and holdout.max_measurements is "
                f"{self.limits.max_measurements}"
            )
        return None if self.in_time else f"{self.dates}, and holdout.max_age_days is {self.limits.max_age_days}"

    @property
    def dates(self) -> str:
        """Since when the set stands, and until when it may be opened."""
        return f"reserved on {self.reserved_at[:10]}, to be opened until {str(self.open_until)[:10]}"


def now() -> datetime:
    """The clock, read where a set that nobody opened yet is held against its limits."""
    return datetime.now(UTC)


def uses_before(events: Iterable[Event], opening: Event) -> Uses:
    """The uses of a set before one of its openings.

    Parameters
    ----------
    events
        All events of the set, every read included.
    """
    earlier = [event for event in events if event.seq < opening.seq]
    [reserved] = [event for event in earlier if event.event == "reserved"]
    reads = sum(event.event == "read" for event in earlier)
    return Uses(len(_measured(earlier)), reads, round((_at(opening) - _at(reserved)) / DAY, 3))


def allowance_of(history: History, config_digest: str, limits: Limits, opening: Event | None = None) -> Allowance:
    """What the limits leave of a set for a configuration, as of an opening.

    Parameters
    ----------
    opening
        The opening that is judged; by default the configuration's own measurement, since nothing that came after it
        can spend the set for it. Where it has none, the clock says what time it is.
    """
    [reserved] = history.of_kind("reserved")
    moment = opening or measurement_by(history, config_digest)
    earlier = [event for event in history.events if moment is None or event.seq < moment.seq]
    others = _measured(earlier) - {config_digest}
    spent = limits.max_measurements is not None and len(others) >= limits.max_measurements
    until = None if limits.max_age_days is None else _at(reserved) + limits.max_age_days * DAY
    at = now() if moment is None else _at(moment)
    return Allowance(
        limits,
        reserved.at,
        len(others) if spent else None,
        None if until is None else until.isoformat(),
        until is None or at <= until,
    )


def _measured(events: Iterable[Event]) -> set[str | None]:
    return {
        event.config_digest
        for event in events
        if event.event == "opened" and event.details.get("purpose") == "measurement"
    }


def _at(event: Event) -> datetime:
    return datetime.fromisoformat(event.at)

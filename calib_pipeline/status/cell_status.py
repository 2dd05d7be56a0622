"""The status of one study on one population: the first that applies, with the rungs as people see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from calib_pipeline.cell import Cell
from calib_pipeline.chain import stamped
from calib_pipeline.errors import InputError
from calib_pipeline.evidence.evidence import figure
from calib_pipeline.evidence.scorer_agreement import FEWEST_USABLE_PAIRS
from calib_pipeline.evidence_store import DamagedEvidence
from calib_pipeline.ladder import Ladder
from calib_pipeline.schemas import GATES, RUNGS, Reason, Rung
from calib_pipeline.status.advice import awaiting_labels, both_needs, lacking
from calib_pipeline.status.cell_records import newest_records
from calib_pipeline.status.changes import HELD_OUT_SET, changed_since_evidence, changed_since_record, why_spent
from calib_pipeline.status.figures import Headline, headline_of
from calib_pipeline.status.next_run import before_next_run
from calib_pipeline.status.own_account import Brought, blocked, brought, by_rung
from calib_pipeline.status.standing import Standing, Stop, climb_command, standing_of
from calib_pipeline.status.unread import UnreadTable, keeps_from, unread_tables

if TYPE_CHECKING:
    from calib_pipeline.studies.project import Project

StatusWord = Literal["stale", "insufficient_data", "candidate_for_removal", "uncalibrated", "calibrated"]
RecordKind = Literal["measurement", "diagnostic"]


@dataclass(frozen=True)
class RungState:
    """A rung as people see it. ``unresolved``: it cannot be read, since a rung above it does not hold."""

    rung: Rung
    state: Literal["holds", "fails", "unresolved"]
    reason: str | None = None
    next_step: str | None = None


@dataclass(frozen=True)
class CellStatus:
    """The status of one study on one population.

    ``stopped_at`` is the asset at which the chain stopped under what is declared now, and ``rung`` the rung it belongs
    to. ``changed`` names the parts that make it stale, ``lost_to`` the comparators that the scorer lost to, and
    ``unread`` what is wrong with tables that cannot be read. ``headline_from`` says where the headline was taken from
    when it is not the evidence of now, and ``before_next_run`` what changed since the study was registered and what the
    next run makes of it.
    """

    study: str
    population: str
    status: StatusWord
    stopped_at: str | None
    rung: Rung | None
    reason: str | None
    next_step: str | None
    changed: tuple[str, ...]
    lost_to: tuple[str, ...]
    usable_pairs: int | None
    claim: str | None
    record_id: str | None
    record_kind: RecordKind | None
    rungs: tuple[RungState, ...]
    headline: Headline | None
    headline_from: str | None
    unread: tuple[str, ...]
    before_next_run: str | None
    standing: Standing

    @property
    def calibrated(self) -> bool:
        return self.status == "calibrated"

    @property
    def reached(self) -> int:
        """How many rungs hold, one after the other, from the first."""
        for count, rung in enumerate(self.rungs):
            if rung.state != "holds":
                return count
        return len(self.rungs)

    @property
    def reached_words(self) -> str:
        """The highest rung of an unbroken ladder."""
        if self.calibrated:
            return "record"
        return f"{self.rungs[self.reached - 1].rung if self.reached else 'none'} ({self.reached} of {len(self.rungs)})"

    def as_json(self) -> dict[str, Any]:
        """The object that ``calib status --json`` prints for a cell."""
        return {
            "study": self.study,
            "population": self.population,
            "status": self.status,
            "stopped_at": self.stopped_at,
            "claim": self.claim,
            "record_id": self.record_id,
            "rungs": [
                {"rung": rung.rung, "state": rung.state, "reason": rung.reason, "next": rung.next_step}
                for rung in self.rungs
            ],
        }


def cell_status(project: Project, ladder: Ladder | None, cell: Cell) -> CellStatus:
    """The status of a cell; nothing is written, and a table or file that cannot be read is a finding, not a fault."""
    study = project.studies[cell.study]
    standing = standing_of(project, ladder, cell)
    published, diagnostic = newest_records(ladder, cell)
    if standing.stop is None and published is None:
        standing = replace(standing, stop=_without_record(cell))
    tables = None if standing.measured else brought(project, ladder, cell)
    changed = _changed(ladder, standing, published, diagnostic)
    spent = _why_spent(ladder, standing, published) if changed == (HELD_OUT_SET,) else None
    standing = both_needs(study, standing, tables)
    kept = _kept_by(project, standing, tables, changed)
    if kept is not None:
        awaited = awaiting_labels(project, standing, tables) if _is_absent_sheet(kept) else standing
        standing = awaited if awaited is not standing else lacking(standing, kept)
    stop, record = standing.stop, published or diagnostic
    pairs = _usable_pairs(standing, tables)
    lost = _lost_to(standing)
    own = () if tables is None else blocked(study, tables)
    headline, headline_from = headline_of(standing.rows, study.headline), None
    if headline is None and record is not None:
        headline = headline_of(record["evidence"], study.headline)
        headline_from = "the published record" if record is published else "the diagnostic record"

    status: StatusWord
    if changed:
        status = "stale"
    elif pairs is not None and pairs < FEWEST_USABLE_PAIRS:
        status = "insufficient_data"
    elif lost:
        status = "candidate_for_removal"
    else:
        status = "uncalibrated" if stop is not None else "calibrated"
    reason, next_step = _reason(status, standing, changed, lost, pairs, spent, kept)
    return CellStatus(
        cell.study,
        cell.population,
        status,
        None if stop is None else stop.asset,
        None if stop is None else stop.rung,
        reason,
        next_step,
        changed,
        lost,
        pairs,
        None if record is None else record["claim"],
        None if record is None else record["record_id"],
        None if record is None else record["kind"],
        rung_states(standing, own),
        headline,
        headline_from,
        () if tables is None else tables.unread,
        before_next_run(ladder, cell, (published, diagnostic)),
        standing,
    )


def rung_states(standing: Standing, own: tuple[Reason, ...]) -> tuple[RungState, ...]:
    """The five rungs in order.

    Parameters
    ----------
    own
        What is known against a rung whatever the rungs above say.
    """
    against = by_rung(tuple(reason for of_asset in standing.reasons.values() for reason in of_asset))
    alone = by_rung(own)
    states: list[RungState] = []
    above: RungState | None = None
    for rung in RUNGS:
        state = _rung_state(rung, standing, against.get(rung) or alone.get(rung) or (), above)
        states.append(state)
        if above is None and state.state != "holds":
            above = state
    return tuple(states)


def _rung_state(rung: Rung, standing: Standing, reasons: tuple[Reason, ...], above: RungState | None) -> RungState:
    if reasons:
        return RungState(rung, "fails", "; ".join(reason.sentence for reason in reasons), reasons[0].next_step)
    stop = standing.stop
    needed = [asset for asset, gate in GATES.items() if any(condition.rung == rung for condition in gate.conditions)]
    if above is None and all(asset in standing.evidence for asset in needed):
        return RungState(rung, "holds")
    if above is not None and above.state == "fails":
        return RungState(rung, "unresolved", f"the {above.rung} above it does not hold")
    assert stop is not None
    if stop.kind == "does_not_hold":
        return RungState(rung, "unresolved", f"the chain stopped at {stop.asset}, before this could be read")
    return RungState(rung, "unresolved", stop.sentence, stop.next_step)


def _without_record(cell: Cell) -> Stop:
    """The stop of a chain whose last evidence holds and whose record is gone, damaged or edited."""
    sentence = "the published record is in the ledger, and its file is missing, damaged or edited"
    return Stop("interrupted", "published_record", "interval", sentence, f"run `{climb_command(cell)}`")


def _changed(
    ladder: Ladder | None,
    standing: Standing,
    published: Mapping[str, Any] | None,
    diagnostic: Mapping[str, Any] | None,
) -> tuple[str, ...]:
    """The parts that make a cell stale: its evidence no longer is what is declared, or its record no longer is."""
    stop = standing.stop
    if stop is None or ladder is None:
        return ()
    try:
        if stop.kind == "stale":
            rows = ladder.store.read_evidence(stop.asset, standing.cell.population, standing.cell.study)
            assert rows is not None
            return changed_since_evidence(ladder, standing.cell, stop.asset, rows, published or diagnostic)
        if stop.kind in ("interrupted", "unreadable"):
            what = "a table that cannot be read" if stop.kind == "unreadable" else f"the evidence of {stop.asset}"
            return (what,)
        if published is not None and not standing.measured:
            return changed_since_record(ladder, standing.cell, published)
    except (InputError, DamagedEvidence):
        return ("a table that cannot be read",)
    return ()


def _why_spent(ladder: Ladder | None, standing: Standing, published: Mapping[str, Any] | None) -> str | None:
    """Why the set that the evidence or the record rests on no longer serves the study; None where it does."""
    stop, cell = standing.stop, standing.cell
    assert ladder is not None and stop is not None
    try:
        if stop.kind == "stale":
            rows = ladder.store.read_evidence(stop.asset, cell.population, cell.study)
            return None if rows is None else why_spent(ladder, cell, stamped(rows).get("set"))
        return None if published is None else why_spent(ladder, cell, published["holdout"]["set"])
    except (InputError, DamagedEvidence):
        return None


def _kept_by(
    project: Project, standing: Standing, tables: Brought | None, changed: tuple[str, ...]
) -> UnreadTable | None:
    """The table without which the step after the stop leads nowhere."""
    if standing.stop is None or tables is None or standing.stop.kind == "does_not_hold":
        return None
    reserved = None if tables.held is None else {item.item_id for item in tables.held.items}
    return keeps_from(standing.stop, unread_tables(project, standing.cell, reserved), changed)


def _is_absent_sheet(table: UnreadTable) -> bool:
    return table.table == "labels" and table.absent


def _usable_pairs(standing: Standing, tables: Brought | None) -> int | None:
    """Items with a usable label and a decided output, counted from ids and statuses; None where uncountable."""
    agreement = standing.evidence.get("scorer_agreement")
    if agreement is not None:
        pairs = figure(agreement, "decided_pairs")
        return None if pairs is None else int(pairs)
    if tables is None or tables.ready is None or standing.stop is None or standing.stop.kind == "never":
        return None
    return tables.ready.decided


def _lost_to(standing: Standing) -> tuple[str, ...]:
    agreement = standing.evidence.get("scorer_agreement")
    if agreement is None:
        return ()
    lost = agreement[(agreement["name"] == "difference") & (agreement["text"] == "lost")]
    return tuple(str(scope) for scope in lost["scope"])


def _reason(
    status: StatusWord,
    standing: Standing,
    changed: tuple[str, ...],
    lost: tuple[str, ...],
    pairs: int | None,
    spent: str | None,
    kept: UnreadTable | None,
) -> tuple[str | None, str | None]:
    stop, again = standing.stop, f"run `{climb_command(standing.cell)}`"
    if stop is None:
        return None, None
    if status == "stale":
        if changed == (HELD_OUT_SET,):
            if spent is None:
                return stop.sentence, stop.next_step
            said = f"the held-out set no longer serves this study: {spent}"
            return said, stop.next_step if stop.kind == "does_not_hold" else again
        if stop.kind == "does_not_hold":
            return f"{', '.join(changed)} changed since the record, and {stop.sentence}", stop.next_step
        said = f"{', '.join(changed)} changed" if stop.kind == "stale" else stop.sentence
        if kept is not None:
            return f"{said}; {kept.sentence}" if stop.kind == "stale" else said, stop.next_step
        return said, stop.next_step if stop.kind == "unreadable" else again
    if status == "insufficient_data":
        few = f"{pairs} usable pairs; {FEWEST_USABLE_PAIRS} are needed before agreement is stated"
        return f"{few}; {stop.sentence}", stop.next_step
    if status == "candidate_for_removal":
        against = [reason for reason in standing.reasons["scorer_agreement"] if reason.scope in lost]
        said = "; ".join(reason.sentence for reason in against)
        return f"it lost to {', '.join(lost)}: {said}", against[0].next_step if against else stop.next_step
    return stop.sentence, stop.next_step

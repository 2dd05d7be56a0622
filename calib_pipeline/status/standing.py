"""What stands of one ladder: each rung's evidence, whether it may be read, and the first rung that stops."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from calib_pipeline.cell import Cell
from calib_pipeline.errors import InputError, ReviewUnavailable
from calib_pipeline.evidence.evidence import fact
from calib_pipeline.evidence_store import DamagedEvidence
from calib_pipeline.ladder import Ladder
from calib_pipeline.ledger import Ledger, LedgerError, NoLedgerYet
from calib_pipeline.records.record import compact
from calib_pipeline.schemas import GATES, Reason, Rung, Verdict
from calib_pipeline.studies.addresses import ledger_file

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.studies.project import Project

READINESS = ("enough_scored", "enough_pairs")


@dataclass(frozen=True)
class Stop:
    """Why a ladder goes no further.

    ``never`` nothing was ever climbed; ``missing`` a run ended early; ``interrupted`` what is on disk is not what the
    ledger has; ``stale`` something declared changed; ``unreadable`` a table cannot be read, so nothing can be compared;
    ``does_not_hold`` the gate says no.
    """

    kind: Literal["never", "missing", "interrupted", "stale", "unreadable", "does_not_hold"]
    asset: str
    rung: Rung
    sentence: str
    next_step: str


@dataclass(frozen=True)
class Standing:
    """The evidence of one cell down to the first rung that stops.

    ``evidence`` holds what may be read, the rung that does not hold included, and ``reasons`` the gate's reasons
    against each. ``stop`` is None where the whole chain holds.
    """

    cell: Cell
    evidence: Mapping[str, pd.DataFrame]
    reasons: Mapping[str, tuple[Reason, ...]]
    stop: Stop | None

    @property
    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """The evidence without empty columns."""
        return {asset: compact(rows) for asset, rows in self.evidence.items()}

    @property
    def measured(self) -> bool:
        """Whether the set was opened and labels met outputs, under what is declared now."""
        agreement = self.evidence.get("scorer_agreement")
        return agreement is not None and fact(agreement, "opening") not in (None, "none", "refused")


def open_ledger(project: Project) -> Ledger | None:
    """The project's ledger, open for reading only; None where there is none yet.

    Raises
    ------
    LedgerError
        When there is one and it cannot be read.
    """
    path = ledger_file(project.ledger)
    if path is not None and not path.exists():
        if path.is_symlink():
            raise LedgerError(
                f"the ledger {path} is a symbolic link, and there is no file behind it; bring the file back, or mend "
                "the link"
            )
        return None
    if path is not None and not (path.is_file() or path.is_dir()):
        raise LedgerError(f"the ledger {path} is no file; move it away, or name another file as `ledger` in calib.yaml")
    try:
        return Ledger.open(project.ledger, read_only=True)
    except NoLedgerYet:
        return None


def refuse_broken_ledger(project: Project) -> None:
    """Nothing is told from a ledger that was edited.

    Raises
    ------
    LedgerError
        When it does not verify, with the first problem.
    """
    ledger = open_ledger(project)
    if ledger is None:
        return
    with closing(ledger):
        problems = ledger.verify()
    if problems:
        raise LedgerError(
            f"{problems[0]}: nothing that rests on this ledger can be told. Restore it from a copy; `calib holdout "
            "verify` lists every problem"
        )


def open_ladder(project: Project) -> Ladder | None:
    """The project's ladder over its ledger, open for reading only; None and errors as for `open_ledger`."""
    ledger = open_ledger(project)
    if ledger is None:
        return None
    ladder = Ladder(project, "")
    ladder.ledger = ledger
    return ladder


def standing_of(project: Project, ladder: Ladder | None, cell: Cell) -> Standing:
    """Read a cell's chain; tables that cannot be read stop it, and never this function."""
    evidence: dict[str, pd.DataFrame] = {}
    reasons: dict[str, tuple[Reason, ...]] = {}
    for asset in GATES:
        rows, stop = _read(project, ladder, cell, asset)
        if rows is not None:
            evidence[asset] = rows
            verdict = GATES[asset].judge(rows)
            reasons[asset] = own_reasons(asset, verdict, rows)
            if reasons[asset]:
                said = "; ".join(reason.sentence for reason in reasons[asset])
                decisive = reasons[asset][0]
                stop = Stop("does_not_hold", asset, decisive.rung, said, decisive.next_step)
        if stop is not None:
            return Standing(cell, evidence, reasons, stop)
    return Standing(cell, evidence, reasons, None)


def own_reasons(asset: str, verdict: Verdict, rows: pd.DataFrame) -> tuple[Reason, ...]:
    """The reasons without those that merely follow from others: a set that was not opened has no figures at all."""
    present = set(rows["name"])
    row_of = {condition.name: condition.row for condition in GATES[asset].conditions}
    seen = [reason for reason in verdict.reasons if row_of.get(reason.condition) in present]
    if any(reason.condition in READINESS for reason in seen):
        seen = [reason for reason in seen if reason.condition != "opened_as_a_measurement"]
    return tuple(seen) or verdict.reasons


def climb_command(cell: Cell) -> str:
    """The command that climbs a cell."""
    return f"calib run --study {cell.study} --population {cell.population}"


def _read(project: Project, ladder: Ladder | None, cell: Cell, asset: str) -> tuple[pd.DataFrame | None, Stop | None]:
    """The rows of a rung where they may be read, else the stop."""
    rung = GATES[asset].conditions[0].rung
    again = f"run `{climb_command(cell)}`"
    is_first = asset == next(iter(GATES))
    if ladder is None:
        rows = Ladder(project, "").store.read_evidence(asset, cell.population, cell.study)
        if rows is None:
            return None, Stop("never", asset, rung, "never climbed", again)
        return None, Stop(
            "interrupted", asset, rung, f"there is evidence of {asset} and no ledger that knows it", again
        )
    try:
        rows = ladder.store.read_evidence(asset, cell.population, cell.study)
    except DamagedEvidence as fault:
        return None, Stop("interrupted", asset, rung, str(fault), again)
    try:
        refusal = ladder.refusal(cell, asset, rows)
    except (InputError, ReviewUnavailable, DamagedEvidence) as fault:
        said = f"what is declared now cannot be read: {fault}"
        return None, Stop("unreadable", asset, rung, said, "make it readable, and run `calib status` again")
    if refusal is None or refusal.kind == "does_not_hold":
        return rows, None
    if refusal.kind == "missing" and is_first:
        return None, Stop("never", asset, rung, "never climbed", again)
    return None, Stop(refusal.kind, asset, rung, refusal.sentence, refusal.next_step)

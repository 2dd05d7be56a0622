"""Evidence on any filesystem; a load refuses what is stale, swapped, interrupted or missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dagster as dg
from upath import UPath

from calib_pipeline.dagster_side.ladder_resource import LADDER
from calib_pipeline.dagster_side.partitions import cell_of_run
from calib_pipeline.dagster_side.run_tags import DIAGNOSTIC, PUBLISHED, tell_end, tell_stop
from calib_pipeline.evidence_store import DamagedEvidence, parquet_bytes, read_parquet, write_atomically
from calib_pipeline.schemas import GATES

if TYPE_CHECKING:
    import pandas as pd
    from dagster import DagsterRun

    from calib_pipeline.evidence.evidence import Evidence
    from calib_pipeline.ladder import Ladder, Refusal

REACHED = {"published_record": PUBLISHED, "diagnostic_record": DIAGNOSTIC}


class EvidenceIOManager(dg.UPathIOManager):
    """Keeps the evidence of a cell at ``<store>/evidence/<asset>/<population>/<study>.parquet``.

    What is written is an `Evidence`; what is read are its rows, whole and unjudged: the gate type of the input judges
    them. Whether they are the right rows is asked of the ladder, which knows what is declared now and what the ledger
    has.

    Parameters
    ----------
    ladder
        Knows the store, decides on refusals, and enters written evidence in the ledger.
    run, instance
        The run that is tagged where the ladder stops; None outside of a run.
    """

    extension = ".parquet"

    def __init__(
        self, ladder: Ladder, *, run: DagsterRun | None = None, instance: dg.DagsterInstance | None = None
    ) -> None:
        super().__init__(base_path=UPath(ladder.store.base / "evidence"))
        self._ladder = ladder
        self._run = run
        self._instance = instance

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        cell_of_run(self._ladder.project, context)
        super().handle_output(context, obj)

    def load_input(self, context: dg.InputContext) -> Any:
        cell_of_run(self._ladder.project, context)
        return super().load_input(context)

    def dump_to_path(self, context: dg.OutputContext, obj: Evidence, path: UPath) -> None:
        write_atomically(path, parquet_bytes(obj.rows))
        self._ladder.stored(cell_of_run(self._ladder.project, context), obj)
        self._tell_written(obj)

    def load_from_path(self, context: dg.InputContext, path: UPath) -> pd.DataFrame:
        """The rows of the evidence.

        Raises
        ------
        dagster.Failure
            The ladder refuses the evidence for another reason than that it does not hold. Nothing retries it.
        """
        asset = context.asset_key.path[-1]
        rows = _read(path)
        refusal = self._ladder.refusal(cell_of_run(self._ladder.project, context), asset, rows)
        if refusal is not None:
            self._tell_refused(refusal)
        if rows is None or (refusal is not None and refusal.kind != "does_not_hold"):
            assert refusal is not None
            raise dg.Failure(
                description=f"{refusal.sentence}. Next: {refusal.next_step}",
                metadata={
                    "asset": asset,
                    "kind": refusal.kind,
                    "rung": refusal.rung,
                    "reason": refusal.sentence,
                    "next_step": refusal.next_step,
                    "path": dg.MetadataValue.path(str(path)),
                },
                allow_retries=False,
            )
        return rows

    def _tell_written(self, evidence: Evidence) -> None:
        if self._run is None or self._instance is None:
            return
        gate = GATES.get(evidence.asset)
        verdict = gate.judge(evidence.rows) if gate is not None else None
        if verdict is not None and not verdict.holds:
            rung = verdict.reasons[0].rung
            tell_stop(self._instance, self._run.run_id, rung=rung, reason=verdict.sentence)
        elif evidence.asset in REACHED:
            tell_end(self._instance, self._run.run_id, REACHED[evidence.asset])

    def _tell_refused(self, refusal: Refusal) -> None:
        if self._run is not None and self._instance is not None:
            tell_stop(self._instance, self._run.run_id, rung=refusal.rung, reason=refusal.sentence)


def _read(path: UPath) -> pd.DataFrame | None:
    """The rows of a file; None where there is no file, or none that can be read."""
    try:
        return read_parquet(path.read_bytes(), str(path))
    except (FileNotFoundError, DamagedEvidence):
        return None


def _open(init: dg.InitResourceContext) -> EvidenceIOManager:
    return EvidenceIOManager(getattr(init.resources, LADDER), run=init.run, instance=init.instance)


EVIDENCE_IO_MANAGER = dg.IOManagerDefinition(
    _open, required_resource_keys={LADDER}, description="Evidence as Parquet in the project's store"
)

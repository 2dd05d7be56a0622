"""Runs of the real assets on the small project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import dagster as dg

from calib_pipeline.assets import CHAIN
from calib_pipeline.dagster_side.climbing import QUIET
from calib_pipeline.dagster_side.evidence_io import EVIDENCE_IO_MANAGER
from calib_pipeline.dagster_side.ladder_resource import ladder_resource
from calib_pipeline.dagster_side.partitions import add_cells
from calib_pipeline.evidence_store import EvidenceStore
from calib_pipeline.studies.project import Project, load_project

SPRING = "spring|rule"


@dataclass
class Runs:
    """Runs of chosen assets on a project, on an instance of their own."""

    root: Path
    instance: dg.DagsterInstance
    store: str | None = None
    log: list[dg.ExecuteInProcessResult] = field(default_factory=list)

    @property
    def project(self) -> Project:
        project = load_project(self.root)
        return project if self.store is None else Project(**{**project.__dict__, "store": self.store})

    def run(
        self,
        selection: Sequence[str] | dg.AssetSelection,
        key: str | None = SPRING,
        tags: dict[str, str] | None = None,
    ) -> dg.ExecuteInProcessResult:
        add_cells(self.project, self.instance)
        result = dg.materialize(
            CHAIN,
            selection=selection,
            instance=self.instance,
            partition_key=key,
            resources={"ladder": ladder_resource(lambda: self.project), "io_manager": EVIDENCE_IO_MANAGER},
            raise_on_error=False,
            run_config=QUIET,
            tags=tags,
        )
        self.log.append(result)
        return result

    def tags(self) -> dict[str, str]:
        """Our tags on the last run."""
        run = self.instance.get_run_by_id(self.log[-1].run_id)
        assert run is not None
        return {name: value for name, value in run.tags.items() if name.startswith("calib/")}

    def error(self) -> str:
        """The message of the last run's only failed step."""
        [failure] = self.log[-1].get_step_failure_events()
        assert failure.step_failure_data.error is not None
        return str(failure.step_failure_data.error.message)

    def materialized(self) -> list[str]:
        """The assets that the last run materialized, in order."""
        return [event.asset_key.to_user_string() for event in self.log[-1].get_asset_materialization_events()]

    def evidence(self, asset: str) -> Path:
        """The file of an asset's evidence for the study on spring."""
        return Path(str(EvidenceStore(self.project.store).evidence_path(asset, "spring", "rule")))

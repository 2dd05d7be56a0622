"""Climbing a made-up project with the real assets, and reading what a run left behind."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pandas as pd
from made_up_project import POPULATION, World

from calib_pipeline.assets import CHAIN
from calib_pipeline.cell import Cell
from calib_pipeline.climb import Climb, climb
from calib_pipeline.dagster_side.climbing import QUIET, climb_cell, diagnose_cell
from calib_pipeline.dagster_side.evidence_io import EVIDENCE_IO_MANAGER
from calib_pipeline.dagster_side.ladder_resource import LADDER, ladder_resource
from calib_pipeline.dagster_side.partitions import add_cells, cell_key
from calib_pipeline.ladder import Ladder
from calib_pipeline.ledger import Event
from calib_pipeline.records.archive import RecordArchive, RecordEntry
from calib_pipeline.sampling import draw_holdout
from calib_pipeline.studies.project import Project, load_project
from calib_pipeline.studies.study import Study

RUNGS = [asset.key.to_user_string() for asset in CHAIN]
"""The seven assets in order."""


@dataclass(frozen=True)
class Run:
    """What a run left behind.

    ``status`` is that of `CellResult`, and ``ok`` or ``failed`` for a run of some assets alone. ``failed_checks`` maps
    an asset to what its check said; ``error`` is the class and message of what ended the run.
    """

    status: str
    materialized: list[str]
    failed_checks: dict[str, str]
    tags: dict[str, str]
    asset: str | None = None
    rung: str | None = None
    reason: str | None = None
    next_step: str | None = None
    error: str = ""


@dataclass(frozen=True)
class Folder:
    """A project folder and the Dagster instance on which it is climbed."""

    root: Path
    instance: dg.DagsterInstance

    @property
    def project(self) -> Project:
        project = load_project(self.root)
        assert not project.faults, project.faults
        return project

    @property
    def ladder(self) -> Ladder:
        return Ladder(self.project, "")

    def copied_to(self, root: Path) -> Folder:
        """The same project with its evidence and its ledger somewhere else."""
        shutil.copytree(self.root, root, dirs_exist_ok=True)
        return Folder(root, self.instance)

    def climb(self, study: str = "judge", population: str = POPULATION, *, recheck: bool = False) -> Run:
        """Climb the ladder of a cell, as one run."""
        result = climb_cell(self.project, Cell(study, population), self.instance, recheck=recheck)
        return self._run(result.run_id, result)

    def diagnose(self, study: str = "judge", population: str = POPULATION) -> Run:
        """Make the diagnostic record of a cell."""
        result = diagnose_cell(self.project, Cell(study, population), self.instance)
        return self._run(result.run_id, result)

    def climb_to(self, asset: str, study: str = "judge") -> Run:
        """A run of the rungs up to an asset."""
        return self.run_alone(*RUNGS[: RUNGS.index(asset) + 1], study=study)

    def run_alone(self, *assets: str, study: str = "judge", population: str = POPULATION) -> Run:
        """A run of some assets and no others, with the real IO manager and gate-typed inputs."""
        project = self.project
        add_cells(project, self.instance)
        with _quiet():
            result = dg.materialize(
                CHAIN,
                selection=list(assets),
                instance=self.instance,
                partition_key=cell_key(Cell(study, population)),
                resources={LADDER: ladder_resource(lambda: project), "io_manager": EVIDENCE_IO_MANAGER},
                run_config=QUIET,
                raise_on_error=False,
            )
        return self._run(result.run_id, None if result.success else result)

    def _run(self, run_id: str, result: object) -> Run:
        events = [entry.dagster_event for entry in self.instance.all_logs(run_id) if entry.dagster_event is not None]
        made = [event.asset_key for event in events if event.event_type is dg.DagsterEventType.ASSET_MATERIALIZATION]
        checks = [
            event.asset_check_evaluation_data
            for event in events
            if event.event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION
        ]
        errors = [event.step_failure_data.error for event in events if event.is_step_failure]
        run = self.instance.get_run_by_id(run_id)
        assert run is not None
        told = {name: getattr(result, name, None) for name in ("asset", "rung", "reason", "next_step")}
        return Run(
            status=getattr(result, "status", "ok" if result is None else "failed"),
            materialized=[key.to_user_string() for key in made if key is not None],
            failed_checks={
                check.asset_key.to_user_string(): check.description or "" for check in checks if not check.passed
            },
            tags={name: value for name, value in run.tags.items() if name.startswith("calib/")},
            error="".join(str(error) for error in errors) or str(getattr(result, "fault", None) or ""),
            **told,
        )

    def evidence(self, asset: str, study: str = "judge", population: str = POPULATION) -> pd.DataFrame:
        """The rows of stored evidence."""
        rows = self.ladder.store.read_evidence(asset, population, study)
        assert rows is not None, f"no evidence of {asset}"
        return rows

    def evidence_file(self, asset: str, study: str = "judge", population: str = POPULATION) -> Path:
        return Path(str(self.ladder.store.evidence_path(asset, population, study)))

    def evidence_files(self) -> dict[str, bytes]:
        """Every evidence file by its path."""
        folder = Path(self.project.store) / "evidence"
        return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.parquet"))}

    def events(self) -> list[Event]:
        return self.ladder.ledger.events()

    def records(self) -> list[RecordEntry]:
        return RecordArchive(self.ladder.store).entries()


def folder_of(world: World, root: Path, instance: dg.DagsterInstance) -> Folder:
    """The project of a world, written and not yet climbed."""
    world.write(root)
    return Folder(root, instance)


def in_memory(world: World, *, configurations: int = 1) -> Climb:
    """The ladder of a world, climbed without Dagster, store and ledger."""
    study = Study.model_validate(world.study)
    return climb(study, world.items, world.labels, world.scores, configurations=configurations)


def reserved(world: World) -> pd.DataFrame:
    """The items that the first reservation of the world's study will draw: ``item_id, stratum, named, …``."""
    manifest = world.items.assign(group=world.items.get("group"), content_digest=world.items.get("content_digest"))
    holdout = world.study["holdout"]
    return draw_holdout(
        manifest,
        size=holdout["size"],
        seed=holdout["seed"],
        min_per_stratum=holdout["min_per_stratum"],
        named_items=world.study["ceiling"]["min_items"],
    )


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        for category in (dg.BetaWarning, dg.PreviewWarning):
            warnings.simplefilter("ignore", category)
        yield

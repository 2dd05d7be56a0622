"""The cells of a project, study x population, as Dagster partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from calib_pipeline.errors import InputError

if TYPE_CHECKING:
    from calib_pipeline.cell import Cell
    from calib_pipeline.studies.project import Project

POPULATIONS = dg.DynamicPartitionsDefinition(name="calib_populations")
STUDIES = dg.DynamicPartitionsDefinition(name="calib_studies")
CELLS = dg.MultiPartitionsDefinition({"population": POPULATIONS, "study": STUDIES})


def cell_key(cell: Cell) -> dg.MultiPartitionKey:
    """The partition key of a cell, ``population|study``."""
    return dg.MultiPartitionKey({"population": cell.population, "study": cell.study})


def declared_cell(project: Project, partition_key: str) -> Cell:
    """The cell that a partition key names.

    The product of populations and studies holds pairs that nobody declared, since Dagster knows the two dimensions
    apart.

    Raises
    ------
    InputError
        The pair is not declared; it says which populations the study is declared on, or why the study is blocked.
    """
    from calib_pipeline.cell import Cell

    population, _, study = partition_key.partition("|")
    if (study, population) in project.cells():
        return Cell(study=study, population=population)
    if study in project.blocked:
        raise InputError(
            f"study {study} is blocked: {project.blocked[study]}",
            todo="mend the declaration (`calib validate` shows file and line) and run again",
        )
    declared = [there for name, there in project.cells() if name == study]
    if declared:
        raise InputError(
            f"study {study} is not declared on population {population}",
            expected=f"one of the populations that it is declared on: {', '.join(declared)}",
            todo=f"choose one of them, or add {population} to data.populations of the study",
        )
    raise InputError(
        f"there is no study {study} that can be climbed",
        expected=f"one of {', '.join(dict.fromkeys(name for name, _ in project.cells())) or 'none: none is valid'}",
        todo="choose a declared cell: `calib status` lists them",
    )


def cell_of_run(project: Project, context: dg.AssetExecutionContext | dg.OutputContext | dg.InputContext) -> Cell:
    """The one cell of a run.

    Raises
    ------
    dagster.Failure
        The run asks for several cells at once, or for one that nobody declared. Nothing retries it.
    """
    if isinstance(context, dg.InputContext):
        keys = context.asset_partition_keys if context.has_asset_partitions else ()
    else:
        keys = (context.partition_key,) if context.has_partition_key else ()
    if len(keys) != 1:
        raise dg.Failure(
            description="evidence is kept cell by cell, and this run names no single cell. "
            "Climb one population and study a run (a backfill with one run a partition does)",
            allow_retries=False,
        )
    try:
        return declared_cell(project, keys[0])
    except InputError as error:
        raise dg.Failure(description=str(error), allow_retries=False) from error


def add_cells(project: Project, instance: dg.DagsterInstance) -> None:
    """Make every declared cell a partition on the instance; those that are there stay as they are."""
    for definition, position in ((STUDIES, 0), (POPULATIONS, 1)):
        name = str(definition.name)
        missing = {cell[position] for cell in project.cells()} - set(instance.get_dynamic_partitions(name))
        for key in sorted(missing):
            _add(instance, name, key)


def _add(instance: dg.DagsterInstance, name: str, key: str) -> None:
    """Add a partition; another process that adds it at the same moment has done the same."""
    try:
        instance.add_dynamic_partitions(name, [key])
    except Exception:
        if key not in instance.get_dynamic_partitions(name):
            raise

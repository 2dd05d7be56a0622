"""Which cells touch nothing of each other, so that they can be climbed side by side."""

from __future__ import annotations

from collections.abc import Sequence

from calib_pipeline.cell import Cell
from calib_pipeline.errors import InputError
from calib_pipeline.holdout_sets import IDENTITY
from calib_pipeline.studies.project import Project
from calib_pipeline.table_cache import TableCache


def independent(project: Project, cells: Sequence[Cell]) -> list[list[Cell]]:
    """The cells in groups, each in the order given: populations that share an item are in one.

    What is reserved, measured and spent of an item depends on what came before, so that one group is climbed in order;
    an item is the same by its id, its content digest or its normalised text. A population whose table cannot be read
    shares nothing.
    """
    tables = TableCache(project)
    groups: list[tuple[set[str], set[str]]] = []
    for population in dict.fromkeys(cell.population for cell in cells):
        names, items = {population}, _items(tables, population)
        apart = []
        for other_names, other_items in groups:
            if items.isdisjoint(other_items):
                apart.append((other_names, other_items))
            else:
                names |= other_names
                items |= other_items
        groups = [*apart, (names, items)]
    of_population = {name: place for place, (names, _) in enumerate(groups) for name in names}
    found: dict[int, list[Cell]] = {}
    for cell in cells:
        found.setdefault(of_population[cell.population], []).append(cell)
    return list(found.values())


def _items(tables: TableCache, population: str) -> set[str]:
    try:
        frame = tables.manifest(population).frame
    except InputError:
        return set()
    return {f"{kind} {identifier}" for kind in IDENTITY if kind in frame.columns for identifier in frame[kind].dropna()}

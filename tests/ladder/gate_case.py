"""One way for one condition of one gate to fail, and what it takes to bring it about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pytest
from climbs import Folder
from made_up_project import World, world_of

from calib_pipeline.evidence.evidence import Evidence
from calib_pipeline.ladder import Ladder


def _nothing(_: Any) -> None:
    return None


@dataclass(frozen=True)
class Case:
    """One way for one condition to fail.

    ``says`` stands in the message: the figure, and the bar where there is one. ``start`` makes the world, which holds
    on every rung until it is changed by ``change``; with ``climbed`` it has reached its record before. ``before`` is
    what else happened to the project, ``meanwhile`` what happens while it is climbed, and ``remade`` how the rung's
    evidence is changed as it is made, on the climbed project and from that rung on. ``later`` is what a later run of
    the next asset says where it is refused before its gate is asked.
    """

    says: str
    change: Callable[[World], None] = _nothing
    also: tuple[str, ...] = ()
    start: Callable[[], World] = world_of
    climbed: bool = False
    before: Callable[[Folder], None] = _nothing
    meanwhile: Callable[[pytest.MonkeyPatch], None] = _nothing
    remade: Callable[[pytest.MonkeyPatch], None] | None = None
    later: str | None = None


def declare(*keys: str, to: Any) -> Callable[[World], None]:
    """Declare something else under a key of the study; None takes the key out."""

    def change(world: World) -> None:
        section = world.study
        for key in keys[:-1]:
            section = section[key]
        if to is None:
            del section[keys[-1]]
        else:
            section[keys[-1]] = to

    return change


def evidence_with(asset: str, row: str, **columns: Any) -> Callable[[pytest.MonkeyPatch], None]:
    """Overwrite columns of the first row of a name in the evidence, as it is made."""

    def remade(patch: pytest.MonkeyPatch) -> None:
        make = getattr(Ladder, asset)

        def altered(ladder: Ladder, *arguments: Any, **named: Any) -> Evidence:
            made: Evidence = make(ladder, *arguments, **named)
            return Evidence(asset, with_row(made.rows, row, **columns), made.tables)

        patch.setattr(Ladder, asset, altered)

    return remade


def with_row(rows: pd.DataFrame, row: str, **columns: Any) -> pd.DataFrame:
    """The evidence with some columns of the first row of a name overwritten."""
    changed = rows.copy()
    at = changed.index[changed["name"] == row][0]
    for column, value in columns.items():
        changed.loc[at, column] = value
    return changed

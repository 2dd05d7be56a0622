"""The held-out sets that a run reserved, and why the ones before them no longer served."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from calib_pipeline.errors import InputError, ReviewUnavailable
from calib_pipeline.holdout_sets import RECHECK

if TYPE_CHECKING:
    from calib_pipeline.cell import Cell
    from calib_pipeline.ladder import Ladder
    from calib_pipeline.ledger import SetHeader


def new_sets(ladder: Ladder, before: Collection[str], cells: Sequence[Cell]) -> Iterator[str]:
    """A sentence for each set that is not among those before, seen from the studies that were climbed."""
    headers = ladder.ledger.sets()
    for header in headers:
        if header.holdout_id not in before:
            drawn = f"{header.holdout_id} was reserved: {header.size} items of {header.population}"
            yield drawn + _why(ladder, header, _former(headers, header), cells)


def _former(headers: Sequence[SetHeader], header: SetHeader) -> SetHeader | None:
    place = (header.dimension, header.population)
    earlier = [
        one for one in headers if (one.dimension, one.population) == place and one.generation < header.generation
    ]
    return max(earlier, key=lambda one: one.generation, default=None)


def _why(ladder: Ladder, header: SetHeader, former: SetHeader | None, cells: Sequence[Cell]) -> str:
    if former is None:
        return ""
    if header.details.get(RECHECK):
        return f", to measure again what was measured on {former.holdout_id}"
    for cell in cells:
        study = ladder.project.studies[cell.study]
        if (study.dimension, cell.population) == (header.dimension, header.population):
            try:
                state = ladder.sets.state(study, ladder.sets.of_id(former.holdout_id))
            except (InputError, ReviewUnavailable):
                continue
            if state.state not in ("measured", "unopened"):
                return f", since {former.holdout_id} does not serve {cell.study}: {state.why}"
    return f", in the place of {former.holdout_id}: the population or the request is another"

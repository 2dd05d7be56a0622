"""What to do about a figure that does not clear its bar: the notes that become a stopped ladder's next step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from calib_pipeline.statistics import wilson
from calib_pipeline.statistics.paired import labels_to_decide

if TYPE_CHECKING:
    from calib_pipeline.measurement.reference import Labels
    from calib_pipeline.studies.study import Study

LABEL_MORE = "label more items"
ENOUGH_OF_A_VALUE = 10
"""Items with a value that one wants to see before anything is said of it."""


def labels_wanted(value: float, low: float, high: float, bar: float, n: float) -> str | None:
    """How many more labels would decide a figure whose interval contains the bar; None where no number does."""
    wanted = labels_to_decide(value, low, high, bar, n)
    if wanted is None:
        return None
    return f"label about {max(wanted - math.floor(n), 1)} more items: at the present estimate {wanted} decide it"


def values_wanted(study: Study, labels: Labels) -> str:
    """For a figure that is undefined: which value of the scale no item has, and how many labels would show it."""
    levels = study.scale.levels
    if levels is None or labels.n == 0:
        return LABEL_MORE
    seen = labels.shares.sum(axis=0) > 0
    absent = ", ".join(level for level, present in zip(levels, seen, strict=True) if not present)
    if not absent:
        return LABEL_MORE
    most = wilson(0, labels.n).high or 1.0
    return (
        f"not earned: none of the {labels.n} labeled items is {absent}; at most {100 * most:.3g} % of the population "
        f"is, so label at least {math.ceil(ENOUGH_OF_A_VALUE / most)} items to see {ENOUGH_OF_A_VALUE}"
    )

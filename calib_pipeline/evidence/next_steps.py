"""What to do about a figure that does not clear its bar: the notes that become a stopped ladder's next step."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from calib_pipeline.statistics import wilson
from calib_pipeline.statistics.intervals import critical_value
from calib_pipeline.statistics.paired import labels_to_decide

if TYPE_CHECKING:
    from calib_pipeline.measurement.figures import IntervalPlan
    from calib_pipeline.measurement.reference import Labels
    from calib_pipeline.studies.study import Study

LABEL_MORE = "label more items"
ENOUGH_OF_A_VALUE = 10
"""Items with a value that one wants to see before anything is said of it."""


@dataclass(frozen=True)
class Sampling:
    """Where more labels would come from, and how a gate would read them.

    ``key`` sizes the next set, ``population`` counts the items, and ``longer`` is by how much more labels the next
    set's gate level demands for the same width, as `longer_next_time` gives it.
    """

    key: str
    population: int
    longer: float = 1.0


def longer_next_time(plan: IntervalPlan) -> float:
    """(z_next / z_now)²: the next set is read at a level that answers for one attempt more, which is this one."""
    after = replace(plan, attempts=plan.attempts + 1)
    return (critical_value(after.gate_level) / critical_value(plan.gate_level)) ** 2


def labels_wanted(
    value: float, low: float, high: float, bar: float, n: float, *, clears: bool, sampling: Sampling
) -> str | None:
    """How many labels would decide a figure whose interval contains the bar; None where no number does.

    Labels that were read are spent for a changed plan, so that the labels which decide are those of the next set, read
    at the level of then.

    Parameters
    ----------
    n
        The labeled items behind the figure.
    clears
        Whether the estimate lies on the side of the bar that the gate asks for.
    """
    wanted = labels_to_decide(value, low, high, bar, n * sampling.longer)
    if wanted is None:
        return None
    labeled = math.floor(n)
    decide = f"at the present estimate {wanted} labels decide it, all of unspent items ({labeled} did not)"
    if not clears:
        return f"{decide}, and against the scorer: improve it, or decide otherwise"
    left = sampling.population - labeled
    if wanted > left:
        return f"{decide}: add items to the population, which has {sampling.population}, and then raise {sampling.key}"
    return f"{decide}: raise {sampling.key}, and label the set that is drawn then"


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

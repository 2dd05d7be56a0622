"""Outputs that equal people's labels more often than a scorer's can that does not know them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

FEWEST_OTHERS = 2
"""An annotator stands alone where so many others, at the least, say one and the same other thing."""
RIGHT_ALONE = 0.8
"""How often a person who stands alone is right, at the best: more often than chance has it among equals."""
SUSPICIOUS = 0.001
"""The chance, over all that the outputs were compared with, below which a copy is reported."""
THE_REFERENCE = "the reference"


@dataclass(frozen=True)
class CopiedOutputs:
    """Outputs that look copied from ``source``, an annotator or the reference.

    ``equal`` of the ``n`` items ``where`` it tells are answered as the source does; a scorer that does not know its
    labels reaches a share of ``most`` at the best, and so many with ``probability``, over all sources looked at.
    """

    source: str
    where: str
    equal: int
    n: int
    most: float
    probability: float


def copied_outputs(
    labels: pd.DataFrame,
    outputs: dict[str, str],
    decided: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    flip_rate: float | None,
) -> tuple[CopiedOutputs, ...]:
    """Compare the outputs with each annotator, and with the reference.

    An annotator tells where they stand alone: a scorer that knows the truth sides with them as often as they are right
    there, and a copy always does. On the decision the reference is equalled by whoever knows the truth, but where it is
    flipped; half of the flip rate is taken, since raters of unequal skill flip a majority less often than equal ones
    who disagree as much. With two annotators nobody stands alone, and the reference alone is looked at.

    Parameters
    ----------
    labels
        ``item_id, annotator_id, value`` of usable labels, one an item and annotator.
    outputs
        The scorer's value of each item that it scored.
    decided
        (k,) and (k,) what the reference and the scorer say on the items where both decide: is it accepted?
    flip_rate
        The reference's; None where it is unmeasured, and the reference is not looked at.
    """
    said: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for item, person, value in zip(labels["item_id"], labels["annotator_id"], labels["value"], strict=True):
        said[str(item)][str(person)] = str(value)
    looked_at = list(_of_annotators(said, outputs))
    reference, scorer = decided
    if flip_rate is not None and len(reference):
        equal = int(np.sum(reference == scorer))
        looked_at.append(_source(THE_REFERENCE, "where both decide", equal, len(reference), 1 - flip_rate / 2))
    return tuple(
        replace(one, probability=probability)
        for one in looked_at
        if (probability := min(1.0, one.probability * len(looked_at))) < SUSPICIOUS
    )


def _of_annotators(said: dict[str, dict[str, str]], outputs: dict[str, str]) -> Iterator[CopiedOutputs]:
    alone: defaultdict[str, list[bool]] = defaultdict(list)
    for item, values in said.items():
        for person, value in values.items():
            others = [other for name, other in values.items() if name != person]
            if item in outputs and len(others) >= FEWEST_OTHERS and len(set(others)) == 1 and others[0] != value:
                alone[person].append(outputs[item] == value)
    for person, equal in sorted(alone.items()):
        yield _source(f"annotator {person}", "where nobody else says the same", sum(equal), len(equal), RIGHT_ALONE)


def _source(source: str, where: str, equal: int, n: int, most: float) -> CopiedOutputs:
    from scipy.stats import binom

    return CopiedOutputs(source, where, equal, n, most, float(binom.sf(equal - 1, n, most)))

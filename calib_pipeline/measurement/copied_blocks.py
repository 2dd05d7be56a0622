"""Pairs of annotators who give the same answers one after the other for longer than chance allows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from calib_pipeline.statistics.answer_runs import AnswerRun, longest_run

if TYPE_CHECKING:
    import pandas as pd

FEWEST_SHARED = 20
MOST_PAIRS = 5000
SUSPICIOUS = 0.001
"""The chance, over all pairs and orders, below which a block is reported."""


@dataclass(frozen=True)
class CopiedBlock:
    """A block of equal answers. ``probability`` is its chance over all pairs and orders that were looked at."""

    annotators: tuple[str, str]
    first_item: str
    last_item: str
    run: AnswerRun
    probability: float


@dataclass(frozen=True)
class CopiedBlocks:
    """Every suspicious block, and the number of pairs that were looked at; ``why_none`` where none could be."""

    blocks: tuple[CopiedBlock, ...]
    pairs: int
    why_none: str | None = None


def copied_blocks(labels: pd.DataFrame) -> CopiedBlocks:
    """Look for blocks of equal answers in the order in which either of a pair labeled.

    Parameters
    ----------
    labels
        ``item_id, annotator_id, value, labeled_at`` of usable labels, one an item and annotator; undated ones are left
        out, since their order is not known.
    """
    dated = labels[labels["labeled_at"].notna()].sort_values(["labeled_at", "item_id"], kind="stable")
    if dated.empty:
        return CopiedBlocks((), 0, "no label says when it was made, so the order of answers is not known")
    answers: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for annotator, item, value in zip(dated["annotator_id"], dated["item_id"], dated["value"], strict=True):
        answers[str(annotator)][str(item)] = str(value)
    several = sorted(name for name, given in answers.items() if len(given) >= FEWEST_SHARED)
    if len(several) * (len(several) - 1) > 2 * MOST_PAIRS:
        return CopiedBlocks((), 0, f"{len(several)} annotators are more pairs than are looked at ({MOST_PAIRS})")
    found = []
    for one, other in combinations(several, 2):
        for order, beside in ((one, other), (other, one)):
            shared = [item for item in answers[order] if item in answers[beside]]
            if len(shared) >= FEWEST_SHARED:
                equal = np.array([answers[one][item] == answers[other][item] for item in shared])
                found.append(((one, other), shared, longest_run(equal)))
    pairs = len({names for names, _, _ in found})
    suspicious: dict[tuple[str, str], CopiedBlock] = {}
    for names, shared, run in found:
        probability = min(run.probability * len(found), 1.0)
        if probability < min(SUSPICIOUS, suspicious[names].probability if names in suspicious else 1.0):
            ends = shared[run.start], shared[run.start + run.length - 1]
            suspicious[names] = CopiedBlock(names, *ends, run, probability)
    return CopiedBlocks(tuple(suspicious.values()), pairs, None if pairs else "no two annotators share 20 dated items")

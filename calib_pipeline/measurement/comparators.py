"""What a scorer must beat: answers that need no scorer, made on the same items and reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from calib_pipeline.measurement.continuous import best_constant, pair_contributions, random_contributions
from calib_pipeline.measurement.directional import ACCEPTED, REJECTED
from calib_pipeline.measurement.figures import Block
from calib_pipeline.measurement.measures import CORRELATIONS, LevelMeasure, RangeMeasure
from calib_pipeline.measurement.pairs import against_reference
from calib_pipeline.measurement.reference import Floats, Labels
from calib_pipeline.statistics import (
    base_rate,
    cross_fitted_line,
    cross_fitted_map,
    folds_by_hash,
    majority_value,
)

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.studies.study import Study

CONSTANT = "constant majority"
RANDOM = "random at the base rate"
LENGTH_WORDS = frozenset(
    {"word", "words", "char", "chars", "character", "characters", "length", "len", "step", "steps", "token", "tokens",
     "line", "lines", "sentence", "sentences", "turn", "turns", "size", "bytes"}
)  # fmt: skip


def heuristic_name(column: str) -> str:
    """How the comparator of a column is called."""
    return f"heuristic {column}"


def is_length(column: str) -> bool:
    """Whether a column's name says that it is a length or step count."""
    parts = column.lower().replace("-", "_").replace(".", "_").replace(" ", "_").split("_")
    return any(part in LENGTH_WORDS for part in parts)


def feature(manifest: pd.DataFrame, labels: Labels, column: str) -> Floats:
    """(n,) a heuristic's column on the labeled items; NaN where it is missing or no number."""
    import pandas as pd

    values = manifest.set_index("item_id")[column].reindex(labels.items["item_id"])
    return np.asarray(pd.to_numeric(values, errors="coerce"), dtype=float)


def cross_fitted_answers(study: Study, labels: Labels, values: Floats) -> Floats:
    """(n,) a heuristic's answers (codes, or numbers on a continuous scale), fitted on the other folds of each item."""
    items = labels.items
    units = items["group"].where(items["group"].notna(), items["item_id"])
    folds = folds_by_hash(units.tolist(), seed=study.bootstrap.seed)
    if study.scale.levels is None:
        return cross_fitted_line(values, labels.numbers, labels.design, folds)
    codes = cross_fitted_map(values, labels.shares, labels.design, folds, ordered=bool(study.scale.ordered))
    return np.asarray(codes, dtype=float)


def comparator_blocks(
    study: Study, labels: Labels, measure: LevelMeasure | RangeMeasure, answers: Mapping[str, Floats]
) -> dict[str, Block]:
    """The pairs of every comparator, on all labeled items.

    Parameters
    ----------
    answers
        By heuristic's name its cross-fitted answers (n,).
    """
    if isinstance(measure, RangeMeasure):
        low, high = study.scale.range or (0.0, 0.0)
        span = high - low
        every = np.arange(labels.n)
        constant = np.full(labels.n, best_constant(labels.numbers, labels.design.weights, span))

        def block(numbers: Floats) -> Block:
            return Block(pair_contributions(labels.numbers, numbers, every, labels.design.weights, span=span), measure)

        blocks = {
            CONSTANT: block(constant),
            RANDOM: Block(random_contributions(labels.numbers, labels.design.weights, span), measure),
        }
        return blocks | {name: block(np.clip(numbers, low, high)) for name, numbers in answers.items()}
    levels = measure.levels
    constants = np.eye(levels)[np.full(labels.n, majority_value(labels.shares, labels.design))]
    rate = np.tile(base_rate(labels.shares, labels.design), (labels.n, 1))
    given = {CONSTANT: constants, RANDOM: rate}
    given |= {name: np.eye(levels)[codes.astype(np.int64)] for name, codes in answers.items()}
    return {name: Block(against_reference(labels.shares, answer), measure) for name, answer in given.items()}


def raw_column_blocks(study: Study, labels: Labels, statistic: str, features: Mapping[str, Floats]) -> dict[str, Block]:
    """For ρ and r: the heuristics' raw columns, with the sign that suits them, since those need no cut."""
    if statistic not in CORRELATIONS:
        return {}
    if study.scale.levels is None:
        item, reference = np.arange(labels.n), labels.numbers
    else:
        item, level = np.nonzero(labels.shares > 0)
        reference = level.astype(float)
    blocks = {}
    for name, values in features.items():
        filled = np.where(np.isnan(values), np.nanmedian(values), values)
        contributions = pair_contributions(reference, filled[item], item, labels.design.weights, span=1.0)
        measure = RangeMeasure()
        if measure.value(statistic, labels.design.weights @ contributions) < 0:
            contributions = pair_contributions(reference, -filled[item], item, labels.design.weights, span=1.0)
        blocks[name] = Block(contributions, measure)
    return blocks


def comparator_decisions(study: Study, labels: Labels, answers: Mapping[str, Floats]) -> dict[str, Floats]:
    """(n, 4) what acting on each comparator would do with every item."""
    n = labels.n

    def as_decisions(accepted: Floats) -> Floats:
        decided = np.zeros((n, 4))
        decided[:, ACCEPTED], decided[:, REJECTED] = accepted, 1 - accepted
        return decided

    accepts_number = study.accepts_number
    if accepts_number is not None:
        low, high = study.scale.range or (0.0, 0.0)
        best = best_constant(labels.numbers, labels.design.weights, high - low)
        weights = labels.design.weights / labels.design.weights.sum()
        share = float(weights @ np.array([accepts_number(number) for number in labels.numbers], dtype=float))
        given = {CONSTANT: np.full(n, float(accepts_number(best))), RANDOM: np.full(n, share)}
        given |= {
            name: np.array([float(accepts_number(number)) for number in numbers]) for name, numbers in answers.items()
        }
    else:
        accepted = np.asarray(study.accepted_levels, dtype=float)
        given = {
            CONSTANT: np.full(n, accepted[majority_value(labels.shares, labels.design)]),
            RANDOM: np.full(n, float(base_rate(labels.shares, labels.design) @ accepted)),
        }
        given |= {name: accepted[codes.astype(np.int64)] for name, codes in answers.items()}
    return {name: as_decisions(accepted_share) for name, accepted_share in given.items()}

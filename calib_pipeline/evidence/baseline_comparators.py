"""What needs no scorer, measured on the same items against the same reference, before the scorer is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from calib_pipeline.evidence.evidence import Evidence, EvidenceRows
from calib_pipeline.evidence.holdout_reservation import stamp
from calib_pipeline.measurement.comparators import (
    CONSTANT,
    RANDOM,
    comparator_blocks,
    comparator_decisions,
    cross_fitted_answers,
    feature,
    heuristic_name,
    is_length,
    raw_column_blocks,
)
from calib_pipeline.measurement.directional import RATES, cells, decided_summaries, error_rate
from calib_pipeline.measurement.figures import Figures, IntervalPlan
from calib_pipeline.measurement.measures import measure_of
from calib_pipeline.measurement.reference import Labels, fold_labels

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.studies.study import Study

FEWEST_DISTINCT_VALUES = 3
MOST_MISSING = 0.01
KINDS = ("constant", "random", "heuristic")


def baseline_comparators(
    study: Study,
    strata: Mapping[str, int],
    drawn: pd.DataFrame,
    labels: pd.DataFrame,
    manifest: pd.DataFrame,
    digests: Mapping[str, str | None],
) -> Evidence:
    """Evidence of the comparators.

    Parameters
    ----------
    drawn, labels
        The reserved items and their usable labels.
    manifest
        The population's items with the feature columns of the heuristics.
    """
    rows = EvidenceRows("baseline_comparators")
    stamp(rows, digests)
    reference = fold_labels(study, drawn, labels, dict(strata))
    rows.count("labeled_items", reference.n)
    features = _features(rows, study, manifest, reference)
    answers = {name: cross_fitted_answers(study, reference, values) for name, values in features.items()}

    absent = [] if features else ["heuristic"]
    rows.count("comparator_kinds", len(KINDS) - len(absent), bar=len(KINDS), text=", ".join(absent) or None)
    lengths = [heuristic.column for heuristic in study.baselines.heuristics if is_length(heuristic.column)]
    rows.count("length_heuristics", len(lengths), bar=1, text=", ".join(lengths) or None)

    plan = IntervalPlan(study.bootstrap.resamples, study.bootstrap.seed, study.bootstrap.level)
    measure = measure_of(study.scale)
    blocks = comparator_blocks(study, reference, measure, answers)
    figures = Figures(blocks, reference.design, plan, set())
    decisions = comparator_decisions(study, reference, answers)
    for name in blocks:
        answered = reference.n if name in (CONSTANT, RANDOM) else int(np.isfinite(answers[name]).sum())
        rows.count("comparator_rows", answered, scope=name, bar=reference.n)
        for statistic in measure.statistics:
            figure = figures.figure(name, statistic)
            rows.figure("comparator", figure.estimate, scope=name, units=figure.units)
        per_item = cells(reference.accepted, decisions[name])
        for rate in RATES:
            rows.figure("comparator", error_rate(rate, per_item, reference.design, plan.level), scope=name)
        youden = decided_summaries(per_item, reference.design, plan)["youden_j"]
        rows.figure("comparator", youden.estimate, scope=name)
    raw = raw_column_blocks(study, reference, study.headline, features)
    if raw:
        of_columns = Figures(raw, reference.design, plan, set())
        for name in raw:
            figure = of_columns.figure(name, study.headline)
            rows.figure("comparator", figure.estimate, scope=f"{name} (raw column)", units=figure.units)
    rows.table("comparators", _table(reference, features, answers))
    return rows.build()


def _features(rows: EvidenceRows, study: Study, manifest: pd.DataFrame, reference: Labels) -> dict[str, np.ndarray]:
    features = {}
    for heuristic in study.baselines.heuristics:
        name = heuristic_name(heuristic.column)
        if heuristic.column not in manifest:
            rows.count("heuristic_distinct_values", 0, scope=name, bar=FEWEST_DISTINCT_VALUES, note="no such column")
            continue
        values = feature(manifest, reference, heuristic.column)
        missing = np.isnan(values)
        rows.count(
            "heuristic_distinct_values",
            len(np.unique(values[~missing])),
            scope=name,
            bar=FEWEST_DISTINCT_VALUES,
            n=reference.n,
        )
        share = float(missing.mean()) if reference.n else None
        rows.count("heuristic_missing_share", share, scope=name, bar=MOST_MISSING, n=reference.n)
        if not missing.all():
            features[name] = values
    return features


def _table(reference: Labels, features: Mapping[str, np.ndarray], answers: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """The heuristics' columns and cross-fitted answers, a row an item: what the paired differences are made from."""
    import pandas as pd

    columns: dict[str, object] = {"item_id": reference.items["item_id"]}
    columns |= {f"answer: {name}": values for name, values in answers.items()}
    columns |= {f"feature: {name}": values for name, values in features.items()}
    return pd.DataFrame(columns)

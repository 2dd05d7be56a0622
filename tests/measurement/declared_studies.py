"""Studies and label sheets for tests of measurement: one line a label, one scale a study."""

from __future__ import annotations

from typing import Any

import pandas as pd

from calib_pipeline.studies.study import Study

SCALES: dict[str, dict[str, Any]] = {
    "binary": {"kind": "binary", "positive": "1", "negative": "0"},
    "nominal": {"kind": "categorical", "categories": ["a", "b", "c"]},
    "ordinal": {"kind": "ordinal", "levels": ["0", "1", "2", "3"]},
    "numbers": {"kind": "continuous", "range": [0, 100]},
}
ACCEPTED: dict[str, Any] = {"binary": ["1"], "nominal": ["c"], "ordinal": ["2", "3"], "numbers": {"at_least": 50}}


def study(scale: str = "binary", **changes: dict[str, Any]) -> Study:
    """A study on one of the scales; ``changes`` are merged into its sections."""
    declared: dict[str, Any] = {
        "study": "tested",
        "dimension": "quality",
        "scale": SCALES[scale],
        "rubric": {"version": "1", "text": "rubric.md"},
        "reference": {"kind": "anchor", "consensus": "mean" if scale == "numbers" else "majority"},
        "scorer": {"id": "judge", "kind": "table"},
        "holdout": {"role": "holdout", "size": 1000, "seed": 1, "prior_access": "none: made up"},
        "annotation": {"blind": {"to": ["output", "confidence", "difficulty"], "by": "made up"}},
        "ceiling": {"min_items": 30, "floor": 0.0, "because": "made up"},
        "baselines": {"heuristics": [{"column": "words"}]},
        "agreement": {"min_pairs": 30},
        "decision": {
            "gates": {"what": "nothing", "blocking": False, "reversible": True},
            "accept": ACCEPTED[scale],
            "cost_false_accept": {"value": 1, "because": "made up"},
            "cost_false_reject": {"value": 1, "because": "made up"},
        },
        "data": {"populations": ["made-up"], "annotations": "annotations.csv", "scores": "scores.csv"},
    }
    for section, values in changes.items():
        declared[section] = {**declared.get(section, {}), **values}
    return Study.model_validate(declared)


def drawn(items: list[str], *, strata: list[str] | None = None, group: list[str | None] | None = None) -> pd.DataFrame:
    """Reserved items as the draw gives them."""
    frame = pd.DataFrame({"item_id": pd.Series(items, dtype=object)})
    frame["stratum"] = pd.Series(strata or ["all"] * len(items), dtype=object)
    frame["group"] = pd.Series(group or [None] * len(items), dtype=object)
    return frame.assign(named=True)


def sheet(labels: dict[str, list[Any]], scale: str = "binary", *, judged: dict[str, Any] | None = None) -> pd.DataFrame:
    """Usable labels by item, one an annotator; ``judged`` gives an adjudicator's label of some items."""
    rows = [
        {"item_id": item, "annotator_id": f"person-{place}", "value": value, "role": "annotator"}
        for item, values in labels.items()
        for place, value in enumerate(values)
    ]
    rows += [
        {"item_id": item, "annotator_id": "judge", "value": value, "role": "adjudicator"}
        for item, value in (judged or {}).items()
    ]
    frame = pd.DataFrame(rows)
    levels = SCALES[scale].get("levels") or SCALES[scale].get("categories") or ["0", "1"]
    codes = [-1 if scale == "numbers" else levels.index(str(value)) for value in frame["value"]]
    numbers = [float(value) if scale == "numbers" else float("nan") for value in frame["value"]]
    frame = frame.assign(code=codes, number=numbers, confidence=None)
    return frame.assign(value=frame["value"].astype(str), independent=frame["role"] == "annotator")


def brought(labels: dict[str, list[Any]], answers: dict[str, Any], **columns: list[Any]) -> tuple[pd.DataFrame, ...]:
    """Items, annotations and scores as people bring them; ``columns`` are further columns of the items."""
    items = pd.DataFrame({"item_id": list(labels), **columns})
    annotations = pd.DataFrame(
        [
            {"item_id": item, "annotator_id": f"person-{place}", "value": str(value)}
            for item, values in labels.items()
            for place, value in enumerate(values)
        ]
    )
    scores = pd.DataFrame(
        [{"item_id": item, "scorer_id": "judge", "value": str(answer)} for item, answer in answers.items()]
    )
    return items, annotations, scores


def evidence_row(rows: pd.DataFrame, name: str, **where: str) -> pd.Series:
    """The one row of evidence of that name and description."""
    found = rows[rows["name"] == name]
    for column, value in where.items():
        found = found[found[column] == value]
    assert len(found) == 1, found
    return found.iloc[0]

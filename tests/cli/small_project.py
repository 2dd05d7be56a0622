"""A project small enough to climb in seconds: one study that reaches its record, and others that stop on purpose."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

POPULATION = "replies-1"
SIZE = 160
RESERVED = 120
GOOD, NOISE, ALONE, FITTED, FEW = "good", "noise", "alone", "fitted", "few"


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Climbed:
    """A climbed project, and what the run said."""

    root: Path
    said: Said


def write_project(root: Path) -> Path:
    """Write calib.yaml, five studies, their rubric and tables.

    ``good`` holds on every rung. ``noise`` answers at random. ``alone`` has one annotator, ``fitted`` a set that shaped
    it, and ``few`` labels of five items.
    """
    rng = np.random.default_rng(4)
    ids = [f"r{number:03d}" for number in range(SIZE)]
    truth = rng.integers(0, 2, SIZE)
    data = root / "data" / POPULATION
    for folder in (data, root / "studies", root / "rubrics"):
        folder.mkdir(parents=True, exist_ok=True)
    items = pd.DataFrame({"item_id": ids, "words": rng.integers(3, 80, SIZE)})
    items.to_csv(data / "items.csv", index=False)
    sheets = {person: _said(rng, truth, 0.04) for person in ("ana", "bo")}
    labels = pd.concat(
        pd.DataFrame({"item_id": ids, "annotator_id": person, "value": said}) for person, said in sheets.items()
    )
    labels.to_csv(data / "annotations.csv", index=False)
    labels[labels["annotator_id"] == "ana"].to_csv(data / "alone.csv", index=False)
    labels[labels["item_id"].isin(reserved_ids(items)[:5])].to_csv(data / "few.csv", index=False)
    scores = {"judge": _said(rng, truth, 0.04), "coin": _said(rng, truth, 0.5)}
    pd.concat(
        pd.DataFrame({"item_id": ids, "scorer_id": scorer, "value": said}) for scorer, said in scores.items()
    ).to_csv(data / "scores.csv", index=False)
    (root / "rubrics" / "kind.md").write_text("A reply is kind when nobody is hurt by it.\n", encoding="utf-8")
    manifest = {POPULATION: {"items": f"data/{POPULATION}/items.csv"}}
    (root / "calib.yaml").write_text(yaml.safe_dump({"populations": manifest}), encoding="utf-8")
    for study in studies():
        write_study(root, study)
    return root


def write_study(root: Path, study: dict[str, Any]) -> None:
    """Write one study file, over the one of that name."""
    (root / "studies" / f"{study['study']}.yaml").write_text(yaml.safe_dump(study, sort_keys=False), encoding="utf-8")


def studies() -> list[dict[str, Any]]:
    """The five declarations, on one held-out set."""
    good = study_named(GOOD)
    noise = study_named(NOISE)
    noise["scorer"]["id"] = "coin"
    alone = study_named(ALONE)
    alone["data"]["annotations"] = "data/{population}/alone.csv"
    alone["reference"]["consensus"] = "single"
    fitted = study_named(FITTED)
    fitted["holdout"]["role"] = "fitted"
    few = study_named(FEW)
    few["data"]["annotations"] = "data/{population}/few.csv"
    return [good, noise, alone, fitted, few]


def study_named(name: str) -> dict[str, Any]:
    """A study that holds on every rung."""
    return copy.deepcopy(
        {
            "study": name,
            "dimension": "kindness",
            "scale": {"kind": "binary", "positive": "yes", "negative": "no"},
            "rubric": {"version": "1", "text": "rubrics/kind.md"},
            "reference": {"kind": "anchor", "consensus": "majority"},
            "scorer": {"id": "judge", "kind": "table", "config": {"model": f"m-{name}", "prompt": "p-1"}},
            "holdout": {
                "role": "holdout",
                "size": RESERVED,
                "seed": 3,
                "min_per_stratum": 5,
                "prior_access": "ana and bo; the judge is older than their labels",
            },
            "annotation": {"blind": {"to": ["output", "confidence", "difficulty"], "by": "a form with the reply only"}},
            "ceiling": {"min_annotators": 2, "min_items": 50, "floor": 0.2, "because": "below it rubrics differ"},
            "baselines": {"heuristics": [{"column": "words"}]},
            "agreement": {"min_pairs": 60, "min_scored": 0.9},
            "decision": {
                "gates": {"what": "publishes the reply", "blocking": True, "reversible": False},
                "accept": ["yes"],
                "cost_false_accept": {"value": 2, "because": "someone is hurt"},
                "cost_false_reject": {"value": 1, "because": "a colleague reads it"},
            },
            "data": {
                "populations": [POPULATION],
                "annotations": "data/{population}/annotations.csv",
                "scores": "data/{population}/scores.csv",
            },
        }
    )


def reserved_ids(items: pd.DataFrame) -> list[str]:
    """The items that the first reservation of every study draws."""
    from calib_pipeline.sampling import draw_holdout

    whole = items.assign(stratum="all", group=None, content_digest=None)
    drawn = draw_holdout(whole, size=RESERVED, seed=3, min_per_stratum=5, named_items=50)
    return sorted(drawn["item_id"])


def _said(rng: np.random.Generator, truth: np.ndarray, error: float) -> list[str]:
    wrong = rng.random(len(truth)) < error
    return ["yes" if said else "no" for said in np.where(wrong, 1 - truth, truth)]

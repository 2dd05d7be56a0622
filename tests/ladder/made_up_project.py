"""A made-up project: the tables and declarations of a population whose truth is known, written as people bring them.

The unchanged project climbs to a published record; a case changes one thing in it.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

POPULATION = "tickets-2026-01"
STRATA = {"billing": 120, "login": 140, "shipping": 160}
PEOPLE = ("ana", "bo", "cy")
ERROR = 0.06
"""How often a person, and the judge, gives another value than the true one."""
LABELED_AT = "2026-01-20T09:00:00Z"
"""Before any reservation that a test makes."""

SCALES: dict[str, dict[str, Any]] = {
    "binary": {"kind": "binary", "positive": "pass", "negative": "fail"},
    "categorical": {"kind": "categorical", "categories": ["refund", "repair", "advice"]},
    "ordinal": {"kind": "ordinal", "levels": ["1", "2", "3", "4", "5"]},
    "continuous": {"kind": "continuous", "range": [0, 100]},
    "pairwise": {"kind": "pairwise", "candidate": "A", "baseline": "B", "tie": "tie"},
}
LEVELS: dict[str, tuple[str, ...]] = {
    "binary": ("fail", "pass"),
    "categorical": ("refund", "repair", "advice"),
    "ordinal": ("1", "2", "3", "4", "5"),
    "pairwise": ("B", "tie", "A"),
}
ACCEPT: dict[str, Any] = {
    "binary": ["pass"],
    "categorical": ["advice"],
    "ordinal": {"at_least": "4"},
    "continuous": {"at_least": "60"},
    "pairwise": ["A"],
}
CONSENSUS = {"ordinal": "median", "continuous": "mean"}


def study_of(kind: str = "binary") -> dict[str, Any]:
    """A study that holds on every rung, on a scale of a kind."""
    return {
        "study": "judge",
        "dimension": "resolved",
        "scale": copy.deepcopy(SCALES[kind]),
        "rubric": {"version": "1", "text": "rubrics/resolved.md"},
        "reference": {"kind": "anchor", "consensus": CONSENSUS.get(kind, "majority")},
        "scorer": {"id": "judge-1", "kind": "table", "config": {"model": "m-1", "prompt": "p-1"}},
        "holdout": {
            "role": "holdout",
            "size": 150,
            "seed": 11,
            "min_per_stratum": 10,
            "prior_access": "two people of the support team; the judge was bought before",
        },
        "annotation": {
            "blind": {"to": ["output", "confidence", "difficulty"], "by": "the form shows the ticket only"},
        },
        "ceiling": {"min_annotators": 2, "min_items": 60, "floor": 0.1, "because": "below it there are two rubrics"},
        "baselines": {"heuristics": [{"column": "words"}]},
        "agreement": {"min_pairs": 100, "min_scored": 0.9},
        "decision": {
            "gates": {"what": "closes the ticket", "blocking": True, "reversible": True},
            "accept": copy.deepcopy(ACCEPT[kind]),
            "cost_false_accept": {"value": 3, "because": "the customer writes again"},
            "cost_false_reject": {"value": 1, "because": "a colleague looks at it"},
            "budget": 0.25,
        },
        "bootstrap": {"resamples": 2000, "seed": 5, "level": 0.95},
        "data": {
            "populations": [POPULATION],
            "annotations": "data/{population}/annotations.csv",
            "scores": "data/{population}/scores.csv",
        },
    }


@dataclass
class World:
    """Tables and declarations, to be changed freely before they are written.

    ``truth`` is the code (or number) of every item, in the order of ``items``; no table holds it. ``beside`` are
    further files of the project, by path.
    """

    kind: str
    items: pd.DataFrame
    truth: np.ndarray
    labels: pd.DataFrame
    scores: pd.DataFrame
    study: dict[str, Any]
    others: list[dict[str, Any]] = field(default_factory=list)
    rubric: str = "A ticket is resolved when the customer need not write again.\n"
    beside: dict[str, str] = field(default_factory=dict)

    def label_only(self, items: Collection[str]) -> None:
        """Leave only the label rows of some items on the sheet."""
        self.labels = self.labels[self.labels["item_id"].isin(items)].reset_index(drop=True)

    def write(self, root: Path) -> None:
        """Write the project folder; what is there already is written over."""
        data = root / "data" / POPULATION
        for folder in (data, root / "studies", root / "rubrics"):
            folder.mkdir(parents=True, exist_ok=True)
        manifest = {"items": f"data/{POPULATION}/items.csv"}
        (root / "calib.yaml").write_text(yaml.safe_dump({"populations": {POPULATION: manifest}}), encoding="utf-8")
        (root / "rubrics" / "resolved.md").write_text(self.rubric, encoding="utf-8")
        for name, text in self.beside.items():
            (root / name).write_text(text, encoding="utf-8")
        for study in (self.study, *self.others):
            text = yaml.safe_dump(study, sort_keys=False, allow_unicode=True)
            (root / "studies" / f"{study['study']}.yaml").write_text(text, encoding="utf-8")
        self.items.to_csv(data / "items.csv", index=False)
        self.labels.to_csv(data / "annotations.csv", index=False)
        self.scores.to_csv(data / "scores.csv", index=False)


def world_of(kind: str = "binary", *, strata: Mapping[str, int] = STRATA, seed: int = 20260101) -> World:
    """A population of tickets, three people who seldom err, and a judge that errs as seldom.

    Parameters
    ----------
    strata
        Items of each stratum.
    """
    rng = np.random.default_rng(seed)
    size = sum(strata.values())
    ids = [f"t{number:04d}" for number in range(size)]
    truth = _truth(rng, kind, size)
    items = pd.DataFrame(
        {
            "item_id": ids,
            "stratum": np.repeat(list(strata), list(strata.values())),
            "words": rng.integers(5, 200, size),
            "urgent": rng.integers(0, 2, size),
        }
    )
    sheets = [
        pd.DataFrame({"item_id": ids, "annotator_id": who, "value": seen(rng, kind, truth), "labeled_at": LABELED_AT})
        for who in PEOPLE
    ]
    scores = pd.DataFrame({"item_id": ids, "scorer_id": "judge-1", "value": seen(rng, kind, truth)})
    return World(kind, items, truth, pd.concat(sheets, ignore_index=True), scores, study_of(kind))


def _truth(rng: np.random.Generator, kind: str, size: int) -> np.ndarray:
    if kind == "continuous":
        return np.round(rng.uniform(5, 95, size), 1)
    return rng.integers(0, len(LEVELS[kind]), size)


def seen(rng: np.random.Generator, kind: str, truth: np.ndarray, error: float = ERROR) -> list[str]:
    """What someone says who errs with a probability: on an ordered scale by a step, else by any other value."""
    if kind == "continuous":
        said = truth + rng.normal(0, 3, len(truth)) + np.where(rng.random(len(truth)) < error, 25, 0)
        return [f"{number:.1f}" for number in np.clip(said, 0, 100)]
    levels = LEVELS[kind]
    wrong = rng.random(len(truth)) < error
    if kind == "ordinal":
        step = np.where(truth == 0, 1, np.where(truth == len(levels) - 1, -1, rng.choice([-1, 1], len(truth))))
    else:
        step = rng.integers(1, len(levels), len(truth))
    return [levels[code] for code in np.where(wrong, (truth + step) % len(levels), truth)]

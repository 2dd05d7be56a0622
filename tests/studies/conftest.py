"""A complete declaration to change one thing in, and a project folder to put it in."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

STUDY_YAML = """\
study: rte.word-overlap
dimension: entailment
scale: {kind: binary, positive: "1", negative: "0"}
rubric: {version: "1", text: rubrics/entailment.md}
reference: {kind: anchor, consensus: majority}
scorer:
  id: word-overlap
  kind: table
  config: {threshold: 0.6, tokenizer: whitespace}
  transform: {cut: [0.6]}
panel: []
holdout: {role: holdout, size: 300, seed: 7, min_per_stratum: 5}
annotation:
  min_coverage: 0.9
  blind: {to: [output, confidence, difficulty], by: "the label tool shows the pair only"}
ceiling: {min_annotators: 2, min_items: 50, floor: 0.1, because: "below this two people read two rubrics"}
baselines: {heuristics: [{column: text_words}]}
agreement: {headline: cohen_kappa, min_pairs: 100, min_scored: 0.9}
decision:
  gates: {what: "routes answers to review", blocking: false, reversible: true}
  accept: ["1"]
  cost_false_accept: {value: 4, because: "a wrong answer reaches a customer"}
  cost_false_reject: {value: 1, because: "two minutes of a reviewer"}
  budget: 0.5
bootstrap: {resamples: 2000, seed: 0, level: 0.95}
data:
  populations: [news-2026-10]
  annotations: data/{population}/annotations.csv
  scores: data/{population}/scores.csv
"""

CALIB_YAML = """\
populations:
  news-2026-10: {items: data/news-2026-10/items.csv}
"""

DECLARATION: dict[str, Any] = {
    "study": "rte.word-overlap",
    "dimension": "entailment",
    "scale": {"kind": "binary", "positive": "1", "negative": "0"},
    "rubric": {"version": "1", "text": "rubrics/entailment.md"},
    "reference": {"kind": "anchor", "consensus": "majority"},
    "scorer": {"id": "word-overlap", "kind": "table", "config": {"threshold": 0.6}},
    "holdout": {"role": "holdout", "size": 300, "seed": 7},
    "ceiling": {"min_items": 50, "floor": 0.1, "because": "below this two people read two rubrics"},
    "agreement": {"min_pairs": 100},
    "decision": {
        "gates": {"what": "routes answers to review", "blocking": False, "reversible": True},
        "accept": ["1"],
        "cost_false_accept": {"value": 4, "because": "a wrong answer reaches a customer"},
        "cost_false_reject": {"value": 1, "because": "two minutes of a reviewer"},
    },
    "data": {"populations": ["news-2026-10"], "annotations": "a.csv", "scores": "s.csv"},
}


@pytest.fixture
def declaration() -> dict[str, Any]:
    """A valid declaration as a mapping, to be changed freely."""
    return copy.deepcopy(DECLARATION)


@pytest.fixture
def study_yaml() -> str:
    """A valid study file."""
    return STUDY_YAML


@pytest.fixture
def project_folder(tmp_path: Path) -> Callable[..., Path]:
    """Writes a project folder with the given study files, by name, and returns its path."""

    def write(calib: str = CALIB_YAML, **studies: str) -> Path:
        (tmp_path / "studies").mkdir(exist_ok=True)
        (tmp_path / "rubrics").mkdir(exist_ok=True)
        (tmp_path / "rubrics" / "entailment.md").write_text("Does the text entail the hypothesis?\n", encoding="utf-8")
        (tmp_path / "calib.yaml").write_text(calib, encoding="utf-8")
        for name, text in studies.items():
            (tmp_path / "studies" / f"{name}.yaml").write_text(text, encoding="utf-8")
        return tmp_path

    return write

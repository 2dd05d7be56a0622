"""Studies to read tables for, and a folder to write them in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calib_pipeline.studies.study import Study

PASS_FAIL = {"kind": "binary", "positive": "pass", "negative": "fail"}


def declared(scale: dict[str, Any], accept: Any, **sections: Any) -> Study:
    """A valid study on a scale."""
    return Study.model_validate(
        {
            "study": "s",
            "dimension": "quality",
            "scale": scale,
            "rubric": {"version": "1", "text": "rubrics/quality.md"},
            "reference": {"kind": "anchor", "consensus": "mean" if scale["kind"] == "continuous" else "majority"},
            "scorer": {"id": "judge", "kind": "table"},
            "holdout": {"role": "holdout", "size": 30, "seed": 1},
            "ceiling": {"min_items": 30, "floor": 0.1, "because": "two rubrics below this"},
            "agreement": {"min_pairs": 30},
            "decision": {
                "gates": {"what": "routes answers to review", "blocking": False, "reversible": True},
                "accept": accept,
                "cost_false_accept": {"value": 4, "because": "a wrong answer reaches a customer"},
                "cost_false_reject": {"value": 1, "because": "two minutes of a reviewer"},
            },
            "data": {"populations": ["p"], "annotations": "a.csv", "scores": "s.csv"},
            **sections,
        }
    )


@pytest.fixture(scope="session")
def study() -> Study:
    """A study on a pass/fail scale."""
    return declared(PASS_FAIL, ["pass"])


@pytest.fixture(scope="session")
def make_study() -> Callable[..., Study]:
    """Makes a study on any scale."""
    return declared


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], str]:
    """Writes a file and returns its path; text is written as it stands, line ends included."""

    def write_file(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write_file

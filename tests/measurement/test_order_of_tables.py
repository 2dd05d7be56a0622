"""Evidence does not depend on the order in which rows were written, nor on which run made it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from declared_studies import SCALES, brought, study

from calib_pipeline.climb import Climb, climb

pytestmark = pytest.mark.slow

N = 160


def world(scale: str, *, grouped: bool = False) -> tuple[pd.DataFrame, ...]:
    """Labels of two or three people and answers of a fair judge, in two strata; some answers are refused."""
    rng = np.random.default_rng(21)
    items = [f"item-{number:03d}" for number in range(N)]
    if scale == "numbers":
        truth = rng.normal(50, 15, N).clip(5, 95)
        labels: list[list[Any]] = [
            [round(float(t + noise), 1) for noise in rng.normal(0, 3, rng.integers(2, 4))] for t in truth
        ]
        answers: list[Any] = [round(float(t + noise), 1) for t, noise in zip(truth, rng.normal(0, 4, N), strict=True)]
        length = truth + rng.normal(0, 20, N)
    else:
        values = SCALES[scale].get("levels") or SCALES[scale].get("categories") or ["0", "1"]
        codes = rng.integers(0, len(values), N)
        labels = [
            [values[c if rng.random() < 0.9 else rng.integers(0, len(values))] for _ in range(rng.integers(2, 4))]
            for c in codes
        ]
        answers = [values[c] if rng.random() < 0.92 else values[0] for c in codes]
        length = codes + rng.normal(0, 2, N)
    answers = ["abstain" if rng.random() < 0.03 else answer for answer in answers]
    columns: dict[str, list[Any]] = {
        "words": list(length.round(3)),
        "stratum": ["long" if number % 4 == 0 else "short" for number in range(N)],
    }
    if grouped:
        columns["group"] = [f"{columns['stratum'][number]}-{number // 8}" for number in range(N)]
    return brought(dict(zip(items, labels, strict=True)), dict(zip(items, answers, strict=True)), **columns)


def climbed(scale: str, tables: tuple[pd.DataFrame, ...]) -> Climb:
    return climb(study(scale, holdout={"size": 120, "min_per_stratum": 40}), *tables)


def test_the_world_reaches_the_threshold_on_every_scale() -> None:
    """Otherwise the tests below would compare little."""
    for scale in SCALES:
        assert "threshold_check" in climbed(scale, world(scale)).evidence, scale


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("scale", SCALES)
def test_shuffled_tables_give_the_same_evidence(scale: str, grouped: bool) -> None:
    tables = world(scale, grouped=grouped)
    shuffled = tuple(
        table.sample(frac=1, random_state=seed)[list(reversed(table.columns))] if seed == 1 else
        table.sample(frac=1, random_state=seed)
        for seed, table in enumerate(tables)
    )  # fmt: skip
    first, second = climbed(scale, tables), climbed(scale, shuffled)
    assert list(first.evidence) == list(second.evidence)
    for asset, evidence in first.evidence.items():
        place = ["source_row", "row"]
        for name, table in evidence.tables.items():
            kept = table.drop(columns=place, errors="ignore")
            again = second.evidence[asset].tables[name].drop(columns=place, errors="ignore")
            pd.testing.assert_frame_equal(kept, again)
        figures = evidence.rows[~evidence.rows["name"].isin(["digest", "table", "computed_from"])]
        others = second.evidence[asset].rows
        others = others[~others["name"].isin(["digest", "table", "computed_from"])]
        pd.testing.assert_frame_equal(figures, others)


def test_a_second_climb_makes_the_same_evidence_to_the_byte() -> None:
    tables = world("ordinal")
    first, second = climbed("ordinal", tables), climbed("ordinal", tables)
    for asset, evidence in first.evidence.items():
        assert evidence.digest == second.evidence[asset].digest


def test_names_of_two_values_may_be_exchanged() -> None:
    """Who calls the values 0 and 1 and who the reverse gets the same agreement, and the errors exchanged."""
    items, labels, scores = world("binary")
    turn = {"0": "1", "1": "0", "abstain": "abstain"}
    turned = climbed(
        "binary",
        (items, labels.assign(value=labels["value"].map(turn)), scores.assign(value=scores["value"].map(turn))),
    )
    rows, others = (
        one.evidence["scorer_agreement"].rows for one in (climbed("binary", (items, labels, scores)), turned)
    )

    def value(of: pd.DataFrame, name: str, scope: str, statistic: str) -> float:
        found = of[(of["name"] == name) & (of["scope"] == scope) & (of["statistic"] == statistic)]
        return float(found["value"].iloc[0])

    for scope in ("all labeled items", "decided", "one other label", "the consensus of the others"):
        for statistic in ("percent_agreement", "cohen_kappa", "gwet_ac1"):
            assert value(rows, "agreement", scope, statistic) == pytest.approx(
                value(others, "agreement", scope, statistic)
            )
    for form in ("decided", "labeled"):
        assert value(rows, "error_rate", "scorer", f"false_accept_{form}") == pytest.approx(
            value(others, "error_rate", "scorer", f"false_reject_{form}")
        )

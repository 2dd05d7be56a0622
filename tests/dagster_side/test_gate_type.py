"""The gate type says in one sentence why evidence does not hold, and never shows the whole table."""

from __future__ import annotations

import dagster as dg
import pandas as pd
import pytest

from calib_pipeline.dagster_side.gate_type import FAILING_ROWS_SHOWN, gate_type
from calib_pipeline.evidence_store import EvidenceStore
from calib_pipeline.schemas import GATES

ALTERED = {
    "holdout_reservation": ("reserved_items", "value", 12.0, "12 items could be reserved; 120 were asked for"),
    "annotations": ("coverage", "value", 0.5, "50 % of the 120 reserved items have a usable label; 90 % are needed"),
    "human_ceiling": ("ceiling", "gate_low", 0.05, "the lower bound must exceed the floor of 0.1"),
    "baseline_comparators": ("length_heuristics", "value", 0.0, "no heuristic is a length or step count"),
    "scorer_agreement": ("difference", "gate_low", -0.125, "[-0.125,"),
    "threshold_check": ("expected_cost", "gate_high", 0.75, "the budget of 0.3"),
    "published_record": ("figures_that_differ", "value", 1.0, "1 figure(s) do not recompute"),
}


def rows_of(climbed_once, asset: str) -> pd.DataFrame:
    rows = EvidenceStore(str(climbed_once / ".calib" / "store")).read_evidence(asset, "spring", "rule")
    assert rows is not None
    return rows


def judge(asset: str, value: object) -> dg.TypeCheck:
    return gate_type(asset).type_check(None, value)  # type: ignore[arg-type]  # the gate reads no context


@pytest.mark.parametrize("asset", GATES)
def test_evidence_of_a_rung_that_holds_passes(climbed_once, asset):
    assert judge(asset, rows_of(climbed_once, asset)).success


@pytest.mark.parametrize("asset", GATES)
def test_one_altered_figure_is_refused_with_figure_and_bar(climbed_once, asset):
    rows = rows_of(climbed_once, asset)
    name, column, value, sentence = ALTERED[asset]
    rows.loc[rows["name"] == name, column] = value
    check = judge(asset, rows)
    assert not check.success
    assert check.description is not None
    assert check.description.startswith(f"{asset} does not hold: ")
    assert sentence in check.description
    assert "\n" not in check.description
    assert f"| {name} |" in check.metadata["failing_rows"].value
    assert check.metadata["next_step"].value in check.description


@pytest.mark.parametrize("asset", GATES)
def test_a_missing_row_is_refused(climbed_once, asset):
    rows = rows_of(climbed_once, asset)
    name = ALTERED[asset][0]
    check = judge(asset, rows[rows["name"] != name])
    assert not check.success
    assert f"the evidence has no {name.replace('_', ' ')}" in check.description


def test_many_failing_rows_make_a_short_message(climbed_once):
    rows = rows_of(climbed_once, "scorer_agreement")
    failing = rows[rows["name"] == "difference"].assign(gate_low=-0.1)
    check = judge("scorer_agreement", pd.concat([rows, *[failing] * 200], ignore_index=True))
    assert len(check.description) < 600
    assert check.metadata["failing_row_count"].value == 200 * len(failing)
    assert check.metadata["failing_rows"].value.count("\n") == FAILING_ROWS_SHOWN + 1


@pytest.mark.parametrize("value", [None, {"spring|rule": 1, "autumn|rule": 2}, "rows"])
def test_what_is_no_table_is_refused_in_words(value):
    check = judge("annotations", value)
    assert not check.success
    assert f"got {type(value).__name__}: climb one population and study a run" in check.description


def test_types_are_made_once_and_have_names_of_their_own():
    assert all(gate_type(asset) is gate_type(asset) for asset in GATES)
    assert len({gate_type(asset).unique_name for asset in GATES}) == len(GATES)

"""Every condition of every gate has its case, and needs its row and its figure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from climbs import RUNGS, Folder
from gate_cases import CASES, CLIMBED_QUICKLY, IDS, conditions_of

from calib_pipeline.schemas import GATES

CONDITIONS = conditions_of(*RUNGS)


def test_every_condition_has_a_case() -> None:
    assert [(asset, name) for asset, cases in CASES.items() for name in cases] == CONDITIONS


def test_one_condition_of_every_gate_is_climbed_in_the_quick_suite() -> None:
    assert set(CONDITIONS) >= CLIMBED_QUICKLY
    assert sorted(asset for asset, _ in CLIMBED_QUICKLY) == sorted(RUNGS)


def test_the_unchanged_project_reaches_its_record(climbed: Folder) -> None:
    assert [GATES[asset].judge(climbed.evidence(asset)).reasons for asset in RUNGS] == [()] * len(RUNGS)
    assert len(climbed.records()) == 1


@pytest.fixture(scope="module")
def evidence(climbed_once: Folder) -> dict[str, pd.DataFrame]:
    """The evidence of every rung of a project that holds on all of them."""
    return {asset: climbed_once.evidence(asset) for asset in RUNGS}


@pytest.mark.parametrize(("asset", "condition"), CONDITIONS, ids=IDS)
def test_a_condition_fails_without_the_row_that_it_needs(
    asset: str, condition: str, evidence: dict[str, pd.DataFrame]
) -> None:
    gate, rows = GATES[asset], evidence[asset]
    [asked] = [one for one in gate.conditions if one.name == condition]
    failing = {reason.condition for reason in gate.judge(rows[rows["name"] != asked.row]).reasons}
    assert (condition in failing) == asked.required


@pytest.mark.parametrize("asset", RUNGS)
def test_a_gate_takes_no_undefined_figure(asset: str, evidence: dict[str, pd.DataFrame]) -> None:
    gate, rows = GATES[asset], evidence[asset]
    for condition in gate.conditions:
        undefined = rows.copy()
        asked = undefined["name"] == condition.row
        undefined.loc[asked, ["value", "low", "high", "gate_low", "gate_high"]] = np.nan
        undefined.loc[asked, ["text", "note"]] = None
        failing = {reason.condition for reason in gate.judge(undefined).reasons}
        assert not asked.any() or condition.name in failing, condition.name

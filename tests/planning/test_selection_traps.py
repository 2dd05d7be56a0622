"""Filters on the outcome are known by their names and by what they keep; those on time are known too."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from calib_pipeline.errors import InputError
from calib_pipeline.planning.item_filter import ItemFilter
from calib_pipeline.planning.selection_traps import goes_by_time, how_well_outputs_tell, refuse_outcome_name
from calib_pipeline.studies.project import Project

NOBODY = Project(root=None, store="", ledger="", populations={}, studies={})  # type: ignore[arg-type]
FRAME = pd.DataFrame(
    {
        "item_id": ["a", "b", "c", "d"],
        "words": [3.0, 12.0, float("nan"), 40.0],
        "tongue": ["de", "en", None, "de"],
        "written": ["2026-01-03", "2026-02-01T10:00:00Z", "2025-12-31", None],
    }
)


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("words>=12", [False, True, False, True]),
        ("words < 12", [True, False, False, False]),
        ("words!=3", [False, True, False, True]),
        ("tongue=de", [True, False, False, True]),
        ("tongue!=de", [False, True, False, False]),
        ("written>2026-01-01", [True, True, False, False]),
        ("written<=2026-01-03", [True, False, True, False]),
    ],
)
def test_a_condition_keeps_what_meets_it_and_no_empty_cell(condition: str, kept: list[bool]) -> None:
    assert ItemFilter.of(condition).keeps(FRAME) == kept


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("words", "is no condition"),
        ("=3", "is no condition"),
        ("words=", "is no condition"),
        ("word=3", "did you mean 'words'"),
        ("words=many", "holds numbers, and 'many' is none"),
        ("tongue>de", "holds texts, which have no order"),
        ("item_id=a", "no column 'item_id' to filter by"),
    ],
)
def test_what_is_no_condition_on_these_items_is_refused(condition: str, told: str) -> None:
    with pytest.raises(InputError) as refused:
        ItemFilter.of(condition).keeps(FRAME)
    assert told.casefold() in str(refused.value).casefold()


@pytest.mark.parametrize("name", ["verdict", "judge_said", "wasFlagged", "Judge-Score", "predicted"])
def test_a_column_that_is_named_like_an_output_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="selected on the outcome"):
        refuse_outcome_name(ItemFilter(name, "=", "1"), NOBODY)


@pytest.mark.parametrize("name", ["words", "underscored", "flagship", "tongue", "outputting", "predecessor"])
def test_a_word_that_only_holds_one_is_not(name: str) -> None:
    refuse_outcome_name(ItemFilter(name, "=", "1"), NOBODY)


def test_times_are_known_by_name_or_by_cells() -> None:
    frame = FRAME.assign(created_at=1.0, attention=1.0)
    by_time = {name for name in frame.columns if goes_by_time(ItemFilter(name, "=", "1"), frame)}
    assert by_time == {"written", "created_at"}


def test_few_values_save_the_share_of_errors_that_they_save() -> None:
    # kept: 9 yes, 1 no; others: 2 yes, 18 no. Without looking 10 of 30 are wrong, with the value 2 + 1: 1 - 3/10
    pairs = [(True, "yes")] * 9 + [(True, "no")] + [(False, "yes")] * 2 + [(False, "no")] * 18
    assert how_well_outputs_tell(pairs) == pytest.approx(0.7)
    assert how_well_outputs_tell([(kept, "yes") for kept, _ in pairs]) == 0.0
    assert how_well_outputs_tell([(kept, str(kept)) for kept, _ in pairs]) == 1.0


def test_numbers_tell_by_their_ranks() -> None:
    rng = np.random.default_rng(2)
    kept, scores = rng.random(60) < 0.4, rng.random(60)
    scores = np.where(kept, scores - 0.3, scores)
    pairs = [(bool(one), repr(float(score))) for one, score in zip(kept, scores, strict=True)]
    assert how_well_outputs_tell(pairs) == pytest.approx(abs(2 * roc_auc_score(kept, scores) - 1))


def test_a_band_of_few_numbers_is_known_although_its_ranks_are_in_the_middle() -> None:
    pairs = [(value == 2, str(value)) for value in (1, 2, 3) for _ in range(20)]
    assert how_well_outputs_tell(pairs) == 1.0


def test_nothing_is_said_of_few_items_or_of_one_side() -> None:
    assert how_well_outputs_tell([(True, "yes"), (False, "no")] * 5) is None
    assert how_well_outputs_tell([(True, "yes")] * 50) is None

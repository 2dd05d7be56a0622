"""The reference that people's labels fold to: ties kept, strata weighted, groups whole, judges where they judged."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from declared_studies import drawn, sheet, study

from calib_pipeline.measurement.reference import design_of, fold_labels, population_weights

ITEMS = [f"item-{number}" for number in range(8)]


def test_the_majority_of_each_item_and_the_half_of_a_tie() -> None:
    labels = sheet({"item-0": ["1", "1", "0"], "item-1": ["0", "1"], "item-2": ["0"]})
    folded = fold_labels(study(), drawn(ITEMS[:3]), labels, {"all": 3})
    assert folded.shares.tolist() == [[0, 1], [0.5, 0.5], [1, 0]]
    assert folded.accepted.tolist() == [1, 0.5, 0]
    assert folded.undecided == pytest.approx(1 / 3)
    assert folded.annotators.tolist() == [3, 2, 1]


def test_a_tie_of_three_values_is_a_third_each() -> None:
    labels = sheet({"item-0": ["a", "b", "c"], "item-1": ["a", "c", "c"]}, "nominal")
    folded = fold_labels(study("nominal"), drawn(ITEMS[:2]), labels, {"all": 2})
    assert folded.shares == pytest.approx(np.array([[1 / 3, 1 / 3, 1 / 3], [0, 0, 1]]))


def test_an_even_median_between_two_levels_is_half_of_each() -> None:
    labels = sheet({"item-0": ["0", "3"], "item-1": ["0", "1", "1", "3"], "item-2": ["1", "2"]}, "ordinal")
    folded = fold_labels(study("ordinal", reference={"consensus": "median"}), drawn(ITEMS[:3]), labels, {"all": 3})
    assert folded.shares.tolist() == [[0.5, 0, 0, 0.5], [0, 1, 0, 0], [0, 0.5, 0.5, 0]]


def test_the_reference_of_the_decision_is_the_majority_of_the_dichotomised_labels() -> None:
    """49, 49 and 100 have a mean of 66, which would be accepted; two of three people would reject."""
    labels = sheet({"item-0": [49, 49, 100], "item-1": [51, 40]}, "numbers")
    folded = fold_labels(study("numbers"), drawn(ITEMS[:2]), labels, {"all": 2})
    assert folded.numbers.tolist() == [66, 45.5]
    assert folded.accepted.tolist() == [0, 0.5]


def test_an_adjudicator_decides_where_there_is_one_and_nothing_is_dropped_elsewhere() -> None:
    """Leaving out the disagreements that nobody adjudicated would select the easy items."""
    labels = sheet(
        {"item-0": ["1", "1"], "item-1": ["0", "1"], "item-2": ["0", "1"]}, judged={"item-0": "0", "item-1": "1"}
    )
    rule = study(reference={"consensus": "adjudicated"})
    folded = fold_labels(rule, drawn(ITEMS[:3]), labels, {"all": 3})
    assert folded.shares.tolist() == [[1, 0], [0, 1], [0.5, 0.5]]
    assert folded.accepted.tolist() == [0, 1, 0.5]
    assert folded.counts.tolist() == [[0, 2], [1, 1], [1, 1]]


def test_an_adjudicator_is_no_annotator_under_another_rule() -> None:
    labels = sheet({"item-0": ["1"]}, judged={"item-0": "0", "item-1": "1"})
    folded = fold_labels(study(), drawn(ITEMS[:2]), labels, {"all": 2})
    assert folded.items["item_id"].tolist() == ["item-0"]
    assert folded.shares.tolist() == [[0, 1]]


def test_a_single_label_is_the_expectation_over_which_annotator_one_had() -> None:
    labels = sheet({"item-0": ["1", "1", "0"], "item-1": ["0"]})
    folded = fold_labels(study(reference={"consensus": "single"}), drawn(ITEMS[:2]), labels, {"all": 2})
    assert folded.shares == pytest.approx(np.array([[1 / 3, 2 / 3], [1, 0]]))
    assert folded.accepted == pytest.approx([2 / 3, 0])


def test_each_row_stands_for_the_items_of_its_stratum() -> None:
    """40 of 400 items in one stratum and 10 of 20 in the other: weights of N_h / n_h, scaled to mean 1."""
    items = [f"item-{number:02d}" for number in range(50)]
    strata = ["common"] * 40 + ["rare"] * 10
    labels = sheet({item: ["1"] for item in items})
    folded = fold_labels(study(), drawn(items, strata=strata), labels, {"common": 400, "rare": 20})
    raw = np.array([10.0] * 40 + [2.0] * 10)
    assert population_weights(folded.items, {"common": 400, "rare": 20}) == pytest.approx(raw)
    assert folded.design.weights == pytest.approx(raw / raw.mean())


def test_an_item_without_a_label_gives_its_weight_to_the_others_of_its_stratum() -> None:
    labels = sheet({item: ["1"] for item in ITEMS[:6]})
    of_strata = ["a"] * 4 + ["b"] * 4
    folded = fold_labels(study(), drawn(ITEMS, strata=of_strata), labels, {"a": 40, "b": 40})
    weights = dict(zip(folded.items["item_id"], folded.design.weights, strict=True))
    assert weights["item-5"] == pytest.approx(2 * weights["item-0"])


def test_labels_of_items_that_are_not_folded_are_left_out() -> None:
    labels = sheet({item: ["1", "0"] for item in ITEMS})
    folded = fold_labels(study(), drawn(ITEMS[2:4]), labels, {"all": 8})
    assert folded.items["item_id"].tolist() == ITEMS[2:4]
    assert len(folded.label_items) == 4


def test_groups_are_drawn_whole_and_an_item_without_one_alone() -> None:
    group = ["g", "g", "g", None, None, "h", "h", "h"]
    frame = drawn(ITEMS, group=group)
    design = design_of(frame, np.ones(8))
    drawn_together = Counter(design.unit.tolist())
    assert sorted(drawn_together.values()) == [1, 1, 3, 3]
    assert design.resampled == "groups"


def test_strata_of_a_few_units_are_drawn_again_together() -> None:
    """Drawing the only item of a stratum again always gives that item, as if nothing were uncertain about it."""
    strata = ["big"] * 6 + ["few"] * 4 + ["one"]
    items = [f"item-{number:02d}" for number in range(11)]
    frame = drawn(items, strata=strata)
    design = design_of(frame, np.ones(11))
    assert sorted(len(units) for units in design.unit_strata) == [5, 6]
    alone = design_of(drawn(items, strata=items), np.ones(11))
    assert [len(units) for units in alone.unit_strata] == [11]


def test_a_stratum_is_as_large_as_its_groups_are_many() -> None:
    group = [f"group-{number // 4}" for number in range(16)]
    items = [f"item-{number:02d}" for number in range(16)]
    design = design_of(drawn(items, strata=["a"] * 8 + ["b"] * 8, group=group), np.ones(16))
    assert [len(units) for units in design.unit_strata] == [4]


def test_the_order_of_rows_does_not_matter() -> None:
    rng = np.random.default_rng(4)
    labels = sheet({item: list(rng.choice(["0", "1"], 3)) for item in ITEMS})
    frame = drawn(ITEMS, strata=["a", "b"] * 4)
    folded = fold_labels(study(), frame, labels, {"a": 8, "b": 4})
    shuffled = fold_labels(
        study(), frame.sample(frac=1, random_state=1), labels.sample(frac=1, random_state=2), {"b": 4, "a": 8}
    )
    assert folded.items["item_id"].tolist() == shuffled.items["item_id"].tolist()
    assert (folded.shares == shuffled.shares).all()
    assert (folded.design.weights == shuffled.design.weights).all()

"""Cases of the rungs from the opening on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from climbs import reserved
from gate_case import Case, declare, evidence_with, with_row
from made_up_project import LEVELS, World, world_of

from calib_pipeline.evidence.evidence import Evidence
from calib_pipeline.ladder import Ladder
from calib_pipeline.records.publication import Made

# scorer_agreement


def _lose_every_sixth_output(world: World) -> None:
    world.scores = world.scores[world.scores.index % 6 != 0]


def _abstain_on_four_of_ten(world: World) -> None:
    world.scores["status"] = np.where(world.scores.index % 5 < 2, "abstained", "scored")


def _relabel_one_item(world: World) -> None:
    """Three people change their mind about one item after the set was opened."""
    drawn = set(reserved(world)["item_id"])
    row = world.labels.index[world.labels["item_id"].isin(drawn)][0]
    world.labels.loc[row, "value"] = "fail" if world.labels.loc[row, "value"] == "pass" else "pass"


def _guess(world: World) -> None:
    rng = np.random.default_rng(8)
    world.scores["value"] = rng.choice(LEVELS[world.kind], len(world.scores))


def _copy_the_reference(world: World) -> None:
    """A judge that knows the median of the labels: no replicate shows a disagreement."""
    codes = world.labels["value"].astype(int).groupby(world.labels["item_id"]).median().astype(int)
    world.scores["value"] = world.scores["item_id"].map(codes).astype(str)


NOT_OPENED = ("opened_as_a_measurement", "every_statistic_has_an_interval", "beats_every_comparator")
"""A set that is not opened shows no figure, so whatever needs one fails with it."""

AGREEMENT = {
    "enough_scored": Case(
        "% of the 150 labeled items have an output of the scorer; 90 % are needed",
        _lose_every_sixth_output,
        also=(*NOT_OPENED, "differences_are_sound"),
    ),
    "enough_pairs": Case(
        "items have both a label and a decided output; 100 are needed",
        _abstain_on_four_of_ten,
        also=(*NOT_OPENED, "differences_are_sound"),
    ),
    "opened_as_a_measurement": Case(
        "the set was not opened as a measurement of this configuration: measured as event",
        _relabel_one_item,
        climbed=True,
        also=(*NOT_OPENED[1:], "differences_are_sound"),
    ),
    "every_statistic_has_an_interval": Case(
        "percent agreement (decided) has neither an interval nor a note",
        # Where a figure has no interval the estimators say why in its note.
        remade=evidence_with("scorer_agreement", "agreement", low=np.nan, high=np.nan, note=None),
    ),
    "beats_every_comparator": Case("; the lower bound must be above 0: ", _guess),
    "differences_are_sound": Case(
        "the interval of quadratic kappa (constant majority) cannot be read by a gate: [1.000, 1.000]",
        _copy_the_reference,
        start=lambda: world_of("ordinal"),
    ),
}

# threshold_check


def _without_a_budget() -> World:
    world = world_of()
    del world.study["decision"]["budget"]
    return world


def _ordinal_with_a_floor() -> World:
    """The headline keeps a width by Wilson's interval where nothing disagrees; a floor on quadratic κ does not."""
    world = world_of("ordinal")
    world.study["agreement"]["headline"] = "percent_agreement"
    world.study["decision"]["floor"] = {
        "statistic": "quadratic_kappa", "at_least": 0.5, "convention": True, "stands_for": "the team's habit",
    }  # fmt: skip
    return world


THRESHOLD = {
    "budget_is_a_constraint": Case(
        "the budget of 0.7 an item is more than reject all, which costs 0.4",
        declare("decision", "budget", to=0.7),
    ),
    "within_budget": Case(
        "; the upper bound must be within the budget of 0.03: ",
        declare("decision", "budget", to=0.03),
    ),
    "cheaper_than_no_scorer": Case(
        "acting on the scorer instead of reject all changes the cost an item by ",
        declare("decision", "cost_false_accept", "value", to=60),
        start=_without_a_budget,
    ),
    "coefficient_floor": Case(
        "; the lower bound must reach the declared floor of 0.95: ",
        lambda world: world.study["decision"].update(
            floor={"statistic": "cohen_kappa", "at_least": 0.95, "convention": True, "stands_for": "a habit"}
        ),
    ),
    "floor_is_sound": Case(
        "the interval of quadratic kappa (all labeled items) cannot be read by a gate: [1.000, 1.000]",
        _copy_the_reference,
        start=_ordinal_with_a_floor,
    ),
    "cost_is_sound": Case(
        "the interval of expected cost (scorer) cannot be read by a gate",
        # Wilson's limits of its two cells give a cost a width; too few groups stop the ladder at the ceiling.
        remade=evidence_with("threshold_check", "expected_cost", gate_survivors=1800.0),
    ),
    "cost_differences_are_sound": Case(
        "the interval of cost difference (accept all) cannot be read by a gate",
        # As for the cost.
        remade=evidence_with("threshold_check", "cost_difference", gate_survivors=1800.0),
    ),
}

# published_record


def _built_without(field: str) -> Callable[[pytest.MonkeyPatch], None]:
    def remade(patch: pytest.MonkeyPatch) -> None:
        from calib_pipeline.records import publication

        build = publication.build_record

        def without(*arguments: Any, **named: Any) -> dict[str, Any]:
            return {key: value for key, value in build(*arguments, **named).items() if key != field}

        patch.setattr(publication, "build_record", without)

    return remade


def _published_with(row: str, **columns: Any) -> Callable[[pytest.MonkeyPatch], None]:
    def remade(patch: pytest.MonkeyPatch) -> None:
        from calib_pipeline import ladder

        make = ladder.publication_evidence

        def altered(*arguments: Any, **named: Any) -> Made:
            made = make(*arguments, **named)
            return replace(made, evidence=Evidence(made.evidence.asset, with_row(made.evidence.rows, row, **columns)))

        patch.setattr(ladder, "publication_evidence", altered)

    return remade


def _change_the_labels_before_it_publishes(patch: pytest.MonkeyPatch) -> None:
    """Someone saves the label sheet again while the ladder is being climbed."""
    publish = Ladder.published_record

    def late(ladder: Ladder, cell: Any, **above: pd.DataFrame) -> Evidence:
        sheet = ladder.project.root / "data" / cell.population / "annotations.csv"
        rows = pd.read_csv(sheet, dtype=str)
        rows["value"] = rows["value"].replace({"pass": "fail", "fail": "pass"})
        rows.to_csv(sheet, index=False)
        return publish(ladder, cell, **above)

    patch.setattr(Ladder, "published_record", late)


RECORD = {
    # A record is built whole from evidence that holds.
    "every_field_present": Case(
        "1 required field(s) of the record are missing: sampling", remade=_built_without("sampling")
    ),
    "every_figure_has_its_interval": Case(
        "2 published statistic(s) have neither an interval nor a note: kappa; J",
        # The rungs below stop at a figure without one.
        remade=_published_with("figures_without_interval", value=2.0, text="kappa; J"),
    ),
    "recomputes": Case(
        " figure(s) do not recompute from the stored rows: ", meanwhile=_change_the_labels_before_it_publishes
    ),
    "record_named": Case(
        "the record has no content address",
        # An address is the digest of the content, whatever that is.
        remade=_published_with("record_id", text=None),
    ),
}

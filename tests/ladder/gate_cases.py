"""For every condition of every gate one change to the raw tables or declarations that makes it fail, and it alone.

Where another condition must fail with it, ``also`` names it and the case says why. Where no table and no declaration
can make a condition fail, since what makes the evidence rules it out, the evidence is changed as it is made, and the
case says what rules it out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from climbs import Folder, reserved
from made_up_project import LEVELS, World, world_of

from calib_pipeline.evidence.evidence import Evidence
from calib_pipeline.ladder import Ladder
from calib_pipeline.records.publication import Made


def _nothing(_: Any) -> None:
    return None


@dataclass(frozen=True)
class Case:
    """One way for one condition to fail.

    ``says`` stands in the message: the figure, and the bar where there is one. ``start`` makes the world, which holds
    on every rung until it is changed by ``change``; ``before`` is what happened to the project before the change, and
    ``tamper`` what is done to the program instead. ``later`` is what a later run of the next asset says where it is
    refused before its gate is asked.
    """

    says: str
    change: Callable[[World], None] = _nothing
    also: tuple[str, ...] = ()
    start: Callable[[], World] = world_of
    before: Callable[[Folder], None] = _nothing
    tamper: Callable[[pytest.MonkeyPatch], None] = _nothing
    later: str | None = None


def declare(*keys: str, to: Any) -> Callable[[World], None]:
    """Declare something else under a key of the study; None takes the key out."""

    def change(world: World) -> None:
        section = world.study
        for key in keys[:-1]:
            section = section[key]
        if to is None:
            del section[keys[-1]]
        else:
            section[keys[-1]] = to

    return change


def evidence_with(asset: str, row: str, **columns: Any) -> Callable[[pytest.MonkeyPatch], None]:
    """Overwrite columns of the first row of a name in the evidence, as it is made."""

    def tamper(patch: pytest.MonkeyPatch) -> None:
        make = getattr(Ladder, asset)

        def altered(ladder: Ladder, *arguments: Any, **named: Any) -> Evidence:
            made: Evidence = make(ladder, *arguments, **named)
            return Evidence(asset, with_row(made.rows, row, **columns), made.tables)

        patch.setattr(Ladder, asset, altered)

    return tamper


def with_row(rows: pd.DataFrame, row: str, **columns: Any) -> pd.DataFrame:
    """The evidence with some columns of the first row of a name overwritten."""
    changed = rows.copy()
    at = changed.index[changed["name"] == row][0]
    for column, value in columns.items():
        changed.loc[at, column] = value
    return changed


# holdout_reservation


def _one_tiny_stratum() -> World:
    """A stratum of 15 that the first reservation takes whole; raising the others to 25 makes up for its absence."""
    world = world_of(strata={"fax": 15, "chat": 60, "forum": 60, "phone": 60, "mail": 225})
    world.study["holdout"] |= {"size": 100, "min_per_stratum": 25}
    world.study["agreement"]["min_pairs"] = 90
    return world


def _measure(folder: Folder) -> None:
    run = folder.climb()
    assert run.status == "ok", run


def _keep_the_set_of_now(patch: pytest.MonkeyPatch) -> None:
    """The reservation looks for a set that serves, and something happens to the set before it goes on.

    Alone it would draw the next generation from unspent items instead.
    """
    patch.setattr(Ladder, "_set_for", _newest_set)


def _newest_set(ladder: Ladder, cell: Any) -> Any:
    study = ladder.project.studies[cell.study]
    return ladder.ledger.current_set(study.dimension, cell.population)


def _mark_fitted_behind_its_back(folder: Folder) -> None:
    run = folder.run_alone("holdout_reservation")
    assert run.status == "ok", run
    [header] = folder.ladder.ledger.sets()
    folder.ladder.ledger.mark_fitted(header.holdout_id, studies=["judge"], reason="it was used to choose the prompt")


RESERVATION = {
    "role_is_holdout": Case("the study's role is fitted", declare("holdout", "role", to="fitted")),
    "reference_is_anchor": Case(
        "the reference is a proxy",
        lambda world: world.study["reference"].update(kind="proxy", stands_for="a person's word that it is resolved"),
    ),
    "no_bar_looser_than_a_status_needs": Case(
        "1 declared bar(s) are looser than a status needs: bootstrap.resamples is 1999; a status needs at least 2000",
        declare("bootstrap", "resamples", to=1999),
    ),
    "registered_before_opening": Case(
        "this configuration and plan were not registered before the set resolved@tickets-2026-01.g1 was first opened",
        declare("scorer", "config", "prompt", to="p-2"),
        before=_measure,
        tamper=_keep_the_set_of_now,
        later="the evidence of holdout_reservation is stale: set changed",
    ),
    "no_reserved_item_spent": Case(
        "150 reserved item(s) are spent for this configuration",
        before=_mark_fitted_behind_its_back,
        tamper=_keep_the_set_of_now,
        later="the evidence of holdout_reservation is stale: set changed",
    ),
    "every_stratum_represented": Case(
        "4 of 5 strata are represented: fax gave nothing",
        declare("scorer", "config", "prompt", to="p-2"),
        start=_one_tiny_stratum,
        before=_measure,
    ),
    "requested_size_reached": Case(
        "420 items could be reserved; 500 were asked for", declare("holdout", "size", to=500)
    ),
}

# annotations


def _leave_every_fifth_item_unlabeled(world: World) -> None:
    unlabeled = set(world.items["item_id"][::5])
    world.labels = world.labels[~world.labels["item_id"].isin(unlabeled)]


def _spell_a_tenth_of_the_labels_off_the_scale(world: World) -> None:
    often = (world.labels["annotator_id"] == "cy") & world.labels["item_id"].str.endswith(("0", "5", "7"))
    world.labels.loc[often, "value"] = "rather"


def _flag_one_label(column: str) -> Callable[[World], None]:
    def change(world: World) -> None:
        drawn = set(reserved(world)["item_id"])
        world.labels[column] = "false"
        first = world.labels.index[world.labels["item_id"].isin(drawn)][0]
        world.labels.loc[first, column] = "true"

    return change


ANNOTATIONS = {
    "coverage": Case(
        "83.33 % of the 150 reserved items have a usable label; 90 % are needed", _leave_every_fifth_item_unlabeled
    ),
    "unusable_rows": Case(
        "% of the 450 label rows received for the reserved items are unusable (",
        _spell_a_tenth_of_the_labels_off_the_scale,
    ),
    "declared_blind": Case(
        "labeling was not declared blind to difficulty",
        declare("annotation", "blind", "to", to=["output", "confidence"]),
    ),
    "nobody_saw_the_output": Case(
        "1 label(s) come from someone who saw the scorer's output", _flag_one_label("saw_scorer_output")
    ),
    "nothing_prefilled": Case("1 label(s) accepted a pre-filled answer", _flag_one_label("prefilled")),
    "held_out_before_we_knew": Case(
        "the labels are undated or older than the reservation, and nothing says who could see them: 450 are older",
        declare("holdout", "prior_access", to=None),
    ),
}

# human_ceiling


def _keep_one_person_on(world: World, items: pd.Series) -> None:
    alone = world.labels["item_id"].isin(set(items)) & (world.labels["annotator_id"] != "ana")
    world.labels = world.labels[~alone]


def _one_person_on_seven_of_the_67_named(world: World) -> None:
    drawn = reserved(world)
    _keep_one_person_on(world, drawn["item_id"][drawn["named"]].head(7))


def _one_small_stratum() -> World:
    return world_of(strata={"fax": 20, "login": 180, "shipping": 220})


def _one_person_on_the_named_of_a_small_stratum(world: World) -> None:
    drawn = reserved(world)
    _keep_one_person_on(world, drawn["item_id"][drawn["named"] & (drawn["stratum"] == "fax")])


def _few_big_groups(world: World) -> None:
    """Tickets come from 24 customers, eight in each stratum."""
    number = world.items.groupby("stratum").cumcount() % 8
    world.items["group"] = world.items["stratum"] + "-" + number.astype(str)


CEILING = {
    "enough_named_items": Case(
        "150 of the 150 named items have 2 independent annotators; 200 are needed",
        declare("ceiling", "min_items", to=200),
    ),
    "share_of_named_items": Case(
        "89.55 % of the 67 named items have 2 independent annotators; 90 % are needed",
        _one_person_on_seven_of_the_67_named,
    ),
    "every_stratum_covered": Case(
        "2 of 3 strata have an item with independent annotators; there is none in fax",
        _one_person_on_the_named_of_a_small_stratum,
        start=_one_small_stratum,
    ),
    "computed_from_labels": Case(
        "the ceiling was not computed from labels (the label team's word)",
        # The rung has nothing but labels to compute it from.
        tamper=evidence_with("human_ceiling", "computed_from", text="the label team's word"),
    ),
    "interval_is_sound": Case("it needs width, 95 % of the resamples, and 30 groups", _few_big_groups),
    "above_the_floor": Case("the lower bound must exceed the floor of 0.9", declare("ceiling", "floor", to=0.9)),
}

# baseline_comparators


def _empty_every_twentieth_cell_of_words(world: World) -> None:
    world.items["words"] = world.items["words"].astype(object)
    world.items.loc[::20, "words"] = None


BASELINES = {
    "all_kinds_present": Case(
        "2 of 3 kinds of comparator are present: heuristic is missing",
        declare("baselines", "heuristics", to=[]),
        # Where there is no heuristic, none is a length, and there is nothing to count distinct or missing values of.
        also=("a_length_among_them", "distinct_values", "missing_values"),
    ),
    "a_length_among_them": Case(
        "no heuristic is a length or step count",
        declare("baselines", "heuristics", to=[{"column": "mood"}]),
        start=lambda: _with_mood(world_of()),
    ),
    "same_rows": Case(
        "constant majority was computed on 149 of the 150 labeled items",
        # Comparators are computed from the rows of the reference, and answer on every one of them.
        tamper=evidence_with("baseline_comparators", "comparator_rows", value=149.0),
    ),
    "every_comparator_has_an_interval": Case(
        "constant majority has no interval for percent agreement",
        # Where a figure has no interval the estimators say why in its note.
        tamper=evidence_with("baseline_comparators", "comparator", low=np.nan, high=np.nan, note=None),
    ),
    "distinct_values": Case(
        "the heuristic heuristic urgent has 2 distinct value(s); 3 are needed to be a baseline",
        declare("baselines", "heuristics", to=[{"column": "words"}, {"column": "urgent"}]),
    ),
    "missing_values": Case(
        "% of the items; at most 1 % may be",
        _empty_every_twentieth_cell_of_words,
    ),
}


def _with_mood(world: World) -> World:
    world.items["mood"] = np.random.default_rng(3).integers(0, 10, len(world.items))
    return world


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
        before=_measure,
        also=(*NOT_OPENED[1:], "differences_are_sound"),
    ),
    "every_statistic_has_an_interval": Case(
        "percent agreement (decided) has neither an interval nor a note",
        # Where a figure has no interval the estimators say why in its note.
        tamper=evidence_with("scorer_agreement", "agreement", low=np.nan, high=np.nan, note=None),
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
        tamper=evidence_with("threshold_check", "expected_cost", gate_survivors=1800.0),
    ),
    "cost_differences_are_sound": Case(
        "the interval of cost difference (accept all) cannot be read by a gate",
        # As for the cost.
        tamper=evidence_with("threshold_check", "cost_difference", gate_survivors=1800.0),
    ),
}

# published_record


def _built_without(field: str) -> Callable[[pytest.MonkeyPatch], None]:
    def tamper(patch: pytest.MonkeyPatch) -> None:
        from calib_pipeline.records import publication

        build = publication.build_record

        def without(*arguments: Any, **named: Any) -> dict[str, Any]:
            return {key: value for key, value in build(*arguments, **named).items() if key != field}

        patch.setattr(publication, "build_record", without)

    return tamper


def _published_with(row: str, **columns: Any) -> Callable[[pytest.MonkeyPatch], None]:
    def tamper(patch: pytest.MonkeyPatch) -> None:
        from calib_pipeline import ladder

        make = ladder.publication_evidence

        def altered(*arguments: Any, **named: Any) -> Made:
            made = make(*arguments, **named)
            return replace(made, evidence=Evidence(made.evidence.asset, with_row(made.evidence.rows, row, **columns)))

        patch.setattr(ladder, "publication_evidence", altered)

    return tamper


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
        "1 required field(s) of the record are missing: sampling", tamper=_built_without("sampling")
    ),
    "every_figure_has_its_interval": Case(
        "2 published statistic(s) have neither an interval nor a note: kappa; J",
        # The rungs below stop at a figure without one.
        tamper=_published_with("figures_without_interval", value=2.0, text="kappa; J"),
    ),
    "recomputes": Case(
        " figure(s) do not recompute from the stored rows: ", tamper=_change_the_labels_before_it_publishes
    ),
    "record_named": Case(
        "the record has no content address",
        # An address is the digest of the content, whatever that is.
        tamper=_published_with("record_id", text=None),
    ),
}

CASES: dict[str, dict[str, Case]] = {
    "holdout_reservation": RESERVATION,
    "annotations": ANNOTATIONS,
    "human_ceiling": CEILING,
    "baseline_comparators": BASELINES,
    "scorer_agreement": AGREEMENT,
    "threshold_check": THRESHOLD,
    "published_record": RECORD,
}

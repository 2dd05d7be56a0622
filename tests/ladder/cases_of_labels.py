"""Cases of the rungs on which no label has met an output yet."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from climbs import Folder, reserved
from gate_case import Case, declare, evidence_with
from made_up_project import POPULATION, World, world_of
from other_constructs import another_construct, spent_for_tone

from calib_pipeline.holdout_sets import HoldoutSets
from calib_pipeline.ledger import uses

# holdout_reservation


def _one_tiny_stratum() -> World:
    """A stratum of 15 that the first reservation takes whole; raising the others to 25 makes up for its absence."""
    world = world_of(strata={"fax": 15, "chat": 60, "forum": 60, "phone": 60, "mail": 225})
    world.study["holdout"] |= {"size": 100, "min_per_stratum": 25}
    world.study["agreement"]["min_pairs"] = 90
    return world


def _measure_the_tone(folder: Folder) -> None:
    folder.climb("tone")
    assert "opened" in {event.event for event in folder.events()}


def _keep_the_set_of_now(patch: pytest.MonkeyPatch) -> None:
    """The reservation looks for a set that serves, and something happens to the set before it goes on.

    Alone it would draw the next generation from unspent items instead.
    """
    patch.setattr(HoldoutSets, "serving", HoldoutSets.newest)


def _mark_fitted_behind_its_back(folder: Folder) -> None:
    run = folder.run_alone("holdout_reservation")
    assert run.status == "ok", run
    [header] = folder.ladder.ledger.sets()
    folder.ladder.ledger.mark_fitted(header.holdout_id, studies=["judge"], reason="it was used to choose the prompt")


def _show_two_reserved_items_to_the_scorer(world: World) -> None:
    outside = sorted(set(world.items["item_id"]) - set(reserved(world)["item_id"]))
    world.study["scorer"]["config"]["examples"] = [*sorted(reserved(world)["item_id"])[:2], *outside[:3]]


def _another_scorer_measures_first(folder: Folder) -> None:
    """It stops at its threshold, so that it leaves a measurement and no record."""
    run = folder.climb("rival")
    assert (run.status, run.rung) == ("stopped", "threshold"), run


def _allow_one_measurement(world: World) -> None:
    world.study["holdout"]["max_measurements"] = 1


def two_scorers_of_which_one_may_measure() -> World:
    world = world_of()
    _allow_one_measurement(world)
    rival = copy.deepcopy(world.study) | {"study": "rival"}
    rival["scorer"]["config"]["prompt"] = "p-2"
    rival["decision"]["budget"] = 0.01
    world.others.append(rival)
    return world


def _reserve(folder: Folder) -> None:
    assert folder.run_alone("holdout_reservation").status == "ok"


def a_set_to_be_opened_within_30_days() -> World:
    world = world_of()
    world.study["holdout"]["max_age_days"] = 30
    return world


def _days_later(days: int) -> Callable[[pytest.MonkeyPatch], None]:
    def meanwhile(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(uses, "now", lambda: datetime.now(UTC) + timedelta(days=days))

    return meanwhile


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
        climbed=True,
        meanwhile=_keep_the_set_of_now,
        later="the evidence of holdout_reservation is stale: set changed",
    ),
    "no_reserved_item_spent": Case(
        "150 reserved item(s) are spent for this configuration",
        before=_mark_fitted_behind_its_back,
        meanwhile=_keep_the_set_of_now,
        later="the evidence of holdout_reservation is stale: set changed",
    ),
    "not_measured_too_often": Case(
        "1 configurations were measured on the set resolved@tickets-2026-01.g1, and holdout.max_measurements is 1",
        start=two_scorers_of_which_one_may_measure,
        before=_another_scorer_measures_first,
    ),
    "not_too_old": Case(
        "the set resolved@tickets-2026-01.g1 is too old to be opened: reserved on ",
        start=a_set_to_be_opened_within_30_days,
        before=_reserve,
        meanwhile=_days_later(31),
    ),
    "no_reserved_item_shaped_the_scorer": Case(
        "2 of the 150 reserved items shaped the scorer, by its own declaration: ",
        _show_two_reserved_items_to_the_scorer,
    ),
    "every_stratum_represented": Case(
        "4 of 5 strata are represented: fax gave nothing",
        declare("scorer", "config", "prompt", to="p-2"),
        start=_one_tiny_stratum,
        climbed=True,
    ),
    "no_item_left_out_for_another_dimension": Case(
        "150 items were left out that only the dimension tone has spent",
        start=spent_for_tone,
        before=_measure_the_tone,
        also=("requested_size_reached",),
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


def _labeled_for_tone_alone() -> World:
    """One sheet of labels for two constructs, which are declared to differ."""
    world = spent_for_tone()
    another_construct(world)
    world.labels = pd.read_csv(io.StringIO(world.beside[f"data/{POPULATION}/tone.csv"]))
    return world


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
    "labels_of_their_own": Case(
        "150 of 150 shared items have the values that they have for tone",
        start=_labeled_for_tone_alone,
        before=_measure_the_tone,
    ),
}

# human_ceiling


def _keep_one_person_on(world: World, items: pd.Series) -> None:
    alone = world.labels["item_id"].isin(set(items)) & (world.labels["annotator_id"] != "ana")
    world.labels = world.labels[~alone]


def _one_person_on_seven_named_items(world: World) -> None:
    drawn = reserved(world)
    _keep_one_person_on(world, drawn["item_id"][drawn["named"]].head(7))


def _one_person_on_seven_items_where_all_are_named(world: World) -> None:
    world.study["ceiling"]["min_items"] = 150
    _one_person_on_seven_named_items(world)


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
        "143 of the 150 named items have 2 independent annotators; 150 are needed",
        _one_person_on_seven_items_where_all_are_named,
    ),
    "share_of_named_items": Case(
        "89.55 % of the 67 named items have 2 independent annotators; 90 % are needed",
        _one_person_on_seven_named_items,
    ),
    "every_stratum_covered": Case(
        "2 of 3 strata have an item with independent annotators; there is none in fax",
        _one_person_on_the_named_of_a_small_stratum,
        start=_one_small_stratum,
    ),
    "computed_from_labels": Case(
        "the ceiling was not computed from labels (the label team's word)",
        # The rung has nothing but labels to compute it from.
        remade=evidence_with("human_ceiling", "computed_from", text="the label team's word"),
    ),
    "above_the_floor": Case(
        "the lower bound must exceed the floor of 0.9: missed", declare("ceiling", "floor", to=0.9)
    ),
    "interval_is_sound": Case("it needs width, 95 % of the resamples, and 30 groups", _few_big_groups),
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
        remade=evidence_with("baseline_comparators", "comparator_rows", value=149.0),
    ),
    "every_comparator_has_an_interval": Case(
        "constant majority has no interval for percent agreement",
        # Where a figure has no interval the estimators say why in its note.
        remade=evidence_with("baseline_comparators", "comparator", low=np.nan, high=np.nan, note=None),
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

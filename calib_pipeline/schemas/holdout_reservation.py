"""The reservation holds when the set was unopened for this configuration and plan, whole, and represents its strata."""

from __future__ import annotations

from calib_pipeline.schemas.gate import Condition, Gate, at_least_bar, is_none, says

NEXT_GENERATION = (
    "measure on a next generation: `calib run --recheck` retires this set and reserves one from items that nobody "
    "looked at, which are then labeled"
)

HOLDOUT_RESERVATION = Gate(
    "holdout_reservation",
    (
        Condition(
            "role_is_holdout",
            "holdout",
            "role",
            says("holdout"),
            "the study's role is {text}: its set shaped the scorer, so it can only say 'agreed with'",
            "reserve a set that shaped nothing (holdout.role: holdout), or read the diagnostic record",
        ),
        Condition(
            "reference_is_anchor",
            "holdout",
            "reference_kind",
            says("anchor"),
            "the reference is a {text}: only association with it can be claimed",
            "bring human labels of the construct itself (reference.kind: anchor), or read the diagnostic record",
        ),
        Condition(
            "no_bar_looser_than_a_status_needs",
            "holdout",
            "loose_bars",
            is_none,
            "{value:.0f} declared bar(s) are looser than a status needs: {text}",
            "tighten them in the study, or read the diagnostic record",
        ),
        Condition(
            "registered_before_opening",
            "holdout",
            "registered_before_opening",
            says("yes"),
            "this configuration and plan were not registered before the set {scope} was first opened or read: {note}",
            "label the next generation of the set: run the reservation again",
        ),
        Condition(
            "no_reserved_item_spent",
            "holdout",
            "spent_items",
            is_none,
            "{value:.0f} reserved item(s) are spent for this configuration",
            "run the reservation again: it draws from unspent items",
        ),
        Condition(
            "not_measured_too_often",
            "holdout",
            "within_max_measurements",
            says("yes"),
            "{value:.0f} configurations were measured on the set {scope}, and holdout.max_measurements is {bar:.0f}",
            NEXT_GENERATION,
            required=False,
        ),
        Condition(
            "not_too_old",
            "holdout",
            "within_max_age",
            says("yes"),
            "the set {scope} is too old to be opened: {note}; holdout.max_age_days is {bar:.0f}",
            NEXT_GENERATION,
            required=False,
        ),
        Condition(
            "no_reserved_item_shaped_the_scorer",
            "holdout",
            "tuning_items",
            is_none,
            "{value:.0f} of the {n:.0f} reserved items shaped the scorer, by its own declaration: {text}",
            "take what shaped the scorer out of the population's manifest, and run again: a set without it is drawn; "
            "or declare the study fitted (holdout.role: fitted)",
        ),
        Condition(
            "every_stratum_represented",
            "holdout",
            "strata_drawn",
            at_least_bar,
            "{value:.0f} of {bar:.0f} strata are represented: {text} gave nothing",
            "add items to the missing strata, or raise holdout.min_per_stratum; where all items of one are spent, "
            "declare the others as a population of their own",
        ),
        Condition(
            "no_item_left_out_for_another_dimension",
            "holdout",
            "spent_for_another_dimension",
            is_none,
            "{value:.0f} items were left out that only the dimension {scope} has spent",
            "say under holdout.other_constructs why the construct of {scope} differs; where it does not, add items to "
            "the population, or lower holdout.size",
            required=False,
        ),
        Condition(
            "requested_size_reached",
            "holdout",
            "reserved_items",
            at_least_bar,
            "{value:.0f} items could be reserved; {bar:.0f} were asked for",
            "add items to the population, or lower holdout.size to {value:.0f}",
        ),
    ),
)

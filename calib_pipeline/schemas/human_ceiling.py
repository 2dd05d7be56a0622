"""The ceiling holds when independent people, on items named in advance, agree beyond the declared floor."""

from __future__ import annotations

from calib_pipeline.schemas.gate import (
    SOUND_INTERVAL_SENTENCE,
    Condition,
    Gate,
    at_least_bar,
    names_content,
    numbers,
    sound_interval,
)

HUMAN_CEILING = Gate(
    "human_ceiling",
    (
        Condition(
            "enough_named_items",
            "ceiling",
            "named_items_with_annotators",
            at_least_bar,
            "{value:.0f} of the {n:.0f} named items have {text} independent annotators; {bar:.0f} are needed",
            "have more of the named items labeled by a second person: `calib show` lists them",
        ),
        Condition(
            "share_of_named_items",
            "ceiling",
            "share_of_named_items",
            at_least_bar,
            "{value:%} of the {n:.0f} named items have {text} independent annotators; {bar:%} are needed",
            "label {note} more of the named items a second time: `calib show` lists them",
        ),
        Condition(
            "every_stratum_covered",
            "ceiling",
            "strata_covered",
            at_least_bar,
            "{value:.0f} of {bar:.0f} strata have an item with independent annotators; there is none in {text}",
            "have named items of the missing strata labeled by a second person",
        ),
        Condition(
            "computed_from_labels",
            "ceiling",
            "computed_from",
            names_content,
            "the ceiling was not computed from labels ({text})",
            "run this rung again: a ceiling is computed, never attested",
        ),
        Condition(
            "above_the_floor",
            "ceiling",
            "ceiling",
            lambda rows: numbers(rows, "gate_low") > numbers(rows, "bar"),
            "people agree with each other at {statistic:words} {value:.3f} [{gate_low:.3f}, {gate_high:.3f}]; the "
            "lower bound must exceed the floor of {bar:g}: {text}",
            "{note}",
        ),
        Condition(
            "interval_is_sound",
            "ceiling",
            "ceiling",
            sound_interval,
            SOUND_INTERVAL_SENTENCE,
            "have more items labeled by two or more people",
        ),
    ),
)

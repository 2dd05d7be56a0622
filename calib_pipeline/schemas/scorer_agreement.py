"""The agreement holds when an unopened set was opened once, enough was scored, and every comparator is beaten."""

from __future__ import annotations

from calib_pipeline.schemas.gate import (
    SOUND_INTERVAL_SENTENCE,
    Condition,
    Gate,
    at_least_bar,
    interval_or_note,
    numbers,
    says,
    sound_interval,
)

SCORER_AGREEMENT = Gate(
    "scorer_agreement",
    (
        Condition(
            "enough_scored",
            "baseline",
            "scored_share",
            at_least_bar,
            "{value:%} of the {n:.0f} labeled items have an output of the scorer; {bar:%} are needed",
            "score the missing items: the set stays unopened until enough are there",
        ),
        Condition(
            "enough_pairs",
            "baseline",
            "decided_pairs",
            at_least_bar,
            "{value:.0f} items have both a label and a decided output; {bar:.0f} are needed",
            "label or score more items: the set stays unopened until enough are there",
        ),
        Condition(
            "opened_as_a_measurement",
            "holdout",
            "opening",
            says("measurement"),
            "the set was not opened as a measurement of this configuration: {note}",
            "put back the labels and scores that were measured, or measure again on unspent items with `calib run "
            "--recheck`; a changed configuration or plan gets them when the reservation is run again",
        ),
        Condition(
            "every_statistic_has_an_interval",
            "interval",
            "agreement",
            interval_or_note,
            "{statistic:words} ({scope}) has neither an interval nor a note",
            "label more items",
        ),
        Condition(
            "beats_every_comparator",
            "baseline",
            "difference",
            lambda rows: numbers(rows, "gate_low") > 0,
            "{statistic:words} beyond that of {scope}: {value:.3f} [{gate_low:.3f}, {gate_high:.3f}]; the lower "
            "bound must be above 0: {text}",
            "{note}",
        ),
        Condition(
            "differences_are_sound",
            "interval",
            "difference",
            sound_interval,
            SOUND_INTERVAL_SENTENCE,
            "label more items",
        ),
    ),
)

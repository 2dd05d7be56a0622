"""The comparators hold when all three kinds stand on the same rows, each with an interval, a length among them."""

from __future__ import annotations

from calib_pipeline.schemas.gate import Condition, Gate, at_least_bar, at_most_bar, interval_or_note

BASELINE_COMPARATORS = Gate(
    "baseline_comparators",
    (
        Condition(
            "all_kinds_present",
            "baseline",
            "comparator_kinds",
            at_least_bar,
            "{value:.0f} of {bar:.0f} kinds of comparator are present: {text} is missing",
            "declare a structural heuristic in baselines.heuristics",
        ),
        Condition(
            "a_length_among_them",
            "baseline",
            "length_heuristics",
            at_least_bar,
            "no heuristic is a length or step count",
            "add a column such as words, chars or steps to baselines.heuristics",
        ),
        Condition(
            "same_rows",
            "baseline",
            "comparator_rows",
            at_least_bar,
            "{scope} was computed on {value:.0f} of the {bar:.0f} labeled items",
            "run this rung again: comparators stand on the rows of the reference",
        ),
        Condition(
            "every_comparator_has_an_interval",
            "baseline",
            "comparator",
            interval_or_note,
            "{scope} has no interval for {statistic:words}",
            "label more items",
        ),
        Condition(
            "distinct_values",
            "baseline",
            "heuristic_distinct_values",
            at_least_bar,
            "the heuristic {scope} has {value:.0f} distinct value(s); {bar:.0f} are needed to be a baseline",
            "choose another column in baselines.heuristics",
        ),
        Condition(
            "missing_values",
            "baseline",
            "heuristic_missing_share",
            at_most_bar,
            "the heuristic {scope} is missing on {value:%} of the items; at most {bar:%} may be",
            "fill the column in the items table, or choose another",
        ),
    ),
)

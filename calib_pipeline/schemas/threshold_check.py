"""The threshold holds when acting on the scorer costs less than the budget, accepting all and rejecting all."""

from __future__ import annotations

import numpy as np

from calib_pipeline.schemas.gate import (
    SOUND_INTERVAL_SENTENCE,
    Condition,
    Gate,
    at_most_bar,
    numbers,
    sound_interval,
)

THRESHOLD_CHECK = Gate(
    "threshold_check",
    (
        Condition(
            "budget_is_a_constraint",
            "threshold",
            "budget",
            at_most_bar,
            "the budget of {value:g} an item is more than {text}, which costs {bar:.4g} and needs no scorer",
            "declare a budget below the cheaper of accepting all and rejecting all, or none",
            required=False,
        ),
        Condition(
            "within_budget",
            "threshold",
            "expected_cost",
            lambda rows: (numbers(rows, "gate_high") <= numbers(rows, "bar")) | np.isnan(numbers(rows, "bar")),
            "acting on the scorer costs {value:.4f} an item [{gate_low:.4f}, {gate_high:.4f}]; the upper bound must be "
            "within the budget of {bar:g}: {text}",
            "{note}",
        ),
        Condition(
            "cheaper_than_no_scorer",
            "threshold",
            "cost_difference",
            lambda rows: numbers(rows, "gate_high") < 0,
            "acting on the scorer instead of {scope} changes the cost an item by {value:.4f} [{gate_low:.4f}, "
            "{gate_high:.4f}]; the upper bound must be below 0: {text}",
            "{note}",
        ),
        Condition(
            "coefficient_floor",
            "threshold",
            "floor",
            lambda rows: numbers(rows, "gate_low") >= numbers(rows, "bar"),
            "{statistic:words} is {value:.3f} [{gate_low:.3f}, {gate_high:.3f}]; the lower bound must reach the "
            "declared floor of {bar:g}: {text}",
            "{note}",
            required=False,
        ),
        Condition(
            "floor_is_sound",
            "interval",
            "floor",
            sound_interval,
            SOUND_INTERVAL_SENTENCE,
            "label more items",
            required=False,
        ),
        Condition(
            "cost_is_sound",
            "interval",
            "expected_cost",
            sound_interval,
            SOUND_INTERVAL_SENTENCE,
            "label more items",
        ),
        Condition(
            "cost_differences_are_sound",
            "interval",
            "cost_difference",
            sound_interval,
            SOUND_INTERVAL_SENTENCE,
            "label more items",
        ),
    ),
)

"""A record is published when every required field is there and recomputes from the stored rows."""

from __future__ import annotations

from calib_pipeline.schemas.gate import Condition, Gate, is_none, names_content

PUBLISHED_RECORD = Gate(
    "published_record",
    (
        Condition(
            "every_field_present",
            "interval",
            "missing_fields",
            is_none,
            "{value:.0f} required field(s) of the record are missing: {text}",
            "run the rung that makes them again",
        ),
        Condition(
            "every_figure_has_its_interval",
            "interval",
            "figures_without_interval",
            is_none,
            "{value:.0f} published statistic(s) have neither an interval nor a note: {text}",
            "label more items",
        ),
        Condition(
            "recomputes",
            "interval",
            "figures_that_differ",
            is_none,
            "{value:.0f} figure(s) do not recompute from the stored rows: {text}",
            "run the ladder again from the annotations",
        ),
        Condition(
            "record_named",
            "interval",
            "record_id",
            names_content,
            "the record has no content address",
            "run this rung again",
        ),
    ),
)

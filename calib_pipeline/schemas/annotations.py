"""The labels hold when enough reserved items carry a usable, blind label of a set held out by someone's word."""

from __future__ import annotations

from calib_pipeline.schemas.gate import Condition, Gate, at_least_bar, at_most_bar, is_none, says

ANNOTATIONS = Gate(
    "annotations",
    (
        Condition(
            "coverage",
            "ceiling",
            "coverage",
            at_least_bar,
            "{value:%} of the {n:.0f} reserved items have a usable label; {bar:%} are needed",
            "label {text} more of the reserved items",
        ),
        Condition(
            "unusable_rows",
            "ceiling",
            "unusable_share",
            at_most_bar,
            "{value:%} of the {n:.0f} label rows received for the reserved items are unusable ({text}); at most "
            "{bar:%} may be",
            "mend the rows that `calib show` lists as not compared, at their source",
        ),
        Condition(
            "declared_blind",
            "ceiling",
            "blinding_missing",
            is_none,
            "labeling was not declared blind to {text}",
            "label without showing it, and declare so in annotation.blind.to",
        ),
        Condition(
            "nobody_saw_the_output",
            "ceiling",
            "labels_that_saw_the_output",
            is_none,
            "{value:.0f} label(s) come from someone who saw the scorer's output",
            "have those items labeled by someone who sees the item and the rubric only",
        ),
        Condition(
            "nothing_prefilled",
            "ceiling",
            "labels_prefilled",
            is_none,
            "{value:.0f} label(s) accepted a pre-filled answer",
            "have those items labeled from an empty form",
        ),
        Condition(
            "held_out_before_we_knew",
            "holdout",
            "held_out_by",
            says("reservation", "declaration"),
            "the labels are undated or older than the reservation, and nothing says who could see them: {note}",
            "declare holdout.prior_access (who could see the labels, and why the scorer's makers did not use them), "
            "or holdout.role: fitted",
        ),
        Condition(
            "labels_of_their_own",
            "holdout",
            "labels_as_elsewhere",
            says("no"),
            "the labels are not known to differ from those of the set {scope}, whose dimension is declared another "
            "construct: {note}",
            "label the items by the rubric of this dimension; or take the other one out of holdout.other_constructs, "
            "so that other items are drawn",
            required=False,
        ),
    ),
)

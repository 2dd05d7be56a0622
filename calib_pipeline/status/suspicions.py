"""What looks wrong about items and labels and is no proof: told beside a status, and barring nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calib_pipeline.evidence.holdout_reservation import TWINS_OUTSIDE

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.status.standing import Standing


def suspicions(standing: Standing) -> list[str]:
    """A sentence for reserved items with twins outside, for each pair of annotators whose answers look copied, and for
    outputs that look like labels."""
    return [
        *_twins(standing.evidence.get("holdout_reservation")),
        *_copied(standing.evidence.get("annotations")),
        *_like_labels(standing.evidence.get("scorer_agreement")),
    ]


def _twins(reservation: pd.DataFrame | None) -> list[str]:
    if reservation is None:
        return []
    return [
        f"reserved items with a twin outside of the set (the same content or normalised text): {row['value']:.0f} of "
        f"{row['n']:.0f}, such as {row['text']}; {row['note']}. Whoever saw one saw the other: give twins one `group` "
        "in the manifest, since groups are drawn whole"
        for row in reservation[reservation["name"] == TWINS_OUTSIDE].to_dict("records")
    ]


def _copied(labels: pd.DataFrame | None) -> list[str]:
    if labels is None:
        return []
    blocks = labels[labels["name"] == "block_of_equal_answers"].to_dict("records")
    return [
        f"annotators {block['scope']} gave the same answer to {block['value']:.0f} items one after the other "
        f"({block['text']}; {block['note']}): ask whether one saw the other's labels (`saw_other_labels`)"
        for block in blocks
    ]


def _like_labels(agreement: pd.DataFrame | None) -> list[str]:
    if agreement is None:
        return []
    return [
        f"the scorer's outputs equal {row['scope']} on {row['value']:.0f} of {row['n']:.0f} items "
        f"{row['text']} ({row['note']}): ask whether labels stood where the scorer was run, such as a gold column"
        for row in agreement[agreement["name"] == "outputs_like_labels"].to_dict("records")
    ]

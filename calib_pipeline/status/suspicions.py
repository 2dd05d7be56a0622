"""What looks wrong about labels and is no proof: told beside a status, and barring nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calib_pipeline.status.standing import Standing


def suspicions(standing: Standing) -> list[str]:
    """A sentence for each pair of annotators whose answers look copied."""
    labels = standing.evidence.get("annotations")
    if labels is None:
        return []
    blocks = labels[labels["name"] == "block_of_equal_answers"].to_dict("records")
    return [
        f"annotators {block['scope']} gave the same answer to {block['value']:.0f} items one after the other "
        f"({block['text']}; {block['note']}): ask whether one saw the other's labels (`saw_other_labels`)"
        for block in blocks
    ]

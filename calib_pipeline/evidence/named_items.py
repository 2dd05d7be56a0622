"""The items that the reservation names for several annotators: how many have them, and which need more."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from calib_pipeline.sampling import SHARE_OF_NAMED

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.evidence.evidence import EvidenceRows
    from calib_pipeline.studies.study import Study


def count_named_items(rows: EvidenceRows, study: Study, *, named: int, enough: int) -> None:
    """Enter how many of the named items have enough independent annotators, against both bars.

    The note of the share is how many items more the higher of the two bars needs.
    """
    asked = str(study.ceiling.min_annotators)
    rows.count("named_items_with_annotators", enough, bar=study.ceiling.min_items, n=named, text=asked)
    needed = max(math.ceil(SHARE_OF_NAMED * named), study.ceiling.min_items) - enough
    rows.count(
        "share_of_named_items",
        enough / named if named else None,
        bar=SHARE_OF_NAMED,
        n=named,
        text=asked,
        note=str(max(needed, 0)),
    )


def items_to_label_again(study: Study, drawn: pd.DataFrame, labels: pd.DataFrame) -> list[str]:
    """The items named in advance that too few independent annotators have labeled, in the order of their ids."""
    independent = labels[labels["independent"] & (labels["role"] != "adjudicator")]
    annotators = independent.groupby("item_id")["annotator_id"].nunique()
    enough = set(annotators[annotators >= max(study.ceiling.min_annotators, 2)].index)
    return sorted(set(drawn["item_id"][drawn["named"]]) - enough)

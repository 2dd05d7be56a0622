"""What people's labels of the reserved items amount to before anyone compares them with anything."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

import numpy as np

from calib_pipeline.evidence.evidence import Evidence, EvidenceRows
from calib_pipeline.evidence.holdout_reservation import stamp
from calib_pipeline.measurement.copied_blocks import copied_blocks
from calib_pipeline.tables.reasons import HARMLESS, Reason

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.evidence.same_labels import SameLabels
    from calib_pipeline.studies.study import Study
    from calib_pipeline.tables.annotations import Labels

BLIND_TO = ("output", "confidence", "difficulty")


CLOCKS_DIFFER = timedelta(hours=1)
"""How far the clock of whoever dates a label may be ahead."""


@dataclass(frozen=True)
class LabelsElsewhere:
    """How far the labels are those of a set of another dimension; ``compared`` is None where those are not kept."""

    holdout_id: str
    dimension: str
    compared: "SameLabels | None"


@dataclass(frozen=True)
class LabelProvenance:
    """Since when the labels were held out: by our reservation, by someone's declaration, or by nothing.

    ``elsewhere`` is what they are beside the labels of dimensions that are declared to be other constructs.
    """

    held_out_by: Literal["reservation", "declaration", "nothing"]
    note: str | None = None
    elsewhere: tuple[LabelsElsewhere, ...] = ()

    @property
    def told_elsewhere(self) -> dict[str, str]:
        """What evidence says of ``elsewhere``."""
        rows = EvidenceRows("annotations")
        labels_as_elsewhere(rows, self.elsewhere)
        return told_elsewhere(rows.build().rows)


def told_elsewhere(rows: "pd.DataFrame") -> dict[str, str]:
    """How far the labels are those of other constructs, in words by the set that has these."""
    told = rows[rows["name"] == "labels_as_elsewhere"]
    return dict(zip(told["scope"], told["note"], strict=True))


def label_provenance(
    study: "Study",
    labels: "pd.DataFrame",
    since: Mapping[str, str],
    elsewhere: tuple[LabelsElsewhere, ...] = (),
    ingested: str | None = None,
) -> LabelProvenance:
    """By what the labels were held out: dated after the reservation of their items, or declared, or by nothing.

    Parameters
    ----------
    labels
        ``item_id, labeled_at`` of the usable labels.
    since
        When each item was reserved.
    elsewhere
        How far they are those of other constructs.
    ingested
        When labels of the set were last ingested: a label that is dated later was not made when it says.
    """
    times = list(zip(labels["item_id"], labels["labeled_at"], strict=True))
    dated = [(item, time) for item, time in times if isinstance(time, str)]
    undated = len(times) - len(dated)
    older = sum(datetime.fromisoformat(time) < datetime.fromisoformat(since[item]) for item, time in dated)
    late = datetime.max.replace(tzinfo=UTC) if ingested is None else datetime.fromisoformat(ingested) + CLOCKS_DIFFER
    future = sum(datetime.fromisoformat(time) > late for _, time in dated)
    if not undated and not older and not future:
        return LabelProvenance("reservation", None, elsewhere)
    told = ((undated, "labels are undated"), (older, "are older"), (future, "are dated after they were ingested"))
    note = " and ".join(f"{count} {said}" for count, said in told if count)
    return LabelProvenance("declaration" if study.holdout.prior_access else "nothing", note, elsewhere)


def _copied_blocks(rows: EvidenceRows, study: "Study", labels: "pd.DataFrame") -> None:
    """Answers that look copied are a warning and no bar: people who agree a lot do so in long runs too."""
    if study.annotation.annotators == "slots":
        return
    looked_at = copied_blocks(labels)
    rows.count(
        "blocks_of_equal_answers", None if looked_at.why_none else len(looked_at.blocks), note=looked_at.why_none
    )
    for block in looked_at.blocks:
        rows.count(
            "block_of_equal_answers",
            block.run.length,
            scope=" and ".join(block.annotators),
            n=block.run.trials,
            text=f"from item {block.first_item} to {block.last_item}",
            note=f"equal on {block.run.equal_elsewhere} of the {block.run.trials - block.run.length} other items they "
            f"share; by chance with probability {block.probability:.1e} over all pairs",
        )


def labels_as_elsewhere(rows: EvidenceRows, elsewhere: tuple[LabelsElsewhere, ...]) -> None:
    """Whether the labels are those of another construct, for each set that has some of the items under it."""
    for one in elsewhere:
        compared = one.compared
        if compared is None:
            note = f"the labels of {one.dimension} met outputs in a diagnostic record alone, and are not kept"
            rows.count("labels_as_elsewhere", None, scope=one.holdout_id, text="unknown", note=note)
            continue
        note = f"{compared.equal} of {compared.items} shared items have the values that they have for {one.dimension}"
        said = "yes" if compared.same else "no"
        rows.count("labels_as_elsewhere", compared.equal, scope=one.holdout_id, n=compared.items, text=said, note=note)


def annotations(
    study: "Study",
    drawn: "pd.DataFrame",
    labels: "Labels",
    provenance: LabelProvenance,
    digests: Mapping[str, str | None],
) -> Evidence:
    """Evidence of the labels that were ingested for the reserved items.

    Parameters
    ----------
    drawn
        The reserved items.
    labels
        The normalised label sheet: usable labels, and every other row with its reason. Rows of items that are not
        reserved are counted; the others are listed.
    digests
        Digests of everything this rests on, the sheet's and the rung's above included.
    """
    rows = EvidenceRows("annotations")
    stamp(rows, digests)
    counted = labels.not_compared["reason"].astype(str).value_counts()
    reasons = {str(reason): int(count) for reason, count in counted.items()}
    for name, value in labels.counts.items():
        rows.count("label_rows", value, scope=name)
    for reason, count in sorted(reasons.items()):
        rows.count("not_compared", count, scope=reason)
    for spelling, count in sorted(labels.mapped.items()):
        rows.count("spelling_mapped", count, scope=spelling)

    labeled = labels.frame["item_id"].nunique()
    needed = math.ceil(study.annotation.min_coverage * len(drawn))
    rows.count(
        "coverage",
        labeled / len(drawn) if len(drawn) else None,
        bar=study.annotation.min_coverage,
        n=len(drawn),
        text=str(max(needed - labeled, 0)),
    )
    faults = {reason: count for reason, count in reasons.items() if reason not in HARMLESS}
    rows.count(
        "unusable_share",
        labels.unusable / labels.relevant if labels.relevant else 0.0,
        bar=study.annotation.max_unusable,
        n=labels.relevant,
        text=", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in sorted(faults.items())) or None,
    )
    declared = study.annotation.blind.to if study.annotation.blind is not None else ()
    missing = [what for what in BLIND_TO if what not in declared]
    rows.count("blinding_missing", len(missing), bar=0, text=" and ".join(missing) or None)
    rows.fact("blinding", study.annotation.blind.by if study.annotation.blind is not None else None)
    rows.count("labels_that_saw_the_output", reasons.get("saw_scorer_output", 0), bar=0)
    rows.count("labels_prefilled", reasons.get("prefilled", 0), bar=0)
    rows.fact("held_out_by", provenance.held_out_by, note=provenance.note)
    labels_as_elsewhere(rows, provenance.elsewhere)
    rows.fact("annotator_ids", study.annotation.annotators)
    own = labels.frame[labels.frame["role"] != "adjudicator"]
    rows.count("annotators", own["annotator_id"].nunique())
    rows.count("repeated_labels", len(labels.repeats))
    _copied_blocks(rows, study, own)
    rows.table("labels", labels.frame)
    rows.table("repeats", labels.repeats)
    listed = labels.not_compared[labels.not_compared["reason"] != Reason.NOT_RESERVED]
    named = np.array([str(reason) for reason in listed["reason"].tolist()], dtype=object)
    rows.table("not_compared", listed.assign(reason=named).reset_index(drop=True))
    return rows.build()

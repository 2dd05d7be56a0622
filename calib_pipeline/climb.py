"""Climb the ladder in memory: for notebooks, tests and simulation. No set is reserved, and no record can come of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from calib_pipeline.chain import MEASURING_RUNGS, Chain, Declared, Given, is_ready
from calib_pipeline.evidence.annotations import LabelProvenance
from calib_pipeline.evidence.evidence import Evidence
from calib_pipeline.evidence.holdout_reservation import HoldoutFacts
from calib_pipeline.evidence.scorer_agreement import Opening
from calib_pipeline.evidence.twins import twins_outside
from calib_pipeline.sampling import draw_holdout
from calib_pipeline.schemas import GATES, Verdict

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.studies.study import Study


@dataclass(frozen=True)
class Climb:
    """How far the ladder was climbed.

    ``evidence`` and ``verdicts`` stand by asset up to the first rung that does not hold, which is ``stopped_at``; None
    where all measuring rungs hold. ``reserved`` is always False: the ledger knows nothing of this.
    """

    evidence: dict[str, Evidence]
    verdicts: dict[str, Verdict]
    stopped_at: str | None
    reserved: bool = False
    note: str = "no set was reserved: no record can come of this"

    @property
    def reason(self) -> str | None:
        """Why the ladder stopped."""
        return None if self.stopped_at is None else self.verdicts[self.stopped_at].sentence


def climb(
    study: Study,
    items: pd.DataFrame,
    annotations: pd.DataFrame,
    scores: pd.DataFrame,
    *,
    rubric_text: str = "",
    configurations: int = 1,
) -> Climb:
    """Climb the measuring rungs in memory with the functions and gates that the pipeline uses.

    Parameters
    ----------
    items, annotations, scores
        Tables with the columns that people bring; see the table formats in the documentation.
    configurations
        How many configurations the gate's level answers for (m).

    Raises
    ------
    InputError
        Where a table cannot be used.
    """
    from calib_pipeline.tables.annotations import normalise_labels
    from calib_pipeline.tables.items import manifest_of
    from calib_pipeline.tables.reading import raw_table
    from calib_pipeline.tables.scores import normalise_scores, outputs_digest
    from calib_pipeline.tables.tuning import NOTHING

    manifest = manifest_of(raw_table(items, "items"), "in-memory")
    drawn = draw_holdout(
        manifest.frame,
        size=study.holdout.size,
        seed=study.holdout.seed,
        min_per_stratum=study.holdout.min_per_stratum,
        named_items=study.ceiling.min_items,
    )
    reserved = set(drawn["item_id"])
    contents = manifest.contents
    twins = twins_outside(manifest.frame, reserved)
    labels = normalise_labels(raw_table(annotations, "annotations"), study, reserved, contents, contents)
    outputs = normalise_scores(raw_table(scores, "scores"), study, reserved, contents=contents)
    panel = {
        scorer.id: normalise_scores(raw_table(scores, "scores"), study, reserved, contents, scorer, contents)
        for scorer in study.panel
    }
    tuned_on = NOTHING.with_examples(study.scorer.config)
    ready = is_ready(study, labels.frame, outputs.frame)
    given = Given(
        declared=Declared(study, rubric_text, manifest, outputs_digest(outputs, panel), "not reserved", None, tuned_on),
        drawn=drawn,
        facts=HoldoutFacts("not reserved", 1, registered=True, why_not=None, spent=0, twins=twins),
        labels=labels,
        labels_file=None,
        provenance=LabelProvenance("declaration" if study.holdout.prior_access else "reservation"),
        scores=outputs,
        panel=panel,
        opening=Opening("measurement", None, configurations, 0, None) if ready else None,
    )
    return judged(Chain(given))


def judged(chain: Chain) -> Climb:
    """Climb a chain until a rung does not hold."""
    verdicts: dict[str, Verdict] = {}
    for evidence in chain.rungs():
        verdicts[evidence.asset] = GATES[evidence.asset].judge(evidence.rows)
        if not verdicts[evidence.asset].holds:
            return Climb(dict(chain.evidence), verdicts, evidence.asset)
    assert set(verdicts) == set(MEASURING_RUNGS)
    return Climb(dict(chain.evidence), verdicts, None)

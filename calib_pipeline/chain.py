"""The seven rungs composed in order from tables, study and facts: one implementation for every way to climb them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from calib_pipeline.digests import digest_bytes, digest_json
from calib_pipeline.evidence.annotations import LabelProvenance
from calib_pipeline.evidence.annotations import annotations as label_evidence
from calib_pipeline.evidence.baseline_comparators import baseline_comparators
from calib_pipeline.evidence.evidence import Evidence
from calib_pipeline.evidence.holdout_reservation import HoldoutFacts, holdout_reservation
from calib_pipeline.evidence.human_ceiling import human_ceiling
from calib_pipeline.evidence.scorer_agreement import Opening, readiness, scorer_agreement
from calib_pipeline.evidence.threshold_check import threshold_check
from calib_pipeline.studies.digests import configuration_parts, plan_digest
from calib_pipeline.tables.tuning import NOTHING, TuningItems

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.studies.study import Study
    from calib_pipeline.tables.annotations import Labels
    from calib_pipeline.tables.items import Manifest
    from calib_pipeline.tables.scores import Scores

MEASURING_RUNGS = (
    "holdout_reservation",
    "annotations",
    "human_ceiling",
    "baseline_comparators",
    "scorer_agreement",
    "threshold_check",
)
"""The rungs below the record, in order."""

READS_OUTPUTS = ("scorer_agreement", "threshold_check", "published_record", "diagnostic_record")
"""The assets that rest on what the scorer said."""


@dataclass(frozen=True)
class Declared:
    """What is declared now for a study on a population: all that evidence must still agree with."""

    study: Study
    rubric_text: str
    manifest: Manifest
    scores_digest: str | None
    holdout_id: str
    drawn_strata: Mapping[str, int] | None = None
    tuned_on: TuningItems = NOTHING
    function_digest: str | None = None

    @cached_property
    def configuration(self) -> str:
        """The digest that names the instrument."""
        return digest_json(self.configuration_parts)

    @cached_property
    def configuration_parts(self) -> dict[str, Any]:
        """Everything material about the scorer, by part."""
        return configuration_parts(
            self.study, self.rubric_text, self.scores_digest, self.tuned_on.digest, self.function_digest
        )

    @cached_property
    def plan(self) -> str:
        return plan_digest(self.study)

    @cached_property
    def strata(self) -> dict[str, int]:
        """Items of the population in each stratum, those of the draw where it split them."""
        if self.drawn_strata is not None:
            return dict(self.drawn_strata)
        return {str(name): int(size) for name, size in self.manifest.frame.groupby("stratum").size().items()}

    def digests(self, asset: str, above: Mapping[str, str] | None = None) -> dict[str, str | None]:
        """What the evidence of an asset is stamped with: every declared part, and the evidence of each rung above by
        digest. The outputs of a judge that is run here are there once the rungs above them are, so that they enter
        where they are read."""
        outputs_enter = asset in READS_OUTPUTS or not self.study.judged
        declared: dict[str, str | None] = {
            "population": self.manifest.digest,
            "rubric": digest_bytes("\n".join(self.rubric_text.splitlines()).encode()),
            "configuration": self.configuration,
            "scores": self.scores_digest if outputs_enter else None,
            "plan": self.plan,
            "set": self.holdout_id,
        }
        return declared | {f"above: {asset}": digest for asset, digest in (above or {}).items()}


@dataclass(frozen=True)
class Given:
    """All that the measuring rungs are computed from."""

    declared: Declared
    drawn: pd.DataFrame
    facts: HoldoutFacts
    labels: Labels
    labels_file: str | None
    provenance: LabelProvenance
    scores: Scores
    panel: Mapping[str, Scores]
    opening: Opening | None


@dataclass
class Chain:
    """Computes the measuring rungs one after the other, each from the evidence of those above."""

    given: Given
    evidence: dict[str, Evidence] = field(default_factory=dict)

    def rungs(self) -> Iterator[Evidence]:
        """The evidence of each rung in order; whether to go on after one that does not hold, the caller says."""
        for asset in MEASURING_RUNGS:
            made = self._make(asset)
            if made is None:
                return
            self.evidence[asset] = made
            yield made

    def _above(self, *assets: str) -> dict[str, str]:
        return {asset: self.evidence[asset].digest for asset in assets}

    def _make(self, asset: str) -> Evidence | None:
        given, declared, study = self.given, self.given.declared, self.given.declared.study
        match asset:
            case "holdout_reservation":
                return holdout_reservation(
                    study, declared.strata, given.drawn, given.facts, declared.tuned_on, declared.digests(asset)
                )
            case "annotations":
                digests = declared.digests(asset, self._above("holdout_reservation")) | {
                    "labels file": given.labels_file
                }
                return label_evidence(study, given.drawn, given.labels, given.provenance, digests)
            case "human_ceiling":
                digests = declared.digests(asset, self._above("holdout_reservation", "annotations"))
                labels = given.labels
                return human_ceiling(study, declared.strata, given.drawn, labels.frame, labels.repeats, digests)
            case "baseline_comparators":
                digests = declared.digests(asset, self._above("holdout_reservation", "annotations", "human_ceiling"))
                frame = declared.manifest.frame
                return baseline_comparators(study, declared.strata, given.drawn, given.labels.frame, frame, digests)
            case "scorer_agreement":
                digests = declared.digests(asset, self._above(*MEASURING_RUNGS[:4]))
                comparators = self.evidence["baseline_comparators"].tables["comparators"]
                return scorer_agreement(
                    study,
                    declared.strata,
                    given.drawn,
                    given.labels.frame,
                    comparators,
                    self.evidence["human_ceiling"].rows,
                    given.scores.frame,
                    {scorer_id: scores.frame for scorer_id, scores in given.panel.items()},
                    given.opening,
                    digests,
                )
            case "threshold_check":
                agreement = self.evidence["scorer_agreement"]
                if "rows" not in agreement.tables or given.opening is None:
                    return None
                digests = declared.digests(asset, self._above("holdout_reservation", "scorer_agreement"))
                return threshold_check(
                    study, declared.strata, agreement.rows, agreement.tables["rows"], given.opening.m, digests
                )
        raise ValueError(f"{asset} is no measuring rung")


def is_ready(study: Study, labels: pd.DataFrame, scores: pd.DataFrame) -> bool:
    """Whether enough is scored to open the set, told from ids and statuses alone."""
    return readiness(set(labels["item_id"]), scores).enough(study)


def stamped(rows: pd.DataFrame) -> dict[str, str | None]:
    """The digests that evidence was stamped with, by part."""
    stamps = rows[rows["name"] == "digest"]
    return {
        str(part): digest if isinstance(digest, str) else None
        for part, digest in zip(stamps["scope"], stamps["text"], strict=True)
    }

"""What a plan takes from a declared study: level and attempts, the scale, the strata, and who labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calib_pipeline.planning.sample_plan import Labeling

if TYPE_CHECKING:
    from calib_pipeline.statistics.contingency import KappaWeights
    from calib_pipeline.studies.project import Project
    from calib_pipeline.studies.study import Study
    from calib_pipeline.tables.items import Manifest

PROPORTIONS = ("percent_agreement", "within_tolerance")
KAPPAS: dict[str, KappaWeights] = {"cohen_kappa": None, "quadratic_kappa": "quadratic"}

TWICE_ON_THIRTY = Labeling(annotators=2, doubly=30)
"""The least that a status needs."""


@dataclass(frozen=True)
class Assumptions:
    """What a plan rests on beside the figure that is expected.

    Attributes
    ----------
    level
        Of published intervals.
    attempts
        How many attempts a gate's level answers for.
    values
        The values of the scale; None where it has none, or nothing is known of it.
    accepted
        Which of them let an item through.
    headline, floor
        The declared statistics, the floor with its bar; None where nothing is declared.
    strata
        Items of the population in each stratum; empty where nothing is known of it.
    min_per_stratum
        As the reservation is asked for it.
    grouped
        Whether items share groups, so that an item says less than one drawn by itself.
    labeling
        Who labels.
    """

    level: float = 0.95
    attempts: int = 1
    values: tuple[str, ...] | None = None
    accepted: tuple[bool, ...] = ()
    headline: str | None = None
    floor: tuple[str, float] | None = None
    strata: Mapping[str, int] | None = None
    min_per_stratum: int = 1
    grouped: bool = False
    labeling: Labeling = TWICE_ON_THIRTY

    @property
    def gate_level(self) -> float:
        """The level at which a gate reads: 1 - (1 - level)/attempts."""
        return 1 - (1 - self.level) / self.attempts


def assumptions_of(study: Study, manifest: Manifest, attempts: int) -> Assumptions:
    """What a study declares, on the items of a population."""
    declared = study.decision.floor
    frame = manifest.frame
    return Assumptions(
        level=study.bootstrap.level,
        attempts=attempts,
        values=study.scale.levels,
        accepted=study.accepted_levels,
        headline=study.headline,
        floor=None if declared is None else (declared.statistic, declared.at_least),
        strata={str(name): int(size) for name, size in frame.groupby("stratum").size().items()},
        min_per_stratum=study.holdout.min_per_stratum,
        grouped=bool(frame["group"].dropna().duplicated().any()),
        labeling=Labeling(max(study.ceiling.min_annotators, 2), study.ceiling.min_items),
    )


def configurations_declared(project: Project, study: Study, population: str) -> int:
    """The studies that a set of this dimension and population would be registered for, at least this one."""
    beside = [
        one
        for one in project.studies.values()
        if one.dimension == study.dimension and population in one.data.populations and one.supports_status
    ]
    return max(1, len(beside))

"""A study: one dimension, one scorer under calibration, one reference and one decision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import Field, model_validator

from calib_pipeline.studies.declared import Name, Refusal, Section
from calib_pipeline.studies.scale import ContinuousScale, LevelScale, OrdinalScale, Scale
from calib_pipeline.studies.sections import (
    Agreement,
    Annotation,
    Baselines,
    Bootstrap,
    Ceiling,
    Data,
    Decision,
    Holdout,
    Reference,
    Rubric,
    Scorer,
    Transform,
)

_NOMINAL = ("cohen_kappa", "percent_agreement", "gwet_ac1")
STATISTICS: dict[str, tuple[str, ...]] = {
    "binary": _NOMINAL,
    "categorical": _NOMINAL,
    "pairwise": _NOMINAL,
    "ordinal": ("quadratic_kappa", *_NOMINAL, "krippendorff_alpha", "spearman"),
    "continuous": ("within_tolerance", "pearson", "spearman"),
}
"""The statistics of each scale that may be its headline; the first is the default."""

_CONSENSUS: dict[str, tuple[str, ...]] = {
    "binary": ("majority", "adjudicated", "single"),
    "categorical": ("majority", "adjudicated", "single"),
    "pairwise": ("majority", "adjudicated", "single"),
    "ordinal": ("majority", "median", "adjudicated", "single"),
    "continuous": ("mean", "adjudicated", "single"),
}


BOTH_ORDERS = "both_orders"
"""The key of a judge's configuration that names the two columns which it is shown in both orders."""


class Study(Section):
    """One dimension, one scorer under calibration, one reference and one decision."""

    study: Name = Field(description="The study's name, unique in the project.", examples=["rte.word-overlap"])
    dimension: Name = Field(description="The construct that is scored.", examples=["entailment"])
    scale: Scale = Field(
        description="The values of labels and verdicts.",
        examples=[{"kind": "binary", "positive": "1", "negative": "0"}],
    )
    rubric: Rubric = Field(description="The rubric.", examples=[{"version": "1", "text": "rubrics/entailment.md"}])
    reference: Reference = Field(
        description="What the scorer is measured against.", examples=[{"kind": "anchor", "consensus": "majority"}]
    )
    scorer: Scorer = Field(
        description="The scorer under calibration.",
        examples=[{"id": "word-overlap", "kind": "table", "config": {"threshold": 0.6}}],
    )
    panel: tuple[Scorer, ...] = Field(
        default=(), description="Other scorers, measured at the same opening without a status of their own."
    )
    holdout: Holdout = Field(
        description="The reserved set.",
        examples=[{"role": "holdout", "size": 300, "seed": 7, "min_per_stratum": 5}],
    )
    annotation: Annotation = Field(
        default_factory=Annotation, description="What the labels must be like.", examples=[{"min_coverage": 0.9}]
    )
    ceiling: Ceiling = Field(
        description="What people's agreement must show.",
        examples=[{"min_annotators": 2, "min_items": 50, "floor": 0.1, "because": "…"}],
    )
    baselines: Baselines = Field(
        default_factory=Baselines,
        description="The structural heuristics to beat.",
        examples=[{"heuristics": [{"column": "text_words"}]}],
    )
    agreement: Agreement = Field(
        description="What the comparison must show.", examples=[{"headline": "cohen_kappa", "min_pairs": 100}]
    )
    decision: Decision = Field(
        description="What is decided on the verdict, and what its errors cost.",
        examples=[
            {
                "gates": {"what": "routes answers to review", "blocking": False, "reversible": True},
                "accept": ["1"],
                "cost_false_accept": {"value": 4, "because": "…"},
                "cost_false_reject": {"value": 1, "because": "…"},
            }
        ],
    )
    bootstrap: Bootstrap = Field(
        default_factory=Bootstrap,
        description="How intervals are resampled.",
        examples=[{"resamples": 2000, "seed": 0, "level": 0.95}],
    )
    data: Data = Field(
        description="Where the tables are.",
        examples=[{"populations": ["news-2026-10"], "annotations": "data/{population}/annotations.csv"}],
    )

    @property
    def name(self) -> str:
        """The study's name."""
        return self.study

    @property
    def headline(self) -> str:
        """The statistic that the status rests on."""
        return self.agreement.headline or STATISTICS[self.scale.kind][0]

    @property
    def accepted_levels(self) -> tuple[bool, ...]:
        """For each level of the scale whether it lets the item through; empty on a continuous scale."""
        scale = self.scale
        return () if isinstance(scale, ContinuousScale) else scale.accepted(self.decision.accept)

    @property
    def accepts_number(self) -> Callable[[float], bool] | None:
        """Whether a number lets the item through; None on a scale of levels."""
        scale = self.scale
        return scale.accepted(self.decision.accept) if isinstance(scale, ContinuousScale) else None

    def loose_bars(self) -> list[str]:
        """A sentence for each declared bar that is looser than a status needs; such a study is a diagnostic one."""
        bars: list[tuple[str, float, float]] = [
            ("bootstrap.level", self.bootstrap.level, 0.95),
            ("bootstrap.resamples", self.bootstrap.resamples, 2000),
            ("ceiling.min_annotators", self.ceiling.min_annotators, 2),
            ("ceiling.min_items", self.ceiling.min_items, 30),
            ("agreement.min_pairs", self.agreement.min_pairs, 30),
            ("annotation.min_coverage", self.annotation.min_coverage, 0.9),
            ("agreement.min_scored", self.agreement.min_scored, 0.9),
        ]
        return [
            f"{key} is {declared:g}; a status needs at least {needed:g}"
            for key, declared, needed in bars
            if declared < needed
        ]

    @property
    def judged(self) -> bool:
        """Whether its scorers are run here, and no table brings their outputs."""
        return self.data.scores is None

    def by_scorer(self) -> dict[str, Study]:
        """The study as one of each of its scorers, by id: its own, and each member of the panel."""
        return {one.id: self.model_copy(update={"scorer": one}) for one in (self.scorer, *self.panel)}

    @property
    def supports_status(self) -> bool:
        """Whether the study can be more than a diagnostic: a held-out set, an anchor and no loose bar."""
        return self.holdout.role == "holdout" and self.reference.kind == "anchor" and not self.loose_bars()

    @model_validator(mode="after")
    def _parts_fit_together(self) -> Study:
        kind = self.scale.kind
        _one_of(self.headline, STATISTICS[kind], ("agreement", "headline"), kind)
        _one_of(self.reference.consensus, _CONSENSUS[kind], ("reference", "consensus"), kind)
        if self.decision.floor is not None:
            _one_of(self.decision.floor.statistic, STATISTICS[kind], ("decision", "floor", "statistic"), kind)
        try:
            self.scale.accepted(self.decision.accept)
        except Refusal as refusal:
            raise Refusal(refusal.what, key=("decision", "accept"), expected=refusal.expected) from None
        if self.dimension in (self.holdout.other_constructs or {}):
            raise Refusal(
                f"{self.dimension!r} is this study's own dimension",
                key=("holdout", "other_constructs", self.dimension),
                expected="another dimension, whose construct differs",
            )
        self._set_is_large_enough()
        _transform_fits(self.scorer.transform, self.scale, ("scorer", "transform"))
        seen = {self.scorer.id}
        for index, member in enumerate(self.panel):
            if member.id in seen:
                raise Refusal(f"the scorer {member.id!r} stands twice in this study", key=("panel", index, "id"))
            seen.add(member.id)
            _transform_fits(member.transform, self.scale, ("panel", index, "transform"))
        if self.data.scores is None and any(scorer.kind == "table" for scorer in (self.scorer, *self.panel)):
            raise Refusal("a scorer of kind 'table' needs its table", key=("data",), expected="the key 'scores'")
        if self.judged:
            _can_be_run(self.scorer, ("scorer",))
            _both_orders_fit(self.scorer, self.scale, ("scorer",))
            for index, member in enumerate(self.panel):
                _can_be_run(member, ("panel", index))
                _both_orders_fit(member, self.scale, ("panel", index))
        return self

    def _set_is_large_enough(self) -> None:
        size = self.holdout.size
        for key, asked in (
            (("ceiling", "min_items"), self.ceiling.min_items),
            (("agreement", "min_pairs"), self.agreement.min_pairs),
        ):
            if asked > size:
                raise Refusal(
                    f"{asked} cannot be had of the {size} items that 'holdout.size' reserves",
                    key=key,
                    expected=f"at most {size}, or a larger 'holdout.size'",
                )


def _can_be_run(scorer: Scorer, key: tuple[str | int, ...]) -> None:
    """What a judge cannot be run without stands in its configuration, as text."""
    needed = {
        "openai": (
            ("model", "the name by which the endpoint knows it"),
            ("prompt", "a text that shows {rubric} and columns of the item"),
        ),
        "python": (("function", "an import path such as judges.rules:politeness"),),
    }
    for name, expected in needed.get(scorer.kind, ()):
        given = scorer.config.get(name)
        if not isinstance(given, str) or not given.strip():
            raise Refusal(
                f"a scorer of kind {scorer.kind!r} whose outputs no table brings is run here, and has no {name}",
                key=(*key, "config"),
                expected=f"the key {name!r}: {expected}; or 'scores' under 'data'",
            )


def _both_orders_fit(scorer: Scorer, scale: Any, key: tuple[str | int, ...]) -> None:
    if BOTH_ORDERS not in scorer.config:
        return
    declared = scorer.config[BOTH_ORDERS]
    two = isinstance(declared, list) and len(declared) == 2 and all(isinstance(name, str) for name in declared)
    if scale.kind != "pairwise" or scorer.transform is not None or not two or declared[0] == declared[1]:
        raise Refusal(
            f"{BOTH_ORDERS} is {declared!r} on a scale of kind {scale.kind}",
            key=(*key, "config", BOTH_ORDERS),
            expected="the two columns of an item that hold the answers, such as [answer_a, answer_b], on a pairwise "
            "scale and without a transform",
        )


def _one_of(value: str, allowed: tuple[str, ...], key: tuple[str, ...], kind: str) -> None:
    if value not in allowed:
        raise Refusal(
            f"{value!r} has no meaning on a scale of kind {kind}", key=key, expected=f"one of {', '.join(allowed)}"
        )


def _transform_fits(transform: Transform | None, scale: Any, key: tuple[str | int, ...]) -> None:
    if transform is None:
        return
    if transform.cut is not None:
        if not isinstance(scale, LevelScale) or scale.kind == "categorical":  # type: ignore[attr-defined]
            raise Refusal(
                f"cut points need levels with an order, and a scale of kind {scale.kind} has none",
                key=(*key, "cut"),
                expected="'linear' on a continuous scale, and no transform on a categorical one",
            )
        if len(transform.cut) != len(scale.levels) - 1:
            raise Refusal(
                f"{len(transform.cut)} cut points do not divide {len(scale.levels)} levels",
                key=(*key, "cut"),
                expected=f"{len(scale.levels) - 1} cut points",
            )
    if transform.linear is not None:
        if isinstance(scale, ContinuousScale):
            low, high = scale.range
        elif isinstance(scale, OrdinalScale) and scale.numbers is not None:
            low, high = min(scale.numbers), max(scale.numbers)
        else:
            raise Refusal(
                "a straight map needs a scale of numbers",
                key=(*key, "linear"),
                expected="a continuous scale, or an ordinal one whose levels are numbers; else 'cut'",
            )
        if not all(low <= end <= high for end in transform.linear.to):
            raise Refusal(
                f"the map ends outside the scale, which goes from {low:g} to {high:g}",
                key=(*key, "linear", "to"),
                expected="ends on the scale",
            )

"""The sections of a study file, one class each, with the meaning of every key beside it."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from calib_pipeline.studies.declared import (
    Address,
    Flag,
    Name,
    Number,
    Reason,
    Refusal,
    Section,
    Sentence,
    Settings,
    Share,
    Text,
    Whole,
    refuse_too_wide,
)
from calib_pipeline.studies.scale import AtLeast

Consensus = Literal["majority", "median", "mean", "adjudicated", "single"]
Statistic = Literal[
    "percent_agreement",
    "cohen_kappa",
    "gwet_ac1",
    "quadratic_kappa",
    "krippendorff_alpha",
    "spearman",
    "within_tolerance",
    "pearson",
]
BLIND_TO = ("output", "confidence", "difficulty")


class Rubric(Section):
    """The rubric by which people label and the scorer scores."""

    version: Text = Field(description="The version that label rows name.", examples=["1"])
    text: Address = Field(description="Path of the rubric's text in the project.", examples=["rubrics/entailment.md"])


class Reference(Section):
    """What the scorer is measured against."""

    kind: Literal["anchor", "proxy"] = Field(
        description="anchor: human labels trusted enough to measure against; proxy: a related label.",
        examples=["anchor"],
    )
    consensus: Consensus = Field(
        description="How several labels of one item become one: median on ordinal, mean on continuous scales only.",
        examples=["majority"],
    )
    stands_for: Reason | None = Field(
        default=None, description="What a proxy stands for.", examples=["a person's judgment of waste"]
    )

    @model_validator(mode="after")
    def _a_proxy_stands_for_something(self) -> Reference:
        if self.kind == "proxy" and self.stands_for is None:
            raise Refusal("a proxy must say what it stands for", expected="the key 'stands_for'")
        if self.kind == "anchor" and self.stands_for is not None:
            raise Refusal("an anchor stands for itself", key=("stands_for",), expected="'stands_for' on a proxy only")
        return self


class Linear(Section):
    """A straight map of the scorer's range to the scale."""

    from_: tuple[Number, Number] = Field(alias="from", description="Two raw scores.", examples=[[0, 1]])
    to: tuple[Number, Number] = Field(description="The values to which they map.", examples=[[1, 5]])

    @model_validator(mode="after")
    def _ends_differ(self) -> Linear:
        if not self.from_[0] < self.from_[1]:
            raise Refusal("the raw range is empty", key=("from",), expected="the lower score first")
        refuse_too_wide(*self.from_, key="from")
        if self.to[0] == self.to[1]:
            raise Refusal("both ends map to one value", key=("to",), expected="two values")
        return self


class Transform(Section):
    """How a raw number becomes a value of the scale; frozen with the rest of the scorer."""

    cut: tuple[Number, ...] | None = Field(
        default=None,
        min_length=1,
        description="Ascending cut points: a score at or above the k-th point takes at least the k-th next level.",
        examples=[[0.6]],
    )
    linear: Linear | None = Field(
        default=None,
        description="A straight map; on an ordinal scale of numbers it ends at the nearest level.",
        examples=[{"from": [0, 1], "to": [1, 5]}],
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Transform:
        if (self.cut is None) == (self.linear is None):
            raise Refusal("a transform is either cut points or a straight map", expected="'cut' or 'linear'")
        if self.cut and any(low >= high for low, high in pairwise(self.cut)):
            raise Refusal("the cut points do not ascend", key=("cut",), expected="each point above the one before")
        return self


class JudgeRun(Section):
    """How the pipeline calls a judge; nothing here changes what is measured."""

    budget_tokens: Whole = Field(
        default=200_000, ge=1_000, le=5_000_000, description="Most tokens of one run.", examples=[200000]
    )
    concurrency: Whole = Field(default=4, ge=1, le=64, description="Most calls at once.", examples=[4])
    attempts: Whole = Field(default=5, ge=1, le=20, description="Most calls for one item.", examples=[5])
    timeout_seconds: Number = Field(default=60, gt=0, le=3600, description="Longest wait for an answer.", examples=[60])


class Scorer(Section):
    """The instrument: what stands in for a person's judgment."""

    id: Text = Field(description="The scorer_id in the table of scores.", examples=["word-overlap"])
    kind: Literal["table", "openai", "python"] = Field(description="Where its outputs come from.", examples=["table"])
    config: Settings = Field(
        default_factory=dict,
        description="Everything material about it: model, prompt, temperature, output_fields, evidence_selection, …",
        examples=[{"threshold": 0.6, "tokenizer": "whitespace"}],
    )
    transform: Transform | None = Field(
        default=None, description="From its raw number to the scale.", examples=[{"cut": [0.6]}]
    )
    tuned_on: Address | None = Field(
        default=None,
        description="Path or URL of a table of what it was tuned on: item_id, content_digest, text_digest or text.",
        examples=["data/{population}/tuning.csv"],
    )
    run: JudgeRun = Field(
        default_factory=JudgeRun,
        description="How it is called, where no table brings its outputs.",
        examples=[{"budget_tokens": 200000}],
    )


class Holdout(Section):
    """The set that is reserved before anything is tuned."""

    role: Literal["holdout", "fitted"] = Field(
        description="holdout: kept from everything that shaped the scorer; fitted: it shaped the scorer.",
        examples=["holdout"],
    )
    size: Whole = Field(ge=1, description="Items to reserve.", examples=[300])
    seed: Whole = Field(ge=0, description="Key of the random ranks.", examples=[7])
    min_per_stratum: Whole = Field(default=1, ge=1, description="Fewest items of a stratum.", examples=[5])
    max_measurements: Whole | None = Field(
        default=None, ge=1, description="Most configurations that are measured on one set.", examples=[5]
    )
    max_age_days: Whole | None = Field(
        default=None,
        ge=1,
        le=36500,
        description="Most days between the reservation of a set and its opening.",
        examples=[180],
    )
    prior_access: Reason | None = Field(
        default=None,
        description="For labels older than the reservation: who could see them, and why the scorer's makers did not.",
        examples=["the labels are public since 2014; the scorer was written before"],
    )
    other_constructs: dict[Name, Sentence] | None = Field(
        default=None,
        min_length=1,
        description="Dimensions of which spent items may serve this one, each with why its construct differs.",
        examples=[{"politeness": "a polite answer can be wrong: raters of tone never saw the source"}],
    )


class Blind(Section):
    """What the annotators could not see."""

    to: tuple[Literal["output", "confidence", "difficulty"], ...] = Field(
        description="The scorer's output, its confidence, and what it found hard.", examples=[list(BLIND_TO)]
    )
    by: Reason = Field(description="What kept it from them.", examples=["the label tool shows the pair only"])

    @property
    def complete(self) -> bool:
        """Whether nothing of the scorer could be seen."""
        return set(self.to) == set(BLIND_TO)


class Annotation(Section):
    """What the labels must be like."""

    min_coverage: Share = Field(default=0.9, description="Share of reserved items with a usable label.", examples=[0.9])
    max_unusable: Share = Field(
        default=0.05, description="Share of received rows that may be unusable.", examples=[0.05]
    )
    annotators: Literal["persons", "slots"] = Field(
        default="persons", description="slots: annotator ids are columns and not persons.", examples=["persons"]
    )
    blind: Blind | None = Field(
        default=None,
        description="What the annotators could not see, and what kept it from them.",
        examples=[{"to": list(BLIND_TO), "by": "the label tool shows the pair only"}],
    )


class Ceiling(Section):
    """What people's agreement with each other must show."""

    min_annotators: Whole = Field(default=2, ge=1, description="Independent annotators an item.", examples=[2])
    min_items: Whole = Field(ge=1, description="Items that so many have labeled.", examples=[50])
    floor: Number = Field(ge=0, lt=1, description="What the lower bound must exceed.", examples=[0.1])
    because: Reason = Field(
        description="Why below this floor there is nothing to measure.",
        examples=["below this two people read two rubrics"],
    )


class Heuristic(Section):
    """A structural feature that a scorer must beat."""

    column: Text = Field(description="A numeric column of the item manifest.", examples=["text_words"])


class Baselines(Section):
    """The comparators beside the constant and the random one."""

    heuristics: tuple[Heuristic, ...] = Field(
        default=(),
        description="Structural features, a length or step count among them.",
        examples=[[{"column": "words"}]],
    )

    @model_validator(mode="after")
    def _columns_are_distinct(self) -> Baselines:
        seen: set[str] = set()
        for index, heuristic in enumerate(self.heuristics):
            if heuristic.column in seen:
                raise Refusal(f"the heuristic {heuristic.column!r} stands twice", key=("heuristics", index, "column"))
            seen.add(heuristic.column)
        return self


class Agreement(Section):
    """What the comparison of scorer and people must show."""

    headline: Statistic | None = Field(
        default=None,
        description="The statistic that the status rests on; by default the scale's.",
        examples=["cohen_kappa"],
    )
    min_pairs: Whole = Field(ge=1, description="Fewest pairs of a label and a verdict.", examples=[100])
    min_scored: Share = Field(
        default=0.9, description="Share of items on which the scorer did not fail.", examples=[0.9]
    )


class Gates(Section):
    """What the scorer's verdict sets in motion."""

    what: Reason = Field(description="The action.", examples=["routes answers to review"])
    blocking: Flag = Field(description="Whether it blocks.", examples=[False])
    reversible: Flag = Field(description="Whether it can be undone.", examples=[True])


class Cost(Section):
    """What one error costs, in any unit, and why."""

    value: Number = Field(gt=0, le=1e9, description="The cost.", examples=[4])
    because: Reason = Field(description="Why so much.", examples=["a wrong answer reaches a customer"])


class Floor(Section):
    """A lowest coefficient, beside the cost and never instead of it."""

    statistic: Statistic = Field(description="The coefficient.", examples=["cohen_kappa"])
    at_least: Number = Field(le=1, description="What its lower bound must reach.", examples=[0.5])
    convention: Flag = Field(description="Whether the floor is a convention.", examples=[True])
    stands_for: Reason = Field(description="The decision it stands in for.", examples=["the review team's tolerance"])


def _accept_form(value: Any) -> str:
    return "at_least" if isinstance(value, dict | AtLeast) else "values"


class Decision(Section):
    """What is decided on the scorer's verdict, and what its errors cost."""

    gates: Gates = Field(
        description="What the verdict sets in motion.",
        examples=[{"what": "routes answers to review", "blocking": False, "reversible": True}],
    )
    accept: Annotated[
        Annotated[tuple[Text, ...], Tag("values")] | Annotated[AtLeast, Tag("at_least")],
        Discriminator(_accept_form),
    ] = Field(description="The values that let the item through.", examples=[["1"], {"at_least": "4"}])
    cost_false_accept: Cost = Field(
        description="The cost of letting a bad item through.",
        examples=[{"value": 4, "because": "a wrong answer reaches a customer"}],
    )
    cost_false_reject: Cost = Field(
        description="The cost of stopping a good item.",
        examples=[{"value": 1, "because": "two minutes of a reviewer"}],
    )
    budget: Number | None = Field(default=None, gt=0, description="Highest expected cost an item.", examples=[0.5])
    floor: Floor | None = Field(
        default=None,
        description="A lowest coefficient, beside the cost.",
        examples=[{"statistic": "cohen_kappa", "at_least": 0.5, "convention": True, "stands_for": "…"}],
    )

    @model_validator(mode="after")
    def _budget_can_bind(self) -> Decision:
        if self.budget is None:
            return self
        accept_all, reject_all = self.cost_false_accept.value, self.cost_false_reject.value
        # Without a scorer the cheaper of c_FA·q and c_FR·(1 − q) can be had, whose largest value over q is this:
        most = accept_all * reject_all / (accept_all + reject_all)
        if self.budget > most:
            raise Refusal(
                f"the budget {self.budget:g} is more than accepting or rejecting everything ever costs",
                key=("budget",),
                expected=f"at most {most:g} = {accept_all:g}·{reject_all:g} / ({accept_all:g} + {reject_all:g})",
            )
        return self


class Bootstrap(Section):
    """How intervals are resampled."""

    resamples: Whole = Field(default=2000, ge=10, le=1_000_000, description="Replicates.", examples=[2000])
    seed: Whole = Field(default=0, ge=0, description="Seed of the replicates.", examples=[0])
    level: Annotated[float, Field(strict=True, gt=0, lt=1)] = Field(
        default=0.95, description="Confidence level of published intervals.", examples=[0.95]
    )


class Data(Section):
    """Where the tables are; ``{population}`` stands for the population's name."""

    populations: tuple[Name, ...] = Field(
        min_length=1, description="Populations declared in calib.yaml.", examples=[["news-2026-10"]]
    )
    annotations: Address = Field(
        description="Path or URL of the labels.", examples=["data/{population}/annotations.csv"]
    )
    scores: Address | None = Field(
        default=None, description="Path or URL of the scorer's outputs.", examples=["data/{population}/scores.csv"]
    )

    @model_validator(mode="after")
    def _populations_are_distinct(self) -> Data:
        for index, population in enumerate(self.populations):
            if population in self.populations[:index]:
                raise Refusal(f"the population {population!r} stands twice", key=("populations", index))
        return self

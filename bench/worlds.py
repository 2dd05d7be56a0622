"""Made-up populations whose every figure is known, and samples of them as people would bring them.

A world says how true values come about, how people and a scorer read them, and what a length column tells of them. Its
figures on the infinite population follow by enumeration, through the same functions of joint tables that the ladder
uses on a sample, so that a difference between the two is a fault of sampling theory and not of a definition.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calib_pipeline.measurement.alpha import ALPHA
from calib_pipeline.measurement.directional import ABSTAINED, ACCEPTED, REJECTED
from calib_pipeline.measurement.measures import LevelMeasure
from calib_pipeline.measurement.reference import CONSENSUS, majority
from calib_pipeline.statistics import alpha_of_coincidences, fill_refusals, table_kappa
from calib_pipeline.studies.study import Study

Floats = NDArray[np.float64]
Tables = tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]

LABELED, DECIDED = "all labeled items", "decided"
LARGE = 1e9


def flips(rate: float, levels: int = 2) -> Floats:
    """(K, K) a reader who errs at a rate, to each wrong value alike."""
    return np.full((levels, levels), rate / (levels - 1)) + np.eye(levels) * (1 - rate - rate / (levels - 1))


def reader(sensitivity: float, specificity: float, refusal: float = 0.0) -> Floats:
    """(2, 3) a scorer of two values that refuses at a rate, whatever the truth."""
    decided = np.array([[specificity, 1 - specificity], [1 - sensitivity, sensitivity]])
    return np.column_stack([decided * (1 - refusal), np.full(2, refusal)])


def neighbours(levels: int, right: float, refusal: float = 0.0) -> Floats:
    """(K, K + 1) a scorer of ordered values that errs to the neighbours."""
    table = np.eye(levels) * right
    for value in range(levels):
        beside = [near for near in (value - 1, value + 1) if 0 <= near < levels]
        for near in beside:
            table[value, near] += (1 - right) / len(beside)
    return np.column_stack([table * (1 - refusal), np.full(levels, refusal)])


@dataclass(frozen=True)
class Stratum:
    """A part of the population: its share, how often each value is true in it, and how the scorer reads it there."""

    share: float
    prior: tuple[float, ...]
    scorer: Floats


@dataclass(frozen=True)
class World:
    """A population on a scale of K values.

    ``people`` (K, K) is how each of ``annotators`` reads a true value, ``feature`` (K, F) what the length column is
    there. With ``group_size`` items stand in groups, and each copies its group's first item with probability
    ``sticky``. With ``copies_feature`` half of the answers are those of a cut (F,) of the length column. Of
    ``candidates`` scorers of one kind the one is brought that agrees best with the labels. The population is ``times``
    as large as the sample of ``n``.
    """

    n: int
    strata: tuple[Stratum, ...]
    people: Floats
    feature: Floats
    annotators: int = 2
    ordered: bool = False
    group_size: int = 1
    sticky: float = 0.0
    times: int = 1
    min_per_stratum: int = 1
    copies_feature: Floats | None = None
    candidates: int = 1
    declared: Mapping[str, Any] = field(default_factory=dict)

    @property
    def levels(self) -> int:
        return len(self.people)

    @property
    def accepted(self) -> Floats:
        """(K,) the upper half of the values lets an item through."""
        return (np.arange(self.levels) >= (self.levels + 1) // 2).astype(float)

    def study(self) -> Study:
        """The study that is declared on it."""
        values = [str(value) for value in range(self.levels)]
        scale: dict[str, Any] = {"kind": "binary", "positive": "1", "negative": "0"}
        if self.levels > 2:
            scale = (
                {"kind": "ordinal", "levels": values} if self.ordered else {"kind": "categorical", "categories": values}
            )
        accepted = [value for value, lets in zip(values, self.accepted, strict=True) if lets]
        return _study(scale, self.n, self.min_per_stratum, accepted, self.declared)

    def tables(self, rng: np.random.Generator) -> Tables:
        """Items, annotations and scores of one population drawn from this world."""
        size = self.n * self.times
        per_stratum = [round(stratum.share * size) for stratum in self.strata]
        stratum = np.repeat(np.arange(len(self.strata)), per_stratum)
        size = len(stratum)
        truth = np.empty(size, dtype=np.intp)
        for index, part in enumerate(self.strata):
            inside = stratum == index
            truth[inside] = rng.choice(self.levels, inside.sum(), p=part.prior)
        labels = np.stack([_draw(rng, self.people[truth]) for _ in range(self.annotators)], axis=1)
        length = _draw(rng, self.feature[truth])
        readings = np.stack([part.scorer for part in self.strata])[stratum, truth]
        answer = _best([_draw(rng, readings) for _ in range(self.candidates)], labels, self.levels)
        if self.copies_feature is not None:
            copied = rng.random(size) < 0.5
            answer = np.where(copied, self.copies_feature.astype(np.intp)[length], answer)
        group = np.arange(size)
        if self.group_size > 1:
            for index in range(len(self.strata)):
                inside = np.flatnonzero(stratum == index)
                leader = inside[(np.arange(len(inside)) // self.group_size) * self.group_size]
                group[inside] = leader
            copied = np.where(rng.random(size) < self.sticky, group, np.arange(size))
            labels, length, answer = labels[copied], length[copied], answer[copied]
        return _as_brought(stratum, group if self.group_size > 1 else None, length, labels, answer, self.levels)

    def truths(self) -> dict[tuple[str, str, str], float]:
        """The figures of the infinite population by evidence row, scope and statistic."""
        measure = LevelMeasure(self.levels, self.ordered)
        found: dict[tuple[str, str, str], float] = {}
        for scope, table in {LABELED: self.labeled_table(), DECIDED: self.joint()[:, :-1]}.items():
            for statistic in measure.statistics:
                found["agreement", scope, statistic] = float(measure.value(statistic, LARGE * table.ravel()))
        one_to_one = sum(
            stratum.share * stratum.prior[truth] * np.outer(self.people[truth], self.people[truth])
            for stratum in self.strata
            for truth in range(self.levels)
        )
        for statistic in measure.statistics:
            found["human_agreement", "one other label", statistic] = float(
                measure.value(statistic, LARGE * np.ravel(one_to_one))
            )
        found["human_agreement", "all labels of an item", ALPHA] = float(
            alpha_of_coincidences(LARGE * np.asarray(one_to_one), "ordinal" if self.ordered else "nominal")
        )
        cells = self.cells()
        decided, refused = cells[:, :2], cells[:, 2:].sum(axis=1)
        found["error_rate", "scorer", "false_accept_decided"] = decided[0, ACCEPTED] / decided[0].sum()
        found["error_rate", "scorer", "false_reject_decided"] = decided[1, REJECTED] / decided[1].sum()
        found["error_rate", "scorer", "false_accept_labeled"] = (decided[0, ACCEPTED] + refused[0]) / cells[0].sum()
        found["error_rate", "scorer", "false_reject_labeled"] = (decided[1, REJECTED] + refused[1]) / cells[1].sum()
        found["error_rate", "scorer", "let_through"] = decided[0, ACCEPTED] / cells[0].sum()
        found["error_rate", "scorer", "youden_j"] = (
            decided[0, REJECTED] / decided[0].sum() + decided[1, ACCEPTED] / decided[1].sum() - 1
        )
        found["expected_cost", "scorer", "expected_cost"] = self.cost()
        return found

    def joint(self) -> Floats:
        """(K, K + 1) the population's joint table of reference and answer, refusals in the last column."""
        return np.asarray(
            sum(
                stratum.share * stratum.prior[truth] * np.outer(self._reference(truth), self._answer(stratum, truth))
                for stratum in self.strata
                for truth in range(self.levels)
            )
        )

    def labeled_table(self) -> Floats:
        """(K, K) the joint table with refusals charged."""
        joint = self.joint()
        return fill_refusals(joint, ordered=self.ordered, base=joint.sum(axis=1))

    def cells(self) -> Floats:
        """(2, 4) shares of reference (rejected, accepted) and decision."""
        cells = np.zeros((2, 4))
        for stratum in self.strata:
            for truth in range(self.levels):
                accepts = self._reference_accepts(truth)
                answer = self._answer(stratum, truth)
                decision = np.zeros(4)
                decision[ACCEPTED] = answer[:-1] @ self.accepted
                decision[REJECTED] = answer[:-1].sum() - decision[ACCEPTED]
                decision[ABSTAINED] = answer[-1]
                cells += stratum.share * stratum.prior[truth] * np.outer([1 - accepts, accepts], decision)
        return cells

    def cost(self) -> float:
        """Expected cost an item of acting on the scorer, at the declared costs."""
        cells, decision = self.cells(), self.study().decision
        refused = cells[:, 2:].sum(axis=1)
        false_accepts, false_rejects = cells[0, ACCEPTED] + refused[0], cells[1, REJECTED] + refused[1]
        return float(
            decision.cost_false_accept.value * false_accepts + decision.cost_false_reject.value * false_rejects
        )

    def figure(self, statistic: str) -> float:
        """A statistic of the scorer on all labeled items of the population."""
        return self.truths()["agreement", LABELED, statistic]

    def best_cut(self) -> Floats:
        """(F,) the answers 0 or 1 by value of the length column that agree best with the reference in κ."""
        measure = LevelMeasure(2, ordered=False)
        shares = np.asarray(
            sum(
                stratum.share * stratum.prior[truth] * np.outer(self._reference(truth), self.feature[truth])
                for stratum in self.strata
                for truth in range(2)
            )
        )
        length = self.feature.shape[1]
        cuts = [np.arange(length) > at for at in range(length - 1)]
        answers = [cut.astype(float) for cut in cuts] + [1.0 - cut for cut in cuts]
        kappas = [
            float(measure.value("cohen_kappa", np.stack([shares @ (1 - cut), shares @ cut], axis=1).ravel()))
            for cut in answers
        ]
        return answers[int(np.argmax(kappas))]

    def heuristic(self) -> Floats:
        """(2, 3) a scorer that reads as the best cut of the length column does, with errors of its own."""
        cut = self.best_cut()
        return np.stack([self.feature @ (1 - cut), self.feature @ cut, np.zeros(2)], axis=1)

    def _answer(self, stratum: Stratum, truth: int) -> Floats:
        answer = stratum.scorer[truth]
        if self.copies_feature is None:
            return answer
        copied = np.zeros(self.levels + 1)
        np.add.at(copied, self.copies_feature.astype(np.intp), self.feature[truth])
        return 0.5 * answer + 0.5 * copied

    def _reference(self, truth: int) -> Floats:
        rule = CONSENSUS[self.study().reference.consensus]
        counts, chances = self._label_counts(truth)
        return np.asarray(chances @ rule(counts))

    def _reference_accepts(self, truth: int) -> float:
        counts, chances = self._label_counts(truth)
        accepts = counts @ self.accepted
        return float(chances @ majority(np.stack([self.annotators - accepts, accepts], axis=1))[:, 1])

    def _label_counts(self, truth: int) -> tuple[Floats, Floats]:
        labels = np.array(list(product(range(self.levels), repeat=self.annotators)))
        counts = np.stack([(labels == value).sum(axis=1) for value in range(self.levels)], axis=1).astype(float)
        return counts, np.asarray(self.people[truth][labels].prod(axis=1))


@dataclass(frozen=True)
class NumberWorld:
    """A population of numbers: truth normal around 50, people and scorer with normal errors, on a range of 0 to 100."""

    n: int
    spread: float = 10.0
    people: float = 4.0
    scorer: float = 5.0
    bias: float = 0.0
    length: float = 20.0
    annotators: int = 2
    declared: Mapping[str, Any] = field(default_factory=dict)

    def study(self) -> Study:
        """The study that is declared on it."""
        scale = {"kind": "continuous", "range": [0, 100]}
        declared = {"reference": {"kind": "anchor", "consensus": "mean"}, **self.declared}
        return _study(scale, self.n, 1, {"at_least": 50}, declared)

    def tables(self, rng: np.random.Generator) -> Tables:
        """Items, annotations and scores of one population drawn from this world."""
        truth = rng.normal(50, self.spread, self.n)
        labels = np.clip(truth[:, None] + rng.normal(0, self.people, (self.n, self.annotators)), 0, 100)
        answer = np.clip(truth + self.bias + rng.normal(0, self.scorer, self.n), 0, 100)
        length = truth + rng.normal(0, self.length, self.n)
        ids = [f"item-{index}" for index in range(self.n)]
        items = pd.DataFrame({"item_id": ids, "words": length})
        annotations = pd.DataFrame(
            {
                "item_id": ids * self.annotators,
                "annotator_id": np.repeat([f"person-{person}" for person in range(self.annotators)], self.n),
                "value": [repr(float(value)) for value in labels.T.ravel()],
            }
        )
        scores = pd.DataFrame({"item_id": ids, "scorer_id": "scorer", "value": [repr(float(x)) for x in answer]})
        return items, annotations, scores

    def truths(self) -> dict[tuple[str, str, str], float]:
        """The figures of the infinite population by evidence row, scope and statistic."""
        reference = self.people**2 / self.annotators
        found = _of_normals(self.spread, reference, self.scorer**2, self.bias)
        people = _of_normals(self.spread, self.people**2, self.people**2, 0.0)
        truths = {("agreement", LABELED, statistic): value for statistic, value in found.items()}
        truths |= {("human_agreement", "one other label", statistic): value for statistic, value in people.items()}
        truths["human_agreement", "all labels of an item", ALPHA] = people["pearson"]
        return truths

    def figure(self, statistic: str) -> float:
        """A statistic of the scorer on the population."""
        return self.truths()["agreement", LABELED, statistic]


def _of_normals(spread: float, first: float, second: float, bias: float) -> dict[str, float]:
    """Statistics of x = t + e and y = t + bias + f for normal t, e and f of variances spread², first and second."""
    apart = math.sqrt(first + second)

    def below(x: float) -> float:
        return 0.5 * (1 + math.erf(x / math.sqrt(2)))

    r = spread**2 / math.sqrt((spread**2 + first) * (spread**2 + second))
    density = math.exp(-((bias / apart) ** 2) / 2) / math.sqrt(2 * math.pi)
    return {
        "within_tolerance": below((10 - bias) / apart) - below((-10 - bias) / apart),
        "mean_absolute_difference": 2 * apart * density + bias * (2 * below(bias / apart) - 1),
        "pearson": r,
        "spearman": 6 / math.pi * math.asin(r / 2),
    }


def _best(answers: list[NDArray[np.intp]], labels: NDArray[np.intp], levels: int) -> NDArray[np.intp]:
    """Of several scorers' answers those that agree best with people's labels in κ: a search on the set itself."""
    if len(answers) == 1:
        return answers[0]

    def kappa(answer: NDArray[np.intp]) -> float:
        cells = np.bincount((labels * levels + answer[:, None]).ravel(), minlength=levels**2)
        return float(table_kappa(cells.reshape(levels, levels).astype(float)))

    return max(answers, key=kappa)


def _draw(rng: np.random.Generator, chances: Floats) -> NDArray[np.intp]:
    """(n,) a category a row from chances (n, c)."""
    return np.asarray((rng.random((len(chances), 1)) > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1))


def _as_brought(
    stratum: NDArray[np.intp],
    group: NDArray[np.intp] | None,
    length: NDArray[np.intp],
    labels: NDArray[np.intp],
    answer: NDArray[np.intp],
    levels: int,
) -> Tables:
    ids = [f"item-{index}" for index in range(len(stratum))]
    items = pd.DataFrame({"item_id": ids, "stratum": [f"stratum-{index}" for index in stratum], "words": length})
    if group is not None:
        items["group"] = [f"group-{index}" for index in group]
    annotators = labels.shape[1]
    annotations = pd.DataFrame(
        {
            "item_id": ids * annotators,
            "annotator_id": np.repeat([f"person-{person}" for person in range(annotators)], len(ids)),
            "value": labels.T.ravel().astype(str),
        }
    )
    refused = answer == levels
    scores = pd.DataFrame(
        {
            "item_id": ids,
            "scorer_id": "scorer",
            "value": np.where(refused, "", answer.astype(str)),
            "status": np.where(refused, "abstained", "scored"),
        }
    )
    return items, annotations, scores


def _study(scale: dict[str, Any], n: int, min_per_stratum: int, accept: Any, declared: Mapping[str, Any]) -> Study:
    given: dict[str, Any] = {
        "study": "simulated",
        "dimension": "quality",
        "scale": scale,
        "rubric": {"version": "1", "text": "rubric.md"},
        "reference": {"kind": "anchor", "consensus": "majority"},
        "scorer": {"id": "scorer", "kind": "table"},
        "holdout": {"role": "holdout", "size": n, "seed": 1, "min_per_stratum": min_per_stratum},
        "annotation": {"blind": {"to": ["output", "confidence", "difficulty"], "by": "simulated"}},
        "ceiling": {"min_items": max(30, n // 4), "floor": 0.0, "because": "only people who agree set a ceiling"},
        "baselines": {"heuristics": [{"column": "words"}]},
        "agreement": {"min_pairs": 30, "min_scored": 0.9},
        "decision": {
            "gates": {"what": "nothing", "blocking": False, "reversible": True},
            "accept": accept,
            "cost_false_accept": {"value": 1.0, "because": "simulated"},
            "cost_false_reject": {"value": 1.0, "because": "simulated"},
        },
        "data": {"populations": ["made-up"], "annotations": "annotations.csv", "scores": "scores.csv"},
    }
    for section, values in declared.items():
        given[section] = {**given[section], **values} if isinstance(given.get(section), dict) else values
    return Study.model_validate(given)

"""Two answers shown in both orders: what a judge says of a pair counts where the order does not change it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from calib_pipeline.judging.answers import Answer
from calib_pipeline.statistics import Estimate, wilson
from calib_pipeline.studies.scale import PairwiseScale
from calib_pipeline.studies.study import BOTH_ORDERS, Study
from calib_pipeline.tables.verdicts import verdict


def exchanged_columns(study: Study) -> tuple[str, str] | None:
    """The two columns of an item that are shown in both orders; None where a judge is asked once."""
    declared = study.scorer.config.get(BOTH_ORDERS)
    return None if declared is None else (declared[0], declared[1])


def exchanged(fields: Mapping[str, str | None], columns: tuple[str, str]) -> dict[str, str | None]:
    """An item's cells with two of them in each other's place."""
    one, other = columns
    return {**fields, one: fields[other], other: fields[one]}


def of_both_orders(study: Study, shown: Answer, shown_exchanged: Answer) -> Answer:
    """The answer to a pair from the answers to both orders.

    A failure in one order is a failure, and an abstention in one is an abstention. A judge that prefers a place and no
    answer contradicts itself, and has abstained.
    """
    for answer in (shown, shown_exchanged):
        if answer.status == "error":
            return answer
    for answer in (shown, shown_exchanged):
        if answer.status == "abstained":
            return answer
    first, second = (verdict(study, study.scorer, answer.value, None).value for answer in (shown, shown_exchanged))
    if first != _turned(study, second):
        return Answer("abstained", explanation=f"order: {first} as shown, {second} with the two exchanged")
    confidences = [answer.confidence for answer in (shown, shown_exchanged) if answer.confidence is not None]
    return replace(shown, value=first, confidence=min(confidences, default=None))


def order_consistency(study: Study, pairs: list[tuple[Answer, Answer]]) -> Estimate:
    """The share of pairs with a verdict in both orders on which the order changes nothing (Wilson)."""
    decided = [pair for pair in pairs if all(answer.status == "scored" for answer in pair)]
    alike = sum(of_both_orders(study, *pair).status == "scored" for pair in decided)
    return replace(wilson(alike, len(decided)), statistic="order_consistency")


def order_sentence(consistency: Estimate) -> str:
    """The consistency in words."""
    if consistency.value is None:
        return "no pair has a verdict in both orders"
    return (
        f"the order changed nothing on {consistency.value:.1%} [{consistency.low:.1%}, {consistency.high:.1%}] of "
        f"{consistency.n:.0f} pairs; on the others the judge has abstained"
    )


def _turned(study: Study, value: str | None) -> str | None:
    """What a verdict on the exchanged pair says of the pair as it is."""
    scale = study.scale
    assert isinstance(scale, PairwiseScale)
    return {scale.candidate: scale.baseline, scale.baseline: scale.candidate}.get(value or "", value)

"""What ``calib plan`` says: each question with its items, its labels, its strata and its power curve."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from calib_pipeline.planning.questions import HalfWidth, TellKappa, power_curve
from calib_pipeline.planning.sample_plan import overall_plan, per_stratum_plan

if TYPE_CHECKING:
    from calib_pipeline.cli.console import Console
    from calib_pipeline.planning.assumptions import Assumptions
    from calib_pipeline.planning.questions import Answer, PowerAt, Question
    from calib_pipeline.planning.sample_plan import SamplePlan

BAR_WIDTH = 40


@dataclass(frozen=True)
class Planned:
    """A question with its answer; ``items`` are those of the whole scale where the rate is one of a slice."""

    question: Question
    answer: Answer
    items: int | None
    sample: SamplePlan | None
    curve: Sequence[PowerAt]


def planned(question: Question, assumed: Assumptions, part: float, *, per_stratum: bool, curve: bool) -> Planned:
    """Answer a question.

    Parameters
    ----------
    part
        The share of the items that a rate is one of.
    """
    answer = question.answer()
    if answer.needed is None:
        return Planned(question, answer, None, None, ())
    items = answer.needed if isinstance(question, TellKappa) else math.ceil(answer.needed / part - 1e-9)
    strata = assumed.strata or {}
    sample = (
        per_stratum_plan(items, strata, assumed.labeling)
        if per_stratum
        else overall_plan(items, strata, assumed.min_per_stratum, assumed.labeling)
    )
    drawn = power_curve(question, answer.needed) if curve and not isinstance(question, HalfWidth) else ()
    return Planned(question, answer, items, sample, drawn)


def report(
    answers: Sequence[Planned], assumed: Assumptions, shares: Sequence[float], arguments: argparse.Namespace,
    console: Console,
) -> None:  # fmt: skip
    """Print the answers, and what they rest on."""
    console.json({"assumed": _assumed(assumed, shares, arguments), "answers": [_as_json(one) for one in answers]})
    of_kappa = any(isinstance(one.question, TellKappa) for one in answers)
    console.table(
        ("items to show", "level", "power", "exact", "formula", "simulated"), [_numbers(one) for one in answers]
    )
    console.result()
    console.table(("labels to show", "items", "doubly", "labels", "all by all"), [_labels(one) for one in answers])
    for one in answers:
        _say_notes(one, arguments, console)
    for note in _notes(assumed, shares, arguments, of_kappa=of_kappa):
        console.note(note)
    _say_strata(answers, console)
    for one in answers:
        _draw(one, console)


def _numbers(one: Planned) -> tuple[str, ...]:
    answer = one.answer
    computed = _count(answer.computed)
    simulated = _count(None if answer.simulated is None else answer.simulated.n)
    numbers = ("", computed, simulated) if answer.simulates else (computed, "", "")
    power = "" if isinstance(one.question, HalfWidth) else f"{one.question.power:g}"
    return one.question.words, f"{one.question.level:.6g}", power, *numbers


def _labels(one: Planned) -> tuple[str, ...]:
    if one.sample is None:
        return one.question.words, "", "", "", ""
    cost = one.sample.cost
    return one.question.words, *(f"{count:,}" for count in (cost.items, cost.doubly, cost.labels, cost.all_by_each))


def _count(items: int | None) -> str:
    return "> 1,000,000" if items is None else f"{items:,}"


def _say_notes(one: Planned, arguments: argparse.Namespace, console: Console) -> None:
    answer, sample = one.answer, one.sample
    if answer.check is not None:
        check = answer.check
        lost = f", {check.undefined:,} without a κ" if check.undefined else ""
        console.note(
            f"{one.question.words}: simulated power at {check.n:,} items {check.power:.3f} "
            f"[{check.low:.3f}, {check.high:.3f}]{lost}"
        )
    if sample is None:
        console.note(f"{one.question.words}: no number of items that people could label is known to be enough")
        return
    if answer.needed != one.items:
        console.note(
            f"{one.question.words}: {answer.needed:,} of the items that people {arguments.slice[:-2]}, which are that "
            f"many of {one.items:,} on average"
        )
    for name, lacking in sample.short.items():
        whose = "the population" if name == "population" else f"the stratum {name!r}"
        console.note(f"{one.question.words}: {whose} has {lacking:,} items too few, so the question stays open there")


def _notes(
    assumed: Assumptions, shares: Sequence[float], arguments: argparse.Namespace, *, of_kappa: bool
) -> Sequence[str]:
    labeling = assumed.labeling
    notes = [
        "items are labeled ones with an output of the scorer: what stays unlabeled or is refused comes on top",
        f"labels: every item once, and the doubly labeled ones by {labeling.annotators - 1} more, so that "
        f"{labeling.doubly} have {labeling.annotators} independent labels where one in ten does not come back",
    ]
    if of_kappa or arguments.slice is not None:
        said = ", ".join(f"{share:.3g}" for share in shares)
        equal = "" if arguments.shares is not None else " (equal, since --shares is not given: rare values need more)"
        notes.append(f"shares of the values: {said}{equal}")
    if of_kappa:
        notes.append("formula: by the standard error of Fleiss, Cohen and Everitt (1969)")
        notes.append(
            f"simulated: B = {arguments.samples} samples a size, seed {arguments.seed}; scorer and people use the "
            "values alike, and disagree by chance"
        )
    if assumed.attempts > 1:
        notes.append(
            f"a gate's level answers for {assumed.attempts} attempts (studies declared on the set, and earlier "
            "measurements)"
        )
    if assumed.headline is not None and assumed.headline not in ("cohen_kappa", "quadratic_kappa") and of_kappa:
        notes.append(f"the study's headline is {assumed.headline.replace('_', ' ')}: this plan is of Cohen's κ")
    if assumed.grouped:
        notes.append("items share groups: they say less than as many drawn one by one, so take this as the least")
    return notes


def _say_strata(answers: Sequence[Planned], console: Console) -> None:
    samples = [(one.question.words, one.sample) for one in answers if one.sample is not None and one.sample.strata]
    if not samples:
        return
    console.result()
    for words, sample in samples:
        console.table(
            ("stratum", "items to draw"),
            [(name, f"{count:,}") for name, count in sample.strata.items()],
            title=f"{words}: {sample.cost.items:,} items, which say as much as {sample.effective:,.0f} drawn at random",
        )


def _draw(one: Planned, console: Console) -> None:
    if not one.curve:
        return
    console.result()
    rows = []
    for at in one.curve:
        best = at.computed if at.simulated is None else at.simulated.power
        simulated = "" if at.simulated is None else f"{at.simulated.power:.3f}"
        rows.append((f"{at.n:,}", f"{at.computed:.3f}", simulated, "#" * round(BAR_WIDTH * best)))
    formula = "formula" if isinstance(one.question, TellKappa) else "exact"
    console.table(("items", formula, "simulated", "power, 0 to 1"), rows, title=f"Power to show {one.question.words}")


def _assumed(assumed: Assumptions, shares: Sequence[float], arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "study": arguments.study,
        "population": arguments.population,
        "level": assumed.level,
        "attempts": assumed.attempts,
        "gate_level": assumed.gate_level,
        "headline": assumed.headline,
        "shares": list(shares),
        "slice": arguments.slice,
        "strata": dict(assumed.strata or {}),
        "min_per_stratum": assumed.min_per_stratum,
        "grouped": assumed.grouped,
        "annotators": assumed.labeling.annotators,
        "doubly": assumed.labeling.doubly,
    }


def _as_json(one: Planned) -> dict[str, Any]:
    question, answer = one.question, one.answer
    simulated = None if answer.simulated is None else asdict(answer.simulated)
    cost = None if one.sample is None else one.sample.cost
    return {
        "question": question.words,
        **{name: value for name, value in asdict(question).items() if name not in ("samples", "shares")},
        "method": "simulation and standard error" if answer.simulates else "exact",
        "computed": answer.computed,
        "simulated": simulated,
        "simulated_at_computed": None if answer.check is None else asdict(answer.check),
        "needed": answer.needed,
        "items": one.items,
        "sample": None if one.sample is None else asdict(one.sample),
        "labels": None if cost is None else cost.labels,
        "labels_if_all_label_all": None if cost is None else cost.all_by_each,
        "curve": [asdict(at) for at in one.curve],
    }

"""``calib plan``: how many items a question needs, and what their labels cost."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from calib_pipeline.cli.console import Console
from calib_pipeline.cli.exit_codes import REACHED
from calib_pipeline.errors import InputError

if TYPE_CHECKING:
    from calib_pipeline.planning.assumptions import Assumptions
    from calib_pipeline.planning.questions import Question
    from calib_pipeline.statistics.contingency import KappaWeights
    from calib_pipeline.studies.project import Project
    from calib_pipeline.studies.study import Study

POWER, SAMPLES, SEED = 0.8, 4000, 0
FEWEST_SAMPLES, MOST_SAMPLES = 100, 100_000
SLICES = ("accepted", "rejected")
EPILOG = """\
questions, one or more:
  --half-width 0.05 [--rate 0.85]   an agreement or error rate to within ± 0.05
  --tell 0.55 0.65                  κ 0.55 from κ 0.65, each way
  --floor 0.6 --kappa 0.7           a κ of 0.7 shown to lie above 0.6; with --rate a proportion
  --at-most 0.1 --rate 0.05         an error rate of 0.05 shown to lie below 0.1

With --study the level, the attempts, the scale, the floor, the strata and the annotators are those declared; what is
given stands over them. Nothing is read but declarations, the item manifest and the ledger's events."""


def add(commands: Any, everywhere: argparse.ArgumentParser) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "plan",
        parents=[everywhere],
        help="how many items and labels a question needs",
        description="How many items a question needs, and what their labels cost. Exact for proportions; for κ by the "
        "large-sample standard error (Fleiss, Cohen and Everitt 1969), and by simulation of the interval that a gate "
        "reads.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    asked = parser.add_argument_group("questions")
    asked.add_argument("--half-width", metavar="H", type=float, help="of a proportion's interval, to each side")
    asked.add_argument("--tell", metavar=("K1", "K2"), nargs=2, type=float, help="two values of κ to tell apart")
    asked.add_argument("--floor", metavar="F", type=float, help="what the lower limit must exceed")
    asked.add_argument("--at-most", metavar="F", type=float, help="what a proportion's upper limit must stay under")
    assumed = parser.add_argument_group("what is assumed to be true")
    assumed.add_argument("--rate", metavar="P", type=float, help="the proportion: an agreement or an error rate")
    assumed.add_argument("--kappa", metavar="K", type=float, help="the κ")
    assumed.add_argument(
        "--slice", choices=SLICES, help="the rate is one of the items that people accept (false rejects) or reject"
    )
    assumed.add_argument(
        "--shares",
        metavar="S",
        nargs="+",
        type=float,
        help="how often each value of the scale is right, in the scale's order; without a study the first is the "
        "accepted one; equal by default",
    )
    parser.add_argument("--study", metavar="S", help="plan for this study")
    parser.add_argument("--population", metavar="P", help="on this population; needed where the study has several")
    parser.add_argument(
        "--strata", metavar="NAME=ITEMS", nargs="+", default=[], help="the population's strata, with their items"
    )
    parser.add_argument("--per-stratum", action="store_true", help="answer for every stratum by itself")
    parser.add_argument("--level", metavar="L", type=float, help="of intervals; 0.95 by default")
    parser.add_argument("--attempts", metavar="M", type=int, help="attempts that a gate's level answers for")
    parser.add_argument("--target-power", metavar="P", type=float, default=POWER, help=f"{POWER} by default")
    parser.add_argument("--power", action="store_true", help="draw the power curve")
    parser.add_argument("--annotators", metavar="A", type=int, help="people on a doubly labeled item; 2 by default")
    parser.add_argument("--doubly", metavar="D", type=int, help="items that so many must label; 30 by default")
    parser.add_argument("--samples", metavar="B", type=int, default=SAMPLES, help=f"simulated; {SAMPLES} by default")
    parser.add_argument("--seed", metavar="N", type=int, default=SEED, help=f"of the simulation; {SEED} by default")
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Answer every question."""
    from calib_pipeline.cli.plan_report import planned, report

    _refuse_impossible(arguments)
    assumed = _with_given(_declared(arguments), arguments)
    shares = _shares(arguments, assumed)
    questions = _questions(arguments, assumed, shares)
    part = _part(arguments, assumed, shares)
    answers = [
        planned(one, assumed, part, per_stratum=arguments.per_stratum, curve=arguments.power) for one in questions
    ]
    report(answers, assumed, shares, arguments, console)
    return REACHED


def _refuse_impossible(arguments: argparse.Namespace) -> None:
    """Refuse numbers that mean nothing, each by its option."""
    between = (
        ("half_width", 0.0, 0.5), ("at_most", 0.0, 1.0), ("level", 0.0, 1.0), ("target_power", 0.0, 1.0),
        ("floor", -1.0, 1.0), ("kappa", -1.0, 1.0),
    )  # fmt: skip
    for name, low, high in between:
        value = getattr(arguments, name)
        if value is not None and not low < value < high:
            raise _impossible(name, value, f"a number between {low:g} and {high:g}")
    for value in arguments.tell or ():
        if not -1.0 < value < 1.0:
            raise _impossible("tell", value, "two numbers between -1 and 1")
    if arguments.rate is not None and not 0.0 <= arguments.rate <= 1.0:
        raise _impossible("rate", arguments.rate, "a proportion, from 0 to 1")
    for share in arguments.shares or ():
        if not (share > 0 and math.isfinite(share)):
            raise _impossible("shares", share, "numbers above 0")
    whole = (("attempts", 1, 10_000), ("annotators", 1, 1000), ("doubly", 0, 10_000_000), ("seed", 0, 2**63))
    for option, least, most in (*whole, ("samples", FEWEST_SAMPLES, MOST_SAMPLES)):
        value = getattr(arguments, option)
        if value is not None and not least <= value <= most:
            raise _impossible(option, value, f"a whole number from {least} to {most}")


def _impossible(name: str, value: float, expected: str) -> InputError:
    return InputError(f"{value:g} cannot be", where=f"--{name.replace('_', '-')}", expected=expected)


def _declared(arguments: argparse.Namespace) -> Assumptions:
    from calib_pipeline.planning.assumptions import Assumptions, assumptions_of, configurations_declared

    if arguments.study is None:
        if arguments.population is not None:
            raise InputError("a population is planned on for a study", where="--population", expected="--study S too")
        return Assumptions()
    from calib_pipeline.cli.project_folder import known_study, one_cell, open_project
    from calib_pipeline.table_cache import TableCache

    project = open_project(arguments.project)
    known_study(project, arguments.study)
    study = project.studies[arguments.study]
    declared = study.data.populations
    if arguments.population is None and len(declared) > 1:
        raise InputError(
            f"the study {study.name!r} is declared on several populations",
            where="--population",
            expected=f"one of {', '.join(declared)}",
        )
    cell = one_cell(project, study.name, arguments.population or declared[0])
    attempts = configurations_declared(project, study, cell.population)
    attempts += _measured_before(project, study, cell.population)
    return assumptions_of(study, TableCache(project).manifest(cell.population), attempts)


def _measured_before(project: Project, study: Study, population: str) -> int:
    """Measurements that the next set's level must answer for: those of the dimension on the population."""
    from calib_pipeline.status.standing import open_ledger, refuse_broken_ledger

    ledger = open_ledger(project)
    if ledger is None:
        return 0
    with closing(ledger):
        refuse_broken_ledger(project)
        own = {
            header.holdout_id
            for header in ledger.sets()
            if (header.dimension, header.population) == (study.dimension, population)
        }
        return sum(
            event.event == "opened" and event.holdout_id in own and event.details.get("purpose") == "measurement"
            for event in ledger.events()
        )


def _with_given(assumed: Assumptions, arguments: argparse.Namespace) -> Assumptions:
    from calib_pipeline.planning.sample_plan import Labeling

    given = {name: getattr(arguments, name) for name in ("level", "attempts")}
    given = {name: value for name, value in given.items() if value is not None}
    if arguments.strata:
        given["strata"] = _strata(arguments.strata)
    annotators, doubly = arguments.annotators, arguments.doubly
    labeling = Labeling(
        assumed.labeling.annotators if annotators is None else annotators,
        assumed.labeling.doubly if doubly is None else doubly,
    )
    assumed = replace(assumed, labeling=labeling, **given)
    if arguments.per_stratum and not assumed.strata:
        raise InputError("no stratum is known", where="--per-stratum", expected="--study S, or --strata NAME=ITEMS …")
    return assumed


def _strata(given: Sequence[str]) -> dict[str, int]:
    strata = {}
    for text in given:
        name, _, items = text.rpartition("=")
        if not name or not items.isascii() or not items.isdigit() or not 1 <= int(items) <= 10**12 or name in strata:
            raise InputError(
                f"{text!r} is no stratum", where="--strata", expected="NAME=ITEMS, each name once, as in short=1200"
            )
        strata[name] = int(items)
    return strata


def _shares(arguments: argparse.Namespace, assumed: Assumptions) -> tuple[float, ...]:
    """The share of each value; equal ones where none are given."""
    expected = None if assumed.values is None else len(assumed.values)
    if arguments.shares is None:
        count = expected or 2
        return (1 / count,) * count
    if len(arguments.shares) < 2 or expected not in (None, len(arguments.shares)):
        named = "at least two" if assumed.values is None else f"{expected}, for {', '.join(assumed.values)}"
        raise InputError(f"{len(arguments.shares)} shares are given", where="--shares", expected=named)
    total = sum(arguments.shares)
    return tuple(share / total for share in arguments.shares)


def _part(arguments: argparse.Namespace, assumed: Assumptions, shares: Sequence[float]) -> float:
    """The share of the items that a rate is one of: 1 where it is one of all."""
    if arguments.slice is None:
        return 1.0
    if arguments.rate is None:
        raise InputError("a slice is one of a rate", where="--slice", expected="--rate P")
    if assumed.headline is not None and assumed.values is None:
        raise InputError(
            "a continuous scale has no shares of values", where="--slice", expected="a scale of levels",
            todo="plan for the slice alone, without --slice, and divide by its share",
        )  # fmt: skip
    accepted = assumed.accepted or (True, *(False,) * (len(shares) - 1))
    return sum(
        share for share, lets_through in zip(shares, accepted, strict=True)
        if lets_through == (arguments.slice == "accepted")
    )  # fmt: skip


def _questions(arguments: argparse.Namespace, assumed: Assumptions, shares: tuple[float, ...]) -> list[Question]:
    from calib_pipeline.planning.questions import ClearProportion, HalfWidth, TellKappa

    found: list[Question] = []
    gate, power = assumed.gate_level, arguments.target_power

    def tell(kappa: float, against: float, weights: KappaWeights) -> Question:
        if kappa == against:
            raise InputError(f"no number of items tells a κ of {kappa:g} from itself", expected="two values")
        _refuse_impossible_kappa(kappa, shares, assumed)
        return TellKappa(kappa, against, gate, power, shares, weights, arguments.samples, arguments.seed)

    if arguments.half_width is not None:
        rates = [0.5] if arguments.rate in (None, 0.5) else [arguments.rate, 0.5]
        found += [HalfWidth(rate, arguments.half_width, assumed.level) for rate in rates]
    if arguments.tell is not None:
        weights = _weights(assumed)
        found += [tell(kappa, against, weights) for kappa, against in (arguments.tell, arguments.tell[::-1])]
    floor = _floor(arguments, assumed)
    if floor is not None and arguments.kappa is not None:
        weights = _weights(assumed, floor_of_study=arguments.floor is None)
        _refuse_on_the_wrong_side("--floor", floor, "--kappa", arguments.kappa, below=True)
        found.append(tell(arguments.kappa, floor, weights))
    elif floor is not None and arguments.rate is not None:
        _refuse_on_the_wrong_side("--floor", floor, "--rate", arguments.rate, below=True)
        if floor <= 0:
            raise _impossible("floor", floor, "a floor of a proportion, between 0 and 1")
        found.append(ClearProportion(arguments.rate, floor, gate, power))
    elif arguments.floor is not None:
        raise InputError("a floor is cleared by a true value", where="--floor", expected="--kappa K or --rate P")
    if arguments.at_most is not None:
        if arguments.rate is None:
            raise InputError("a rate stays under a bar", where="--at-most", expected="--rate P, the true rate")
        _refuse_on_the_wrong_side("--at-most", arguments.at_most, "--rate", arguments.rate, below=False)
        found.append(ClearProportion(arguments.rate, arguments.at_most, gate, power))
    if not found:
        raise InputError(
            "what the items are to show is not said",
            expected="--half-width H, --tell K1 K2, --floor F with --kappa or --rate, or --at-most F with --rate",
            todo="`calib plan --help` shows one call of each",
        )
    if arguments.power and all(isinstance(one, HalfWidth) for one in found):
        raise InputError(
            "a half-width is reached or not, so it has no power",
            where="--power",
            expected="a question of power: --tell, --floor or --at-most",
        )
    return found


def _floor(arguments: argparse.Namespace, assumed: Assumptions) -> float | None:
    """The floor that is given; where nothing else is asked, the declared one of what a true value is given for."""
    from calib_pipeline.planning.assumptions import KAPPAS, PROPORTIONS

    if arguments.floor is not None:
        return float(arguments.floor)
    others = (arguments.half_width, arguments.tell, arguments.at_most, arguments.slice)
    if assumed.floor is None or any(other is not None for other in others):
        return None
    statistic, bar = assumed.floor
    known = KAPPAS if arguments.kappa is not None else PROPORTIONS if arguments.rate is not None else ()
    return bar if statistic in known else None


def _weights(assumed: Assumptions, *, floor_of_study: bool = False) -> KappaWeights:
    """The weights of the κ that is meant: of the declared floor, else of the headline."""
    from calib_pipeline.planning.assumptions import KAPPAS

    if assumed.headline is not None and assumed.values is None:
        raise InputError("a continuous scale has no κ", expected="--rate P, for the agreement within a tolerance")
    statistic = assumed.floor[0] if floor_of_study and assumed.floor is not None else assumed.headline
    return KAPPAS.get(statistic or "")


def _refuse_impossible_kappa(kappa: float, shares: tuple[float, ...], assumed: Assumptions) -> None:
    from calib_pipeline.statistics import joint_of_kappa

    try:
        joint_of_kappa(shares, kappa)
    except ValueError as fault:
        raise InputError(str(fault).rstrip("."), where="--shares", expected="shares with which it can be") from None


def _refuse_on_the_wrong_side(bar_of: str, bar: float, value_of: str, value: float, *, below: bool) -> None:
    if (bar < value) != below or bar == value:
        side = "above" if below else "below"
        raise InputError(
            f"a true value of {value:g} does not lie {side} {bar:g}, so no number of items shows that it does",
            where=f"{value_of} {value:g}",
            expected=f"a value {side} that of {bar_of}",
        )

"""``calib sample``: a documented random sample of a population, outside of a study and without held-out items."""

from __future__ import annotations

import argparse
import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calib_pipeline.cli.console import Console
from calib_pipeline.cli.exit_codes import REACHED
from calib_pipeline.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.planning.item_filter import ItemFilter
    from calib_pipeline.planning.outside_sample import OutsideSample, Request
    from calib_pipeline.planning.selection_traps import OutcomeCheck
    from calib_pipeline.studies.project import Project

MOST = 10**9


def add(commands: Any, everywhere: argparse.ArgumentParser) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "sample",
        parents=[everywhere],
        help="draw and document a random sample outside of a study",
        description="Draw a random sample of a population's items as a reservation does (the smallest keyed hashes, "
        "within strata, in whole groups), and write it with its weights as CSV and what it is as JSON beside it. Items "
        "that a held-out set holds are left out and counted. A filter on what a scorer said is refused.",
    )
    parser.add_argument("population", metavar="P")
    parser.add_argument("--size", metavar="N", type=int, required=True, help="items to draw")
    parser.add_argument("--seed", metavar="N", type=int, required=True, help="key of the random ranks")
    parser.add_argument("--min-per-stratum", metavar="N", type=int, default=1, help="fewest of a stratum; 1 by default")
    parser.add_argument("--doubly", metavar="N", type=int, default=0, help="items that several people shall label")
    parser.add_argument("--strata", metavar="NAME", nargs="+", default=[], help="strata that production has")
    parser.add_argument("--where", metavar="COLUMN=VALUE", help="these items only; also with != >= <= > <")
    parser.add_argument("--output", metavar="FILE", help="the CSV file; by default P.sample.csv, with P.sample.json")
    parser.add_argument("--force", action="store_true", help="write over files that are there")
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Draw, document and write."""
    from calib_pipeline.cli.project_folder import known_population, open_project
    from calib_pipeline.cli.whole_files import refuse_in_the_way, write_whole
    from calib_pipeline.digests import digest_bytes
    from calib_pipeline.planning.outside_sample import document_of, draw_outside, held_out_items, refuse_lacking_strata
    from calib_pipeline.status.standing import open_ledger, refuse_broken_ledger
    from calib_pipeline.status.unread import shown_path
    from calib_pipeline.table_cache import TableCache

    project = open_project(arguments.project)
    known_population(project, arguments.population, None)
    request = _request(arguments)
    target = Path(arguments.output or f"{arguments.population}.sample.csv").absolute()
    if target.suffix.casefold() != ".csv":
        raise InputError(f"{target} is no name of a CSV file", where="--output", expected="a name that ends in .csv")
    described = target.with_suffix(".json")
    refuse_in_the_way((target, described), force=arguments.force, option="--output")
    manifest = TableCache(project).manifest(arguments.population)
    shown = shown_path(project, project.populations[arguments.population])
    refuse_lacking_strata(arguments.strata, manifest.frame, shown)
    frame, filtered, warnings = _filtered(arguments, project, manifest.frame)
    refuse_lacking_strata(arguments.strata, frame, "--where")
    refuse_broken_ledger(project)
    ledger = open_ledger(project)
    held_out = {}
    if ledger is not None:
        with closing(ledger):
            held_out = held_out_items(frame, ledger)
            warnings += _drawn_from_others(ledger, manifest.digest, held_out)
    sample = draw_outside(frame, request, set().union(*held_out.values()))
    warnings += _shortfalls(sample, request, set(manifest.frame["stratum"]))
    table = sample.items.to_csv(index=False).encode()
    document = {
        **document_of(manifest, sample, request, held_out),
        "items_table": shown,
        "filter": filtered,
        "sample": target.name,
        "sample_digest": digest_bytes(table),
        "warnings": warnings,
        "not_detectable": _not_detectable(),
    }
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_whole({described: text.encode(), target: table}, option="--output")
    console.json({**document, "file": str(target), "document": str(described)})
    _say(sample, document, target, described, console)
    return REACHED


def _request(arguments: argparse.Namespace) -> Request:
    from calib_pipeline.planning.outside_sample import Request

    for name, least in (("size", 1), ("seed", 0), ("min_per_stratum", 1), ("doubly", 0)):
        value = getattr(arguments, name)
        if not least <= value <= MOST:
            raise InputError(
                f"{value} cannot be", where=f"--{name.replace('_', '-')}", expected=f"a whole number from {least}"
            )
    if arguments.doubly > arguments.size:
        raise InputError(
            f"{arguments.doubly} of {arguments.size} items cannot be labeled doubly",
            where="--doubly",
            expected="at most --size",
        )
    return Request(arguments.size, arguments.seed, arguments.min_per_stratum, arguments.doubly)


def _filtered(
    arguments: argparse.Namespace, project: Project, frame: pd.DataFrame
) -> tuple[pd.DataFrame, dict[str, Any] | None, list[str]]:
    """The items that are to be drawn from, what is to be known of the filter, and warnings."""
    if arguments.where is None:
        return frame, None, []
    from calib_pipeline.planning.item_filter import ItemFilter
    from calib_pipeline.planning.selection_traps import check_outcome, goes_by_time, refuse_outcome_name

    condition = ItemFilter.of(arguments.where)
    kept = condition.keeps(frame)
    refuse_outcome_name(condition, project)
    if not any(kept):
        raise InputError(f"no item meets {condition.words}", where="--where", expected="at least one item")
    check = check_outcome(condition, kept, frame, project, arguments.population)
    warnings = [f"filtered: it says nothing of items without {condition.words}"]
    if goes_by_time(condition, frame):
        warnings.append(
            f"{condition.column} is a time: a sample of one period tests the period, and not the population that the "
            "scorer sees"
        )
    warnings += [f"not compared with the filter: {told}" for told in check.not_read]
    return frame[kept].reset_index(drop=True), _filter_document(condition, sum(kept), check), warnings


def _filter_document(condition: ItemFilter, kept: int, check: OutcomeCheck) -> dict[str, Any]:
    return {
        "column": condition.column,
        "operator": condition.operator,
        "value": condition.value,
        "kept": kept,
        "how_well_outputs_tell_it": {name: round(found, 4) for name, found in check.tells.items()},
    }


def _drawn_from_others(ledger: Any, digest: str, held_out: dict[str, set[str]]) -> list[str]:
    others = [
        header.holdout_id
        for header in ledger.sets()
        if header.holdout_id in held_out and header.population_digest != digest
    ]
    if not others:
        return []
    return [
        f"{', '.join(others)} came of another version of these items: what is left is a random sample within the old "
        "part and within the new one, and the weights take it for one of all"
    ]


def _shortfalls(sample: OutsideSample, request: Request, strata: set[str]) -> list[str]:
    warnings = []
    drawn = f"{len(sample.items):,} items are drawn where {request.size:,} were asked for"
    if len(sample.items) < request.size:
        warnings.append(f"{drawn}: no more are left")
    elif len(sample.items) > request.size:
        warnings.append(f"{drawn}: groups are drawn whole, and no stratum gives fewer than the minimum")
    absent = sorted(strata - set(sample.items["stratum"]))
    if absent:
        warnings.append(f"no item of the stratum {', '.join(map(repr, absent))}: the sample says nothing of it")
    return warnings


def _not_detectable() -> list[str]:
    from calib_pipeline.planning.selection_traps import NOT_DETECTABLE

    return list(NOT_DETECTABLE)


def _say(sample: OutsideSample, document: dict[str, Any], target: Path, described: Path, console: Console) -> None:
    console.result(f"{len(sample.items):,} items of {document['population']} written to {target}")
    console.result(f"what they are a sample of: {described}")
    left_out = document["held_out_left_out"]
    if left_out["items"]:
        sets = ", ".join(f"{count:,} of {name}" for name, count in left_out["by_set"].items())
        console.result(f"{left_out['items']:,} items are held out or their twins, and are left out: {sets}")
    console.table(
        ("stratum", "population", "held out", "drawn", "weight"),
        [
            (
                name, f"{row['population']:,}", f"{row['held_out']:,}", f"{row['drawn']:,}",
                "" if row["weight"] is None else f"{row['weight']:.6g}",
            )
            for name, row in sample.strata.items()
        ],
    )  # fmt: skip
    for warning in document["warnings"]:
        console.say(f"warning: {warning}")
    console.note(
        "Whatever is tuned on this sample names the file as scorer.tuned_on: a set that is reserved later may hold "
        "these items, and then goes no further."
    )

"""``calib sheet``: blind label sheets, one an annotator, of the items that await labels."""

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
    from collections.abc import Sequence

    from calib_pipeline.cell import Cell
    from calib_pipeline.planning.label_sheets import Task
    from calib_pipeline.studies.project import Project
    from calib_pipeline.studies.study import Study

DOCUMENT = "sheets.json"
FORMULAS = ("=", "+", "@")


def add(commands: Any, everywhere: argparse.ArgumentParser) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "sheet",
        parents=[everywhere],
        help="write blind label sheets of the items that await labels",
        description="Write a label sheet for each annotator: the items of the study's reserved set that await labels, "
        "or those of a sample, with their texts where they are known, in an order of the annotator's own, and the "
        "rubric beside them. Nothing that a scorer said, no stratum and no feature stands on a sheet. Items that the "
        "reservation names for several people stand on several sheets.",
    )
    parser.add_argument("study", metavar="S")
    parser.add_argument("population", metavar="P")
    parser.add_argument("--annotators", metavar="NAME", nargs="+", required=True, help="who labels")
    parser.add_argument(
        "--seed", metavar="N", type=int, default=0, help="of what goes to whom, in which order; by default 0"
    )
    parser.add_argument("--sample", metavar="FILE", help="the items that `calib sample` drew, in place of the set's")
    parser.add_argument("--texts", metavar="FILE", help="a table with item_id and text; by default the item manifest")
    parser.add_argument("--output", metavar="DIR", help="the folder to write; by default S.P.sheets")
    parser.add_argument("--force", action="store_true", help="write over sheets that are there")
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Write the sheets, the rubric and what they are."""
    from calib_pipeline.cli.project_folder import one_cell, open_project
    from calib_pipeline.digests import digest_bytes
    from calib_pipeline.planning.label_sheets import assigned, sheet_csv

    _refuse_names(arguments.annotators)
    if not 0 <= arguments.seed < 2**63:
        raise InputError(f"{arguments.seed} cannot be", where="--seed", expected="a whole number from 0")
    project = open_project(arguments.project)
    cell = one_cell(project, arguments.study, arguments.population)
    study = project.studies[cell.study]
    of, tasks, warnings = (_of_sample if arguments.sample else _of_set)(arguments, project, cell)
    if not tasks:
        console.json({"of": of, "items": 0, "sheets": {}})
        console.result(f"no item of {of} awaits a label, so no sheet is written")
        return REACHED
    given = assigned(tasks, arguments.annotators, arguments.seed)
    texts, text_warnings = _texts(arguments, project, cell, [task.item_id for task in tasks])
    rubric, values = project.rubric_text(study), values_in_words(study)
    sheets = {
        f"{name}.csv": sheet_csv(name, items, texts, rubric_version=study.rubric.version.strip(), values=values)
        for name, items in given.items()
        if items
    }
    document = {
        "study": cell.study,
        "population": cell.population,
        "of": of,
        "seed": arguments.seed,
        "items": len(tasks),
        "labels": sum(len(items) for items in given.values()),
        "texts": texts is not None,
        "rubric_version": study.rubric.version.strip(),
        "values": values,
        "sheets": {name: {"items": len(items)} for name, items in given.items()},
        "digests": {name: digest_bytes(content) for name, content in sheets.items()},
        "warnings": [*warnings, *text_warnings],
    }
    files = {**sheets, f"rubric{Path(study.rubric.text).suffix or '.txt'}": rubric.encode()}
    files[DOCUMENT] = (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()
    folder = Path(arguments.output or f"{cell.study}.{cell.population}.sheets").absolute()
    _write(folder, files, force=arguments.force)
    console.json({**document, "folder": str(folder)})
    _say(document, folder, project, cell, console)
    return REACHED


def values_in_words(study: Study) -> str:
    """What a label may be, for people."""
    levels = study.scale.levels
    if levels is not None:
        return " | ".join(levels)
    low, high = study.scale.range or (0.0, 1.0)
    return f"a number from {low:g} to {high:g}"


def _refuse_names(annotators: Sequence[str]) -> None:
    from calib_pipeline.studies.declared import is_name

    seen: dict[str, str] = {}
    for name in annotators:
        if not is_name(name):
            raise InputError(
                f"{name!r} cannot name a file", where="--annotators", expected="letters, digits, '.', '_' and '-'"
            )
        if name.casefold() in seen:
            raise InputError(
                f"{seen[name.casefold()]!r} and {name!r} would be one file",
                where="--annotators",
                expected="names that differ in more than case",
            )
        seen[name.casefold()] = name


def _of_set(arguments: argparse.Namespace, project: Project, cell: Cell) -> tuple[str, list[Task], list[str]]:
    """The reserved set that serves the study, its items that await labels, and warnings."""
    from calib_pipeline.errors import ReviewUnavailable
    from calib_pipeline.holdout_sets import HoldoutSets
    from calib_pipeline.planning.label_sheets import Task
    from calib_pipeline.status.advice import annotators_needed
    from calib_pipeline.status.standing import climb_command, open_ledger, refuse_broken_ledger
    from calib_pipeline.table_cache import TableCache

    refuse_broken_ledger(project)
    ledger, held, study, tables = open_ledger(project), None, project.studies[cell.study], TableCache(project)
    if ledger is not None:
        with closing(ledger):
            held = HoldoutSets(project, ledger, tables).serving(cell)
    if held is None:
        raise InputError(
            f"no reserved set serves {cell.study!r} on {cell.population!r}",
            expected="a set whose items await labels",
            todo=f"`{climb_command(cell)}` reserves one; `calib sample` draws outside of a study, for --sample",
        )
    reserved = {item.item_id for item in held.items}
    people: dict[str, set[str]] = {}
    independent: dict[str, set[str]] = {}
    warnings = []
    try:
        labels = tables.labels(study, cell.population, reserved).frame
        rows = zip(*(labels[name].tolist() for name in ("item_id", "annotator_id", "independent", "role")), strict=True)
        for item, person, alone, role in rows:
            people.setdefault(item, set()).add(person)
            if alone and role != "adjudicator":
                independent.setdefault(item, set()).add(person)
    except ReviewUnavailable:
        warnings.append("there is no table of labels yet, so all items of the set await labels")
    several, tasks = annotators_needed(study), []
    for item in held.items:
        lacking = several - len(independent.get(item.item_id, ())) if item.doubly else int(item.item_id not in people)
        if lacking > 0:
            tasks.append(Task(item.item_id, lacking, frozenset(people.get(item.item_id, ()))))
    return held.holdout_id, tasks, warnings


def _of_sample(arguments: argparse.Namespace, project: Project, cell: Cell) -> tuple[str, list[Task], list[str]]:
    """The sample, its items, and warnings."""
    from calib_pipeline.planning.label_sheets import Task
    from calib_pipeline.planning.outside_sample import held_out_items
    from calib_pipeline.status.advice import annotators_needed
    from calib_pipeline.status.standing import open_ledger, refuse_broken_ledger
    from calib_pipeline.table_cache import TableCache
    from calib_pipeline.tables.columns import column, refuse_float_ids, truth, with_names
    from calib_pipeline.tables.reading import read_table

    table = with_names(read_table(arguments.sample), ("item_id", "doubly"), {}, ("item_id",))
    refuse_float_ids(table)
    frame = TableCache(project).manifest(cell.population).frame
    known, several, tasks = set(frame["item_id"]), annotators_needed(project.studies[cell.study]), {}
    cells = (table.frame["item_id"].tolist(), column(table, "doubly").tolist())
    for position, (item, doubly) in enumerate(zip(*cells, strict=True)):
        if item not in known or item in tasks:
            said = "stands twice" if item in tasks else f"is no item of {cell.population}"
            raise InputError(f"{item!r} {said}", where=table.where(position, "item_id"), expected="each item once")
        try:
            people = several if truth(doubly) else 1
        except ValueError as fault:
            raise InputError(str(fault), where=table.where(position, "doubly"), expected="true or false") from None
        tasks[item] = Task(item, people)
    refuse_broken_ledger(project)
    ledger, warnings = open_ledger(project), []
    if ledger is not None:
        with closing(ledger):
            held_out = set().union(*held_out_items(frame, ledger).values()) & set(tasks)
        if held_out:
            warnings.append(f"{len(held_out):,} items of the sample are held out, or twins of held-out items")
    return Path(arguments.sample).name, list(tasks.values()), warnings


def _texts(
    arguments: argparse.Namespace, project: Project, cell: Cell, items: Sequence[str]
) -> tuple[dict[str, str] | None, list[str]]:
    from calib_pipeline.planning.shown_texts import refuse_other_texts, texts_of
    from calib_pipeline.status.unread import shown_path
    from calib_pipeline.table_cache import TableCache

    url = arguments.texts or project.populations[cell.population]
    _refuse_scores(url, project, cell)
    texts = texts_of(url, items, needed=arguments.texts is not None)
    if texts is None:
        return None, ["the item manifest has no texts, so the sheets have ids only: name a table of texts with --texts"]
    where = arguments.texts or shown_path(project, url)
    formulas = sum(text.lstrip().startswith(FORMULAS) for text in texts.values())
    refuse_other_texts(texts, TableCache(project).manifest(cell.population).frame, where)
    told = f"{formulas:,} texts begin like a formula, which a spreadsheet may run: have the sheets opened as text"
    return texts, [told] if formulas else []


def _refuse_scores(url: str, project: Project, cell: Cell) -> None:
    """Refuse a table of scores, whatever column it has: what a scorer wrote is shown to nobody who labels."""
    from calib_pipeline.studies.addresses import absolute

    for study in project.studies.values():
        if study.data.scores is not None and absolute(Path.cwd(), url) == project.path(
            study.data.scores, cell.population
        ):
            raise InputError(
                f"{url} is the table of scores of {study.name}",
                where="--texts",
                expected="a table of the items' texts, which no scorer wrote",
            )


def _write(folder: Path, files: dict[str, bytes], *, force: bool) -> None:
    from calib_pipeline.cli.whole_files import refuse_in_the_way, write_whole

    targets = {folder / name: content for name, content in files.items()}
    if folder.exists():
        if not folder.is_dir():
            raise InputError(f"{folder} is a file", expected="a folder", todo="name another with --output")
        refuse_in_the_way(targets, force=force, option="--output")
        write_whole(targets, option="--output")
        return
    if not folder.parent.is_dir():
        raise InputError(f"there is no folder {folder.parent}", todo="make it, or name another with --output")
    try:
        folder.mkdir()
    except OSError as fault:
        raise InputError(
            f"{folder} cannot be made: {fault.strerror or fault}", todo="name another place with --output"
        ) from fault
    try:
        write_whole(targets, option="--output")
    except BaseException:
        if not any(folder.iterdir()):
            folder.rmdir()
        raise


def _say(document: dict[str, Any], folder: Path, project: Project, cell: Cell, console: Console) -> None:
    from calib_pipeline.status.unread import shown_path

    study = project.studies[cell.study]
    console.result(f"{document['items']:,} items of {document['of']}, {document['labels']:,} labels to give: {folder}")
    console.table(("sheet", "items"), [(name, f"{row['items']:,}") for name, row in document["sheets"].items()])
    for warning in document["warnings"]:
        console.say(f"warning: {warning}")
    annotations = shown_path(project, project.path(study.data.annotations, cell.population))
    console.note(
        f"Give each annotator the sheet of that name and the rubric, and nothing else; {DOCUMENT} is for you. A row "
        "that stays empty counts as unusable: take it out. labeled_at is a time with a zone, as in "
        "2026-04-02T10:00:00Z."
    )
    if document["of"].endswith(".csv"):
        return
    console.note(f"Put the filled rows of all sheets under one header into {annotations}.")

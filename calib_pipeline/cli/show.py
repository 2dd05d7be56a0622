"""``calib show``: why a ladder stands where it stands, with all its figures and the next step."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from calib_pipeline.cli.console import INDENT, Console

if TYPE_CHECKING:
    from calib_pipeline.status.cell_status import CellStatus
    from calib_pipeline.status.comparison import Comparison
    from calib_pipeline.status.differences import Difference
    from calib_pipeline.status.figures import EvidenceByAsset, Headline
    from calib_pipeline.studies.project import Project

MOST_ROWS = 100
FACTS_SHOWN_ELSEWHERE = ("digest", "table", "items_to_label_again", "claim")


def add(commands: Any, everywhere: argparse.ArgumentParser) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "show",
        parents=[everywhere],
        help="why a study stands where it stands on a population",
        description="Why a study stands where it stands on a population: its evidence, its figures beside those of "
        "people and comparators, the items to label, and the next step. Labels of held-out items are not shown: to see "
        "them is to spend the set (`calib holdout export`).",
    )
    parser.add_argument("study", metavar="S")
    parser.add_argument("population", metavar="P")
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Print a cell's evidence."""
    from calib_pipeline.cli.project_folder import one_cell, open_project
    from calib_pipeline.cli.status import code_of, read_statuses
    from calib_pipeline.status.comparison import comparison_of
    from calib_pipeline.status.differences import differences_of
    from calib_pipeline.status.standing import refuse_broken_ledger

    project = open_project(arguments.project)
    cell = one_cell(project, arguments.study, arguments.population)
    refuse_broken_ledger(project)
    [status] = read_statuses(project, [cell])
    console.json(evidence_json(project, status))
    evidence: EvidenceByAsset = status.standing.rows
    if not status.standing.measured and status.record_kind == "diagnostic":
        console.result("The figures are those of the diagnostic record.")
        evidence = diagnostic_evidence(project, status)
    say_standing(status, console)
    say_differences(differences_of(project, status), console)
    comparison = comparison_of(evidence)
    if comparison is not None:
        say_comparison(comparison, status.headline, console)
    for asset, rows in evidence.items():
        say_evidence(asset, rows, console)
    say_work(project, status, console)
    if status.next_step is not None:
        console.result(f"Next: {status.next_step}")
    return code_of([status])


def evidence_json(project: Project, status: CellStatus) -> dict[str, list[dict[str, Any]]]:
    """Every stored evidence table of a cell, also that which no longer stands, with None for what is undefined."""
    from calib_pipeline.evidence_store import DamagedEvidence, EvidenceStore
    from calib_pipeline.schemas import GATES

    store = EvidenceStore(project.store)
    tables: dict[str, list[dict[str, Any]]] = {}
    for asset in (*GATES, "diagnostic_record"):
        try:
            rows = store.read_evidence(asset, status.population, status.study)
        except DamagedEvidence:
            continue
        if rows is not None:
            tables[asset] = [
                {str(name): None if value != value else value for name, value in row.items()}
                for row in rows.to_dict("records")
            ]
    return tables


def diagnostic_evidence(project: Project, status: CellStatus) -> EvidenceByAsset:
    """The evidence in the diagnostic record."""
    from calib_pipeline.evidence_store import EvidenceStore
    from calib_pipeline.records.archive import RecordArchive

    assert status.record_id is not None
    record = RecordArchive(EvidenceStore(project.store)).read(status.record_id)
    return {} if record is None else record["evidence"]


def say_standing(status: CellStatus, console: Console) -> None:
    """Status, claim and rungs."""
    console.result(f"{status.study} on {status.population}: {status.status}")
    if status.reason is not None:
        console.note(status.reason)
    for label, text in (("claim", status.claim), ("record", status.record_id)):
        if text is not None:
            kind = f" ({status.record_kind})" if label == "record" else ""
            console.note(f"{label}{kind}: {text}")
    console.table(
        ("rung", "state", "why", "next"),
        [(rung.rung, rung.state, rung.reason or "", rung.next_step or "") for rung in status.rungs],
    )


def say_differences(differences: Sequence[Difference], console: Console) -> None:
    """What changed, from what to what, and the lines of texts that differ."""
    if not differences:
        return
    console.result()
    rows = [(one.part, one.before or "none", one.now or "none") for one in differences]
    console.table(("what changed", "before", "now"), rows, title="Changed since it was measured")
    for one in differences:
        if one.lines:
            console.result(f"{one.part}:")
            for line in one.lines:
                console.result(f"{INDENT}{line}")


def say_comparison(comparison: Comparison, headline: Headline | None, console: Console) -> None:
    """Every statistic of the scorer beside the same one of people and of each comparator."""
    from calib_pipeline.status.figures import NO_CEILING

    if not comparison.has_people:
        console.result(NO_CEILING)
    header = ("statistic", "against", "scorer", "people", *comparison.comparators)
    console.table(
        header,
        [
            (line.statistic.replace("_", " "), line.against, line.scorer, line.people, *line.comparators)
            for line in comparison.lines
        ],
        title="Scorer, people and comparators",
    )
    for note in comparison.notes:
        console.note(note)
    if headline is not None:
        console.result(f"Read kappa with {headline.table_words}.")
        if headline.people_against is not None:
            statistic = headline.scorer.statistic.replace("_", " ")
            console.result(f"{statistic} of {headline.people_against}: {headline.people_words}.")


def say_evidence(asset: str, rows: Sequence[Any], console: Console) -> None:
    """The rest of a rung's evidence: counts, facts, and figures that stand in no comparison."""
    from calib_pipeline.status.comparison import COMPARED
    from calib_pipeline.status.figures import Figure

    shown = []
    for row in rows:
        if row["name"] in COMPARED or row["name"] in FACTS_SHOWN_ELSEWHERE:
            continue
        figure = Figure.of(row)
        measured = "low" in row or "statistic" in row
        value = figure.words if measured else number_words(figure.value)
        bar = number_words(row.get("bar")) if "bar" in row else ""
        text = "; ".join(str(row[part]) for part in ("text", "note") if row.get(part))
        name = str(row["name"]).replace("_", " ")
        statistic = figure.statistic.replace("_", " ")
        shown.append((name, figure.scope, statistic, value, gate_words(row), bar, number_words(figure.n), text))
    if shown:
        console.result()
        header = ("what", "of", "statistic", "value", "the gate reads", "bar", "n", "text")
        console.table(header, shown, title=asset)


def say_work(project: Project, status: CellStatus, console: Console) -> None:
    """What people can do: items to label, and rows that could not be used."""
    from calib_pipeline.status.advice import annotators_needed
    from calib_pipeline.status.work import work_on

    work = work_on(project, status.standing)
    asked = annotators_needed(project.studies[status.study])
    titles = ("Reserved items without a label", f"Named items that need {asked} independent annotators")
    for title, items in zip(titles, (work.unlabeled, work.again), strict=True):
        if items:
            console.result()
            console.result(f"{title} ({len(items)}):")
            for item in items:
                console.note(item)
    if work.unusable:
        console.result()
        rows = [tuple(str(cell) for cell in row) for row in work.unusable[:MOST_ROWS]]
        console.table(("row", "item", "annotator", "reason", "detail"), rows, title="Label rows that are not compared")
        if len(work.unusable) > MOST_ROWS:
            console.note(f"and {len(work.unusable) - MOST_ROWS:,} more")


def gate_words(row: Any) -> str:
    """The interval that a gate reads of a figure, with its level."""
    low, high = row.get("gate_low"), row.get("gate_high")
    if low is None or high is None:
        return ""
    return f"[{low:.3f}, {high:.3f}] at {100 * row['gate_level']:.4g} %"


def number_words(value: Any) -> str:
    """A count or a bar, short."""
    return "" if value is None or value != value else f"{value:,.6g}"

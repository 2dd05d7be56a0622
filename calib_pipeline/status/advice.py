"""What a stop asks of people beyond its gate's words: the labels that are awaited, the table that is not there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from calib_pipeline.evidence.named_items import items_to_label_again
from calib_pipeline.holdout_sets import drawn_of
from calib_pipeline.status.standing import climb_command
from calib_pipeline.status.unread import shown_path

if TYPE_CHECKING:
    from calib_pipeline.status.own_account import Brought
    from calib_pipeline.status.standing import Standing
    from calib_pipeline.status.unread import UnreadTable
    from calib_pipeline.studies.project import Project
    from calib_pipeline.studies.study import Study

STATUS_COMMAND = "calib status"


def annotators_needed(study: Study) -> int:
    """How many independent people must label an item that was named in advance."""
    return max(study.ceiling.min_annotators, 2)


def awaiting_labels(project: Project, standing: Standing, tables: Brought | None) -> Standing:
    """The standing with what people can do where a set is reserved and its labels are not there to be read."""
    stop = standing.stop
    if stop is None or stop.kind != "missing" or stop.asset != "annotations":
        return standing
    if tables is None or tables.labels is not None or tables.held is None:
        return standing
    cell, study = standing.cell, project.studies[standing.cell.study]
    size, named = len(tables.held.items), sum(item.doubly for item in tables.held.items)
    sentence = f"the set {tables.held.holdout_id} is reserved, and there are no labels of its {size} items to read"
    listed = f"`calib show {cell.study} {cell.population}` lists them"
    several = f"the {named} named ones by {annotators_needed(study)} independent annotators each"
    sheet = shown_path(project, project.path(study.data.annotations, cell.population))
    next_step = f"have them labeled ({listed}), {several}, bring {sheet}, and run `{climb_command(cell)}`"
    return replace(standing, stop=replace(stop, sentence=sentence, next_step=next_step))


def lacking(standing: Standing, table: UnreadTable) -> Standing:
    """The standing with the table that must be brought before its next step leads anywhere."""
    stop = standing.stop
    assert stop is not None
    unreadable = stop.kind == "unreadable"
    sentence = table.sentence if unreadable else f"{stop.sentence}; {table.sentence}"
    next_step = table.next_step(STATUS_COMMAND if unreadable else climb_command(standing.cell))
    return replace(standing, stop=replace(stop, sentence=sentence, next_step=next_step))


def both_needs(study: Study, standing: Standing, tables: Brought | None) -> Standing:
    """The standing with the named items that lack annotators beside the reserved ones that lack a label."""
    stop = standing.stop
    if stop is None or stop.asset != "annotations" or stop.kind != "does_not_hold":
        return standing
    if tables is None or tables.labels is None or tables.held is None:
        return standing
    first, *others = standing.reasons[stop.asset]
    again = items_to_label_again(study, drawn_of(tables.held), tables.labels.frame)
    if first.condition != "coverage" or not again:
        return standing
    cell, count = standing.cell, len(again)
    named = f"{count} named item{' needs' if count == 1 else 's need'}"
    next_step = (
        f"{first.next_step}, and {named} {annotators_needed(study)} independent annotators: "
        f"`calib show {cell.study} {cell.population}` lists both"
    )
    reasons = {**standing.reasons, stop.asset: (replace(first, next_step=next_step), *others)}
    return replace(standing, stop=replace(stop, next_step=next_step), reasons=reasons)

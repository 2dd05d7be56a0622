"""What changed in a declaration since it was registered on a held-out set, and what the next run makes of that."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from calib_pipeline.digests import digest_json
from calib_pipeline.errors import InputError
from calib_pipeline.evidence_store import DamagedEvidence
from calib_pipeline.holdout_sets import REQUESTED
from calib_pipeline.studies.digests import plan_digest, plan_parts

if TYPE_CHECKING:
    from calib_pipeline.cell import Cell
    from calib_pipeline.chain import Declared
    from calib_pipeline.ladder import Ladder
    from calib_pipeline.ledger import HoldoutSet
    from calib_pipeline.ledger.events import Event
    from calib_pipeline.studies.study import Study

LONGEST_VALUE = 24
UNNAMED_PLAN = "a key of the plan (the ledger holds its digest only, and no record says which)"
UNNAMED_CONFIGURATION = "the scorer's configuration (the ledger holds its digest only, and no record says what)"
SCORES, ITEMS = "the outputs in data.scores", "the population's items"


def before_next_run(ladder: Ladder | None, cell: Cell, records: Iterable[Mapping[str, Any] | None] = ()) -> str | None:
    """A sentence on what changed since the study was registered; None where nothing did, or nothing can be compared.

    Parameters
    ----------
    records
        Records of the cell: the ledger carries digests, and a record of the same ones names the keys and old values.
    """
    if ladder is None:
        return None
    try:
        study, found, serving = ladder.project.studies[cell.study], _registered(ladder, cell), ladder.sets.serving(cell)
        if found is None or (serving is not None and ladder.sets.state(study, serving).state == "measured"):
            return None
        event, held = found
        declared = ladder.sets.declared_on(study, cell.population, held)
        changed = list(_changed(event, held, declared, [record for record in records if record is not None]))
        if not changed:
            return None
        return f"{', '.join(changed)} changed since {event.cited} registered it: {_then(ladder, cell, held)}"
    except (InputError, DamagedEvidence):
        return None


def _registered(ladder: Ladder, cell: Cell) -> tuple[Event, HoldoutSet] | None:
    """The newest registration of the study on a set of the population, and the set."""
    study = ladder.project.studies[cell.study]
    generations = {
        header.holdout_id
        for header in ladder.ledger.sets()
        if (header.dimension, header.population) == (study.dimension, cell.population)
    }
    events = [
        event
        for event in ladder.ledger.events(study=cell.study)
        if event.event == "registered" and event.holdout_id in generations
    ]
    return (events[-1], ladder.sets.of_id(str(events[-1].holdout_id))) if events else None


def _changed(event: Event, held: HoldoutSet, declared: Declared, records: list[Mapping[str, Any]]) -> Iterator[str]:
    """What differs from the registration: the keys that people wrote, with old and new value where both are short."""
    study = declared.study
    if event.details.get("role") not in (None, study.holdout.role):
        yield _worded("holdout.role", event.details["role"], study.holdout.role)
    if held.population_digest != declared.manifest.digest:
        yield ITEMS
    plan = event.details.get("plan_digest")
    if plan != plan_digest(study):
        sections = next((record["plan"]["sections"] for record in records if record["plan"]["digest"] == plan), None)
        if sections is not None:
            yield from (_worded(*key) for key in differing(sections, plan_parts(study)) if key[0] != "holdout.role")
        else:
            yield from _changed_request(study, held, plan)
    yield from _changed_configuration(event, declared, records)


def _changed_request(study: Study, held: HoldoutSet, plan: str | None) -> Iterator[str]:
    """What the draw of the set says of its size, seed and strata; the rest of the plan stands by its digest alone."""
    asked = held.details.get(REQUESTED, {})
    now = plan_parts(study)
    before = {name: asked[name] for name in ("size", "seed", "min_per_stratum") if name in asked}
    yield from (
        _worded(f"holdout.{name}", old, now["holdout"][name])
        for name, old in before.items()
        if old != now["holdout"][name]
    )
    if digest_json(now | {"holdout": now["holdout"] | before}) != plan:
        yield UNNAMED_PLAN


def _changed_configuration(event: Event, declared: Declared, records: list[Mapping[str, Any]]) -> Iterator[str]:
    scores = event.details.get("scores_digest")
    with_its_scores = replace(declared, scores_digest=scores)
    if event.config_digest != with_its_scores.configuration:
        of_record = (
            record["scorer"]["configuration"] for record in records if record["scorer"]["digest"] == event.config_digest
        )
        before = next(of_record, None)
        if before is None:
            yield UNNAMED_CONFIGURATION
        else:
            differ = differing(before, with_its_scores.configuration_parts)
            yield from (_worded(declared_key(name), old, new) for name, old, new in differ)
    if scores is not None and declared.scores_digest is not None and scores != declared.scores_digest:
        yield SCORES


def differing(before: Any, now: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The dotted keys in which two mappings differ, each with both values; lists are taken whole."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now}):
            yield from differing(before.get(key), now.get(key), f"{path}.{key}" if path else key)
    elif before != now:
        yield path, before, now


def declared_key(part: str) -> str:
    """The key of the study file under which a part of the configuration stands."""
    first = part.partition(".")[0]
    if first in ("rubric", "scorer"):
        return part
    if first == "categories":
        return "scale"
    return f"scorer.{part}" if first in ("config", "transform", "tuned_on") else f"scorer.config.{part}"


def _worded(key: str, old: Any, new: Any) -> str:
    values = [
        f"{value:g}" if isinstance(value, float) else json.dumps(value, ensure_ascii=False) for value in (old, new)
    ]
    return f"{key} ({values[0]} → {values[1]})" if all(len(value) <= LONGEST_VALUE for value in values) else key


def _then(ladder: Ladder, cell: Cell, held: HoldoutSet) -> str:
    """What the next run does with the sets."""
    serving, newest = ladder.sets.serving(cell), ladder.sets.newest(cell)
    if serving is not None and serving.holdout_id == held.holdout_id:
        return f"the next `calib run` registers it anew on {held.holdout_id}, which still serves it"
    if serving is not None:
        return f"the next `calib run` registers it on {serving.holdout_id}, whose items need labels"
    generation = 1 if newest is None else newest.generation + 1
    left = ladder.sets.unspent(cell)
    if not left:
        return (
            f"the next `calib run` needs generation {generation} of the held-out set, and no item is left that is not "
            "spent: add items to the population first"
        )
    return (
        f"the next `calib run` reserves generation {generation} of the held-out set from the {left} items that are not "
        "spent, and those that it draws need labels"
    )

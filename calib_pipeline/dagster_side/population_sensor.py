"""Notices new and changed populations by the content of their manifests, and asks for the runs of their studies."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import dagster as dg
from upath import UPath

from calib_pipeline.dagster_side.jobs import LADDER_JOB
from calib_pipeline.dagster_side.partitions import POPULATIONS, STUDIES
from calib_pipeline.errors import InputError

if TYPE_CHECKING:
    from calib_pipeline.studies.project import Project

POPULATION_DIGEST = "calib/population_digest"


@dataclass(frozen=True)
class Sighting:
    """A manifest as it was seen: ``mark`` changes with the file's size or time, ``digest`` with its content."""

    mark: str
    digest: str


@dataclass(frozen=True)
class Seen:
    """What the sensor remembers between ticks: the manifests, and the digest with which each cell was asked for."""

    manifests: Mapping[str, Sighting] = field(default_factory=dict)
    cells: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_cursor(cls, cursor: str | None) -> Seen:
        """Memory from a cursor, empty at the first tick."""
        kept: dict[str, Any] = json.loads(cursor) if cursor else {}
        manifests = {name: Sighting(**sighting) for name, sighting in kept.get("manifests", {}).items()}
        return cls(manifests, kept.get("cells", {}))

    def cursor(self) -> str:
        """The memory as text."""
        manifests = {name: {"mark": seen.mark, "digest": seen.digest} for name, seen in self.manifests.items()}
        return json.dumps({"manifests": manifests, "cells": dict(self.cells)}, sort_keys=True)


def population_manifests(open_project: Callable[[], Project]) -> dg.SensorDefinition:
    """The sensor of a project.

    It starts switched off: to climb is to open held-out sets, which nobody should do by starting Dagster's pages.
    """

    def evaluate(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        project = open_project()
        before = Seen.of_cursor(context.cursor)
        manifests, problems = look(project, before.manifests)
        problems += [str(fault) for fault in project.faults]
        for problem in problems:
            context.log.warning(problem)
        cells = {
            f"{population}|{study}": manifests[population].digest
            for study, population in project.cells()
            if population in manifests
        }
        wanted = {key: digest for key, digest in cells.items() if before.cells.get(key) != digest}
        kept = {key: digest for key, digest in before.cells.items() if _still_declared(key, project)}
        after = Seen(manifests, {**kept, **cells})
        requests = [
            dg.RunRequest(run_key=f"{key}|{digest}", partition_key=key, tags={POPULATION_DIGEST: digest})
            for key, digest in wanted.items()
        ]
        return dg.SensorResult(
            run_requests=requests,
            skip_reason=None if requests else dg.SkipReason(_nothing_new(len(manifests), problems)),
            cursor=after.cursor(),
            dynamic_partitions_requests=_partition_requests(before, after, context.instance),
        )

    return dg.SensorDefinition(
        name="population_manifests",
        evaluation_fn=evaluate,
        job=LADDER_JOB,
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.STOPPED,
        description="Climbs the declared studies of every population whose item manifest is new or changed",
    )


def look(project: Project, before: Mapping[str, Sighting]) -> tuple[dict[str, Sighting], list[str]]:
    """The manifests as they are now, and a sentence for each that cannot be read.

    A manifest whose file has not changed is not read again. One that cannot be read keeps its former sighting: an
    outage and a deletion look alike, and only calib.yaml can say that a population is gone.
    """
    from calib_pipeline.tables.items import read_manifest

    manifests: dict[str, Sighting] = {}
    problems: list[str] = []
    for name, url in project.populations.items():
        known = before.get(name)
        try:
            mark = _mark(url)
            if known is not None and known.mark == mark:
                manifests[name] = known
            else:
                manifests[name] = Sighting(mark, read_manifest(url, name).digest)
        except (InputError, OSError) as error:
            problems.append(f"the manifest of population {name} cannot be read: {error}")
            if known is not None:
                manifests[name] = known
    return manifests, problems


def _mark(url: str) -> str:
    path = UPath(url)
    return str(path.fs.ukey(path.path))


def _still_declared(key: str, project: Project) -> bool:
    population, _, study = key.partition("|")
    return (study, population) in project.cells()


def _partition_requests(
    before: Seen, after: Seen, instance: dg.DagsterInstance
) -> list[dg.AddDynamicPartitionsRequest | dg.DeleteDynamicPartitionsRequest]:
    """Add what is declared and missing; delete only what this sensor once saw declared and no longer does."""
    requests: list[dg.AddDynamicPartitionsRequest | dg.DeleteDynamicPartitionsRequest] = []
    for definition, position in ((POPULATIONS, 0), (STUDIES, 1)):
        there = set(instance.get_dynamic_partitions(str(definition.name)))
        declared = {key.split("|")[position] for key in after.cells}
        gone = {key.split("|")[position] for key in before.cells} - declared
        if declared - there:
            requests.append(definition.build_add_request(sorted(declared - there)))
        if gone & there:
            requests.append(definition.build_delete_request(sorted(gone & there)))
    return requests


def _nothing_new(count: int, problems: list[str]) -> str:
    said = f"no new or changed manifest among {count}"
    return "; ".join([said, *problems])

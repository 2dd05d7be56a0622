"""The versions of a study's scorer: every configuration that was registered, and what each is worth now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calib_pipeline.cell import Cell
from calib_pipeline.errors import InputError
from calib_pipeline.kept_versions import OUTPUTS, VersionArchive, version_of
from calib_pipeline.status.cell_status import cell_status
from calib_pipeline.status.differences import Difference, configuration_differences
from calib_pipeline.status.next_run import differing

if TYPE_CHECKING:
    from calib_pipeline.ladder import Ladder
    from calib_pipeline.studies.project import Project
    from calib_pipeline.studies.study import Study

SHORT = 12
NEVER = "never calibrated"


@dataclass(frozen=True)
class VersionState:
    """What a version is worth on a population: ``calibrated``, ``insufficient_data``, ``stale``, ``uncalibrated`` or
    ``candidate_for_removal``, and why; ``record_id`` is that of its newest record there."""

    population: str
    state: str
    reason: str | None
    record_id: str | None


@dataclass(frozen=True)
class Version:
    """One version of a scorer.

    Attributes
    ----------
    version
        The digest of its parts, outputs left out.
    created
        When the ledger first registered it, ISO 8601; None where no run has yet.
    active
        Whether it is declared now.
    parts, rubric_text
        Everything material about it.
    states
        One for each population of the study.
    """

    version: str
    created: str | None
    active: bool
    parts: dict[str, Any]
    rubric_text: str
    states: tuple[VersionState, ...]


def versions_of(project: Project, ladder: Ladder, study: Study) -> list[Version]:
    """The versions of a study, oldest first, the declared one among them.

    A configuration that was registered before its parts were kept is in no version.
    """
    kept = VersionArchive(ladder.store).of(study.name)
    found: dict[str, tuple[str | None, dict[str, Any], str]] = {}
    for event in ladder.ledger.events(study=study.name):
        one = kept.get(event.config_digest or "") if event.event == "registered" else None
        if one is not None:
            found.setdefault(one.version, (event.at, one.parts, one.rubric_text))
    declared = ladder.sets.declared_on(study, study.data.populations[0], None)
    active = version_of(declared.configuration_parts)
    found.setdefault(active, (None, declared.configuration_parts, declared.rubric_text))
    records = _records(ladder, study)
    populations = study.data.populations
    return [
        Version(
            version,
            created,
            version == active,
            {name: part for name, part in parts.items() if name != OUTPUTS},
            rubric_text,
            tuple(
                _declared_state(project, ladder, Cell(study.name, population), records, version)
                if version == active
                else _earlier_state(population, records, version, parts, declared.configuration_parts)
                for population in populations
            ),
        )
        for version, (created, parts, rubric_text) in found.items()
    ]


def version_named(versions: list[Version], given: str) -> Version:
    """The version of an id, or of an unambiguous beginning of one; ``active`` is the declared one.

    Raises
    ------
    InputError
        When there is none, or several begin so.
    """
    fitting = [one for one in versions if one.version.startswith(given) or (given == "active" and one.active)]
    if len(fitting) != 1:
        known = ", ".join(one.version[:SHORT] for one in versions)
        raise InputError(
            f"{given!r} names {'no version' if not fitting else f'{len(fitting)} versions'} of this study",
            expected=f"the id, or its beginning, of one of {known}; or 'active'",
            todo="run `calib judge list`",
        )
    return fitting[0]


def version_differences(before: Version, now: Version) -> list[Difference]:
    """The parts in which two versions differ, with both values, and for texts the lines."""
    return list(configuration_differences(before.parts, before.rubric_text, now.parts, now.rubric_text))


def _records(ladder: Ladder, study: Study) -> list[tuple[str, str, str]]:
    """Population, version and id of the study's published records, oldest first."""
    publications = [ladder.archive.read(one.record_id) for one in ladder.ledger.published(study.name)]
    return [
        (record["population"]["name"], version_of(record["scorer"]["configuration"]), record["record_id"])
        for record in publications
        if record is not None
    ]


def _newest(records: list[tuple[str, str, str]], population: str, version: str) -> str | None:
    of_it = [record for name, measured, record in records if (name, measured) == (population, version)]
    return of_it[-1] if of_it else None


def _declared_state(
    project: Project, ladder: Ladder, cell: Cell, records: list[tuple[str, str, str]], version: str
) -> VersionState:
    status = cell_status(project, ladder, cell)
    record = _newest(records, cell.population, version)
    reason = status.reason
    if record is None and status.status in ("uncalibrated", "stale"):
        others = [one for name, _, one in records if name == cell.population]
        why = f"calibrated only for another configuration (record {others[-1][:SHORT]})" if others else NEVER
        return VersionState(cell.population, "uncalibrated", why if reason is None else f"{why}; {reason}", None)
    return VersionState(cell.population, status.status, reason, record)


def _earlier_state(
    population: str,
    records: list[tuple[str, str, str]],
    version: str,
    parts: dict[str, Any],
    declared: dict[str, Any],
) -> VersionState:
    record = _newest(records, population, version)
    if record is None:
        return VersionState(population, "uncalibrated", NEVER, None)
    changed = ", ".join(part for part, _, _ in differing(parts, declared) if part != OUTPUTS)
    return VersionState(population, "stale", f"another version is declared now: {changed} changed", record)

"""A copy of each file that people brought, kept for the record that is made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calib_pipeline.records.record import Sources

if TYPE_CHECKING:
    from calib_pipeline.evidence_store import EvidenceStore
    from calib_pipeline.studies.project import Project
    from calib_pipeline.studies.study import Study
    from calib_pipeline.table_cache import TableCache


def keep_sources(project: Project, tables: TableCache, store: EvidenceStore, study: Study, population: str) -> Sources:
    """Store the brought tables of a study on a population, and the source of its scorer where that is a function, and
    name them by digest and path."""
    paths = {
        "manifest": project.populations[population],
        "labels": project.path(study.data.annotations, population),
        "scores": project.scores(study, population),
    }
    if study.scorer.tuned_on is not None:
        paths["tuned_on"] = project.path(study.scorer.tuned_on, population)
    source = project.function_file(study)
    if source is not None:
        paths["function"] = str(source)
    kept = {name: store.put_input(tables.kept(name, path), labels=name == "labels") for name, path in paths.items()}
    shown = {name: tables.relative(path) for name, path in paths.items()}
    return Sources(kept["manifest"], kept["labels"], kept["scores"], shown, kept.get("tuned_on"), kept.get("function"))

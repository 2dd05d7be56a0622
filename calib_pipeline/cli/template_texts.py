"""Which texts of a study still are those that ``calib init`` wrote, so that no record prints them unseen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calib_pipeline.cli.init import TEMPLATE
from calib_pipeline.errors import InputError

if TYPE_CHECKING:
    from calib_pipeline.studies.project import Project
    from calib_pipeline.studies.study import Study


def template_notes(project: Project) -> list[str]:
    """A sentence for each study with a text of the template's, naming the keys."""
    from calib_pipeline.studies.study_files import read_study

    template, _ = read_study(TEMPLATE / "studies" / "my-study.yaml", "my-study.yaml")
    written = _texts(template) | {"rubric.text": _plain((TEMPLATE / template.rubric.text).read_text(encoding="utf-8"))}
    notes = []
    for study in project.studies.values():
        texts = _texts(study) | {"rubric.text": _rubric(project, study)}
        kept = [key for key, text in texts.items() if text is not None and text == written[key]]
        if kept:
            notes.append(
                f"study {study.name} still has the text of the template in {', '.join(kept)}: "
                "write what holds for yours before a set is reserved, since records print it"
            )
    return notes


def _texts(study: Study) -> dict[str, str | None]:
    """What the template can only guess, by key."""
    config, decision = study.scorer.config, study.decision
    return {
        "scorer.config.model": config.get("model"),
        "scorer.config.prompt": config.get("prompt"),
        "annotation.blind.by": None if study.annotation.blind is None else study.annotation.blind.by,
        "ceiling.because": study.ceiling.because,
        "decision.gates.what": decision.gates.what,
        "decision.cost_false_accept.because": decision.cost_false_accept.because,
        "decision.cost_false_reject.because": decision.cost_false_reject.because,
    }


def _rubric(project: Project, study: Study) -> str | None:
    try:
        return _plain(project.rubric_text(study))
    except InputError:
        return None


def _plain(text: str) -> str:
    return " ".join(text.split())

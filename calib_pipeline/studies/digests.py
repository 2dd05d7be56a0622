"""The digests that name an instrument (the configuration) and the way it is measured (the plan)."""

from __future__ import annotations

from typing import Any

from calib_pipeline.digests import digest_bytes, digest_json
from calib_pipeline.studies.study import Study

_NAMED_IN_CONFIG = ("model", "prompt", "temperature", "output_fields", "evidence_selection")
_PLAN_SECTIONS = (
    "holdout",
    "annotation",
    "ceiling",
    "baselines",
    "agreement",
    "decision",
    "bootstrap",
    "reference",
    "scale",
)
_IN_THE_PLAN_WHERE_DECLARED = {"holdout": ("max_measurements", "max_age_days", "other_constructs")}
"""Keys without which a plan is what it was before they could be declared."""


def configuration_parts(
    study: Study,
    rubric_text: str,
    scores_digest: str | None = None,
    tuning_digest: str | None = None,
    function_digest: str | None = None,
) -> dict[str, Any]:
    """Everything material about the scorer, by part; parts that differ between two configurations name the change.

    Parameters
    ----------
    study
        The declared study.
    rubric_text
        The rubric's text; line ends and the final newline do not enter.
    scores_digest
        For a table of scores the digest of its rows for the set's items, from the moment they are there. The outputs
        of a judge that is run here follow from its configuration, and are no part of it.
    tuning_digest
        Where the scorer says what it was tuned on, the digest of that table's rows.
    function_digest
        For a function that is run here, the digest of its module's source.
    """
    config = dict(study.scorer.config)
    named = {part: config.pop(part, None) for part in _NAMED_IN_CONFIG}
    transform = study.scorer.transform
    scale = study.scale
    text = rubric_text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    return {
        **named,
        "rubric": {"version": study.rubric.version, "text": digest_bytes(text.encode())},
        "categories": list(scale.levels) if scale.levels is not None else {"range": list(scale.range or ())},
        "transform": None if transform is None else transform.model_dump(mode="json", by_alias=True),
        "scorer": {"id": study.scorer.id, "kind": study.scorer.kind},
        "config": config,
        "scores": None if study.judged else scores_digest,
        **({} if tuning_digest is None else {"tuned_on": tuning_digest}),
        **({} if function_digest is None else {"function": function_digest}),
    }


def configuration_digest(
    study: Study,
    rubric_text: str,
    scores_digest: str | None = None,
    tuning_digest: str | None = None,
    function_digest: str | None = None,
) -> str:
    """The digest that names the instrument; parameters as in :func:`configuration_parts`."""
    return digest_json(configuration_parts(study, rubric_text, scores_digest, tuning_digest, function_digest))


def plan_parts(study: Study) -> dict[str, Any]:
    """Every other declaration that can change a figure or a verdict, by section, defaults filled in.

    A limit that is not declared is no part of the plan, and neither are another construct and a panel.
    """
    parts: dict[str, Any] = {
        section: getattr(study, section).model_dump(mode="json", by_alias=True) for section in _PLAN_SECTIONS
    }
    for section, keys in _IN_THE_PLAN_WHERE_DECLARED.items():
        declared = parts[section].items()
        parts[section] = {key: value for key, value in declared if key not in keys or value is not None}
    parts["agreement"]["headline"] = study.headline
    if study.panel:
        parts["panel"] = [member.model_dump(mode="json", by_alias=True, exclude={"run"}) for member in study.panel]
    return parts


def plan_digest(study: Study) -> str:
    """The digest of the plan."""
    return digest_json(plan_parts(study))


def changed_parts(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """The names of the parts in which two configurations or plans differ, in order."""
    return [part for part in sorted({*before, *now}) if before.get(part) != now.get(part)]

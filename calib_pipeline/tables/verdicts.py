"""What one cell of a scorer's output means: a verdict, an abstention, or a failure with its reason."""

from __future__ import annotations

from typing import Literal, NamedTuple

from calib_pipeline.studies.scale import Parsed, fold, number_of
from calib_pipeline.studies.sections import Scorer
from calib_pipeline.studies.study import Study
from calib_pipeline.studies.transform import transformed
from calib_pipeline.tables.reasons import Reason
from calib_pipeline.tables.values import Read, off_scale_detail

Status = Literal["scored", "abstained", "error"]

ABSTENTIONS = frozenset({"abstain", "abstained", "cannot_determine", "cannot determine"})
_STATUSES = ("scored", "abstained", "error")


class Verdict(NamedTuple):
    """A scorer's output for one item.

    ``by_word`` says that the value itself, and no status, told that the scorer abstained; ``spelling``
    under which other spelling it was read. ``reason`` and ``detail`` are given where there is no verdict.
    """

    status: Status
    value: str | None = None
    code: int = -1
    number: float = float("nan")
    reason: Reason | None = None
    detail: str | None = None
    by_word: bool = False
    spelling: str | None = None


def verdict(study: Study, scorer: Scorer, value: str | None, status: str | None) -> Verdict:
    """Judge one output; a declared status stands over the value, and nothing off the scale is clamped."""
    stated = fold(status) if status else ""
    if stated and stated not in _STATUSES:
        detail = f"status: {status!r} is none of {', '.join(_STATUSES)}"
        return Verdict("error", reason=Reason.BAD_FIELD, detail=detail)
    if stated == "error":
        return Verdict("error", reason=Reason.SCORER_ERROR)
    if stated == "abstained":
        return Verdict("abstained", reason=Reason.ABSTAINED)
    parsed = _parsed(study, scorer, value)
    if parsed.how == "empty" or value is None:
        return Verdict("error", reason=Reason.NO_SCORE, detail="the value is empty")
    if parsed.how == "off_scale":
        if not stated and fold(value) in ABSTENTIONS:
            return Verdict("abstained", reason=Reason.ABSTAINED, by_word=True)
        return Verdict("error", reason=Reason.OFF_SCALE, detail=_off_scale(study, scorer, value))
    read = Read.parsed_as(study, value, parsed)
    return Verdict("scored", read.value, read.code, read.number, spelling=read.spelling)


def _parsed(study: Study, scorer: Scorer, value: str | None) -> Parsed:
    if scorer.transform is None:
        return study.scale.parse(value)
    return transformed(scorer.transform, study.scale, value)


def _off_scale(study: Study, scorer: Scorer, value: str) -> str:
    transform = scorer.transform
    if transform is None:
        return off_scale_detail(study, value)
    if transform.linear is None or number_of(value) is None:
        return f"{value!r} is no number, and the transform needs one"
    low, high = transform.linear.from_
    return f"{value!r} is outside the transform's raw range {low:g} to {high:g}"

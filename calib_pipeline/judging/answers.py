"""What a judge said of an item, read strictly: nothing but the scale is a verdict."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from calib_pipeline.studies.scale import ContinuousScale
from calib_pipeline.studies.sections import Scorer
from calib_pipeline.studies.study import Study
from calib_pipeline.tables.verdicts import verdict

CANNOT_DETERMINE = "cannot determine"
FIELDS = ("verdict", "confidence", "explanation")
LONGEST_EXPLANATION = 4000
"""Characters of an explanation that are kept."""
PASSING = ("timeout", "connection", "raised", "http_429")
"""Codes of errors that another call may not meet; so are those of 500 and above."""
_FENCED = re.compile(r"\A```(?:json)?\s*\n(.*)\n\s*```\Z", re.DOTALL)


@dataclass(frozen=True)
class Answer:
    """One output of a judge.

    Attributes
    ----------
    status
        ``scored``, ``abstained`` or ``error``.
    value
        What it said, as it said it; None where it did not score.
    confidence
        What it says of its own certainty, 0 to 1: evidence, and part of no agreement.
    explanation
        Its words, or what is wrong with its answer.
    code
        Of an error: ``not_json``, ``no_verdict``, ``off_scale``, ``truncated``, ``refused``, ``empty``, ``raised``,
        ``timeout``, ``connection`` or ``http_NNN``.
    tokens
        What it cost.
    """

    status: Literal["scored", "abstained", "error"]
    value: str | None = None
    confidence: float | None = None
    explanation: str | None = None
    code: str | None = None
    tokens: int = 0

    @property
    def may_pass(self) -> bool:
        """Whether it is an error that another call may not meet."""
        code = self.code or ""
        return self.status == "error" and (code in PASSING or code.startswith("http_5"))


def failed(code: str, detail: str, tokens: int = 0) -> Answer:
    """An answer that is no verdict."""
    return Answer("error", explanation=_kept(detail), code=code, tokens=tokens)


def answer_of_text(text: str | None, study: Study, scorer: Scorer, tokens: int = 0) -> Answer:
    """The answer in a text that must be one JSON object, alone or in one code fence.

    What an item smuggles into the judge's words stays a word: whatever is not on the scale is an error.
    """
    stripped = (text or "").strip()
    if not stripped:
        return failed("empty", "the answer is empty", tokens)
    fenced = _FENCED.match(stripped)
    try:
        said = json.loads(fenced[1] if fenced else stripped, object_pairs_hook=_no_key_twice)
    except (ValueError, RecursionError):
        return failed("not_json", f"the answer is no JSON object: {stripped[:200]}", tokens)
    if not isinstance(said, dict):
        return failed("not_json", f"the answer is no JSON object: {stripped[:200]}", tokens)
    return answer_of_fields(said, study, scorer, tokens)


def answer_of_fields(said: Mapping[str, Any], study: Study, scorer: Scorer, tokens: int = 0) -> Answer:
    """The answer in the fields ``verdict``, ``confidence`` and ``explanation``; others are not read."""
    given, explanation = said.get("verdict"), said.get("explanation")
    if given is None or isinstance(given, bool | list | dict):
        return failed("no_verdict", f"the verdict is {given!r}", tokens)
    value = given if isinstance(given, str) else repr(given)
    judged = verdict(study, scorer, value, None)
    confidence = said.get("confidence")
    usable = isinstance(confidence, int | float) and not isinstance(confidence, bool) and 0 <= confidence <= 1
    words = _kept(explanation) if isinstance(explanation, str) else None
    if judged.status == "error":
        return failed("off_scale", judged.detail or f"{value!r} is not on the scale", tokens)
    return Answer(
        judged.status,
        value if judged.status == "scored" else None,
        float(confidence) if usable and confidence is not None else None,
        words,
        tokens=tokens,
    )


def answer_schema(study: Study, scorer: Scorer) -> dict[str, Any]:
    """The JSON Schema of an answer, for an endpoint that keeps to one."""
    scale = study.scale
    if scorer.transform is not None or isinstance(scale, ContinuousScale) or scale.levels is None:
        value: dict[str, Any] = {"anyOf": [{"type": "number"}, {"type": "string", "enum": [CANNOT_DETERMINE]}]}
    else:
        value = {"type": "string", "enum": [*scale.levels, CANNOT_DETERMINE]}
    properties = {"verdict": value, "confidence": {"type": "number"}, "explanation": {"type": "string"}}
    return {"type": "object", "properties": properties, "required": list(FIELDS), "additionalProperties": False}


def _kept(words: str) -> str:
    """What is kept of words: as many as there is room for, and no halves of characters."""
    return words[:LONGEST_EXPLANATION].encode(errors="replace").decode()


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    said = dict(pairs)
    if len(said) != len(pairs):
        raise ValueError("a key stands twice")
    return said

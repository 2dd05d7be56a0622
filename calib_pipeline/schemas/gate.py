"""A gate: the pandera schema that a rung's evidence must satisfy, and the sentence for each way it does not."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.digests import digest_frame
from calib_pipeline.evidence.evidence import EVIDENCE_COLUMNS, NUMBER_COLUMNS

if TYPE_CHECKING:
    import pandas as pd
    import pandera.pandas as pa

Rung = Literal["ceiling", "baseline", "holdout", "threshold", "interval"]

RUNGS: tuple[Rung, ...] = ("ceiling", "baseline", "holdout", "threshold", "interval")
SHAPE = "shape"


@dataclass(frozen=True)
class Rows:
    """The evidence rows of one name, column by column as arrays (n,)."""

    evidence: pd.DataFrame
    places: NDArray[np.intp]

    def __getitem__(self, column: str) -> NDArray[Any]:
        return self.evidence[column].to_numpy()[self.places]


@dataclass(frozen=True)
class Condition:
    """One thing a gate demands of one kind of row.

    ``holds`` maps the rows called ``row`` to a boolean a row, False where the figure it reads is undefined.
    ``sentence`` and ``next_step`` are templates over a failing row's columns; a missing row, like an undefined figure,
    fails the condition.
    """

    name: str
    rung: Rung
    row: str
    holds: Callable[[Rows], NDArray[np.bool_]]
    sentence: str
    next_step: str
    required: bool = True

    def passes(self, rows: pd.DataFrame) -> pd.Series[bool] | bool:
        """True or False for every row of the evidence; one False where the row it needs is missing."""
        import pandas as pd

        asked = self._asked(rows)
        if not asked.places.size:
            return not self.required
        verdict = np.ones(len(rows), dtype=bool)
        verdict[asked.places] = self.holds(asked)
        return pd.Series(verdict, index=rows.index, dtype=bool)

    def met(self, rows: pd.DataFrame) -> bool:
        """Whether every row of the evidence passes."""
        asked = self._asked(rows)
        return bool(np.all(self.holds(asked))) if asked.places.size else not self.required

    def _asked(self, rows: pd.DataFrame) -> Rows:
        places = [place for place, name in enumerate(rows["name"].to_numpy()) if name == self.row]
        return Rows(rows, np.array(places, dtype=np.intp))

    def reasons(self, rows: pd.DataFrame) -> list[Reason]:
        """A reason for every row that fails."""
        verdict = self.passes(rows)
        if isinstance(verdict, bool):
            sentence = f"the evidence has no {self.row.replace('_', ' ')}"
            missing = Reason(self.name, self.rung, sentence, "run this rung again", "", undefined=True)
            return [] if verdict else [missing]
        failing = [{str(key): value for key, value in row.items()} for row in rows[~verdict].to_dict("records")]
        return [
            Reason(
                self.name,
                self.rung,
                _Sentence().format(self.sentence, **row),
                _Sentence().format(self.next_step, **row),
                str(row["scope"] or ""),
                undefined=any(_is_nan(row[field]) for field in _fields(self.sentence)),
            )
            for row in failing
        ]


@dataclass(frozen=True)
class Reason:
    """Why a rung does not hold: the condition, the rung that people see, a sentence with figure and bar, what to do.

    ``undefined`` marks a reason whose figure does not exist: it follows from another one where there is one.
    """

    condition: str
    rung: Rung
    sentence: str
    next_step: str
    scope: str
    undefined: bool = False


@dataclass(frozen=True)
class Verdict:
    """What a gate says of evidence. It holds when there is no reason against it."""

    reasons: tuple[Reason, ...]

    @property
    def holds(self) -> bool:
        return not self.reasons

    @property
    def sentence(self) -> str:
        """All reasons in one sentence; what is merely undefined is left out beside a reason that has a figure."""
        told = [reason for reason in self.reasons if not reason.undefined] or list(self.reasons)
        return "; ".join(reason.sentence for reason in told)


MOST_REMEMBERED = 64


@dataclass(frozen=True)
class Gate:
    """The gate of one asset."""

    asset: str
    conditions: tuple[Condition, ...]

    @cached_property
    def schema(self) -> pa.DataFrameSchema:
        """The pandera schema: one check of the shape of evidence, and one a condition."""
        import pandera.pandas as pa

        shape = pa.Check(lambda rows: malformed(rows) is None, name=SHAPE)
        checks = [pa.Check(condition.met, name=condition.name) for condition in self.conditions]
        return pa.DataFrameSchema(checks=[shape, *checks], name=self.asset)

    def judge(self, rows: pd.DataFrame) -> Verdict:
        """Validate the evidence; the reasons are those of every check that failed."""
        digest = digest_frame(rows)
        if digest not in self._judged:
            if len(self._judged) >= MOST_REMEMBERED:
                self._judged.clear()
            self._judged[digest] = self._validated(rows)
        return self._judged[digest]

    @cached_property
    def _judged(self) -> dict[str, Verdict]:
        """Verdicts by content: the same evidence is loaded by every rung below, and has one verdict."""
        return {}

    def _validated(self, rows: pd.DataFrame) -> Verdict:
        from pandera.errors import SchemaErrors

        try:
            self.schema.validate(rows, lazy=True)
        except SchemaErrors as errors:
            fault = malformed(rows)
            if fault is not None:
                sentence = f"this is not evidence of {self.asset}: {fault}"
                return Verdict((Reason(SHAPE, "interval", sentence, "run this rung again", ""),))
            failed = {getattr(error.check, "name", None) for error in errors.schema_errors}
            return Verdict(
                tuple(
                    reason
                    for condition in self.conditions
                    if condition.name in failed
                    for reason in condition.reasons(rows)
                )
            )
        return Verdict(())


def malformed(rows: pd.DataFrame) -> str | None:
    """What makes a table no evidence, whatever its figures; None where it has the shape of evidence."""
    columns = list(rows.columns)
    if sorted(columns, key=str) != sorted(EVIDENCE_COLUMNS):
        missing = [column for column in EVIDENCE_COLUMNS if column not in columns]
        return f"the column {missing[0]!r} is missing" if missing else "it has columns that evidence does not have"
    for column in NUMBER_COLUMNS:
        if rows[column].dtype != np.float64:
            return f"the column {column!r} holds {rows[column].dtype}, not float64"
    return "a row has no name" if rows["name"].isna().any() else None


def at_least_bar(rows: Rows) -> NDArray[np.bool_]:
    """The value reaches the bar beside it."""
    return numbers(rows, "value") >= numbers(rows, "bar")


def at_most_bar(rows: Rows) -> NDArray[np.bool_]:
    """The value stays within the bar beside it."""
    return numbers(rows, "value") <= numbers(rows, "bar")


def is_none(rows: Rows) -> NDArray[np.bool_]:
    """The count is zero."""
    return np.equal(numbers(rows, "value"), 0)


def numbers(rows: Rows, column: str) -> NDArray[np.float64]:
    """A number column; NaN, which no comparison holds for, where it is undefined."""
    return rows[column].astype(np.float64)


def says(*texts: str) -> Callable[[Rows], NDArray[np.bool_]]:
    """The text is one of these."""
    return lambda rows: np.array([text in texts for text in rows["text"]], dtype=bool)


def names_content(rows: Rows) -> NDArray[np.bool_]:
    """The text is a content digest."""
    return np.array([isinstance(text, str) and bool(_DIGEST.fullmatch(text)) for text in rows["text"]], dtype=bool)


def interval_or_note(rows: Rows) -> NDArray[np.bool_]:
    """There is an interval, or a note that says why not."""
    noted = np.array([isinstance(note, str) and note != "" for note in rows["note"]], dtype=bool)
    limits = np.stack([numbers(rows, "low"), numbers(rows, "high")])
    return np.asarray(np.isfinite(limits).all(axis=0) | noted)


_DIGEST = re.compile("[0-9a-f]{64}")
MIN_SURVIVING_SHARE = 0.95
MIN_GROUPS = 30


def sound_interval(rows: Rows) -> NDArray[np.bool_]:
    """An interval that a gate may read: it exists, has width, enough survivors, and enough groups where clustered."""
    exists = numbers(rows, "gate_high") > numbers(rows, "gate_low")
    drawn, left = np.nan_to_num(numbers(rows, "gate_resamples")), np.nan_to_num(numbers(rows, "gate_survivors"))
    grouped = np.array([str(resampled).startswith("groups") for resampled in rows["resampled"]], dtype=bool)
    return exists & (left >= MIN_SURVIVING_SHARE * drawn) & (~grouped | (numbers(rows, "units") >= MIN_GROUPS))


SOUND_INTERVAL_SENTENCE = (
    "the interval of {statistic:words} ({scope}) cannot be read by a gate: [{gate_low:.3f}, {gate_high:.3f}] from "
    "{gate_survivors:.0f} of {gate_resamples:.0f} resamples over {units:.0f} {resampled}; it needs width, 95 % of the "
    "resamples, and 30 groups where groups are resampled"
)


def _fields(template: str) -> list[str]:
    return [field for _, field, _, _ in string.Formatter().parse(template) if field]


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


class _Sentence(string.Formatter):
    """Formats a row into a sentence: an undefined number reads "undefined", ``%`` gives a percentage."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if value is None or _is_nan(value):
            return "undefined" if format_spec else "none stated"
        if format_spec == "%":
            return f"{100 * value:.4g} %"
        if format_spec == "words":
            return str(value).replace("_", " ")
        return str(super().format_field(value, format_spec))

    def get_value(self, key: int | str, args: Any, kwargs: Mapping[str, Any]) -> Any:
        return kwargs[str(key)]

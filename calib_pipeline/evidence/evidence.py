"""Evidence: the tidy table of figures and facts that a rung leaves behind, the bar beside each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from calib_pipeline.digests import digest_frame

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.statistics import Estimate

TEXT_COLUMNS = ("name", "scope", "statistic", "text", "method", "resampled", "gate_method", "note")
NUMBER_COLUMNS = (
    "value", "low", "high", "n", "level", "resamples", "survivors", "seed", "bar",
    "gate_low", "gate_high", "gate_level", "gate_resamples", "gate_survivors", "units",
)  # fmt: skip
EVIDENCE_COLUMNS = (
    "name", "scope", "statistic", "value", "text", "low", "high", "n", "units", "level", "method", "resamples",
    "survivors", "seed", "resampled", "bar", "gate_low", "gate_high", "gate_level", "gate_method", "gate_resamples",
    "gate_survivors", "note",
)  # fmt: skip
_TEXT_PLACE = {column: place for place, column in enumerate(TEXT_COLUMNS)}
_NUMBER_PLACE = {column: place for place, column in enumerate(NUMBER_COLUMNS)}
_ORDER = [(*NUMBER_COLUMNS, *TEXT_COLUMNS).index(column) for column in EVIDENCE_COLUMNS]


@dataclass(frozen=True)
class GateInterval:
    """What a gate reads of a figure: the safer interval at the level that the number of attempts demands."""

    low: float | None
    high: float | None
    level: float
    method: str
    resamples: int | None
    survivors: int | None


@dataclass(frozen=True)
class Evidence:
    """What one rung found out.

    ``rows`` has the columns `EVIDENCE_COLUMNS`, and nothing in it depends on the clock or the run. ``tables`` are the
    row tables that later rungs need; the rows name each by its digest.
    """

    asset: str
    rows: pd.DataFrame
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        return digest_frame(self.rows)


class EvidenceRows:
    """Collects the rows of one rung's evidence in the order in which people read them."""

    def __init__(self, asset: str) -> None:
        self._asset = asset
        self._rows: list[dict[str, Any]] = []
        self._tables: dict[str, pd.DataFrame] = {}

    def fact(self, name: str, text: str | None, *, scope: str = "", note: str | None = None) -> None:
        """A fact in words: a role, a rule, a digest."""
        self._rows.append({"name": name, "scope": scope, "text": text, "note": note})

    def count(
        self,
        name: str,
        value: float | None,
        *,
        scope: str = "",
        bar: float | None = None,
        text: str | None = None,
        note: str | None = None,
        n: float | None = None,
    ) -> None:
        """A counted or declared number, with the bar that it is held against."""
        row = {"name": name, "scope": scope, "value": value, "bar": bar, "text": text, "note": note, "n": n}
        self._rows.append(row)

    def figure(
        self,
        name: str,
        estimate: Estimate,
        *,
        scope: str = "",
        bar: float | None = None,
        gate: GateInterval | None = None,
        units: int | None = None,
        text: str | None = None,
    ) -> None:
        """An estimate with its interval, and what a gate reads of it. ``units`` counts what was resampled."""
        row: dict[str, Any] = {
            "name": name, "scope": scope, "statistic": estimate.statistic, "value": estimate.value,
            "low": estimate.low, "high": estimate.high, "n": estimate.n, "level": estimate.level,
            "method": estimate.method, "resamples": estimate.resamples, "survivors": estimate.survivors,
            "seed": estimate.seed, "resampled": estimate.resampled, "note": estimate.note, "bar": bar,
            "units": units, "text": text,
        }  # fmt: skip
        if gate is not None:
            row |= {
                "gate_low": gate.low, "gate_high": gate.high, "gate_level": gate.level, "gate_method": gate.method,
                "gate_resamples": gate.resamples, "gate_survivors": gate.survivors,
            }  # fmt: skip
        self._rows.append(row)

    def row(self, row: Mapping[str, Any]) -> None:
        """A row of other evidence, carried over."""
        self._rows.append(dict(row))

    def table(self, name: str, frame: pd.DataFrame) -> None:
        """A row table that a later rung needs, named by its digest."""
        self._tables[name] = frame
        self.fact("table", digest_frame(frame), scope=name)

    def build(self) -> Evidence:
        """The finished evidence; figures are rounded to 12 significant digits so that they are equal everywhere."""
        return Evidence(self._asset, evidence_frame(self._rows), dict(self._tables))


def evidence_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """The tidy frame of the rows, with fixed columns and types whatever they hold."""
    import pandas as pd

    numbers = np.full((len(rows), len(NUMBER_COLUMNS)), np.nan)
    texts = np.full((len(rows), len(TEXT_COLUMNS)), None, dtype=object)
    for place, row in enumerate(rows):
        for column, value in row.items():
            if value is None:
                continue
            if column in _NUMBER_PLACE:
                numbers[place, _NUMBER_PLACE[column]] = _rounded(value)
            else:
                texts[place, _TEXT_PLACE[column]] = str(value)
    # The dtype is given, since an inferred text column would make None into NaN.
    halves = [pd.DataFrame(numbers, columns=NUMBER_COLUMNS), pd.DataFrame(texts, columns=TEXT_COLUMNS, dtype=object)]
    return pd.concat(halves, axis=1).take(_ORDER, axis=1)


def _rounded(value: float) -> float:
    return float(f"{value:.12g}") if math.isfinite(value) else math.nan


def fact(rows: pd.DataFrame, name: str, scope: str = "") -> str | None:
    """The text of a fact, None where it is absent."""
    found = rows[(rows["name"] == name) & (rows["scope"] == scope)]["text"]
    return None if found.empty or not isinstance(found.iloc[0], str) else str(found.iloc[0])


def figure(rows: pd.DataFrame, name: str, scope: str = "") -> float | None:
    """The value of a figure or count, None where it is absent or undefined."""
    found = rows[(rows["name"] == name) & (rows["scope"] == scope)]["value"]
    return None if found.empty or math.isnan(found.iloc[0]) else float(found.iloc[0])

"""Inline SVG: a ladder of five rungs, and intervals beside each other on one axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from calib_pipeline.status.cell_status import RungState
from calib_pipeline.status.figures import Figure

MARKS = {"holds": "✓", "fails": "✕", "unresolved": "?"}
RUNG_WIDTH, RUNG_HEIGHT = 104, 26
AXIS_WIDTH, LABEL_WIDTH, ROW_HEIGHT = 300, 190, 24


@dataclass(frozen=True)
class Bar:
    """One interval of the drawing; ``kind`` is the class by which it is coloured."""

    label: str
    figure: Figure
    kind: str


def ladder(rungs: Sequence[RungState]) -> str:
    """The rungs from left to right in the order in which they bind, each with its mark and its state in words."""
    parts = []
    for position, rung in enumerate(rungs):
        x = position * (RUNG_WIDTH + 12)
        if position:
            parts.append(f'<line class="rail" x1="{x - 12}" y1="13" x2="{x}" y2="13"/>')
        told = f"{rung.rung}: {rung.state}" + (f". {rung.reason}" if rung.reason else "")
        parts.append(
            f'<g class="rung {rung.state}"><title>{escape(told)}</title>'
            f'<rect x="{x}" y="0" width="{RUNG_WIDTH}" height="{RUNG_HEIGHT}" rx="4"/>'
            f'<text x="{x + 10}" y="18">{MARKS[rung.state]} {escape(rung.rung)}</text></g>'
        )
    width = len(rungs) * (RUNG_WIDTH + 12)
    said = ", ".join(f"{rung.rung} {rung.state}" for rung in rungs)
    return _svg(width, RUNG_HEIGHT, f"Ladder: {said}", parts)


def intervals(bars: Sequence[Bar]) -> str:
    """Points with their intervals on one axis; a figure that is undefined has its label and the word."""
    numbers = [end for bar in bars for end in _ends(bar.figure)]
    low, high = axis([*numbers, 0.0])
    height = ROW_HEIGHT * len(bars) + 22

    def at(value: float) -> float:
        return LABEL_WIDTH + AXIS_WIDTH * (value - low) / (high - low)

    parts = [
        f'<line class="axis" x1="{LABEL_WIDTH}" y1="{height - 20}" x2="{LABEL_WIDTH + AXIS_WIDTH}" y2="{height - 20}"/>'
    ]
    for tick in ticks(low, high):
        x = at(tick)
        kind = "zero" if tick == 0 else "tick"
        parts.append(f'<line class="{kind}" x1="{x:.1f}" y1="0" x2="{x:.1f}" y2="{height - 20}"/>')
        parts.append(f'<text class="number" x="{x:.1f}" y="{height - 6}" text-anchor="middle">{tick:g}</text>')
    for position, bar in enumerate(bars):
        parts.append(_bar(bar, ROW_HEIGHT * position + ROW_HEIGHT / 2, at))
    said = "; ".join(f"{bar.label} {bar.figure.words}" for bar in bars)
    return _svg(LABEL_WIDTH + AXIS_WIDTH + 160, height, f"Intervals: {said}", parts)


def axis(numbers: Sequence[float]) -> tuple[float, float]:
    """Round ends that hold every number."""
    low, high = min(numbers), max(numbers)
    if high - low < 1e-9:
        high = low + 1.0
    step = _step(low, high)
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step


def ticks(low: float, high: float) -> list[float]:
    """Round numbers from one end to the other."""
    step = _step(low, high)
    count = round((high - low) / step)
    return [round(low + step * position, 10) + 0.0 for position in range(count + 1)]


def _step(low: float, high: float) -> float:
    rough = (high - low) / 5
    magnitude = 10.0 ** math.floor(math.log10(rough))
    return next(magnitude * factor for factor in (1, 2, 5, 10) if magnitude * factor >= rough)


def _ends(figure: Figure) -> list[float]:
    return [end for end in (figure.value, figure.low, figure.high) if end is not None]


def _bar(bar: Bar, y: float, at: object) -> str:
    assert callable(at)
    figure = bar.figure
    label = f'<text class="label" x="{LABEL_WIDTH - 8}" y="{y + 4:.1f}" text-anchor="end">{escape(bar.label)}</text>'
    words = f'<text class="number" x="{LABEL_WIDTH + AXIS_WIDTH + 10}" y="{y + 4:.1f}">{escape(figure.words)}</text>'
    drawn = ""
    if figure.low is not None and figure.high is not None:
        drawn += f'<line class="whisker" x1="{at(figure.low):.1f}" y1="{y}" x2="{at(figure.high):.1f}" y2="{y}"/>'
        for end in (figure.low, figure.high):
            drawn += f'<line class="whisker" x1="{at(end):.1f}" y1="{y - 5}" x2="{at(end):.1f}" y2="{y + 5}"/>'
    if figure.value is not None:
        drawn += f'<circle cx="{at(figure.value):.1f}" cy="{y}" r="4"/>'
    return f'<g class="bar {bar.kind}">{label}{drawn}{words}</g>'


def _svg(width: float, height: float, said: str, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" aria-label="{escape(said)}">{"".join(parts)}</svg>'
    )

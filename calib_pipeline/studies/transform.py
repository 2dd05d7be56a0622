"""From a scorer's raw number to a value of the scale, by the transform that was declared."""

from __future__ import annotations

from bisect import bisect_right

from calib_pipeline.studies.scale import EMPTY, OFF_SCALE, ContinuousScale, Parsed, Scale, number_of
from calib_pipeline.studies.sections import Linear, Transform


def transformed(transform: Transform, scale: Scale, raw: str | None) -> Parsed:
    """Read one raw score.

    Cut points: a score at or above the k-th point has passed it, and the level is the number of points passed. A
    straight map sends the raw range to the scale; a score outside the raw range is off the scale, never clamped; on an
    ordinal scale the result is the nearest level, the upper one at halfway.
    """
    if raw is None or not raw.strip():
        return EMPTY
    number = number_of(raw)
    if number is None:
        return OFF_SCALE
    if transform.cut is not None:
        return Parsed(bisect_right(transform.cut, number), None, "exact")
    if transform.linear is None:
        raise ValueError("a transform is either cut points or a straight map")
    mapped = _line(transform.linear, number)
    if mapped is None:
        return OFF_SCALE
    if isinstance(scale, ContinuousScale):
        return Parsed(None, mapped, "exact")
    if scale.numbers is None:
        raise ValueError("a straight map needs levels that are numbers")
    distances = [(abs(mapped - level), -level) for level in scale.numbers]
    return Parsed(distances.index(min(distances)), None, "exact")


def _line(linear: Linear, number: float) -> float | None:
    (low, high), (start, end) = linear.from_, linear.to
    if not low <= number <= high:
        return None
    share = (number - low) / (high - low)
    return start * (1 - share) + end * share

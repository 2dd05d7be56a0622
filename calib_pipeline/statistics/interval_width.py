"""How many items make Wilson's interval of a proportion as narrow as wanted."""

from __future__ import annotations

from calib_pipeline.statistics.intervals import wilson_limits


def wilson_half_width(p: float, n: float, level: float) -> float:
    """Half the width of Wilson's interval of a proportion `p` seen in `n` trials; it shrinks with every trial."""
    low, high = wilson_limits(p, n, level)
    return (high - low) / 2.0


def items_for_half_width(p: float, half_width: float, level: float) -> int:
    """The smallest n at which Wilson's interval of the proportion `p` has at most this half-width.

    The number of successes p·n may be fractional. At p = 0.5 the interval is widest, so that n serves every p.

    Raises
    ------
    ValueError
        `p` does not lie in [0, 1], or `half_width` not between 0 and 0.5.
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"a proportion lies between 0 and 1. Got {p}.")
    if not 0.0 < half_width < 0.5:
        raise ValueError(f"a half-width lies between 0 and 0.5. Got {half_width}.")
    enough = 1
    while wilson_half_width(p, enough, level) > half_width:
        enough *= 2
    too_few = enough // 2
    while enough - too_few > 1:
        between = (enough + too_few) // 2
        if wilson_half_width(p, between, level) > half_width:
            too_few = between
        else:
            enough = between
    return enough

"""The one sentence that a record allows."""

from __future__ import annotations

from calib_pipeline.studies.study import Study


def measured_claim(
    study: Study, population: str, labeled: float | None, size: int, headline: str, held_out_by: str
) -> str:
    """What an anchored measurement on a held-out set supports."""
    declared = f" (held out by declaration: {study.holdout.prior_access})" if held_out_by == "declaration" else ""
    counted = "an unknown number of" if labeled is None else f"{labeled:.0f}"
    on = f"{counted} labeled items of {population} ({size} items)"
    return f"Accurate at {headline} for {study.dimension} on {on}{declared}."


def diagnostic_claim(study: Study, population: str, headline: str, state: str, why: str) -> str:
    """What a measurement supports that can never be calibrated; the first that applies."""
    if study.holdout.role == "fitted" or state == "fitted":
        return f"Agreed with people at {headline} on {population}, on the data that shaped it."
    if state == "reused":
        return f"Supports nothing: {why}."
    if study.reference.kind == "proxy":
        return (
            f"Agrees with the proxy {study.reference.stands_for} at {headline} on {population}; "
            f"says nothing about {study.dimension}."
        )
    return f"Agreed with people at {headline} on {population}; a diagnostic, since {why}."


def headline_words(statistic: str, value: float | None, low: float | None, high: float | None, level: float) -> str:
    """A figure with its interval in words."""
    name = statistic.replace("_", " ")
    if value is None:
        return f"an undefined {name}"
    if low is None or high is None:
        return f"{name} {value:.3f} (no interval)"
    return f"{name} {value:.3f} [{low:.3f}, {high:.3f}] at {100 * level:g} %"

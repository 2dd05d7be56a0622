"""What is climbed: one study on one population."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """The names of a study and of a population that it declares."""

    study: str
    population: str

"""Scales: which values a label or a verdict may take, in which order, and under which spellings."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, model_validator

from calib_pipeline.studies.declared import Number, Refusal, Section, Text, refuse_too_wide

How = Literal["exact", "folded", "alias", "off_scale", "empty"]


class Parsed(NamedTuple):
    """What a written value means on a scale.

    ``code`` is the position of the level, ``number`` the value on a continuous scale, and ``how`` says by which rule
    it was read: as written, after folding, by a declared alias, or not at all (``off_scale``, ``empty``).
    """

    code: int | None
    number: float | None
    how: How


EMPTY = Parsed(None, None, "empty")
OFF_SCALE = Parsed(None, None, "off_scale")


def fold(text: str) -> str:
    """The text without surrounding space, case and Unicode composition: the only differences that carry no meaning."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text.strip()).casefold())


def number_of(text: str) -> float | None:
    """The finite number that the text spells in plain decimal notation, else ``None``.

    Neither a decimal comma nor a thousands separator is guessed at.
    """
    try:
        number = float(text)
    except ValueError:
        return None
    # float() also reads digit separators, the digits of other scripts, infinity and NaN.
    return number if math.isfinite(number) and "_" not in text and text.strip().isascii() else None


class AtLeast(Section):
    """Values from this one upward let the item through."""

    at_least: Text = Field(description="The lowest level, or number, that lets the item through.", examples=["4"])


Accept = Sequence[str] | AtLeast


class ScaleBase(Section):
    """What all scales share: spellings that are declared to mean one of their values."""

    aliases: dict[Text, Text] = Field(
        default_factory=dict,
        description="Spellings that mean a value of the scale, each with that value.",
        examples=[{"yes": "1"}],
    )

    @property
    def default_aliases(self) -> Mapping[str, str]:
        """Spellings that are understood without being declared."""
        return {}


class LevelScale(ScaleBase):
    """A scale of named levels; the position of a level is its code."""

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels by code."""
        raise NotImplementedError

    @property
    def ordered(self) -> bool:
        """Whether the order of the levels carries meaning."""
        return False

    @property
    def range(self) -> tuple[float, float] | None:
        """The limits of a continuous scale; levels have none."""
        return None

    @cached_property
    def numbers(self) -> tuple[float, ...] | None:
        """The levels as numbers, where every level spells one."""
        numbers = [number_of(level) for level in self.levels]
        return None if None in numbers else tuple(number for number in numbers if number is not None)

    @model_validator(mode="after")
    def _spellings_are_unambiguous(self) -> LevelScale:
        seen: dict[str, str] = {}
        for level in self.levels:
            if fold(level) in seen:
                raise Refusal(
                    f"the values {seen[fold(level)]!r} and {level!r} differ only in case, space or Unicode form",
                    expected="values that stay apart when those are ignored",
                )
            seen[fold(level)] = level
        for alias, target in self.aliases.items():
            if target not in self.levels:
                raise Refusal(
                    f"the alias {alias!r} points to {target!r}, which is no value of the scale",
                    key=("aliases", alias),
                    expected=f"one of {', '.join(self.levels)}",
                )
            if seen.get(fold(alias), target) != target:
                raise Refusal(
                    f"the alias {alias!r} already means {seen[fold(alias)]!r}",
                    key=("aliases", alias),
                    expected="a spelling that means one value only",
                )
            seen[fold(alias)] = target
        return self

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {level: code for code, level in enumerate(self.levels)}

    @cached_property
    def _folded(self) -> dict[str, int]:
        return {fold(level): code for code, level in enumerate(self.levels)}

    @cached_property
    def _aliased(self) -> dict[str, int]:
        spellings = {**self.default_aliases, **self.aliases}
        return {fold(alias): self._codes[target] for alias, target in spellings.items()}

    def parse(self, raw: str | None) -> Parsed:
        """Read one written value; a spelling that is not declared is never guessed."""
        if raw is None:
            return EMPTY
        if (code := self._codes.get(raw)) is not None:
            return Parsed(code, None, "exact")
        folded = fold(raw)
        if not folded:
            return EMPTY
        if (code := self._folded.get(folded)) is not None:
            return Parsed(code, None, "folded")
        if (code := self._aliased.get(folded)) is not None:
            return Parsed(code, None, "alias")
        return OFF_SCALE

    def accepted(self, accept: Accept) -> tuple[bool, ...]:
        """For each level whether it lets the item through.

        Raises
        ------
        Refusal
            When ``accept`` names a value that is not on the scale, needs an order that the scale has not, or lets
            everything or nothing through.
        """
        if isinstance(accept, AtLeast):
            if not self.ordered:
                raise Refusal("'at_least' needs an order, and this scale has none", expected="a list of values")
            start = self.parse(accept.at_least).code
            if start is None:
                raise Refusal(
                    f"{accept.at_least!r} is no level of the scale", expected=f"one of {', '.join(self.levels)}"
                )
            accepted = tuple(code >= start for code in range(len(self.levels)))
        else:
            codes = set()
            for value in accept:
                code = self.parse(value).code
                if code is None:
                    raise Refusal(f"{value!r} is no value of the scale", expected=f"one of {', '.join(self.levels)}")
                codes.add(code)
            accepted = tuple(code in codes for code in range(len(self.levels)))
        if all(accepted) or not any(accepted):
            raise Refusal(
                f"the decision lets {'everything' if all(accepted) else 'nothing'} through, so nothing is decided",
                expected="some of the values of the scale, and not all",
            )
        return accepted


class BinaryScale(LevelScale):
    """Two values, one of which is the positive one."""

    kind: Literal["binary"]
    positive: Text = Field(description="The value that says yes.", examples=["1"])
    negative: Text = Field(description="The value that says no.", examples=["0"])

    @property
    def levels(self) -> tuple[str, ...]:
        """Negative, then positive."""
        return (self.negative, self.positive)

    @property
    def default_aliases(self) -> Mapping[str, str]:
        """True, false, 1 and 0 on a pass/fail scale, where those are not declared otherwise."""
        by_fold = {fold(level): level for level in self.levels}
        if set(by_fold) != {"pass", "fail"}:
            return {}
        return {"true": by_fold["pass"], "1": by_fold["pass"], "false": by_fold["fail"], "0": by_fold["fail"]}


class CategoricalScale(LevelScale):
    """Two or more values without an order."""

    kind: Literal["categorical"]
    categories: tuple[Text, ...] = Field(min_length=2, description="The values.", examples=[["No", "Unsure", "Yes"]])

    @property
    def levels(self) -> tuple[str, ...]:
        """The categories as declared."""
        return self.categories


class OrdinalScale(LevelScale):
    """Levels in the order in which they are declared, which is the only order they have."""

    kind: Literal["ordinal"]
    declared: tuple[Text, ...] = Field(
        alias="levels", min_length=2, description="The levels, from the lowest to the highest.", examples=[["1", "2"]]
    )

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels, from the lowest to the highest."""
        return self.declared

    @property
    def ordered(self) -> bool:
        """Always."""
        return True

    @model_validator(mode="after")
    def _numbers_ascend(self) -> OrdinalScale:
        numbers = self.numbers
        if numbers and any(low >= high for low, high in pairwise(numbers)):
            descending = all(low > high for low, high in pairwise(numbers))
            if not descending:
                raise Refusal(
                    f"the levels {', '.join(self.levels)} are numbers that go up and down",
                    key=("levels",),
                    expected="levels from the lowest to the highest",
                )
        return self


class PairwiseScale(LevelScale):
    """Which of two answers is better: the baseline's, neither, or the candidate's."""

    kind: Literal["pairwise"]
    candidate: Text = Field(description="The value that prefers the candidate.", examples=["A"])
    baseline: Text = Field(description="The value that prefers the baseline.", examples=["B"])
    tie: Text | None = Field(default=None, description="The value that prefers neither.", examples=["tie"])

    @property
    def levels(self) -> tuple[str, ...]:
        """Baseline, tie where there is one, candidate."""
        return (self.baseline, self.candidate) if self.tie is None else (self.baseline, self.tie, self.candidate)


class ContinuousScale(ScaleBase):
    """Numbers within a range."""

    kind: Literal["continuous"]
    limits: tuple[Number, Number] = Field(
        alias="range", description="The lowest and the highest value.", examples=[[-100, 100]]
    )

    @property
    def levels(self) -> None:
        """None: a continuous scale has a range."""
        return None

    @property
    def ordered(self) -> bool:
        """Always."""
        return True

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest value."""
        return self.limits

    @model_validator(mode="after")
    def _range_and_aliases(self) -> ContinuousScale:
        low, high = self.limits
        if not low < high:
            raise Refusal(f"the range {low:g} to {high:g} is empty", key=("range",), expected="the lower limit first")
        refuse_too_wide(low, high, key="range")
        for alias, target in self.aliases.items():
            number = number_of(target)
            if number is None or not low <= number <= high:
                raise Refusal(
                    f"the alias {alias!r} points to {target!r}, which is not on the scale",
                    key=("aliases", alias),
                    expected=f"a number from {low:g} to {high:g}",
                )
            if number_of(alias) is not None:
                raise Refusal(
                    f"the alias {alias!r} is a number already", key=("aliases", alias), expected="a word, not a number"
                )
        return self

    @cached_property
    def _aliased(self) -> dict[str, float]:
        return {fold(alias): float(target) for alias, target in self.aliases.items()}

    def parse(self, raw: str | None) -> Parsed:
        """Read one written number; a value outside the range is off the scale, never clamped."""
        if raw is None or not raw.strip():
            return EMPTY
        number = number_of(raw)
        if number is None:
            number = self._aliased.get(fold(raw))
            return OFF_SCALE if number is None else Parsed(None, number, "alias")
        if not self.limits[0] <= number <= self.limits[1]:
            return OFF_SCALE
        return Parsed(None, number, "exact" if raw == raw.strip() else "folded")

    def accepted(self, accept: Accept) -> Callable[[float], bool]:
        """Whether a number lets the item through.

        Raises
        ------
        Refusal
            When ``accept`` is a list, no number, or lets everything or nothing through.
        """
        if not isinstance(accept, AtLeast):
            raise Refusal("a list of values cannot divide a continuous scale", expected="{at_least: a number}")
        number = number_of(accept.at_least)
        low, high = self.limits
        if number is None or not low < number <= high:
            raise Refusal(
                f"'at_least: {accept.at_least}' does not divide the scale",
                expected=f"a number above {low:g} and at most {high:g}",
            )

        def at_least(value: float) -> bool:
            return value >= number

        return at_least


Scale = Annotated[
    BinaryScale | CategoricalScale | OrdinalScale | ContinuousScale | PairwiseScale, Field(discriminator="kind")
]

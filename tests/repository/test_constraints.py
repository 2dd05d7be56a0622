"""The two sets of pinned versions agree with what pyproject.toml declares."""

from __future__ import annotations

import re
import tomllib

import pytest
from tracked import ROOT

from calib_pipeline import __version__

DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PIN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*==[0-9][0-9a-z.+!]*")
REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9-]+)(?:\[[a-z]+\])?>=(?P<bound>[0-9.]+)")


def pins(name: str) -> dict[str, str]:
    """The pinned versions of a constraints file by package."""
    lines = [line for line in (ROOT / name).read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert [line for line in lines if not PIN.fullmatch(line)] == []
    assert lines == sorted(lines, key=lambda line: line.split("==")[0])
    return dict(line.split("==") for line in lines)


def bounds(*extras: str) -> dict[str, str]:
    """The lower bound of every declared dependency."""
    listed = [
        *DECLARED["dependencies"],
        *(line for extra in extras for line in DECLARED["optional-dependencies"][extra]),
    ]
    found = [REQUIREMENT.fullmatch(line) for line in listed if not line.startswith("calib-pipeline[")]
    assert None not in found, "every dependency has a lower bound and nothing else"
    return {one["name"].lower(): one["bound"] for one in found if one is not None}


def test_one_set_pins_all_that_is_declared() -> None:
    assert set(bounds("ui", "postgres", "test", "dev")) <= set(pins("constraints.txt"))


def test_the_pinned_set_is_within_the_bounds() -> None:
    pinned = pins("constraints.txt")
    low = {name: (pinned[name], bound) for name, bound in bounds("ui", "postgres", "test", "dev").items()}
    assert {name: pair for name, pair in low.items() if numbers(pair[0]) < numbers(pair[1])} == {}


def test_the_other_set_pins_the_lower_bounds() -> None:
    lowest = pins("constraints-lowest.txt")
    assert {name: numbers(lowest[name]) for name in bounds("ui", "postgres", "test")} == {
        name: numbers(bound) for name, bound in bounds("ui", "postgres", "test").items()
    }


@pytest.mark.parametrize("name", ["constraints.txt", "constraints-lowest.txt"])
def test_our_own_package_is_not_pinned(name: str) -> None:
    assert "calib-pipeline" not in pins(name)


def test_the_version_is_told_once() -> None:
    assert DECLARED["version"] == __version__
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def numbers(version: str) -> tuple[int, ...]:
    """A version as numbers, zeros at its end left out."""
    found = [int(part) for part in re.findall(r"\d+", version)]
    while found and found[-1] == 0:
        found.pop()
    return tuple(found)

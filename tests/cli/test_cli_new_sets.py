"""A run says which held-out sets it reserved, and why those before them no longer served."""

from __future__ import annotations

import pytest
import yaml
from small_project import GOOD, POPULATION, RESERVED, SIZE


def lines(said):
    return [line for line in said.out.splitlines() if " was reserved: " in line]


@pytest.mark.slow
def test_the_first_set_is_named_and_a_second_run_names_none(declared, calib, quick_dagster):
    first = calib("run", "--study", GOOD, "--project", declared)
    assert lines(first) == [f"kindness@{POPULATION}.g1 was reserved: {RESERVED} items of {POPULATION}"]
    assert lines(calib("run", "--study", GOOD, "--project", declared)) == []


def test_the_next_generation_says_why(own_copy, calib, quick_dagster):
    file = own_copy / "studies" / f"{GOOD}.yaml"
    study = yaml.safe_load(file.read_text(encoding="utf-8"))
    study["scorer"]["config"]["model"] = "m-2"
    file.write_text(yaml.safe_dump(study), encoding="utf-8")
    [said] = lines(calib("run", "--study", GOOD, "--project", own_copy))
    begins = f"kindness@{POPULATION}.g2 was reserved: {SIZE - RESERVED} items of {POPULATION}, since "
    assert said.startswith(f"{begins}kindness@{POPULATION}.g1 does not serve {GOOD}: ")
    assert "registered" in said


def test_a_recheck_says_so(own_copy, calib, quick_dagster):
    [said] = lines(calib("run", "--study", GOOD, "--recheck", "--project", own_copy))
    assert said.endswith(f", to measure again what was measured on kindness@{POPULATION}.g1")

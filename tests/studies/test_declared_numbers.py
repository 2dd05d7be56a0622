"""Numbers and paths of a declaration that cannot be meant are refused with file, line and key."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from calib_pipeline.errors import Faults, InputError
from calib_pipeline.studies.project import load_project
from calib_pipeline.studies.study_files import read_study

WHOLE = {
    "holdout.size": "size: 300",
    "holdout.seed": "seed: 7",
    "holdout.min_per_stratum": "min_per_stratum: 5",
    "ceiling.min_annotators": "min_annotators: 2",
    "ceiling.min_items": "min_items: 50",
    "agreement.min_pairs": "min_pairs: 100",
    "bootstrap.resamples": "resamples: 2000",
    "bootstrap.seed": "seed: 0",
}
SHARE = {
    "annotation.min_coverage": "min_coverage: 0.9",
    "agreement.min_scored": "min_scored: 0.9",
    "ceiling.floor": "floor: 0.1",
    "bootstrap.level": "level: 0.95",
}
COST = {
    "decision.cost_false_accept.value": "value: 4",
    "decision.cost_false_reject.value": "value: 1",
    "decision.budget": "budget: 0.5",
}
CUT = {"scorer.transform.cut[0]": "cut: [0.6]"}

NO_NUMBERS = [".nan", ".inf", "-.inf", "nan", "1e400", "-1e400", "true", "'2'", "[1]", "1_000", "0x10", ""]
NO_WHOLE_NUMBERS = ["1.5", "1e3", "1000000000000000000", "9" * 30, "-" + "9" * 30]


@pytest.mark.parametrize(
    "limit", ["max_measurements: 0", "max_age_days: 0", "max_age_days: 36501", "max_age_days: soon"]
)
def test_a_limit_of_a_set_is_a_whole_number_that_can_be_reached(limit: str, tmp_path: Path, study_yaml: str) -> None:
    said = fault_of(tmp_path, study_yaml.replace("min_per_stratum: 5", f"min_per_stratum: 5, {limit}"))
    assert f"'holdout.{limit.split(':')[0]}'" in said


def fault_of(folder: Path, text: str) -> str:
    path = folder / "study.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Faults) as caught:
        read_study(path, "study.yaml")
    return str(caught.value)


def refused(folder: Path, study_yaml: str, key: str, written: str, value: str) -> str:
    """What is said of a value in the place of the one that is written; it names line and key."""
    assert study_yaml.count(written) == 1
    line = study_yaml[: study_yaml.index(written)].count("\n") + 1
    old = re.search(r"[0-9.]+", written.split(":")[1])
    assert old is not None
    said = fault_of(folder, study_yaml.replace(written, written.replace(old[0], value)))
    assert f"study.yaml:{line}: '{key}" in said, said
    return said


@pytest.mark.parametrize(
    ("key", "written", "value"),
    [
        (key, written, value)
        for key, written in (WHOLE | SHARE | COST | CUT).items()
        for value in NO_NUMBERS
        if (key, value) != ("decision.budget", "")  # a budget that is left empty is none
    ],
)
def test_what_is_no_finite_number_is_refused(
    tmp_path: Path, study_yaml: str, key: str, written: str, value: str
) -> None:
    if value == "":
        key = key.removesuffix("[0]")
    assert refused(tmp_path, study_yaml, key, written, value).count("; expected ") == 1


@pytest.mark.parametrize("value", NO_WHOLE_NUMBERS)
@pytest.mark.parametrize(("key", "written"), WHOLE.items(), ids=str)
def test_a_count_is_a_whole_number_of_at_most_18_digits(
    tmp_path: Path, study_yaml: str, key: str, written: str, value: str
) -> None:
    said = refused(tmp_path, study_yaml, key, written, value)
    long = len(value) > 18
    assert f"; expected a whole number{' of at most 18 digits' * long}. For example" in said


@pytest.mark.parametrize(
    ("key", "written", "value"),
    [
        *((key, written, "-1") for key, written in (WHOLE | SHARE | COST).items()),
        *((key, written, "0") for key, written in (WHOLE | COST).items() if not key.endswith("seed")),
        *((key, written, "1.001") for key, written in SHARE.items()),
        ("bootstrap.level", "level: 0.95", "0"),
        ("bootstrap.level", "level: 0.95", "1"),
        ("ceiling.floor", "floor: 0.1", "1"),
        ("bootstrap.resamples", "resamples: 2000", "1000001"),
        ("bootstrap.resamples", "resamples: 2000", "999999999999999999"),
        ("ceiling.min_items", "min_items: 50", "999999999999999999"),
        ("agreement.min_pairs", "min_pairs: 100", "999999999999999999"),
        ("decision.budget", "budget: 0.5", "1e308"),
        *((f"decision.cost_false_{error}.value", written, value)
          for error, written in (("accept", "value: 4"), ("reject", "value: 1"))
          for value in ("1000000000.5", "1e10", "1e308", "9" * 30)),
    ],
)  # fmt: skip
def test_a_number_beyond_its_bounds_is_refused(
    tmp_path: Path, study_yaml: str, key: str, written: str, value: str
) -> None:
    assert "; expected " in refused(tmp_path, study_yaml, key, written, value)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("size: 300", "999999999999999999"),
        ("seed: 7", "999999999999999999"),
        ("seed: 0", "999999999999999999"),
        ("resamples: 2000", "1000000"),
        ("value: 4", "1e9"),
        ("cut: [0.6]", "1e308"),
        ("cut: [0.6]", "-1e308"),
    ],
)
def test_the_largest_numbers_that_are_read(tmp_path: Path, study_yaml: str, written: str, value: str) -> None:
    path = tmp_path / "study.yaml"
    old = written.split(":")[1].strip(" []")
    path.write_text(study_yaml.replace(written, written.replace(old, value)), encoding="utf-8")
    read_study(path, "study.yaml")


@pytest.mark.parametrize("value", [".nan", ".inf", "1e400", "true", "1.0001", "2", ""])
def test_a_floor_is_a_coefficient(tmp_path: Path, study_yaml: str, value: str) -> None:
    floor = f"floor: {{statistic: cohen_kappa, at_least: {value}, convention: true, stands_for: x}}"
    said = fault_of(tmp_path, study_yaml.replace("budget: 0.5", floor))
    assert "study.yaml:24: 'decision.floor.at_least'" in said


@pytest.mark.parametrize(
    ("scale", "key"),
    [
        ("{kind: continuous, range: [-1e308, 1e308]}", "range"),
        ("{kind: continuous, range: [0, 1e400]}", "range[1]"),
        ("{kind: continuous, range: [.nan, 1]}", "range[0]"),
        ("{kind: continuous, range: [false, true]}", "range[0]"),
        ("{kind: continuous, range: [1, 1]}", "range"),
    ],
)
def test_a_range_has_finite_limits_and_width(tmp_path: Path, study_yaml: str, scale: str, key: str) -> None:
    said = fault_of(tmp_path, study_yaml.replace('{kind: binary, positive: "1", negative: "0"}', scale))
    assert f"study.yaml:3: 'scale.{key}'" in said


@pytest.mark.parametrize("ends", ["[-1e308, 1e308]", "[0, 1e400]", "[.inf, 1]", "[1, 0]", "[0, true]"])
def test_a_straight_map_has_finite_ends(tmp_path: Path, study_yaml: str, ends: str) -> None:
    text = study_yaml.replace("{cut: [0.6]}", f"{{linear: {{from: {ends}, to: [1, 5]}}}}")
    assert "study.yaml:10: 'scorer.transform.linear.from" in fault_of(tmp_path, text)


NO_PATHS = [r"\0", r"data/a\x07b", r"a\nb", r"a\tb", r"a\x7f", r"a\ud800"]


@pytest.mark.parametrize("path", NO_PATHS)
@pytest.mark.parametrize(
    ("key", "written"),
    [
        ("rubric.text", "rubrics/entailment.md"),
        ("data.annotations", "data/{population}/annotations.csv"),
        ("data.scores", "data/{population}/scores.csv"),
        ("scorer.tuned_on", "data/{population}/tuning.csv"),
    ],
)
def test_a_path_of_a_study_that_holds_a_control_character_is_refused(
    tmp_path: Path, study_yaml: str, key: str, written: str, path: str
) -> None:
    study_yaml = study_yaml.replace("  kind: table\n", "  kind: table\n  tuned_on: data/{population}/tuning.csv\n", 1)
    line = study_yaml[: study_yaml.index(written)].count("\n") + 1
    said = fault_of(tmp_path, study_yaml.replace(written, f'"{path}"'))
    assert said.startswith(f"study.yaml:{line}: '{key}': character ")
    assert "is a control character or no character at all" in said and "expected a path or URL" in said


@pytest.mark.parametrize("path", NO_PATHS)
@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("store", 'store: "{}"'),
        ("ledger", 'ledger: "sqlite:///{}"'),
        ("populations.news-2026-10.items", 'populations:\n  news-2026-10: {{items: "{}"}}'),
    ],
)
def test_a_path_of_the_project_that_holds_a_control_character_is_refused(
    project_folder: Callable[..., Path], study_yaml: str, key: str, text: str, path: str
) -> None:
    declared = text.format(path)
    with pytest.raises(InputError) as caught:
        load_project(project_folder(declared, a=study_yaml))
    assert str(caught.value).startswith(f"calib.yaml:{declared.count(chr(10)) + 1}: '{key}': character ")

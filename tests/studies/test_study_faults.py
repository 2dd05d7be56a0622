"""Each fault of a study file names file, line, key, the nearest known key and an example."""

from __future__ import annotations

from pathlib import Path

import pytest

from calib_pipeline.errors import Faults
from calib_pipeline.studies.study_files import read_study


def faults(folder: Path, text: str) -> list[str]:
    path = folder / "study.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Faults) as caught:
        read_study(path, "study.yaml")
    assert str(caught.value) == "\n".join(str(fault) for fault in caught.value.faults)
    return [str(fault) for fault in caught.value.faults]


def test_the_complete_example_is_a_study(tmp_path: Path, study_yaml: str) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(study_yaml, encoding="utf-8")
    study, _ = read_study(path, "study.yaml")
    assert (study.name, study.scale.levels, study.headline) == ("rte.word-overlap", ("0", "1"), "cohen_kappa")


@pytest.mark.parametrize(
    ("old", "new", "line", "expected"),
    [
        ("min_annotators: 2", "min_anotators: 2", 16, "unknown key 'ceiling.min_anotators'; expected one of "
         "min_annotators, min_items, floor, because. Did you mean 'min_annotators'? For example: min_annotators: 2"),
        ("size: 300", "size: yes", 12, "'holdout.size' is true; expected a whole number. For example: size: 300"),
        ("size: 300, ", "", 12, "the key 'holdout.size' is missing (items to reserve). For example: size: 300"),
        ("role: holdout", "role: holdot", 12, "'holdout.role' is \"holdot\"; expected one of holdout, fitted. "
         "Did you mean 'holdout'?"),
        ("kind: binary", "kind: binray", 3, "'scale.kind' is 'binray'; expected one of binary, categorical, "
         "ordinal, continuous, pairwise. For example: scale: {kind: binary, positive: \"1\", negative: \"0\"}"),
        ("kind: binary, ", "", 3, "'scale.kind' is missing; expected one of binary, categorical, ordinal, "
         "continuous, pairwise. For example: scale: {kind: binary, positive: \"1\", negative: \"0\"}"),
        ("positive:", "postive:", 3, "unknown key 'scale.postive'; expected one of aliases, kind, positive, "
         "negative. Did you mean 'positive'? For example: positive: \"1\""),
        ("by: \"the label tool shows the pair only\"", "by: no", 15, "'annotation.blind.by' is false; expected "
         "text. Put the text in quotes: without them YAML reads yes, no, on and off as booleans"),
        ("confidence, difficulty", "confidence, dificulty", 15, "'annotation.blind.to[2]' is \"dificulty\"; "
         "expected one of output, confidence, difficulty. Did you mean 'difficulty'?"),
        ("accept: [\"1\"]", "accept: [\"2\"]", 21, "'decision.accept': '2' is no value of the scale; expected "
         "one of 0, 1"),
        ("accept: [\"1\"]", "accept: \"1\"", 21, "'decision.accept' is \"1\"; expected a list. For example: "
         "accept: [\"1\"]"),
        ("accept: [\"1\"]", "accept: {at_lest: 1}", 21, "unknown key 'decision.accept.at_lest'; expected one "
         "of at_least. Did you mean 'at_least'? For example: at_least: \"4\""),
        ("headline: cohen_kappa", "headline: kappa", 18, "'agreement.headline' is \"kappa\"; expected one of "
         "percent_agreement, cohen_kappa, gwet_ac1, quadratic_kappa, krippendorff_alpha, spearman, within_tolerance, "
         "pearson. Did you mean 'cohen_kappa'?"),
        ("headline: cohen_kappa", "headline: pearson", 18, "'agreement.headline': 'pearson' has no meaning on "
         "a scale of kind binary; expected one of cohen_kappa, percent_agreement, gwet_ac1"),
        ("cut: [0.6]", "cut: [0.6, x]", 10, "'scorer.transform.cut[1]' is \"x\"; expected a number"),
        ("cut: [0.6]", "cut: [0.2, 0.6]", 10, "'scorer.transform.cut': 2 cut points do not divide 2 levels; "
         "expected 1 cut points"),
        ("panel: []", "panel: [{id: other, knd: table}]", 11, "unknown key 'panel[0].knd'; expected one of "
         "id, kind, config, transform, tuned_on, run. Did you mean 'kind'? For example: kind: table"),
        ("column: text_words", "colum: text_words", 17, "unknown key 'baselines.heuristics[0].colum'; expected "
         "one of column. Did you mean 'column'? For example: column: text_words"),
        ("budget: 0.5", "budget: 5", 24, "'decision.budget': the budget 5 is more than accepting or rejecting "
         "everything ever costs; expected at most 0.8 = 4·1 / (4 + 1)"),
        ("min_items: 50", "min_items: 301", 16, "'ceiling.min_items': 301 cannot be had of the 300 items that "
         "'holdout.size' reserves; expected at most 300, or a larger 'holdout.size'"),
        ("min_pairs: 100", "min_pairs: 301", 18, "'agreement.min_pairs': 301 cannot be had of the 300 items that "
         "'holdout.size' reserves; expected at most 300, or a larger 'holdout.size'"),
        ("floor: 0.1", "floor: 1", 16, "'ceiling.floor' is 1; expected less than 1. For example: floor: 0.1"),
        ("budget: 0.5", "floor: {statistic: cohen_kappa, at_least: 1.5, convention: true, stands_for: x}", 24,
         "'decision.floor.at_least' is 1.5; expected less than or equal to 1. For example: at_least: 0.5"),
        ("study: rte.word-overlap", "study: rte word", 1, "'study': the name 'rte word' cannot be used; "
         "expected letters, digits, '.', '_' and '-', starting with none of '.' and '-', without '..'"),
        ("data:", "dta:", 26, "unknown key 'dta'"),
        ("level: 0.95", "level: 95", 25, "'bootstrap.level' is 95"),
        ("scorer:", "scorer: text\nscorer2:", 7, "unknown key 'scorer2'"),
    ],
)  # fmt: skip
def test_one_fault_has_its_place_and_its_way_out(
    tmp_path: Path, study_yaml: str, old: str, new: str, line: int, expected: str
) -> None:
    assert old in study_yaml
    found = faults(tmp_path, study_yaml.replace(old, new, 1))
    assert any(fault.startswith(f"study.yaml:{line}: {expected}") for fault in found), found


def test_all_faults_of_a_file_are_told_at_once_in_the_order_of_its_lines(tmp_path: Path, study_yaml: str) -> None:
    text = (
        study_yaml.replace("size: 300", "size: many").replace("floor: 0.1", "floor: -1").replace("seed: 0", "sead: 0")
    )
    lines = [int(fault.split(":")[1]) for fault in faults(tmp_path, text)]
    assert lines == sorted(lines) and set(lines) == {12, 16, 25}


def test_a_misspelled_key_is_told_once(tmp_path: Path, study_yaml: str) -> None:
    (fault,) = faults(tmp_path, study_yaml.replace("dimension:", "dimenson:"))
    assert fault.startswith("study.yaml:2: unknown key 'dimenson'")


def test_a_long_value_is_shown_short(tmp_path: Path, study_yaml: str) -> None:
    (fault,) = faults(tmp_path, study_yaml.replace("size: 300", f"size: {'x' * 5000}"))
    assert len(fault) < 300

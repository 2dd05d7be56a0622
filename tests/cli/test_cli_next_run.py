"""What status and validate say of a changed declaration before a run, and that the run then does it."""

from __future__ import annotations

import json

import pandas as pd
import pytest
import yaml
from small_project import (
    ALONE,
    GOOD,
    NOISE,
    POPULATION,
    RESERVED,
    SIZE,
    reserved_ids,
    studies,
    study_named,
    write_study,
)
from sweeps import swept

SET = f"kindness@{POPULATION}.g1"
DRAWS = (
    f"the next `calib run` reserves generation 2 of the held-out set from the {SIZE - RESERVED} items that are not "
    "spent, and those that it draws need labels"
)
UNNAMED = "the ledger holds its digest only"


def changed(root, name, *path_and_value):
    """Write a study with one key changed."""
    file = root / "studies" / f"{name}.yaml"
    study = yaml.safe_load(file.read_text(encoding="utf-8"))
    *path, key, value = path_and_value
    section = study
    for part in path:
        section = section.setdefault(part, {})
    section[key] = value
    write_study(root, study)


def validated(calib, root):
    """What validate says before the next run of each study of which it says anything."""
    said = calib("validate", "--project", root, "--json")
    assert said.code == 0
    notes = [note.split(f" on {POPULATION}: ") for note in json.loads(said.out)["notes"]]
    return {note[0].removeprefix("study "): note[1] for note in notes if len(note) == 2}


def told(calib, root, name):
    """What status says before the next run of a study."""
    lines = calib("status", "--study", name, "--project", root).out.splitlines()
    said = [line.split("before the next run: ", 1)[1] for line in lines if "before the next run: " in line]
    assert len(said) <= 1
    return said[0] if said else None


@pytest.mark.parametrize("study", [GOOD, NOISE, ALONE])
def test_what_is_as_it_was_registered_is_not_told(climbed, calib, study):
    assert told(calib, climbed.root, study) is None


def test_validate_has_nothing_to_tell_of_what_is_as_it_was_registered(climbed, calib):
    assert validated(calib, climbed.root) == {}


def test_without_a_ledger_nothing_is_compared_and_nothing_made(declared, calib):
    assert told(calib, declared, GOOD) is None and validated(calib, declared) == {}
    assert not (declared / ".calib").exists()


CHANGES = {
    "decision.cost_false_accept.value": (5, "decision.cost_false_accept.value (2 → 5)"),
    "decision.budget": (0.5, "decision.budget (null → 0.5)"),
    "decision.accept": (["no"], 'decision.accept (["yes"] → ["no"])'),
    "decision.cost_false_accept.because": ("x" * 99, "decision.cost_false_accept.because"),
    "ceiling.floor": (0.25, "ceiling.floor (0.2 → 0.25)"),
    "agreement.headline": ("gwet_ac1", 'agreement.headline ("cohen_kappa" → "gwet_ac1")'),
    "reference.consensus": ("single", 'reference.consensus ("majority" → "single")'),
    "baselines.heuristics": ([], 'baselines.heuristics ([{"column": "words"}] → [])'),
    "bootstrap.seed": (1, "bootstrap.seed (0 → 1)"),
    "bootstrap.level": (0.99, "bootstrap.level (0.95 → 0.99)"),
    "scorer.config.model": ("m-2", 'scorer.config.model ("m-good" → "m-2")'),
    "scorer.config.k": (2, "scorer.config.k (null → 2)"),
    "rubric.version": ("2", 'rubric.version ("1" → "2")'),
}
QUICK = ("decision.cost_false_accept.value", "scorer.config.k")


@pytest.mark.parametrize("key", swept(CHANGES, *QUICK))
def test_a_key_that_changed_is_named_with_what_the_next_run_does(own_copy, calib, key):
    value, words = CHANGES[key]
    changed(own_copy, GOOD, *key.split("."), value)
    said = told(calib, own_copy, GOOD)
    assert said.startswith(f"{words} changed since event ") and said.endswith(f" registered it: {DRAWS}")
    assert validated(calib, own_copy) == {GOOD: said}


@pytest.mark.slow
def test_a_change_that_is_taken_back_is_told_no_more(own_copy, calib):
    changed(own_copy, GOOD, "ceiling", "floor", 0.25)
    said = told(calib, own_copy, GOOD)
    assert f"study {GOOD} on {POPULATION}: {said}" in calib("validate", "--project", own_copy).out
    assert told(calib, own_copy, ALONE) is None
    write_study(own_copy, study_named(GOOD))
    assert told(calib, own_copy, GOOD) is None and validated(calib, own_copy) == {}


@pytest.mark.slow
@pytest.mark.parametrize(("key", "old", "new"), [("size", RESERVED, 130), ("seed", 3, 4), ("min_per_stratum", 5, 6)])
def test_another_draw_is_told_to_every_study_of_the_set(own_copy, calib, key, old, new):
    for file in (own_copy / "studies").iterdir():
        changed(own_copy, file.stem, "holdout", key, new)
    said_to = validated(calib, own_copy)
    assert set(said_to) == {study["study"] for study in studies()}
    for study in (GOOD, NOISE):
        said = told(calib, own_copy, study)
        assert said == said_to[study]
        assert said.startswith(f"holdout.{key} ({old} → {new}) changed since event ") and said.endswith(DRAWS)
        assert UNNAMED not in said


def test_where_no_record_names_the_key_its_section_is_said_to_be_unknown(own_copy, calib):
    changed(own_copy, ALONE, "decision", "cost_false_accept", "value", 5)
    said = told(calib, own_copy, ALONE)
    assert validated(calib, own_copy) == {ALONE: said}
    assert said.startswith(f"a key of the plan ({UNNAMED}, and no record says which) changed since event ")
    assert said.endswith(DRAWS)
    changed(own_copy, ALONE, "decision", "cost_false_accept", "value", 2)
    changed(own_copy, ALONE, "scorer", "config", "model", "m-2")
    assert told(calib, own_copy, ALONE).startswith(f"the scorer's configuration ({UNNAMED}, and no record says what)")


def test_other_outputs_are_told(own_copy, calib):
    path = own_copy / "data" / POPULATION / "scores.csv"
    scores = pd.read_csv(path)
    scores["value"] = scores["value"].map({"yes": "no", "no": "yes"})
    scores.to_csv(path, index=False)
    said = told(calib, own_copy, GOOD)
    assert said.startswith("the outputs in data.scores changed since event ")
    assert validated(calib, own_copy)[GOOD] == said


def test_a_population_without_unspent_items_is_told_before_the_run_that_would_fail(own_copy, calib):
    path = own_copy / "data" / POPULATION / "items.csv"
    items = pd.read_csv(path)
    items[items["item_id"].isin(reserved_ids(items))].to_csv(path, index=False)
    said = told(calib, own_copy, GOOD)
    assert said.startswith("the population's items changed since event ")
    assert said.endswith("no item is left that is not spent: add items to the population first")


@pytest.mark.usefixtures("quick_dagster")
@pytest.mark.slow
def test_the_next_run_does_what_was_told(own_copy, calib):
    changed(own_copy, GOOD, "decision", "cost_false_accept", "value", 5)
    assert told(calib, own_copy, GOOD).endswith(DRAWS)
    calib("run", "--study", GOOD, "--project", own_copy)
    sets = json.loads(calib("holdout", "list", "--project", own_copy, "--json").out)
    assert [(one["generation"], one["size"]) for one in sets] == [(1, RESERVED), (2, SIZE - RESERVED)]
    assert told(calib, own_copy, GOOD) is None


@pytest.mark.slow
@pytest.mark.usefixtures("quick_dagster")
def test_a_set_that_nobody_read_is_kept_by_the_next_run_as_told(declared, calib):
    (declared / "data" / POPULATION / "alone.csv").unlink()
    calib("run", "--study", ALONE, "--project", declared)
    changed(declared, ALONE, "decision", "cost_false_accept", "value", 5)
    assert told(calib, declared, ALONE).endswith(f"registers it anew on {SET}, which still serves it")
    calib("run", "--study", ALONE, "--project", declared)
    assert len(json.loads(calib("holdout", "list", "--project", declared, "--json").out)) == 1
    assert told(calib, declared, ALONE) is None


@pytest.mark.usefixtures("quick_dagster")
@pytest.mark.slow
def test_a_set_that_nobody_read_is_drawn_again_where_another_size_is_asked_for(declared, calib):
    (declared / "data" / POPULATION / "alone.csv").unlink()
    calib("run", "--study", ALONE, "--project", declared)
    for file in (declared / "studies").iterdir():
        changed(declared, file.stem, "holdout", "size", 130)
    assert told(calib, declared, ALONE).endswith(
        f"reserves generation 2 of the held-out set from the {SIZE} items that are not spent, and those that it draws "
        "need labels"
    )
    calib("run", "--study", ALONE, "--project", declared)
    sets = json.loads(calib("holdout", "list", "--project", declared, "--json").out)
    assert [(one["generation"], one["size"]) for one in sets] == [(1, RESERVED), (2, 130)]


@pytest.mark.slow
def test_a_change_that_was_put_back_is_no_change(own_copy, calib, quick_dagster):
    path = own_copy / "studies" / f"{GOOD}.yaml"
    declared = path.read_text(encoding="utf-8")
    study = yaml.safe_load(declared)
    study["scorer"]["config"] = {**study["scorer"].get("config", {}), "prompt": "another"}
    path.write_text(yaml.safe_dump(study, sort_keys=False), encoding="utf-8")
    calib("run", "--study", GOOD, "--project", own_copy)
    path.write_text(declared, encoding="utf-8")
    assert calib("run", "--study", GOOD, "--project", own_copy).code == 0
    assert "before the next run" not in calib("status", "--study", GOOD, "--project", own_copy).out

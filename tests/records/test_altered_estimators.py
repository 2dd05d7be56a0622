"""Each estimator altered in turn: verification works every figure out again, so none can be altered unseen.

The estimators are found, not listed: every public function of ``calib_pipeline.measurement``, and every one of
``calib_pipeline.statistics`` that it or the evidence uses. One that no record here rests on fails the test too.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable
from typing import Any

import dagster as dg
import numpy as np
import pandas as pd
import pytest
from climbs import Folder, folder_of
from made_up_project import World, seen, world_of

import calib_pipeline.evidence
import calib_pipeline.measurement
from calib_pipeline.measurement.reference import CONSENSUS
from calib_pipeline.records.verification import verify_record

pytestmark = pytest.mark.slow

NOT_ESTIMATORS = {
    "measures.measure_of": "says which statistics a scale has",
    "comparators.heuristic_name": "a name",
}


def modules_of(package: Any) -> list[Any]:
    names = [module.name for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")]
    return [importlib.import_module(name) for name in names]


def estimators() -> dict[str, Callable[..., Any]]:
    """The functions that make figures, by module and name."""
    found = {}
    for module in [*modules_of(calib_pipeline.measurement), *modules_of(calib_pipeline.evidence)]:
        for name, value in vars(module).items():
            if not inspect.isfunction(value) or name.startswith("_"):
                continue
            if value.__module__.startswith(("calib_pipeline.statistics", "calib_pipeline.measurement")):
                found[f"{value.__module__.rpartition('.')[2]}.{value.__name__}"] = value
    return {name: found[name] for name in sorted(set(found) - set(NOT_ESTIMATORS))}


def _ladder_of_levels() -> World:
    return world_of("ordinal", strata=STRATA)


def _numbers_of_conversations() -> World:
    """A continuous scale, its headline a correlation, and items that are drawn two and two."""
    world = world_of("continuous", strata=STRATA)
    world.study["agreement"]["headline"] = "pearson"
    world.items["group"] = world.items["stratum"] + (world.items.groupby("stratum").cumcount() // 2).astype(str)
    return world


def _a_poor_judge() -> World:
    """Figures that do not clear their bars, each with the number of labels that would; and one annotator who copies."""
    world = world_of(strata=STRATA)
    first, second, *_ = dict.fromkeys(world.labels["annotator_id"])
    said = world.labels[world.labels["annotator_id"] == first].set_index("item_id")["value"]
    copies = world.labels["annotator_id"] == second
    world.labels.loc[copies, "value"] = world.labels["item_id"][copies].map(said)
    world.study["reference"]["consensus"] = "single"
    world.scores["value"] = seen(np.random.default_rng(2), "binary", world.truth, 0.42)
    return world


def _copied_outputs() -> World:
    """A scorer that says what one annotator said, among people who slip often."""
    world = world_of(strata={name: 3 * size for name, size in STRATA.items()})
    flipped = world.labels["value"].map({"pass": "fail", "fail": "pass"})
    slips = np.random.default_rng(3).random(len(world.labels)) < 0.25
    world.labels["value"] = flipped.where(slips, world.labels["value"])
    [*_, person] = dict.fromkeys(world.labels["annotator_id"])
    said = world.labels[world.labels["annotator_id"] == person].set_index("item_id")["value"]
    world.scores["value"] = world.scores["item_id"].map(said).fillna("pass")
    return world


def _one_value() -> World:
    """Every label is the same, so that the figures are undefined and say how many labels would show another."""
    world = world_of(strata=STRATA)
    world.labels["value"] = world.scores["value"] = "pass"
    return world


STRATA = {"billing": 24, "login": 30, "shipping": 36}
WORLDS: dict[str, Callable[[], World]] = {
    "copied outputs": _copied_outputs,
    "one value": _one_value,
    "levels": _ladder_of_levels,
    "numbers": _numbers_of_conversations,
    "poor judge": _a_poor_judge,
}


@pytest.fixture(scope="module")
def recorded(instance: dg.DagsterInstance, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Folder]:
    """A project with one record for each of the worlds, a diagnostic one: it holds every rung's figures as well."""
    folders = {}
    for name, make in WORLDS.items():
        world = make()
        world.study["holdout"] = {**world.study["holdout"], "role": "fitted"}
        world.study["holdout"]["size"] = 250 if name == "copied outputs" else 60
        world.study["ceiling"]["min_items"] = 30
        world.study["agreement"]["min_pairs"] = 60
        world.study["bootstrap"]["resamples"] = 200
        folders[name] = folder_of(world, tmp_path_factory.mktemp("recorded"), instance)
        run = folders[name].diagnose()
        assert run.status == "ok", run
    return folders


@pytest.fixture(scope="module")
def used_by(recorded: dict[str, Folder]) -> dict[str, list[str]]:
    """The worlds whose record an estimator enters."""
    used: dict[str, list[str]] = {name: [] for name in estimators()}
    for world, folder in recorded.items():
        with pytest.MonkeyPatch.context() as patch:
            for name, estimator in estimators().items():
                put_in_place(patch, estimator, _noting(name, estimator, world, used))
            assert verified(folder) == ()
    return used


def _noting(name: str, estimator: Callable[..., Any], world: str, used: dict[str, list[str]]) -> Callable[..., Any]:
    def noting(*arguments: Any, **named: Any) -> Any:
        made = estimator(*arguments, **named)
        if world not in used[name] and not (isinstance(made, dict | tuple) and not made):
            used[name].append(world)
        return made

    return noting


def verified(folder: Folder) -> tuple[str, ...]:
    """What is wrong with the project's record."""
    [entry] = folder.records()
    return verify_record(folder.project, entry.record_id).problems


def put_in_place(patch: pytest.MonkeyPatch, estimator: Callable[..., Any], other: Callable[..., Any]) -> None:
    """Put another function in the place of an estimator, wherever the program has a name for it."""
    for module in [module for name, module in sys.modules.items() if name.startswith("calib_pipeline")]:
        for name, value in list(vars(module).items()):
            if value is estimator:
                patch.setattr(module, name, other)
    for rule, value in CONSENSUS.items():
        if value is estimator:
            patch.setitem(CONSENSUS, rule, other)


def altered(value: Any) -> Any:
    """The same kind of result with slightly other numbers, and none of them merely rescaled."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value - 1 if value else 1
    if isinstance(value, float):
        return 0.98 * value + 0.003
    if isinstance(value, str):
        return f"{value}?"
    if isinstance(value, np.ndarray):
        return _altered_array(value)
    if isinstance(value, pd.Series):
        return pd.Series(_altered_array(value.to_numpy()), index=value.index)
    if isinstance(value, tuple):
        return tuple(altered(part) for part in value)
    if isinstance(value, dict):
        return {key: altered(part) for key, part in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = {part.name: getattr(value, part.name) for part in dataclasses.fields(value)}
        bent = {name: altered(part) for name, part in parts.items() if isinstance(part, float | np.ndarray)}
        bent |= {name: altered(part) for name, part in parts.items() if dataclasses.is_dataclass(part)}
        several = {name: part for name, part in parts.items() if isinstance(part, tuple)}
        bent |= {name: altered(part) for name, part in several.items() if all(map(dataclasses.is_dataclass, part))}
        return dataclasses.replace(value, **bent)
    return value


def _altered_array(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind in "iu":
        return np.roll(values, 1)
    if values.dtype == bool:
        return ~values
    changed = values.astype(float).copy()
    for axis, length in enumerate(values.shape):
        shape = [1] * values.ndim
        shape[axis] = length
        changed *= np.linspace(0.9, 1.0, length).reshape(shape)
    return changed * 0.98 if values.ndim == 0 else changed


@pytest.mark.parametrize("name", estimators())
def test_an_altered_estimator_does_not_verify(
    name: str, recorded: dict[str, Folder], used_by: dict[str, list[str]]
) -> None:
    assert used_by[name], "no record here rests on it"
    estimator = estimators()[name]

    def other(*arguments: Any, **named: Any) -> Any:
        return altered(estimator(*arguments, **named))

    with pytest.MonkeyPatch.context() as patch:
        put_in_place(patch, estimator, other)
        problems = verified(recorded[used_by[name][-1]])
    assert any(problem.startswith("does not recompute: ") for problem in problems), problems

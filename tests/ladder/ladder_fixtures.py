"""One Dagster instance for all cases, and a project that is climbed once and copied for each case."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from climbs import Folder, folder_of, reserved
from made_once import made_once
from made_up_project import World, world_of

__all__ = ["climbed", "climbed_once", "instance", "measured_twice", "world"]


@pytest.fixture(scope="session")
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


@pytest.fixture(scope="session")
def climbed_once(tmp_path_factory: pytest.TempPathFactory, instance: dg.DagsterInstance) -> Folder:
    """The unchanged project with its published record; copy it before you change anything."""

    def climb(root: Path) -> None:
        run = folder_of(labeled_world(), root, instance).climb()
        assert run.status == "ok", run

    return Folder(made_once(tmp_path_factory, "climbed-tickets", climb), instance)


@pytest.fixture
def climbed(climbed_once: Folder, tmp_path: Path) -> Folder:
    """A copy of the unchanged project with its published record."""
    return climbed_once.copied_to(tmp_path)


@pytest.fixture
def measured_twice(tmp_path_factory: pytest.TempPathFactory, climbed: Folder) -> Folder:
    """The climbed project after its prompt changed and every item was labeled: a record of a second generation."""

    def climb(root: Path) -> None:
        world = world_of()
        world.study["scorer"]["config"]["prompt"] = "p-2"
        folder = climbed.copied_to(root)
        world.write(folder.root)
        run = folder.climb()
        assert run.status == "ok", run

    return Folder(made_once(tmp_path_factory, "measured-twice-tickets", climb), climbed.instance)


@pytest.fixture
def world() -> World:
    """The world of the climbed project, to be changed and written over it."""
    return labeled_world()


def labeled_world() -> World:
    """The unchanged world, of which only the items of the first reservation are labeled."""
    world = world_of()
    world.label_only(set(reserved(world)["item_id"]))
    return world

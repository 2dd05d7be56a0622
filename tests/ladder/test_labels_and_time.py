"""What the dates of labels can tell, and what is told when labels change between the first read and the opening."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import numpy as np
import pandas as pd
import pytest
from climbs import Folder, folder_of
from ladder_fixtures import labeled_world

from calib_pipeline.cli.main import main
from calib_pipeline.evidence.annotations import label_provenance
from calib_pipeline.studies.study import Study

RESERVED = {"a": "2026-02-01T09:00:00+00:00"}
INGESTED = "2026-02-03T09:00:00+00:00"


@pytest.mark.parametrize(
    ("labeled_at", "note"),
    [
        ("2026-02-02T09:00:00+00:00", None),
        ("2026-02-03T09:30:00+00:00", None),
        ("2026-01-31T09:00:00+00:00", "1 are older"),
        ("2026-02-03T11:00:00+00:00", "1 are dated after they were ingested"),
        ("2999-01-01T00:00:00+00:00", "1 are dated after they were ingested"),
        (None, "1 labels are undated"),
    ],
)
def test_a_label_is_held_out_by_its_date_only_where_it_can_be_its_date(
    labeled_at: str | None, note: str | None
) -> None:
    declaration = labeled_world().study
    del declaration["holdout"]["prior_access"]
    study = Study.model_validate(declaration)
    labels = pd.DataFrame({"item_id": ["a"], "labeled_at": [labeled_at]})
    told = label_provenance(study, labels, RESERVED, ingested=INGESTED)
    assert (told.held_out_by, told.note) == ("reservation" if note is None else "nothing", note)


def test_labels_from_the_future_are_not_held_out_by_the_reservation(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    world = labeled_world()
    del world.study["holdout"]["prior_access"]
    world.labels["labeled_at"] = "2999-01-20T09:00:00Z"
    run = folder_of(world, tmp_path, instance).climb_to("annotations")
    assert "are dated after they were ingested" in run.failed_checks["annotations"]


def test_an_audit_says_that_labels_were_replaced_after_a_read(
    tmp_path: Path, instance: dg.DagsterInstance, capsys: pytest.CaptureFixture[str]
) -> None:
    world = labeled_world()
    world.study["ceiling"]["floor"] = 0.5
    clean = world.labels["value"]
    flipped = clean.map({"pass": "fail", "fail": "pass"})
    world.labels["value"] = flipped.where(np.random.default_rng(4).random(len(clean)) < 0.25, clean)
    folder: Folder = folder_of(world, tmp_path, instance)
    assert folder.climb().asset == "human_ceiling"
    world.labels["value"] = clean
    world.write(tmp_path)
    assert folder.climb().status == "ok"
    assert main(["audit", folder.records()[0].record_id, "--project", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert said.count("labels replaced after they were read: event ") == 1

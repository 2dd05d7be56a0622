"""A pair that is asked about in both orders counts where the order does not matter, and is an abstention elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from climbs import Folder, folder_of
from loopback_endpoint import Endpoint, Reply, says, serving, text_of
from made_up_project import World, world_of
from statsmodels.stats.proportion import proportion_confint

from calib_pipeline.cli.main import main
from calib_pipeline.judging.answers import Answer, failed
from calib_pipeline.judging.both_orders import of_both_orders, order_consistency
from calib_pipeline.studies.study import Study

ERROR = failed("off_scale", "'C' is not on the scale")
ABSTAINED = Answer("abstained")


def pairwise_world() -> World:
    """Two answers to each ticket; the better one is marked in its text."""
    world = world_of("pairwise")
    better = dict(zip(world.scores["item_id"], world.scores["value"], strict=True))
    for column, value in (("answer_a", "A"), ("answer_b", "B")):
        world.items[column] = [
            f"{item} {'good' if better[item] == value else 'plain'}" for item in world.items["item_id"]
        ]
    world.rubric = "The better answer is the one that helps.\n"
    prompt = "{rubric}\nA: {answer_a}\nB: {answer_b}\nWhich is better: A, B or tie?"
    config = {"model": "stand-in-1", "prompt": prompt, "both_orders": ["answer_a", "answer_b"]}
    world.study["scorer"] = {"id": "judge", "kind": "openai", "config": config}
    del world.study["data"]["scores"]
    return world


@pytest.fixture
def study() -> Study:
    return Study.model_validate(pairwise_world().study)


def scored(value: str, confidence: float | None = None) -> Answer:
    return Answer("scored", value, confidence, "because")


@pytest.mark.parametrize(
    ("shown", "exchanged", "status", "value"),
    [
        (scored("A", 0.9), scored("B", 0.6), "scored", "A"),
        (scored("b"), scored("A"), "scored", "B"),
        (scored("tie"), scored("tie"), "scored", "tie"),
        (scored("A"), scored("A"), "abstained", None),
        (scored("A"), scored("tie"), "abstained", None),
        (scored("A"), ABSTAINED, "abstained", None),
        (ABSTAINED, scored("B"), "abstained", None),
        (scored("A"), ERROR, "error", None),
        (ERROR, ABSTAINED, "error", None),
        (ABSTAINED, ERROR, "error", None),
    ],
)
def test_one_answer_of_two(study: Study, shown: Answer, exchanged: Answer, status: str, value: str | None) -> None:
    one = of_both_orders(study, shown, exchanged)
    assert (one.status, one.value) == (status, value)


def test_the_lower_confidence_stands_and_a_contradiction_is_told(study: Study) -> None:
    assert of_both_orders(study, scored("A", 0.9), scored("B", 0.6)).confidence == 0.6
    assert of_both_orders(study, scored("A", 0.9), scored("B")).confidence == 0.9
    told = of_both_orders(study, scored("A"), scored("A")).explanation
    assert told == "order: A as shown, A with the two exchanged"


def test_consistency_is_that_of_pairs_with_a_verdict_in_both_orders(study: Study) -> None:
    pairs = [(scored("A"), scored("B"))] * 7 + [(scored("A"), scored("A"))] * 3 + [(scored("A"), ERROR)] * 5
    share = order_consistency(study, pairs)
    assert (share.value, share.n, share.statistic) == (0.7, 10, "order_consistency")
    assert (share.low, share.high) == pytest.approx(proportion_confint(7, 10, method="wilson"))
    assert order_consistency(study, [(ERROR, ERROR)]).value is None


@pytest.mark.parametrize("declared", ["answer_a", ["answer_a"], ["answer_a", "answer_a"], [1, 2]])
def test_what_names_no_two_columns_is_refused(declared: Any) -> None:
    world = pairwise_world()
    world.study["scorer"]["config"]["both_orders"] = declared
    with pytest.raises(ValueError, match="both_orders"):
        Study.model_validate(world.study)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """Says which answer is good; of tickets that end in 7 it says that the first one is better, whatever it is."""

    def answer(call: dict[str, Any], _before: int) -> Reply:
        first, second = (text_of(call).partition(mark)[2].partition("\n")[0] for mark in ("\nA: ", "\nB: "))
        if first.split()[0].endswith("7"):
            return says("A")
        return says("A" if first.endswith("good") else "B" if second.endswith("good") else "tie")

    with serving(answer) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        yield running


def test_a_judge_that_prefers_a_place_has_abstained(
    tmp_path: Path, instance: dg.DagsterInstance, endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    folder: Folder = folder_of(pairwise_world(), tmp_path, instance)
    assert folder.climb_to("holdout_reservation").status == "ok"
    assert main(["judge", "run", "--project", str(tmp_path), "--json"]) == 0
    [said] = json.loads(capsys.readouterr().out)
    assert said["scorers"]["judge"]["asked"] == 300
    good = dict(zip(pairwise_world().scores["item_id"], pairwise_world().scores["value"], strict=True))
    [file] = Path(folder.project.store).glob("outputs/*/*.jsonl")
    rows = {row["item_id"]: row for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())}
    # two answers of one text are one question
    alike = [item for item in rows if good[item] not in ("A", "B")]
    assert (len(rows), len(endpoint.calls)) == (150, 300 - len(alike))
    placed = {item for item in rows if item.endswith("7")}
    assert {item for item, row in rows.items() if row["status"] == "abstained"} == placed
    assert all(rows[item]["value"] == ("tie" if item in alike else good[item]) for item in rows if item not in placed)
    consistency = said["order_consistency"]["judge"]
    assert consistency["n"] == 150
    assert consistency["value"] == pytest.approx(1 - len(placed) / 150)


@pytest.mark.parametrize("columns", [["answer_a", "answer_c"], ["item_id", "answer_b"]])
def test_columns_that_are_not_shown_cannot_be_exchanged(
    tmp_path: Path,
    instance: dg.DagsterInstance,
    endpoint: Endpoint,
    columns: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    world = pairwise_world()
    world.study["scorer"]["config"]["both_orders"] = columns
    assert folder_of(world, tmp_path, instance).climb_to("holdout_reservation").status == "ok"
    assert main(["judge", "run", "--project", str(tmp_path)]) == 2
    assert "of which the judge is shown nothing" in capsys.readouterr().err
    assert endpoint.calls == []

"""A study whose judge is run here climbs on what the judge said, and no label was shown to it."""

from __future__ import annotations

import copy
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
from climbs import RUNGS, Folder, folder_of
from judged_study import RUBRIC, judged_world
from loopback_endpoint import Endpoint, Reply, says, serving, text_of
from made_once import made_once
from made_up_project import PEOPLE, World

from calib_pipeline.cli.main import main
from calib_pipeline.records.verification import verify_record

WAITS = "`calib judge run --study judge --population tickets-2026-01`"
SET = "resolved@tickets-2026-01.g1"

COMMAND = ["judge", "run", "--project"]


@pytest.fixture
def world() -> World:
    return judged_world()


@pytest.fixture
def endpoint(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """Says of each ticket what the made-up judge says of it."""
    said = dict(zip(world.scores["item_id"], world.scores["value"], strict=True))

    def answer(call: dict[str, Any], _before: int) -> Reply:
        item = text_of(call).split("ticket ")[-1].split(":")[0]
        return says(said[item] if pd.notna(said[item]) else "cannot determine")

    with serving(answer) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        yield running


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory, instance: dg.DagsterInstance) -> Folder:
    """The project of the unchanged world, whose set is reserved and labeled, and whose judge has not answered."""

    def climb(root: Path) -> None:
        assert folder_of(judged_world(), root, instance).climb_to("baseline_comparators").status == "ok"

    return Folder(made_once(tmp_path_factory, "waiting-for-the-judge", climb), instance)


def judge(folder: Folder, *more: str) -> int:
    return main([*COMMAND, str(folder.root), *more])


def table(folder: Folder) -> list[Path]:
    return sorted(Path(folder.project.store).glob("outputs/*/*.jsonl"))


def changed(folder: Folder, world: World, **scorer: Any) -> None:
    world.study["scorer"] |= scorer
    world.write(folder.root)


def test_one_run_climbs_through_the_judge_to_the_record(folder: Folder, endpoint: Endpoint) -> None:
    run = folder.climb()
    assert (run.status, run.materialized) == ("ok", [*RUNGS[:4], "scorer_outputs", *RUNGS[4:]])
    assert len(endpoint.calls) == 150
    [record] = folder.records()
    assert verify_record(folder.project, record.record_id).problems == ()
    [opened] = [event for event in folder.events() if event.event == "opened"]
    frozen = [event for event in folder.events() if event.event == "registered" and event.seq < opened.seq]
    assert opened.config_digest in {event.config_digest for event in frozen}
    assert opened.details["scores_digest"] in {event.details["scores_digest"] for event in frozen}
    again = folder.climb()
    assert (again.status, len(folder.records()), len(endpoint.calls)) == ("ok", 1, 150)
    assert main(["status", "--project", str(folder.root)]) == 0


@pytest.mark.slow
def test_a_judge_that_was_run_by_hand_is_not_run_again(
    folder: Folder, endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["status", "--project", str(folder.root)]) == 3
    assert WAITS in "".join(capsys.readouterr())
    assert judge(folder) == 0
    said = capsys.readouterr().out
    assert f"judge on the 150 items of {SET}: " in said and "7,500 tokens" in said
    assert "next: `calib run --study judge --population tickets-2026-01`" in said
    assert folder.climb().status == "ok"
    assert judge(folder) == 2
    assert "was opened with these outputs" in capsys.readouterr().err
    assert len(endpoint.calls) == 150


def test_a_rung_alone_waits_for_the_judge_as_a_ladder_that_stopped(folder: Folder) -> None:
    run = folder.run_alone("scorer_agreement")
    assert run.materialized == []
    assert WAITS in run.error
    assert run.tags == {
        "calib/status": "stopped",
        "calib/stopped_at": "baseline",
        "calib/reason": "the judge of 'judge' has not answered for every reserved item of 'tickets-2026-01' yet",
    }
    assert "opened" not in {event.event for event in folder.events()}


@pytest.mark.slow
def test_a_budget_that_ends_stops_the_ladder_and_the_next_run_goes_on(
    folder: Folder, world: World, endpoint: Endpoint
) -> None:
    changed(folder, world, run={"budget_tokens": 5000})
    run = folder.climb()
    assert (run.status, run.asset, run.rung) == ("stopped", "scorer_outputs", "baseline")
    assert run.materialized == [*RUNGS[:4], "scorer_outputs"]
    assert run.reason is not None and "of 150 questions on the reserved items have no answer of 'judge'" in run.reason
    assert "budget of 5,000 tokens" in run.reason and run.tags["calib/reason"] == run.reason
    assert run.next_step is not None and "raise scorer.run.budget_tokens" in run.next_step
    assert "opened" not in {event.event for event in folder.events()}
    assert folder.climb().status == "ok"
    assert len(endpoint.calls) == len({text_of(call) for call in endpoint.calls}) == 150


@pytest.mark.slow
def test_a_second_judge_is_measured_on_the_set_that_another_opened(
    folder: Folder, world: World, endpoint: Endpoint
) -> None:
    other = copy.deepcopy(world.study)
    other["study"] = "other"
    other["scorer"] |= {"id": "other", "config": other["scorer"]["config"] | {"model": "stand-in-2"}}
    (folder.root / "studies" / "other.yaml").write_text(json.dumps(other), encoding="utf-8")
    assert [folder.climb(study).status for study in ("judge", "other")] == ["ok", "ok"]
    assert {event.holdout_id for event in folder.events() if event.event == "opened"} == {SET}
    assert all(verify_record(folder.project, record.record_id).problems == () for record in folder.records())
    assert len(endpoint.calls) == 300


@pytest.mark.slow
def test_a_recheck_asks_about_the_next_items_and_leaves_the_answers_that_were_measured(
    folder: Folder, endpoint: Endpoint
) -> None:
    assert folder.climb().status == "ok"
    assert folder.climb(recheck=True).status == "ok"
    assert len(endpoint.calls) == len({text_of(call) for call in endpoint.calls}) == 300
    opened = [event for event in folder.events() if event.event == "opened"]
    assert len({event.holdout_id for event in opened}) == 2
    records = folder.records()
    assert len(records) == 2
    assert all(verify_record(folder.project, record.record_id).problems == () for record in records)


def test_a_damaged_table_of_outputs_is_not_written_over(
    folder: Folder, endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path(folder.project.scores(folder.project.studies["judge"], "tickets-2026-01"))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b'{"item_id": "t0001"}\n\xff{')
    assert judge(folder) == 2
    assert "the stored table of outputs is damaged" in capsys.readouterr().err
    assert file.read_bytes().endswith(b"\xff{")


@pytest.mark.slow
def test_outputs_that_were_changed_by_hand_make_the_measurement_stale(folder: Folder, endpoint: Endpoint) -> None:
    assert folder.climb().status == "ok"
    [file] = table(folder)
    file.write_text(file.read_text(encoding="utf-8").replace('"fail"', '"pass"'), encoding="utf-8")
    assert main(["status", "--project", str(folder.root)]) == 3
    run = folder.climb()
    assert run.status != "ok"
    assert len(folder.records()) == 1


def test_the_bytes_that_were_sent_hold_item_and_rubric_and_no_label(
    folder: Folder, world: World, endpoint: Endpoint
) -> None:
    judge(folder)
    reserved = {item.item_id for item in folder.ladder.ledger.items(SET)}
    seen = set()
    for call, raw in zip(endpoint.calls, endpoint.raw, strict=True):
        shown = text_of(call)
        [item] = [one for one in reserved if f"ticket {one}:" in shown]
        seen.add(item)
        prompt = world.study["scorer"]["config"]["prompt"].format(
            rubric=RUBRIC, text=f"ticket {item}: the printer does not print"
        )
        assert call["messages"] == [{"role": "user", "content": prompt}]
        for word in (*PEOPLE, "annotator", "labeled_at", "2026-01-20", "stratum", "billing", "login", "shipping"):
            assert re.search(rf"\b{word}\b".encode(), raw) is None
        # The values of the scale are named once, as what may be answered.
        assert raw.count(b'"pass"') == raw.count(b'"fail"') == 1
    assert seen == reserved


@pytest.mark.slow
def test_a_part_of_the_outputs_opens_no_set(
    folder: Folder, world: World, endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    changed(folder, world, run={"budget_tokens": 5000})
    assert judge(folder, "--json") == 3
    [said] = json.loads(capsys.readouterr().out)
    assert said["complete"] is False
    assert 0 < said["scorers"]["judge"]["left"] < 150 and said["scorers"]["judge"]["out_of_budget"]
    assert table(folder) == []
    assert WAITS in folder.run_alone("scorer_agreement").error
    assert "opened" not in {event.event for event in folder.events()}
    assert judge(folder) == 0
    shown = [text_of(call) for call in endpoint.calls]
    assert len(shown) == len(set(shown)) == 150
    assert folder.climb().status == "ok"


@pytest.mark.slow
def test_items_are_scored_in_the_order_of_their_keyed_hash(folder: Folder, world: World, endpoint: Endpoint) -> None:
    changed(folder, world, run={"concurrency": 1})
    judge(folder)
    items = folder.ladder.ledger.items(SET)
    ranked = [item.item_id for item in sorted(items, key=lambda one: (one.rank, one.item_id))]
    assert [text_of(call).split("ticket ")[-1].split(":")[0] for call in endpoint.calls] == ranked


@pytest.mark.slow
def test_another_prompt_is_another_configuration_and_is_asked_anew(
    folder: Folder, world: World, endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    judge(folder)
    world.study["scorer"]["config"]["prompt"] += " Now."
    world.write(folder.root)
    assert main(["status", "--project", str(folder.root)]) == 3
    assert WAITS in capsys.readouterr().out
    assert folder.climb().status == "ok"
    assert len(endpoint.calls) == 300
    assert len(table(folder)) == 2


@pytest.mark.slow
def test_failures_that_may_pass_are_told_and_asked_about_again(
    folder: Folder, endpoint: Endpoint, world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    usual, attempts = endpoint.behaviour, {"attempts": 1}
    changed(folder, world, run=attempts)
    endpoint.behaviour = lambda call, before: Reply("no", status=503) if before < 4 else usual(call, before)
    assert judge(folder) == 0
    assert "4 errored (http_503 4)" in (said := capsys.readouterr().out)
    assert "4 errors may pass: `calib judge run" in said
    assert judge(folder) == 0
    assert "150 scored" in (said := capsys.readouterr().out) and "may pass" not in said
    assert len(endpoint.calls) == 154
    assert folder.climb().status == "ok"


@pytest.mark.slow
def test_failures_are_rows_with_their_code_and_no_verdict(folder: Folder, endpoint: Endpoint) -> None:
    usual = endpoint.behaviour
    endpoint.behaviour = lambda call, before: Reply(content="pass!") if before % 30 == 0 else usual(call, before)
    assert judge(folder) == 0
    [file] = table(folder)
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    failed = [row for row in rows if row["status"] == "error"]
    assert len(rows) == 150 and len(failed) == 5
    assert all(row["value"] is None and row["explanation"].startswith("not_json: ") for row in failed)
    assert folder.climb().status == "ok"
    failed_share = folder.evidence("scorer_agreement").query("name == 'outputs_not_compared'")
    assert failed_share["value"].sum() == 5


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"prompt": "{rubric} {txet}"}, "{txet}"),
        ({"prompt": "{text}"}, "does not show the rubric"),
        ({"evidence_selection": ["labels"]}, "'labels'"),
    ],
)
def test_a_prompt_that_cannot_serve_is_refused_before_a_call(
    folder: Folder, world: World, endpoint: Endpoint, config: dict[str, Any], words: str, capsys: Any
) -> None:
    world.study["scorer"]["config"] |= config
    world.write(folder.root)
    assert judge(folder) == 2
    assert words in capsys.readouterr().err
    assert endpoint.calls == []


def test_nothing_is_judged_before_a_set_is_reserved(
    world: World, tmp_path: Path, instance: dg.DagsterInstance, endpoint: Endpoint, capsys: Any
) -> None:
    assert judge(folder_of(world, tmp_path / "new", instance)) == 2
    assert "run `calib run --study judge --population tickets-2026-01` first" in capsys.readouterr().err.lower()
    assert endpoint.calls == []


def test_a_study_with_a_table_has_no_judge_to_run(climbed_project: Folder, capsys: Any) -> None:
    assert judge(climbed_project) == 2
    assert "no study declares a judge that is run here" in capsys.readouterr().err
    assert judge(climbed_project, "--study", "judge") == 2
    assert "come as a table: data/{population}/scores.csv" in capsys.readouterr().err


@pytest.fixture
def climbed_project(tmp_path: Path, instance: dg.DagsterInstance) -> Folder:
    world = judged_world(kind="table", config={"model": "m"})
    world.study["data"]["scores"] = "data/{population}/scores.csv"
    return folder_of(world, tmp_path / "table", instance)


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_stopped(folder: Folder, endpoint: Endpoint) -> None:
    usual = endpoint.behaviour

    def slow(call: dict[str, Any], before: int) -> Reply:
        time.sleep(0.02)
        return usual(call, before)

    endpoint.behaviour = slow
    call = f"import sys; from calib_pipeline.cli.main import main; sys.exit(main({[*COMMAND, str(folder.root)]!r}))"
    running = subprocess.Popen([sys.executable, "-c", call])
    while len(endpoint.calls) < 40:
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.wait()
    before = len(endpoint.calls)
    assert table(folder) == []
    assert judge(folder) == 0
    # What was under way when it was killed is asked again: at most as many as are asked at once.
    assert 150 <= len(endpoint.calls) <= 150 + 4
    assert before < 150
    assert folder.climb().status == "ok"

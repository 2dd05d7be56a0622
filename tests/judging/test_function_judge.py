"""A judge that is a Python function: what it returns is read as strictly, and what it raises is an error."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest
from climbs import folder_of
from judged_study import judged_world

from calib_pipeline.errors import InputError
from calib_pipeline.judging.function import FunctionJudge
from calib_pipeline.judging.requests import Request
from calib_pipeline.studies.study import Study

RULES = """
def by_number(items):
    assert all(set(item) == {"text", "words", "urgent", "rubric"} for item in items), items
    return [{"verdict": "pass" if int(item["text"][8:12]) % 2 else "fail", "confidence": 0.5} for item in items]

def mixed(items):
    return ["pass", None, {"verdict": None}, {"verdict": "fail"}, "great", 3, {"explanation": "pass"}][: len(items)]

def short(items):
    return ["pass"]

def breaks(items):
    raise ValueError("no such word")

def word(items):
    return "pass"

number = 3
"""


@pytest.fixture
def rules(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """The name of a module in the project's folder, of which no other test has one."""
    name = f"rules_{abs(hash(request.node.nodeid))}"
    (tmp_path / f"{name}.py").write_text(RULES, encoding="utf-8")
    return name


def said(root: Path, path: str, items: int = 7) -> list[tuple[str, str | None, str | None]]:
    study = Study.model_validate(judged_world(kind="python", config={"function": path}).study)
    judge = FunctionJudge(study, study.scorer, root)
    batch = [Request(f"i{number}", {"text": f"ticket t{number:04d}", "rubric": "R"}) for number in range(items)]
    return [(answer.status, answer.value, answer.code) for answer in judge.ask(batch)]


def test_values_nothing_and_fields_are_read(rules: str, tmp_path: Path) -> None:
    assert said(tmp_path, f"{rules}:mixed") == [
        ("scored", "pass", None),
        ("abstained", None, None),
        ("abstained", None, None),
        ("scored", "fail", None),
        ("error", None, "off_scale"),
        ("error", None, "off_scale"),
        ("error", None, "no_verdict"),
    ]


@pytest.mark.parametrize("name", ["short", "breaks", "word"])
def test_a_function_that_breaks_makes_errors(rules: str, tmp_path: Path, name: str) -> None:
    assert said(tmp_path, f"{rules}:{name}", 4) == [("error", None, "raised")] * 4


@pytest.mark.parametrize(
    "path", ["absent_module:f", "{rules}:absent", "{rules}:number", "{rules}", ":f", "a..b:c", "broken_rules:f"]
)
def test_a_path_that_leads_to_no_function_is_refused(rules: str, tmp_path: Path, path: str) -> None:
    (tmp_path / "broken_rules.py").write_text("1 / 0", encoding="utf-8")
    with pytest.raises(InputError, match=r"scorer\.config\.function"):
        said(tmp_path, path.format(rules=rules))


def test_the_function_that_runs_is_the_one_on_disk(rules: str, tmp_path: Path) -> None:
    assert said(tmp_path, f"{rules}:mixed", 1) == [("scored", "pass", None)]
    (tmp_path / f"{rules}.py").write_text('def mixed(items):\n    return ["fail"]\n', encoding="utf-8")
    assert said(tmp_path, f"{rules}:mixed", 1) == [("scored", "fail", None)]


def test_another_source_of_the_function_is_another_judge(
    rules: str, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    world = judged_world(kind="python", config={"function": f"{rules}:mixed"})
    project = folder_of(world, tmp_path, instance).project
    study = project.studies["judge"]
    before = project.judge_digest(study)
    file = tmp_path / f"{rules}.py"
    file.write_text(f"{RULES}\n# another", encoding="utf-8")
    assert project.judge_digest(study) != before
    file.write_text(RULES, encoding="utf-8")
    assert project.judge_digest(study) == before


@pytest.mark.slow
def test_the_ladder_climbs_on_a_function(tmp_path: Path, rules: str, instance: dg.DagsterInstance) -> None:
    folder = folder_of(judged_world(kind="python", config={"function": f"{rules}:by_number"}), tmp_path, instance)
    run = folder.climb()
    assert (run.asset, run.rung) == ("scorer_agreement", "baseline")
    assert "opened" in {event.event for event in folder.events()}
    (tmp_path / f"{rules}.py").write_text(f"{RULES}\n# another", encoding="utf-8")
    folder.climb()
    opened = [event for event in folder.events() if event.event == "opened"]
    assert len({(event.holdout_id, event.config_digest) for event in opened}) == 2
    assert len({event.holdout_id for event in opened}) == 2

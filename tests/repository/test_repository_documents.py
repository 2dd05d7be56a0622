"""What the documents say is so: commands exist, links lead somewhere, examples run, and lists are whole."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any

import pytest
from study_key_tables import PAGE, key_tables, page_with
from tracked import ROOT, texts

from calib_pipeline.cli.main import main
from calib_pipeline.ledger.events import EVENT_KINDS
from calib_pipeline.ledger.states import State
from calib_pipeline.schemas import GATES, RUNGS
from calib_pipeline.statistics import __all__ as statistics
from calib_pipeline.status.counts import TOLD
from calib_pipeline.studies.sections import Statistic
from calib_pipeline.tables.reasons import Reason

PAGES = {name: text for name, text in texts().items() if name.endswith(".md")}
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"`(calib [^`]+)`")
CONTRACT = {
    "percent_agreement", "cohen_kappa", "gwet_ac1", "krippendorff_alpha", "spearman", "pearson",
    "mean_absolute_difference", "within_tolerance", "wilson", "confusion", "error_rates", "youden_j",
    "flip_rate_from_pairs", "flip_rate_from_repeats", "consensus_flip_rate", "observed_ceiling", "latent_accuracy",
}  # fmt: skip


def read(name: str) -> str:
    """The text of a file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(language: str) -> list[tuple[str, str]]:
    """The fenced blocks of a language, each with its page."""
    return [(name, body) for name, text in PAGES.items() for kind, body in BLOCK.findall(text) if kind == language]


def examples() -> list[Any]:
    """The blocks of Python; that of the first page simulates a ladder, which takes long."""
    slow = {"README.md": pytest.mark.slow}
    return [pytest.param(page, code, marks=slow.get(page, ()), id=page) for page, code in blocks("python")]


def calls(program: str) -> set[str]:
    """Every call of a program that a page shows, in a block of its own or in a sentence, without its comment."""
    lines = {line for _, body in blocks("") for line in body.splitlines()}
    lines |= {call for text in PAGES.values() for call in CALL.findall(BLOCK.sub("", text))}
    return {line.split(" #")[0].strip() for line in lines if line.startswith(f"{program} ")}


def test_links_lead_to_files() -> None:
    broken = {
        (name, link)
        for name, text in PAGES.items()
        for link in LINK.findall(BLOCK.sub("", text))
        if not (ROOT / name).parent.joinpath(link).exists()
    }
    assert broken == set()


def test_the_first_page_names_two_commands() -> None:
    assert {"make demo", "make test"} <= calls("make")


def test_make_has_every_target_that_a_page_names() -> None:
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    named = {call.split()[1] for call in calls("make")}
    named |= {word for text in PAGES.values() for word in re.findall(r"`make ([a-z-]+)", text)}
    assert named <= targets
    assert {"demo", "test", "lint", "types", "wheel", "bench", "clean"} <= targets


@pytest.mark.parametrize("call", sorted(calls("calib")))
def test_calib_knows_the_command(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(call.replace("…", ""))[1:]
    command = [word for word in words if re.fullmatch(r"[a-z-]+", word) and not word.startswith("-")]
    depth = 2 if command[:1] in (["record"], ["holdout"], ["judge"]) else 1
    assert main([*command[:depth], "--help"]) == 0
    told = capsys.readouterr().out
    assert {word for word in words if word.startswith("--")} <= set(re.findall(r"--[a-z-]+", told))


@pytest.mark.parametrize(("page", "code"), examples())
def test_the_example_runs(page: str, code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, f"{page}: {done.stderr}"
    assert done.stdout


def test_the_study_keys_are_those_of_the_code() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == page_with(key_tables(), page), f"run {Path(__file__).parent.name}/study_key_tables.py"


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("docs/estimands.md", CONTRACT & set(statistics)),
        ("docs/estimands.md", set(typing.get_args(Statistic)) - {"quadratic_kappa"}),
        ("docs/architecture.md", set(GATES)),
        ("docs/architecture.md", set(RUNGS)),
        ("docs/tables.md", set(TOLD)),
        ("docs/tables.md", {reason.value for reason in Reason}),
        ("docs/ledger.md", set(EVENT_KINDS)),
        ("docs/ledger.md", set(typing.get_args(State))),
    ],
)
def test_the_page_leaves_none_out(page: str, names: set[str]) -> None:
    text = read(page)
    assert {name for name in names if not re.search(rf"\b{name}\b", text)} == set()


def test_every_contract_function_is_there() -> None:
    assert set(statistics) >= CONTRACT


def test_continuous_integration_runs_what_the_first_page_promises() -> None:
    run = set(re.findall(r"^make ([a-z-]+)", read(".ci/run"), re.MULTILINE))
    assert run >= {"demo", "lint", "types", "validate", "wheel", "test-lowest", "test"}

"""``calib board`` writes a page of its own; ``calib dev`` becomes Dagster's."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from small_project import POPULATION

from calib_pipeline.cli import dev

VOID = {"meta", "br", "img", "link", "input", "hr"}


class Page(HTMLParser):
    """The tags, attributes and text of a page; unbalanced tags are collected."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.unbalanced: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="session")
def page(climbed):
    from calib_pipeline.cli.main import main

    path = climbed.root.parent / "board.html"
    assert main(["board", "--project", str(climbed.root), "--output", str(path)]) == 0
    return path.read_text(encoding="utf-8")


def test_the_page_is_whole_and_needs_nothing_from_elsewhere(page):
    parsed = Page(page)
    assert (parsed.open, parsed.unbalanced) == ([], [])
    assert not {"script", "link", "img", "iframe", "object"} & set(parsed.tags)
    assert not [value for name, value in parsed.attributes if name in ("src", "onclick", "onload")]
    assert all(value and value.startswith("#") for name, value in parsed.attributes if name == "href")
    assert "url(" not in page and "@import" not in page


def test_the_page_tells_states_reasons_and_figures(page):
    text = Page(page).text
    for told in ("calibrated", "candidate for removal", "insufficient data", "Stopped at ceiling", "Next: ", "Claim: "):
        assert told in text
    assert "Diagnostic, never a calibration: Agreed with people" in text
    assert "cohen kappa against the consensus of the others" in text
    assert "prevalence 0.487; TP 52" in text and "heuristic words" in text


def test_every_drawing_is_sound_and_says_in_words_what_it_shows(page):
    drawings = [part.split("</svg>")[0] + "</svg>" for part in page.split("<svg")[1:]]
    assert len(drawings) >= 5 + 2
    for drawing in drawings:
        root = ElementTree.fromstring("<svg" + drawing)
        assert root.get("role") == "img" and root.get("aria-label")
        low, high = 0.0, float(root.get("width") or 0)
        for element in root.iter():
            for name in ("x1", "x2", "cx"):
                assert low <= float(element.get(name) or 0) <= high


def test_a_page_beside_a_fault_holds_what_is_valid(own_copy, calib):
    (own_copy / "rubrics" / "kind.md").unlink()
    said = calib("board", "--project", own_copy)
    assert said.code == 2
    assert "'rubrics/kind.md' is no file of the project" in said.err
    assert (own_copy / ".calib" / "board.html").read_text(encoding="utf-8").endswith("</html>\n")


def test_a_page_is_written_where_a_folder_is(declared, calib, tmp_path):
    for target in (tmp_path / "nowhere" / "board.html", tmp_path):
        said = calib("board", "--project", declared, "--output", target)
        assert (said.code, said.out) == (2, "")
        assert "--output" in said.err
    assert not (tmp_path / "nowhere").exists()


def test_a_page_of_made_up_statuses_is_escaped_everywhere():
    from calib_pipeline.board.page import board_page
    from calib_pipeline.cell import Cell
    from calib_pipeline.schemas import RUNGS
    from calib_pipeline.status.cell_status import CellStatus, RungState
    from calib_pipeline.status.figures import Figure, Headline
    from calib_pipeline.status.standing import Standing, Stop

    bad = "<i onload=x>\"'&"
    figure = Figure("cohen_kappa", bad, 0.4, 0.3, 0.5, 100, bad)
    standing = Standing(Cell(bad, bad), {}, {}, Stop("stale", bad, "ceiling", bad, bad))
    status = CellStatus(
        bad, bad, "stale", bad, "ceiling", bad, bad, (bad,), (bad,), 5, bad, bad, "diagnostic",
        tuple(RungState(rung, "fails", bad, bad) for rung in RUNGS),
        Headline(figure, figure, figure, (figure,), 0.5), bad, (bad,), bad, standing,
    )  # fmt: skip
    page = board_page(bad, [status], made_at=bad, ledger_head=bad)
    assert "<i" not in page
    parsed = Page(page)
    assert (parsed.open, parsed.unbalanced) == ([], [])
    assert "onload" not in dict(parsed.attributes)


def test_an_empty_project_has_a_board_too(declared, calib):
    said = calib("board", "--project", declared, "--json")
    assert (said.code, json.loads(said.out)["cells"]) == (0, 5)
    text = (declared / ".calib" / "board.html").read_text(encoding="utf-8")
    assert "never climbed" in text and "no ledger yet" in text


@pytest.fixture
def became(monkeypatch):
    commands = []
    monkeypatch.setattr(dev, "become", lambda command: commands.append((command, str(Path.cwd()))) or 0)
    return commands


@pytest.fixture
def project_for_dagster(declared, monkeypatch, tmp_path):
    (declared / "workspace.yaml").write_text("load_from: []\n")
    monkeypatch.chdir(tmp_path)
    return declared


def test_dev_becomes_dagster_on_the_project(calib, project_for_dagster, became):
    assert calib("dev", "--project", project_for_dagster).code == 0
    assert became == [([sys.executable, "-m", "dagster", "dev", "-w", "workspace.yaml"], str(project_for_dagster))]
    assert os.environ["DAGSTER_HOME"] == str(project_for_dagster / ".calib" / "dagster")


def test_dev_without_the_ui_says_how_to_install_it(calib, project_for_dagster, became, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "dagster_webserver" else find(name, *more)
    )
    said = calib("dev", "--project", project_for_dagster)
    assert (said.code, became) == (1, [])
    assert "pip install 'calib-pipeline[ui]'" in said.err


def test_dev_needs_a_workspace(calib, declared, became):
    said = calib("dev", "--project", declared)
    assert (said.code, became) == (2, [])
    assert "workspace.yaml" in said.err
    assert POPULATION not in said.err


def test_the_board_writes_over_nothing_that_is_no_page(calib, declared):
    target = declared / "calib.yaml"
    before = target.read_text(encoding="utf-8")
    said = calib("board", "--project", declared, "--output", target)
    assert said.code == 2
    assert "expected a name that ends in .html" in said.err
    assert target.read_text(encoding="utf-8") == before

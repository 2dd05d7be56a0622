"""YAML is read with line numbers, and its guesses about text are undone where text is meant."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from calib_pipeline.errors import InputError
from calib_pipeline.studies.documents import Document, read_document


@pytest.fixture(autouse=True, params=[True, False] if yaml.__with_libyaml__ else [False], ids="with libyaml: {}".format)
def _scanner(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever scans a file, it reads the same, and a fault has the same words."""
    monkeypatch.setattr(yaml, "__with_libyaml__", request.param)


def read(folder: Path, text: str | bytes, *text_keys: tuple[str, ...]) -> Document:
    path = folder / "file.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_document(path, "file.yaml", text_keys)


def fault(folder: Path, text: str | bytes) -> str:
    with pytest.raises(InputError) as caught:
        read(folder, text)
    return str(caught.value)


@pytest.mark.parametrize("written", ["No", "yes", "on", "1", "1.0", "007", "1e3", "null", "~", "2026-10-01", "12:30"])
def test_text_keys_keep_what_is_written(tmp_path: Path, written: str) -> None:
    document = read(tmp_path, f"scale:\n  levels: [{written}]\n", ("scale", "levels", "*"))
    assert document.data == {"scale": {"levels": [written]}}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("3", 3),
        ("-0.5", -0.5),
        ("1e-3", 0.001),
        ("1.5E+2", 150.0),
        (".5", 0.5),
        ("0", 0),
        ("true", True),
        ("off", False),
        ("007", "007"),
        ("0o7", "0o7"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("2026-10-01", "2026-10-01"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("1e", "1e"),
        ("-", None),
        ("text", "text"),
        ('"1"', "1"),
        ("", None),
    ],
)
def test_elsewhere_only_plain_numbers_and_booleans_are_guessed(tmp_path: Path, written: str, value: object) -> None:
    if written == "-":
        written, value = '"-"', "-"
    data = read(tmp_path, f"key: {written}\n").data
    assert data["key"] == value and type(data["key"]) is type(value)


def test_every_key_and_entry_knows_its_line(tmp_path: Path) -> None:
    document = read(tmp_path, "a: 1\nb:\n  c:\n    - x\n    - y\n")
    assert [document.place(key).line for key in (("a",), ("b",), ("b", "c"), ("b", "c", 1))] == [1, 2, 3, 5]
    assert document.place(("b", "absent", "deeper")).line == 2


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", "file.yaml:3", "stands twice, first on line 1"),
        ("a:\n  b: 1\n  b: 2\n", "file.yaml:3", "'b' stands twice"),
        ("a: [1\nb: 2\n", "file.yaml:2", "not YAML"),
        ("a: 1\n\tb: 2\n", "file.yaml:2", "not YAML"),
        ("- a\n", "file.yaml:1", "no mapping"),
        ("", "file.yaml", "empty"),
        ("# only a comment\n", "file.yaml", "empty"),
        ("a: 1\n---\nb: 2\n", "file.yaml:2", "not YAML"),
        ("a: !!python/object/apply:os.getcwd []\n", "file.yaml:1", "tag"),
        ("a: !secret x\n", "file.yaml:1", "tag"),
        ("a: !!binary aGk=\n", "file.yaml:1", "tag"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", "file.yaml:3", "merge keys are not read"),
        ("a: &x [*x]\n", "file.yaml:1", "endless"),
        ("? [a, b]\n: 1\n", "file.yaml:1", "no plain text"),
        (b"a: 1\nb: caf\xe9\n", "file.yaml:2", "0xe9 is not UTF-8"),
        (b"a: \x001\n", "file.yaml", "not YAML"),
    ],
)
def test_what_is_not_read_is_refused_with_its_line(tmp_path: Path, text: str | bytes, place: str, words: str) -> None:
    message = fault(tmp_path, text)
    assert message.startswith(place + ":") and words in message


def test_anchors_that_multiply_are_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 8)]
    assert "endless or huge" in fault(tmp_path, "\n".join(lines))


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    assert "nested too deeply" in fault(tmp_path, "a: " + "[" * 2000 + "]" * 2000)


def test_plain_anchors_serve(tmp_path: Path) -> None:
    assert read(tmp_path, "a: &x [1, 2]\nb: *x\n").data == {"a": [1, 2], "b": [1, 2]}


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbfa: 1\n").data == {"a": 1}


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_document(tmp_path / "absent.yaml", "absent.yaml")


def test_own_keys_stand_over_defaults_and_each_keeps_its_file(tmp_path: Path) -> None:
    defaults = read_document_named(tmp_path, "calib.yaml", "d:\n  bootstrap: {seed: 1, level: 0.9}\n  list: [1]\n")
    own = read_document_named(tmp_path, "study.yaml", "list: [2]\nbootstrap:\n  level: 0.95\n")
    merged = own.over(defaults.section("d"))
    assert merged.data == {"bootstrap": {"seed": 1, "level": 0.95}, "list": [2]}
    assert str(merged.place(("bootstrap", "level"))) == "study.yaml:3"
    assert str(merged.place(("bootstrap", "seed"))) == "calib.yaml:2"


def read_document_named(folder: Path, name: str, text: str) -> Document:
    (folder / name).write_text(text, encoding="utf-8")
    return read_document(folder / name, name)

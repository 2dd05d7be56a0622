"""YAML files read with the line of every key, and without the traps of YAML's guesses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from calib_pipeline.errors import InputError

Key = tuple[str | int, ...]

_MOST_NODES = 100_000
_MAP = "tag:yaml.org,2002:map"
_SEQ = "tag:yaml.org,2002:seq"
_STR = "tag:yaml.org,2002:str"
_PLAIN_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null")}


@dataclass(frozen=True)
class Place:
    """A line of a file, counted from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Document:
    """A YAML mapping with the place of each of its keys.

    ``places`` maps the path of a key or list entry to its line; the empty path is the whole file.
    """

    file: str
    data: dict[str, Any]
    places: Mapping[Key, Place] = field(default_factory=dict)

    def place(self, key: Key) -> Place:
        """The line of the key, or of the nearest key above it."""
        while key and key not in self.places:
            key = key[:-1]
        return self.places.get(key, Place(self.file, 1))

    def over(self, defaults: Document) -> Document:
        """This document's keys over those of ``defaults``, section by section; lists are taken whole."""
        places = dict(self.places)
        data = _over(self.data, defaults.data, (), places, defaults.places)
        return Document(self.file, data, places)

    def section(self, key: str) -> Document:
        """The mapping below one key, as a document of its own."""
        places = {path[1:]: place for path, place in self.places.items() if path and path[0] == key}
        return Document(self.file, self.data.get(key) or {}, places)


def read_document(path: Path, shown: str, text_keys: Iterable[Key] = ()) -> Document:
    """Read a YAML file whose top level is a mapping.

    Parameters
    ----------
    path
        The file.
    shown
        Its name in messages.
    text_keys
        Paths whose scalars are text as written, whatever YAML would make of ``No``, ``1`` or ``1.0``; ``*`` stands
        for any key or entry, and for the keys of a mapping as well as its values.

    Raises
    ------
    InputError
        When the file cannot be read, is no UTF-8 or no YAML, names a key twice, or uses what is not read here (tags,
        merge keys, several documents).
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror or error}", where=shown) from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(
            f"byte {content[error.start]:#04x} is not UTF-8",
            where=f"{shown}:{line}",
            expected="a text file in UTF-8",
            todo="save the file as UTF-8",
        ) from error
    return _parse(text, shown, list(text_keys))


class _Loader(yaml.SafeLoader):
    """SafeLoader without dates, base-60 and octal numbers, and with ``1e-3`` as a number."""


def _resolver(tag: str, pattern: str, first: str) -> None:
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern, re.ASCII), list(first))


# A copy: the resolvers of SafeLoader itself belong to everyone in the process.
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag.rsplit(":", 1)[-1] in {"bool", "null", "merge"}]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_resolver("int", r"^[-+]?(0|[1-9][0-9]{0,17})$", "-+0123456789")
_resolver("float", r"^[-+]?(0|[1-9][0-9]*)?(\.[0-9]+|\.(?=$|[eE]))?([eE][-+]?[0-9]+)?$(?<![-+.])", "-+0123456789.")


def _compose(text: str) -> yaml.Node | None:
    """The one node of a text. What libyaml refuses is read again without it, so that a fault has the same words
    wherever PyYAML was built."""
    if yaml.__with_libyaml__:
        from calib_pipeline.studies.libyaml import compose

        with suppress(yaml.YAMLError):
            return compose(text, _Loader.yaml_implicit_resolvers)
    loader = _Loader(text)
    try:
        return loader.get_single_node()
    finally:
        loader.dispose()


def _parse(text: str, shown: str, text_keys: list[Key]) -> Document:
    try:
        node = _compose(text)
        if node is None:
            raise InputError("the file is empty", where=shown, expected="keys and values")
        if not isinstance(node, yaml.MappingNode):
            raise InputError(
                "the file holds no mapping", where=f"{shown}:{node.start_mark.line + 1}", expected="'key: value' lines"
            )
        reader = _Reader(shown, text_keys)
        return Document(shown, reader.mapping(node, ()), reader.places)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{shown}:{mark.line + 1}" if mark else shown
        problem = getattr(error, "problem", None) or " ".join(str(error).split())
        raise InputError(
            f"this is not YAML: {problem}",
            where=where,
            todo="check indentation, colons and quotes around this line",
        ) from error
    except RecursionError as error:
        raise InputError("the file is nested too deeply", where=shown, expected="a few levels") from error


class _Reader:
    def __init__(self, shown: str, text_keys: list[Key]) -> None:
        self.constructor = yaml.constructor.SafeConstructor()
        self.shown = shown
        self.text_keys = text_keys
        self.places: dict[Key, Place] = {(): Place(shown, 1)}
        self.seen = 0
        self.open: set[int] = set()

    def place(self, node: yaml.Node) -> Place:
        return Place(self.shown, node.start_mark.line + 1)

    def mapping(self, node: yaml.MappingNode, path: Key) -> dict[str, Any]:
        result: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            key = self.key(key_node)
            place = self.place(key_node)
            if key in result:
                raise InputError(
                    f"the key {key!r} stands twice, first on line {lines[key]}",
                    where=str(place),
                    expected="each key once",
                    todo="remove one of the two",
                )
            lines[key] = place.line
            self.places[(*path, key)] = place
            result[key] = self.value(value_node, (*path, key))
        return result

    def key(self, node: yaml.Node) -> str:
        if node.tag == "tag:yaml.org,2002:merge":
            raise InputError(
                "merge keys are not read",
                where=str(self.place(node)),
                todo="write the keys out, or put what studies share under 'defaults' in calib.yaml",
            )
        if not isinstance(node, yaml.ScalarNode):
            raise InputError("a key is no plain text", where=str(self.place(node)), expected="'key: value'")
        return str(node.value)

    def value(self, node: yaml.Node, path: Key) -> Any:
        self.seen += 1
        if self.seen > _MOST_NODES or id(node) in self.open:
            raise InputError(
                "anchors make the file endless or huge", where=str(self.place(node)), todo="write the values out"
            )
        self.open.add(id(node))
        try:
            return self._value(node, path)
        finally:
            self.open.discard(id(node))

    def _value(self, node: yaml.Node, path: Key) -> Any:
        if isinstance(node, yaml.MappingNode) and node.tag == _MAP:
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode) and node.tag == _SEQ:
            for index, entry in enumerate(node.value):
                self.places[(*path, index)] = self.place(entry)
            return [self.value(entry, (*path, index)) for index, entry in enumerate(node.value)]
        if not isinstance(node, yaml.ScalarNode) or node.tag not in _PLAIN_TAGS:
            raise InputError(
                f"the tag {node.tag!r} is not read",
                where=str(self.place(node)),
                expected="text, numbers, booleans, lists and mappings",
            )
        if any(_matches(path, pattern) for pattern in self.text_keys):
            return str(node.value)
        return self.constructor.construct_object(node)


def _matches(path: Key, pattern: Key) -> bool:
    return len(path) == len(pattern) and all(want in ("*", got) for got, want in zip(path, pattern, strict=True))


def _over(
    own: dict[str, Any], defaults: dict[str, Any], path: Key, places: dict[Key, Place], theirs: Mapping[Key, Place]
) -> dict[str, Any]:
    result = dict(own)
    for key, default in defaults.items():
        here = (*path, key)
        if key not in own:
            result[key] = default
            places.update({place: line for place, line in theirs.items() if place[: len(here)] == here})
        elif isinstance(own[key], dict) and isinstance(default, dict):
            result[key] = _over(own[key], default, here, places, theirs)
    return result

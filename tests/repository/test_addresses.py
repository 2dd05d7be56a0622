"""What must not be committed: package registries by host, places on somebody's machine, and secrets."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection

import pytest
from tracked import texts

REGISTRIES = frozenset(
    [
        "2960ad205cb64ff3",
        "7282bed9a11a4f95",
        "7b8208d11b1b6f48",
        "81d93757457f9885",
        "cd2c0f63ad37d585",
        "cd88a6fb14237c16",
    ]
)
"""The names by which registries' hosts are known, as digests: a list of the names would be what it forbids."""
HOST = re.compile(r"(?<![\w-])[a-z0-9-]+(?:[.][a-z0-9-]+)+", re.IGNORECASE)
OPTIONS = re.compile(r"index[-_]url|find[-]links|--hash[=]", re.IGNORECASE)
PLACES = re.compile(r"/(?:work|tmp|root|home|Users|opt)/[a-z]|[.][.]/shared|[A-Z]:\\\\Users", re.ASCII)
SECRETS = re.compile(r"AKIA[0-9A-Z]{16}|-----BEGIN [A-Z ]*PRIVATE KEY|gh[pousr]_[A-Za-z0-9]{36}|sk-[A-Za-z0-9]{32}")


def digest(name: str) -> str:
    return hashlib.sha256(name.casefold().encode()).hexdigest()[:16]


def hosts(line: str, registries: Collection[str] = REGISTRIES) -> list[str]:
    """The hosts in a line that bear a registry's name anywhere but in their last place."""
    return [host for host in HOST.findall(line) if any(digest(name) in registries for name in host.split(".")[:-1])]


@pytest.mark.parametrize(
    "holds_one",
    [hosts, OPTIONS.search, PLACES.search, SECRETS.search],
    ids=["hosts", "options", "places", "secrets"],
)
def test_no_file_holds_one(holds_one: Callable[[str], object]) -> None:
    found = {
        f"{name}:{number}: {line.strip()[:120]}"
        for name, text in texts().items()
        for number, line in enumerate(text.splitlines(), start=1)
        if holds_one(line)
    }
    assert found == set()


def test_a_host_is_known_by_its_name_whatever_stands_around_it() -> None:
    line = "see https://files.Storehouse.example/simple, storehouse.example or not storehouse, a.storehouse"
    found = hosts(line, {digest("storehouse")})
    assert found == ["files.Storehouse.example", "storehouse.example"]

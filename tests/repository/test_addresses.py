"""What must not be committed: package registries by host, places on somebody's machine, and secrets."""

from __future__ import annotations

import re

import pytest
from tracked import texts

HOSTS = re.compile(
    r"pypi[.]org|pythonhosted[.]org|npmjs[.]|debian[.]org|crates[.]io|anaconda[.]org|index[-_]url|find[-]links|--hash[=]",
    re.IGNORECASE,
)
PLACES = re.compile(r"/(?:work|tmp|root|home|Users|opt)/[a-z]|[.][.]/shared|[A-Z]:\\\\Users", re.ASCII)
SECRETS = re.compile(r"AKIA[0-9A-Z]{16}|-----BEGIN [A-Z ]*PRIVATE KEY|gh[pousr]_[A-Za-z0-9]{36}|sk-[A-Za-z0-9]{32}")


@pytest.mark.parametrize("pattern", [HOSTS, PLACES, SECRETS], ids=["hosts", "places", "secrets"])
def test_no_file_holds_one(pattern: re.Pattern[str]) -> None:
    found = {
        f"{name}:{number}: {line.strip()[:120]}"
        for name, text in texts().items()
        for number, line in enumerate(text.splitlines(), start=1)
        if pattern.search(line)
    }
    assert found == set()

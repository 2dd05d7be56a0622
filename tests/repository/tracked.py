"""The files of the repository, as committed or about to be."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
DATA = (".parquet",)
_MADE_HERE = {"build", "dist", "__pycache__"}


@cache
def tracked() -> tuple[Path, ...]:
    """Every file under version control, links left out; outside of a repository every file that nothing made."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, check=True, capture_output=True, text=True,
        )  # fmt: skip
        files = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        files = [path for path in ROOT.rglob("*") if not _made_here(path.relative_to(ROOT))]
    return tuple(sorted(path for path in files if path.is_file() and not path.is_symlink()))


@cache
def texts() -> dict[str, str]:
    """The text of every tracked file that is text, by its name from the root."""
    found = {}
    for path in tracked():
        if path.suffix in DATA:
            continue
        try:
            found[path.relative_to(ROOT).as_posix()] = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
    return found


def _made_here(name: Path) -> bool:
    return any(part in _MADE_HERE or part.startswith(".") or part.endswith(".egg-info") for part in name.parts[:-1])

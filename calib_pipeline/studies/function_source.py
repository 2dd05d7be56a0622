"""The source of a scorer that is a Python function: found without running any of it."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from pathlib import Path


def function_file(path: str, root: Path) -> Path | None:
    """The file of the module in an import path ``package.module:name``; None where there is none, or no source.

    Parameters
    ----------
    root
        The project's folder, from which modules are imported too.
    """
    places = [str(root), *sys.path]
    spec = None
    for part in path.partition(":")[0].split("."):
        spec = PathFinder.find_spec(part, places)
        if spec is None:
            return None
        places = list(spec.submodule_search_locations or ())
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None

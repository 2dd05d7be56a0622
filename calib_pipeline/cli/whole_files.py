"""Files for people, written all or none: beside their names first, and renamed when every one of them stands."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from uuid import uuid4

from calib_pipeline.errors import InputError


def refuse_in_the_way(targets: Collection[Path], *, force: bool, option: str) -> None:
    """Refuse a target that is there already, unless it is to be written over, and a folder that is not there.

    Raises
    ------
    InputError
        With the option that names another place.
    """
    for target in targets:
        if target.is_dir():
            raise InputError(f"{target} is a folder", expected="the file to write", todo=f"name another with {option}")
        if os.path.lexists(target) and not force:
            raise InputError(
                f"{target} is there already, and nothing is written over",
                todo=f"name another with {option}, or write over it with --force",
            )
        if not target.parent.is_dir():
            raise InputError(f"there is no folder {target.parent}", todo=f"make it, or name another with {option}")


def write_whole(files: Mapping[Path, bytes], *, option: str) -> None:
    """Write the files; where one cannot be written none is.

    Raises
    ------
    InputError
        When the system refuses, with the file and the option that names another.
    """
    waiting = {target: target.with_name(f".{uuid4().hex}") for target in files}
    target = next(iter(files))
    try:
        for target, content in files.items():
            with waiting[target].open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for target, ready in waiting.items():
            ready.replace(target)
    except OSError as fault:
        raise InputError(
            f"{target} cannot be written: {fault.strerror or fault}", todo=f"name another place with {option}"
        ) from fault
    finally:
        for left in waiting.values():
            left.unlink(missing_ok=True)

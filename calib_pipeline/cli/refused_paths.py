"""What the operating system refused to do with a path, in a sentence that ends with the next step."""

from __future__ import annotations

import errno
from pathlib import Path

from calib_pipeline.errors import MachineFault

AGAIN = "and run the same command again"
IN_THE_WAY = ("a file stands where a folder is needed", f"move it away or rename it, {AGAIN}")
NO_ROOM = ("there is no room left on its disk", f"make room, {AGAIN}")
NO_PERMISSION = ("it may not be read or written", f"ask for permission on it and on its folder, {AGAIN}")
WORDS = {
    errno.ENOSPC: NO_ROOM,
    errno.EDQUOT: NO_ROOM,
    errno.EROFS: ("its disk can only be read", "make it writable, or copy the project to a folder that is"),
    errno.EACCES: NO_PERMISSION,
    errno.EPERM: NO_PERMISSION,
    errno.EISDIR: ("a folder stands where a file is needed", f"move it away or rename it, {AGAIN}"),
    errno.EIO: ("it cannot be read or written on its disk", f"see to the disk, {AGAIN}"),
    errno.ENOENT: ("it is not there", f"bring it back, {AGAIN}"),
    errno.ELOOP: ("its symbolic links lead in a circle", f"mend them, {AGAIN}"),
    errno.ENAMETOOLONG: ("the name is too long", "use a shorter one"),
    errno.EMFILE: ("too many files are open", f"raise the limit of open files (`ulimit -n`), {AGAIN}"),
}
"""What the system says, what it means for the path, and the next step."""


def refused_path(fault: OSError) -> MachineFault:
    """The fault in words, with the path that it is about where the system names one."""
    if fault.errno is None:
        said = next(iter(str(fault).strip().splitlines()), "no reason is given")
        return MachineFault("the system refused", said, f"see to it, {AGAIN}")
    path = fault.filename2 or fault.filename
    if path is not None and fault.errno in (errno.ENOTDIR, errno.EEXIST):
        file = file_in_the_way(Path(str(path)))
        if file is not None:
            return MachineFault(str(file), *IN_THE_WAY)
    otherwise = (fault.strerror or f"error {fault.errno}", f"see to it, {AGAIN}")
    return MachineFault(_shown(path), *WORDS.get(fault.errno, otherwise))


def _shown(path: object) -> str:
    if isinstance(path, bytes):
        return path.decode(errors="replace")
    return "the system names no path" if path is None else str(path)


def file_in_the_way(path: Path) -> Path | None:
    """The path itself or one above it that is no folder, None where nothing keeps it from being one."""
    for one in (path, *path.parents):
        if one.exists():
            return None if one.is_dir() else one
    return None

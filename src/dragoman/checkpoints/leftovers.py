"""Removing checkpoints, and what killed writers left behind.

A directory is renamed before it is emptied, so that none is ever seen half removed. The hidden names are those of
`core.files.building`: `.step_….partial` while it is written, `.step_….replaced` while it gives way to a new one; and
our own `.step_….removed`.
"""

import contextlib
import fcntl
import os
import shutil
from pathlib import Path

from dragoman.checkpoints.rotation import POINTERS
from dragoman.core.files import partial_of


def remove_whole(directory: Path) -> None:
    """Take a directory away: in one moment for every reader."""
    removed = directory.with_name(f".{directory.name}.removed")
    shutil.rmtree(removed, ignore_errors=True)
    directory.rename(removed)
    shutil.rmtree(removed)


def remove_leftovers(directory: Path) -> None:
    """Clear away what writers that are no longer alive left half done."""
    for path in sorted(directory.glob(".step_*")):
        with contextlib.suppress(FileNotFoundError):  # a living writer has just finished with it
            _remove_leftover(path)
    for pointer in ("latest", *POINTERS):
        partial_of(directory / pointer).unlink(missing_ok=True)


def _remove_leftover(path: Path) -> None:
    original = path.with_name(path.stem.removeprefix("."))
    if path.suffix == ".replaced" and not original.exists():  # killed between the two renames
        path.rename(original)
    elif path.suffix in (".replaced", ".removed") or (path.suffix == ".partial" and not _is_being_written(path)):
        shutil.rmtree(path)


def _is_being_written(partial: Path) -> bool:
    """Whether a living process holds the lock of `core.files.building`."""
    descriptor = os.open(partial, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
